"""The class run: hand-ins graded side by side, written down by one; it can be killed at any moment and goes on.

One pure function (hand-in -> graded notebook and verdict) is mapped over an executor; only this process writes.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from traitlets.config import Config

from autograder import book, verdict
from autograder.course import Course
from autograder.intake import Rename
from autograder.ledger import Ledger
from autograder.lock import alone
from autograder.settle import fingerprint
from autograder.submission import Graded, Grader, HandIn
from autograder.workers import side_by_side

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


def cores() -> int:
    """How many hand-ins can be graded side by side here."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def grade(
    course: Course,
    config: Config,
    assignment: str,
    again: bool = False,
    jobs: int = 0,
    students: list[str] | None = None,
) -> Iterator[Result]:
    """Grade all hand-ins of an assignment, one result at a time as they are ready.

    again: also those that have a verdict already; a newer hand-in than the graded one is graded anew in any case.
    jobs: how many side by side, 0 for as many as there are cores. students: only these.
    """
    with alone(course.root, assignment), Ledger(course, config, assignment) as ledger:
        points = ledger.points()
        notebook = ledger.notebook()
        everybody = book.submitted(course.root, assignment) if students is None else students
        waiting = []
        for student in everybody:
            said = None if again else _graded_before(course.root, student, assignment)
            if said:
                yield Result(student, said, skipped=True)
            elif one := _found(ledger, student, notebook):
                waiting.append(one)
            else:
                yield Result(student, ledger.refuse(student, points, NO_NOTEBOOK))
        if waiting:
            grader = Grader(config, assignment, notebook, ledger.sources(notebook))
            for graded in side_by_side(grader, waiting, jobs or cores(), ledger.let_go):
                yield _written(ledger, graded, points)


def _written(ledger: Ledger, graded: Graded, points: dict[str, float]) -> Result:
    student, log = graded.hand_in.student, graded.log
    if not log:
        try:
            ledger.keep(graded)
            return Result(student, graded.verdict)
        except OSError as error:  # a full disk, a folder that cannot be written: said once, then the next one
            log = f"{student}: {error}"
    return Result(student, ledger.refuse(student, points, BROKE), log=log)


def _found(ledger: Ledger, student: str, notebook: str) -> HandIn | None:
    """The hand-in, put under its right name where the notebook was renamed."""
    names = [str(path) for path in sorted(ledger.submitted(student).glob("*.ipynb"))]
    if not names:
        return None
    try:
        Rename(ledger.course.root, ledger.course.reference, ledger.course.kit)(ledger.assignment, student, names)
    except OSError:  # nothing can be put there; then the notebook is missing, and intake says so
        logging.getLogger(__name__).exception("renaming in the hand-in of %s", student)
    return HandIn(student, ledger.assignment, ledger.submitted(student) / f"{notebook}.ipynb")


def _graded_before(root: Path, student: str, assignment: str) -> dict | None:
    """The verdict on exactly this hand-in, if there is one."""
    said, handed_in = book.read_verdict(root, student, assignment), book.handed_in(root, student, assignment)
    same = said and handed_in == fingerprint(root / "submitted" / student / assignment)
    return said if same else None
