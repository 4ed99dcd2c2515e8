"""One writer at a time: whoever grades or regrades an assignment keeps others out until it is done."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path

from autograder.course import CourseError
from autograder.stage import STAGE
from autograder.workers import held

try:
    import fcntl
except ImportError:  # Windows: nothing keeps two runs apart there
    fcntl = None


@contextmanager
def alone(root: Path, assignment: str):
    """Keep other runs of an assignment out. CourseError where one is under way; a killed run keeps nobody out."""
    folder = root / STAGE
    folder.mkdir(exist_ok=True)
    with (folder / f"{assignment}.lock").open("a") as lock:
        try:
            if fcntl:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise CourseError(f"Another run is grading {assignment} in this course; wait until it is done.") from None
        held.add(lock.fileno())
        try:
            yield
        finally:
            held.discard(lock.fileno())
