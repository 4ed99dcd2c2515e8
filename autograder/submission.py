"""One hand-in through all the steps, without a grade book: what the class run does side by side.

`Grader.grade` is a function of the hand-in, the release and the course secret. The steps are the very classes that
`nbgrader autograde` runs; where those ask the grade book, they are given what it held when the run began.
"""

from __future__ import annotations

import traceback
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbgrader import preprocessors as stock
from nbgrader import utils
from traitlets.config import Config

from autograder import intake, verdict
from autograder.answer import Answer
from autograder.ask import KEY, Ask, Grading
from autograder.clean import Clean
from autograder.course import Course, CourseSettings
from autograder.judge import ANSWERS, Judge, name_of
from autograder.sources import RECORD, OverwriteCells, Record, Sources


@dataclass(frozen=True)
class HandIn:
    """What is to be graded: a student's notebook of one assignment."""

    student: str
    assignment: str
    path: Path


@dataclass(frozen=True)
class Graded:
    """What came of it, as plain data that one process hands to another.

    text: the graded notebook; scores: grade id -> (automatic score or None, whether a person must look); comments:
    grade id -> nbgrader's own comment or None; verdict: the content of verdict.json; answers: what the kernel
    published, for a later `regrade`; log: a traceback, where a step of ours failed.
    """

    hand_in: HandIn
    notebook: str = ""
    text: str = ""
    scores: dict[str, tuple[float | None, bool]] = field(default_factory=dict)
    comments: dict[str, str | None] = field(default_factory=dict)
    verdict: dict = field(default_factory=dict)
    answers: dict = field(default_factory=dict)
    log: str = ""


# nbgrader's CheckCellMetadata is left out: intake has put the release's own metadata, checked when it was made, in
# place of whatever was handed in, and the check costs as much as running the cells.
BEFORE = (stock.ClearOutput, stock.DeduplicateIds, OverwriteCells)
AFTER = (Ask, Answer, stock.IgnorePattern, stock.LimitOutput, Judge, Clean)


class Grader:
    """The steps of one assignment's notebook, made once and used for a whole class."""

    def __init__(self, config: Config, assignment: str, notebook: str, rows: Sources):
        self.course: Course = CourseSettings(config=config).course
        self.assignment, self.notebook, self.rows = assignment, notebook, rows
        self.released = self.course.released(assignment, notebook)
        self._before = [step(config=config) for step in BEFORE]
        self._after = [step(config=config) for step in AFTER]

    def grade(self, hand_in: HandIn) -> Graded:
        """Never raises: where one of our steps fails, the result carries the log."""
        try:
            return self._grade(hand_in)
        except Exception:
            return Graded(hand_in, log=traceback.format_exc())

    def _grade(self, hand_in: HandIn) -> Graded:
        release = self.course.root / "release" / self.assignment
        nb = intake.take_in(hand_in.path, self.released, release, self.course.secret)
        about = {"student": hand_in.student, "assignment": self.assignment, "notebook": self.notebook, "db_url": ""}
        resources = {"nbgrader": about, RECORD: Record(self.rows), "metadata": {}}
        if self.rows.kernelspec:
            nb.metadata["kernelspec"] = self.rows.kernelspec
        for step in (*self._before, *self._after):
            nb, resources = step(nb, resources)
        grading: Grading = resources[KEY]
        return Graded(
            hand_in,
            self.notebook,
            nbformat.writes(nb, version=nbformat.NO_CONVERT),
            scores(nb, grading),
            {cell.metadata.nbgrader.grade_id: _comment(cell) for cell in nb.cells if utils.is_solution(cell)},
            grading.summary(),
            resources[ANSWERS],
        )


def scores(nb, grading: Grading) -> dict[str, tuple[float | None, bool]]:
    """grade id -> (automatic score or None, whether a person must look), of a judged notebook."""
    return {cell.metadata.nbgrader.grade_id: _score(cell, grading) for cell in nb.cells if utils.is_grade(cell)}


def _score(cell, grading: Grading) -> tuple[float | None, bool]:
    said = grading.verdicts[name_of(cell)]
    if said.state in verdict.NO_POINTS_YET:
        return None, True
    score, _ = utils.determine_grade(cell)
    return score, score is None


def _comment(cell) -> str | None:
    """As nbgrader's SaveAutoGrades has it."""
    untouched = cell.metadata.nbgrader.get("checksum") == utils.compute_checksum(cell)
    return "No response." if untouched and not utils.is_task(cell) else None
