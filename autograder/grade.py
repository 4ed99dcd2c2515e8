"""The class run: every hand-in gets a verdict, one bad file never stops it, and running it again goes on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nbgrader.apps.api import NbGraderAPI
from traitlets.config import Config

from autograder import book, verdict
from autograder.course import Course, CourseError

NO_NOTEBOOK = "No notebook was handed in."
BROKE = "The grader could not grade this hand-in; the log says where it stopped."


@dataclass(frozen=True)
class Result:
    """What came of one hand-in. `skipped` where an earlier run had graded it already; log only where it went wrong."""

    student: str
    verdict: dict
    skipped: bool = False
    log: str = ""

    @property
    def ungraded(self) -> list[str]:
        rows = self.verdict["exercises"].items()
        return [name for name, row in rows if row["state"] == verdict.UNGRADED]


def grade(course: Course, config: Config, assignment: str, again: bool = False) -> Iterator[Result]:
    """Grade all hand-ins of an assignment, one result at a time. again: also those that have a verdict already.

    A newer hand-in than the graded one is graded anew in any case.
    """
    api = NbGraderAPI(config=config)
    db_url = api.coursedir.db_url
    expected = book.graded_cells(db_url, assignment)
    if not expected:
        raise CourseError(f"{assignment} was not released yet; run `nbgrader generate_assignment {assignment}` first.")
    for student in book.submitted(course.root, assignment):
        before = _stamp(course.root, student, assignment)
        if not again and before and not _newer(course.root, student, assignment):
            yield Result(student, book.read_verdict(course.root, student, assignment), skipped=True)
            continue
        yield _one(api, course.root, db_url, student, assignment, expected)


def _one(api, root: Path, db_url: str, student: str, assignment: str, expected: dict) -> Result:
    folder = root / "submitted" / student / assignment
    log = ""
    if not any(folder.glob("*.ipynb")):
        book.refuse(root, db_url, student, assignment, expected, NO_NOTEBOOK)
    else:
        said = api.autograde(assignment, student, force=True, create=True)
        log = said.get("error") or said.get("log", "")
        if said["success"] and book.read_verdict(root, student, assignment):
            log = ""
        else:
            book.refuse(root, db_url, student, assignment, expected, BROKE)
    return Result(student, book.read_verdict(root, student, assignment), log=log)


def _stamp(root: Path, student: str, assignment: str) -> float | None:
    path = book.verdict_path(root, student, assignment)
    return path.stat().st_mtime if path.is_file() else None


def _newer(root: Path, student: str, assignment: str) -> bool:
    """Whether the hand-in is another one than the graded one: its timestamp differs, or its files are younger."""
    handed_in = root / "submitted" / student / assignment
    graded = root / "autograded" / student / assignment
    stamps = [folder / "timestamp.txt" for folder in (handed_in, graded)]
    texts = [stamp.read_bytes() if stamp.is_file() else b"" for stamp in stamps]
    if texts[0] != texts[1] and texts[0]:
        return True
    verdict_time = _stamp(root, student, assignment) or 0
    return any(path.stat().st_mtime > verdict_time for path in handed_in.rglob("*") if path.is_file())
