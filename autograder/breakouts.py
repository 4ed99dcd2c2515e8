"""Attempts to break out of a student's kernel. `autograder doctor` and the tests make them, and say what held.

What is tried stands in `attempts`.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from string import Template
from textwrap import dedent

from autograder.attempts import ATTEMPTS, Attempt
from autograder.sandbox import POOL, Limits

REACHED = "REACHED"
DEEP = Limits(cell_seconds=20, memory=2 * 2**30, file_size=32 * 2**20, disk=64 * 2**20, processes=32)


@dataclass(frozen=True)
class Tried:
    """What came of one attempt; held is None where it was not made, because without a seal it might do harm."""

    attempt: Attempt
    held: bool | None


def try_all(hidden: tuple[str, ...], places: Iterable[Path], attempts=ATTEMPTS, pool=POOL) -> Iterator[Tried]:
    """Make every attempt from a student's kernel. places: what must not be there; hidden: what must not be imported."""
    with _bystander() as (marker, port):
        names = [*hidden, "autograder", "nbgrader"]
        values = {"marker": marker, "port": port, "hidden": names, "places": [str(place) for place in places]}
        for attempt in attempts:
            with pool.box([], DEEP, hidden) as box:
                if not box.seal and not attempt.unsealed:
                    yield Tried(attempt, None)
                    continue
                ran = box.run(_filled(attempt.cell, values))
            reached = _reached(ran) or ran.status != "ok"
            if attempt.next_cell:
                with pool.box([], DEEP, hidden) as box:
                    following = box.run(_filled(attempt.next_cell, values))
                reached = reached or _reached(following) or following.status != "ok"
            yield Tried(attempt, not reached)


def _filled(cell: str, values: dict) -> str:
    return Template(dedent(cell).strip()).safe_substitute(values)


def _reached(ran) -> bool:
    return any(REACHED in output.get("text", "") for output in ran.outputs)


@contextmanager
def _bystander():
    """A process, a server and a nameless socket on this machine, which no kernel may find."""
    marker = f"bystander-{os.getpid()}-{os.urandom(4).hex()}"
    os.environ["AUTOGRADER_BYSTANDER"] = marker
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", marker])
    server, nameless = socket.create_server(("127.0.0.1", 0)), socket.socket(socket.AF_UNIX)
    try:
        if sys.platform == "linux":
            nameless.bind(f"\0{marker}")
            nameless.listen()
        yield marker, server.getsockname()[1]
    finally:
        process.kill()
        process.wait()
        server.close()
        nameless.close()
        del os.environ["AUTOGRADER_BYSTANDER"]


def places(*more: Path) -> list[Path]:
    """What no kernel may see of this machine: the grader's own code, the teacher's home, and these."""
    home = [Path.home() / name for name in (".ssh", ".bashrc", ".profile", ".cache") if (Path.home() / name).exists()]
    return [Path(__file__).resolve(), *home, *more]
