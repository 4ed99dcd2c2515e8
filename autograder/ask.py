"""Ask: put this student's hidden inputs into the check cells, just before the notebook is run."""

from __future__ import annotations

import hashlib
import secrets as random_names
from dataclasses import dataclass, field

from nbgrader.preprocessors import NbGraderPreprocessor

from autograder import verdict, wire
from autograder.course import CourseSettings
from autograder.exercise import Call, Exercise, draw_key
from autograder.verdict import Verdict

KEY = "autograder"


@dataclass
class Question:
    """One exercise on its way through the pipeline."""

    exercise: Exercise
    calls: tuple[Call, ...]
    own_source: str = ""  # the check cell as released, put back by Judge
    outputs: list | None = None  # a copy taken the moment the cell ended
    lost: str = ""  # why there are no outputs, in words

    @property
    def asked(self) -> str:
        """A digest of all that was asked: recorded answers may be judged again only while it is the same."""
        text = wire.encode_calls((*self.calls, *self.exercise.refusals))
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass
class Grading:
    """What the steps of one submission hand on to each other."""

    student: str
    assignment: str
    notebook: str
    repairs: list[str]
    refusal: str = ""
    sealed: bool = False
    questions: dict[str, Question] = field(default_factory=dict)
    verdicts: dict[str, Verdict] = field(default_factory=dict)

    def summary(self) -> dict:
        """The content of verdict.json."""
        return verdict.summary(self.student, self.assignment, self.verdicts, self.sealed, self.repairs)


def value_calls(exercise: Exercise, secret: bytes, assignment: str, student: str) -> tuple[Call, ...]:
    """All calls whose values count: the visible examples, this student's hidden ones, and two of them once more."""
    if exercise.kind != "function":
        return (Call(),)
    hidden = exercise.hidden(draw_key(secret, assignment, student, exercise.name))
    return (*exercise.examples, *hidden, *exercise.examples[:1], *hidden[:1])


class Ask(CourseSettings, NbGraderPreprocessor):
    """Replaces the source of each check cell by one `record` call; it ends in 0.0, so that silence earns nothing."""

    def preprocess(self, nb, resources):
        about = resources["nbgrader"]
        note = nb.metadata.pop("autograder", {})
        grading = Grading(
            about["student"],
            about["assignment"],
            about["notebook"],
            list(note.get("repairs", [])),
            note.get("refusal", ""),
        )
        resources[KEY] = grading
        course = self.course
        exercises = course.exercises(grading.assignment)
        for cell in nb.cells:
            exercise = exercises.get(check_name(cell))
            if exercise is None:
                continue
            calls = value_calls(exercise, course.secret, grading.assignment, grading.student)
            grading.questions[exercise.name] = Question(exercise, calls, cell.source)
            cell.source = question_source(exercise, (*calls, *exercise.refusals), course.kit)
        return nb, resources


def check_name(cell) -> str:
    """The exercise that a check cell belongs to, or ""."""
    about = cell.metadata.get("nbgrader", {})
    grade_id = about.get("grade_id", "")
    is_check = cell.cell_type == "code" and about.get("grade") and not about.get("solution")
    return grade_id.removesuffix("-check") if is_check and grade_id.endswith("-check") else ""


def question_source(exercise: Exercise, calls: tuple[Call, ...], kit: str) -> str:
    """The code that asks: it works whatever names the student has taken, and holds inputs only."""
    name = f"_{random_names.token_hex(4)}"
    names = list(exercise.functions)
    text = wire.encode_calls(calls)
    return (
        f"from {kit}.record import record as {name}\n"
        f"{name}({exercise.name!r}, {names!r}, {text!r}, scenario={exercise.scenario!r}, kind={exercise.kind!r})\n"
        "0.0"
    )
