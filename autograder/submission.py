"""One hand-in through all the steps, without a grade book: what the class run does side by side.

`Grader.grade` is a function of the hand-in, the release and the course secret. The steps are the very classes that
`nbgrader autograde` runs; where those ask the grade book, they are given what it held when the run began.
"""

from __future__ import annotations

import json
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import nbformat
from nbgrader import preprocessors as stock
from nbgrader import utils
from nbgrader.api import Gradebook, MissingEntry
from traitlets.config import Config

from autograder import intake, verdict
from autograder.answer import Answer
from autograder.ask import KEY, Ask, Grading
from autograder.clean import Clean
from autograder.course import Course, CourseSettings
from autograder.judge import ANSWERS, Judge, name_of


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


@dataclass(frozen=True)
class Sources:
    """The grade book's record of one released notebook: plain rows, so that other processes can have them."""

    kernelspec: dict | None
    cells: dict[str, dict]  # name -> cell_type, locked, checksum, source
    points: dict[str, float]  # graded cells only
    solutions: frozenset[str]


def sources(book: Gradebook, assignment: str, notebook: str) -> Sources:
    """Read what the steps ask for, once for a whole class."""
    found = book.find_notebook(notebook, assignment)
    rows = {
        cell.name: {
            "cell_type": cell.cell_type,
            "locked": cell.locked,
            "checksum": cell.checksum,
            "source": cell.source,
        }
        for cell in found.source_cells
    }
    return Sources(
        json.loads(found.kernelspec) if found.kernelspec else None,
        rows,
        {cell.name: float(cell.max_score) for cell in found.grade_cells},
        frozenset(cell.name for cell in found.solution_cells),
    )


class _Record:
    """Answers nbgrader's OverwriteCells as a grade book would."""

    def __init__(self, rows: Sources):
        cells = [SimpleNamespace(name=name, **row) for name, row in rows.cells.items()]
        self._cells = {cell.name: cell for cell in cells}
        self._points = rows.points
        graded = [SimpleNamespace(name=name, max_score=points) for name, points in rows.points.items()]
        solutions = [SimpleNamespace(name=name) for name in rows.solutions]
        self._notebook = SimpleNamespace(
            source_cells=cells, grade_cells=graded, solution_cells=solutions, task_cells=()
        )

    def find_source_cell(self, name, *where):
        if name not in self._cells:
            raise MissingEntry(name)
        return self._cells[name]

    def find_graded_cell(self, name, *where):
        return SimpleNamespace(max_score=self._points[name])

    def find_notebook(self, *where):
        return self._notebook


class _OverwriteCells(stock.OverwriteCells):
    """nbgrader's step, given the record instead of a grade book."""

    def preprocess(self, nb, resources):
        self.notebook_id, self.assignment_id = (resources["nbgrader"][key] for key in ("notebook", "assignment"))
        self.gradebook = resources["record"]
        nb, resources = super(stock.OverwriteCells, self).preprocess(nb, resources)
        if self.add_missing_cells:
            nb, resources = self.add_missing_grade_cells(nb, resources)
        return nb, resources


# nbgrader's CheckCellMetadata is left out: intake has put the release's own metadata, checked when it was made, in
# place of whatever was handed in, and the check costs as much as running the cells.
BEFORE = (stock.ClearOutput, stock.DeduplicateIds, _OverwriteCells)
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
        resources = {"nbgrader": about, "record": _Record(self.rows), "metadata": {}}
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
