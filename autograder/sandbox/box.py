"""What every box is: limits go in, a cell runs, outputs come out."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

Files = list[tuple[Path, str]]  # (file, path inside the working folder) of all that lies beside the notebook


@dataclass(frozen=True)
class Limits:
    """What one submission may use.

    Seconds a cell and to start; bytes of memory (address space), a file, all files together; processes; CPU seconds.
    """

    cell_seconds: float = 15
    start_seconds: float = 60
    memory: int = 4 * 2**30
    file_size: int = 256 * 2**20
    disk: int = 256 * 2**20
    processes: int = 64
    cpu_seconds: int = 600


@dataclass(frozen=True)
class Ran:
    """What running one cell gave. status: "ok", "error", "timed out" (the kernel lives on) or "died"."""

    status: str
    outputs: list = field(default_factory=list)
    execution_count: int | None = None


class BoxError(RuntimeError):
    """The box could not be started; no fault of the student."""


class Box(Protocol):
    """A private kernel with a clean environment and folder, driven a cell at a time."""

    seal: str  # how it is sealed off, in words; "" where it is not
    limits: Limits

    def run(self, source: str) -> Ran:
        """Run one cell; never raises for anything that the cell does."""

    def alive(self) -> bool:
        """Whether the kernel is there."""

    def close(self) -> None:
        """End the kernel with all its processes and remove its folders."""
