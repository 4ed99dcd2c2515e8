"""What an earlier run left of one hand-in: verdict, recorded answers and graded notebook, read back with care."""

from __future__ import annotations

import json
from dataclasses import dataclass

import nbformat

from autograder.ask import Grading
from autograder.book import verdict_path
from autograder.course import Course
from autograder.settle import ANSWERS_FILE, VERDICT_FILE
from autograder.verdict import Verdict


class Unread(Exception):
    """Why one hand-in cannot be judged again, in words without a full stop."""


@dataclass(frozen=True)
class Record:
    """One hand-in as it was graded. answers: exercise -> {asked, lost, bundles}; empty, and no notebook, if refused.

    grading: with no question and no verdict yet, for the steps to fill anew.
    """

    grading: Grading
    verdicts: dict[str, Verdict]
    answers: dict[str, dict]
    nb: nbformat.NotebookNode | None


def read(course: Course, student: str, assignment: str, notebook: str) -> Record:
    """Read the files of one hand-in; Unread where one of them is missing or damaged."""
    folder = verdict_path(course.root, student, assignment).parent
    name = VERDICT_FILE
    try:
        said = json.loads((folder / name).read_text(encoding="utf-8"))
        verdicts = {exercise: Verdict(**row) for exercise, row in said["exercises"].items()}
        grading = Grading(student, assignment, notebook, said["repairs"], sealed=said["sealed"])
        name = ANSWERS_FILE
        answers = json.loads((folder / name).read_text(encoding="utf-8"))["exercises"]
        if not all(_well_formed(one) for one in answers.values()):
            raise ValueError
        name = f"{notebook}.ipynb"
        nb = nbformat.read(folder / name, as_version=4) if answers else None
    except Exception:  # damaged in whatever way: said of this hand-in, and the others go on
        raise Unread(f"{name} cannot be read") from None
    return Record(grading, verdicts, answers, nb)


def _well_formed(one: dict) -> bool:
    kinds = {"asked": str, "lost": str, "bundles": list}
    return one.keys() == kinds.keys() and all(isinstance(one[key], kind) for key, kind in kinds.items())
