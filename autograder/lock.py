"""One writer at a time: whoever grades or regrades an assignment keeps others out until it is done."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from autograder.course import CourseError
from autograder.stage import STAGE

try:
    import fcntl
except ImportError:  # Windows: nothing keeps two runs apart there
    fcntl = None

_held: TextIO | None = None


def drop() -> None:
    """In a forked worker: one that outlives its run must not keep the next run out."""
    if _held:
        os.close(_held.fileno())


@contextmanager
def alone(root: Path, assignment: str):
    """Keep other runs of an assignment out. CourseError where one is under way; a killed run keeps nobody out."""
    global _held
    folder = root / STAGE
    folder.mkdir(exist_ok=True)
    with (folder / f"{assignment}.lock").open("a") as lock:
        try:
            if fcntl:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise CourseError(f"Another run is grading {assignment} in this course; wait until it is done.") from None
        _held = lock
        try:
            yield
        finally:
            _held = None
