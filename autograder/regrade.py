"""Regrade: judge recorded answers again after an exercise was changed. No student code runs.

A hand-in is judged from its graded notebook and what its kernel published, by the very step that judged it first. What
cannot be judged so keeps its verdict, and the reason is said.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import nbformat
from nbgrader.api import MissingEntry
from nbgrader.utils import is_grade
from traitlets.config import Config

from autograder import book
from autograder.ask import KEY, Question, bare_name, check_name, question_of
from autograder.course import Course
from autograder.judge import OUR_FAULT, Judge, published, verdict_outputs
from autograder.ledger import Ledger
from autograder.lock import alone
from autograder.recorded import Record, Unread, read
from autograder.settle import VERDICT_FILE
from autograder.submission import scores
from autograder.verdict import Verdict, number

AGAIN = "was asked with other inputs than now"
BROKEN = "could not be judged, because its exercise stopped with an error"


@dataclass(frozen=True)
class Change:
    """One exercise of one hand-in that is judged otherwise than before."""

    exercise: str
    old: Verdict
    new: Verdict

    @property
    def moves(self) -> bool:
        """Whether the points change too."""
        return self.old.points != self.new.points

    def __str__(self) -> str:
        was, now = ("none" if one.points is None else number(one.points) for one in (self.old, self.new))
        first = self.new.message.partition("\n")[0] or self.new.state
        return f"{self.exercise}: {was} -> {now} of {number(self.new.max_points)} points: {first}"


@dataclass(frozen=True)
class Regraded:
    """What came of one hand-in.

    kept: exercise -> why its verdict stays, to be read after its name; recorded: whether there was anything to judge
    (a refused hand-in was never run); unread: why the hand-in could not be judged again at all, or "".
    """

    student: str
    changes: tuple[Change, ...] = ()
    kept: dict[str, str] = field(default_factory=dict)
    recorded: bool = True
    unread: str = ""

    @property
    def again(self) -> list[str]:
        """The exercises that only another run of the hand-in can judge."""
        return [name for name, why in self.kept.items() if why == AGAIN]

    @property
    def good(self) -> bool:
        """Whether the hand-in could be read and every exercise judged it or left it alone for a reason."""
        return not self.unread and BROKEN not in self.kept.values()


def regrade(course: Course, config: Config, assignment: str, dry_run: bool = False) -> Iterator[Regraded]:
    """Judge every hand-in that has a verdict again, and write down what changed; with dry_run, only say it.

    It can be killed and run again. CourseError where the assignment was not released, or is being graded right now.
    """
    with alone(course.root, assignment), Ledger(course, config, assignment) as ledger:
        points, judge = ledger.points(), Judge(config=config)
        notebook = ledger.notebook()
        for student in book.graded(course.root, assignment):
            try:
                record = read(course, student, assignment, notebook)
                if not record.answers:
                    yield Regraded(student, recorded=False)
                    continue
                kept = _judge(course, judge, record, points)
                changes = _changes(record)
                if changes and not dry_run:
                    _write(ledger, record, changes)
                yield Regraded(student, changes, kept)
            except Unread as error:
                yield Regraded(student, unread=str(error))


def _judge(course: Course, judge: Judge, record: Record, points: dict[str, float]) -> dict[str, str]:
    """Judge the recorded notebook, in place; the exercises whose verdict stays, and why."""
    grading, kept = record.grading, {}
    for cell in filter(is_grade, record.nb.cells):  # released anew with other points: as nbgrader's OverwriteCells
        about = cell.metadata.nbgrader
        if about.points != (now := points.get(bare_name(about.grade_id), about.points)):
            about.points = now
    for cell in filter(check_name, record.nb.cells):
        name = check_name(cell)
        try:
            question = question_of(cell, course, grading)
        except Exception:  # its draw fails: the fault is the exercise's
            judge.log.exception("the draw of %s for %s", name, grading.student)
            kept[name] = BROKEN
            continue
        if question:
            grading.questions[name] = question
        if why := _stays(name, question, record.answers.get(name), points, course):
            kept[name] = why
        else:
            question.lost = record.answers[name]["lost"]
            question.outputs = [published(bundle) for bundle in record.answers[name]["bundles"]]
    judge.preprocess(record.nb, {KEY: grading})
    if grading.verdicts.keys() != record.verdicts.keys():
        raise Unread(f"{grading.notebook}.ipynb does not hold the exercises of its {VERDICT_FILE}")
    for name, said in grading.verdicts.items():
        if said.message == OUR_FAULT != record.verdicts[name].message:
            kept.setdefault(name, BROKEN)
    for cell in record.nb.cells:
        if (name := check_name(cell)) in kept:
            grading.verdicts[name] = record.verdicts[name]
            cell.outputs = verdict_outputs(name, record.verdicts[name])
    return kept


def _stays(name: str, question: Question | None, recorded: dict | None, points: dict, course: Course) -> str:
    """Why the verdict on an exercise must stay, or ""."""
    if question is None:
        return f"is no exercise of {course.reference}"
    now, released = question.exercise.points, points.get(name)
    if now != released:
        was = "none" if released is None else number(released)
        return f"gives {number(now)} points in {course.reference} and {was} in the release"
    return "" if recorded and recorded["asked"] == question.asked else AGAIN


def _changes(record: Record) -> tuple[Change, ...]:
    pairs = ((name, record.verdicts[name], new) for name, new in record.grading.verdicts.items())
    return tuple(Change(name, old, new) for name, old, new in pairs if new != old)


def _write(ledger: Ledger, record: Record, changes: tuple[Change, ...]) -> None:
    """Into the grade book go the scores that change, so that nobody is asked to look at the others again."""
    grading = record.grading
    moved = {change.exercise for change in changes if change.moves}
    new = {name: score for name, score in scores(record.nb, grading).items() if bare_name(name) in moved}
    text = nbformat.writes(record.nb, version=nbformat.NO_CONVERT)
    try:
        ledger.revise(grading.student, grading.notebook, text, grading.summary(), new)
    except MissingEntry:
        raise Unread("the grade book does not know this hand-in") from None
