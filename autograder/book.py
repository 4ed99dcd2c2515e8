"""The grade book and the folders beside it, as the class run and the report see them."""

from __future__ import annotations

import json
from pathlib import Path

from nbgrader.api import Gradebook, MissingEntry

from autograder import verdict
from autograder.settle import VERDICT_FILE, ask_for_a_person


def submitted(root: Path, assignment: str) -> list[str]:
    """Students who handed in, in alphabetical order."""
    folder = root / "submitted"
    return sorted(path.parent.name for path in folder.glob(f"*/{assignment}") if path.is_dir())


def verdict_path(root: Path, student: str, assignment: str) -> Path:
    return root / "autograded" / student / assignment / VERDICT_FILE


def read_verdict(root: Path, student: str, assignment: str) -> dict | None:
    """The verdict on one hand-in, or None where there is none."""
    try:
        return json.loads(verdict_path(root, student, assignment).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def roster(db_url: str) -> list[str]:
    """All students of the grade book, in alphabetical order."""
    with Gradebook(db_url) as book:
        return sorted(student.id for student in book.students)


def scores(db_url: str, assignment: str) -> dict[str, dict[str, float | None]]:
    """student -> exercise -> automatic score as the grade book holds it; None where it holds none."""
    found: dict[str, dict[str, float | None]] = {}
    with Gradebook(db_url) as book:
        for submission in book.assignment_submissions(assignment):
            grades = [grade for notebook in submission.notebooks for grade in notebook.grades]
            rows = {grade.name.removesuffix("-check").removesuffix("-answer"): grade.auto_score for grade in grades}
            found[submission.student.id] = rows
    return found


def refuse(root: Path, db_url: str, student: str, assignment: str, exercises: dict[str, float], reason: str) -> None:
    """Write down that a hand-in could not be graded at all: in its verdict and in the grade book.

    exercises: name -> points of all that would have been graded.
    """
    said = {name: verdict.ungraded(points, reason) for name, points in exercises.items()}
    path = verdict_path(root, student, assignment)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.write_text(json.dumps(verdict.summary(student, assignment, said, False, []), indent=1), encoding="utf-8")
    with Gradebook(db_url) as book:
        book.update_or_create_student(student)
        submission = book.update_or_create_submission(assignment, student)
        for notebook in submission.notebooks:
            grade_ids = [grade.name for grade in notebook.grades]
            ask_for_a_person(book, student, assignment, notebook.name, grade_ids)


def graded_cells(db_url: str, assignment: str) -> dict[str, float]:
    """name -> points of every graded cell of a released assignment; empty where it was never released."""
    with Gradebook(db_url) as book:
        try:
            found = book.find_assignment(assignment)
        except MissingEntry:
            return {}
        cells = [cell for notebook in found.notebooks for cell in notebook.grade_cells]
        return {cell.name.removesuffix("-check").removesuffix("-answer"): cell.max_score for cell in cells}
