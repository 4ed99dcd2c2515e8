"""The grade book and the folders beside it, as the class run and the report see them."""

from __future__ import annotations

import json
from pathlib import Path

from nbgrader.api import Gradebook, MissingEntry

from autograder.settle import ANSWERS_FILE, VERDICT_FILE


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


def handed_in(root: Path, student: str, assignment: str) -> str:
    """The fingerprint of the hand-in that was graded, or ""."""
    try:
        path = verdict_path(root, student, assignment).with_name(ANSWERS_FILE)
        return json.loads(path.read_text(encoding="utf-8")).get("handed_in", "")
    except (OSError, ValueError):
        return ""


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


def graded_cells(book: Gradebook, assignment: str) -> dict[str, float]:
    """name -> points of every graded cell of a released assignment; empty where it was never released."""
    try:
        found = book.find_assignment(assignment)
    except MissingEntry:
        return {}
    cells = [cell for notebook in found.notebooks for cell in notebook.grade_cells]
    return {cell.name.removesuffix("-check").removesuffix("-answer"): cell.max_score for cell in cells}
