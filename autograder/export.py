"""Grades as a table that tells states apart: `nbgrader export --exporter autograder.export.StatesCSV --to grades.csv`.

nbgrader's own table prints 0 for what could not be graded and leaves out who handed nothing in.
"""

from __future__ import annotations

import csv
from pathlib import Path

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.plugins.export import ExportPlugin

from autograder import book, verdict
from autograder.course import CourseSettings

GRADED, NOT_SUBMITTED, INCOMPLETE = "graded", "not submitted", "graded in part"
BY_A_PERSON = "graded by a person"
FIRST = ("assignment", "student_id", "state", "points", "max_points", "handed_in")


class StatesCSV(ExportPlugin):
    """One row for each student and assignment, the same columns everywhere; no points where nobody has judged yet."""

    def export(self, gradebook: Gradebook) -> None:
        root = CourseSettings(config=self.config).course.root
        assignments = [one.name for one in gradebook.assignments if not self.assignment or one.name in self.assignment]
        students = [one.id for one in gradebook.students if not self.student or one.id in map(str, self.student)]
        rows = [row(gradebook, root, name, student) for name in sorted(assignments) for student in sorted(students)]
        names = dict.fromkeys(key for one in rows for key in one if key not in FIRST)
        target = Path(self.to or "grades.csv")
        self.log.info("Exporting grades with their states to %s", target)
        with target.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, [*FIRST, *names], restval="")
            writer.writeheader()
            writer.writerows({key: as_text(value) for key, value in one.items()} for one in rows)


def row(gradebook: Gradebook, root: Path, assignment: str, student: str) -> dict:
    """What the table says of one student: state and points of the whole, then two columns for each exercise."""
    found = {
        "assignment": assignment,
        "student_id": student,
        "max_points": gradebook.find_assignment(assignment).max_score,
    }
    try:
        submission = gradebook.find_submission(assignment, student)
    except MissingEntry:
        return {**found, "state": NOT_SUBMITTED}
    said = (book.read_verdict(root, student, assignment) or {"exercises": {}})["exercises"]
    columns, states, total = {}, [], 0.0
    for grade in (grade for notebook in submission.notebooks for grade in notebook.grades):
        name = grade.name.removesuffix("-check").removesuffix("-answer")
        points = grade.manual_score if grade.manual_score is not None else grade.auto_score
        state = said.get(name, {}).get("state", verdict.UNGRADED)
        if grade.manual_score is not None and not grade.needs_manual_grade:
            state = BY_A_PERSON
        elif points is None and state not in verdict.NO_POINTS_YET:
            state = verdict.UNGRADED  # the book is what counts: no score there, no score here
        columns |= {f"{name} points": points, f"{name} state": state}
        states.append(state)
        total += (points or 0.0) + (grade.extra_credit or 0.0)
    open_ones = [state for state in states if state in verdict.NO_POINTS_YET]
    state = GRADED if not open_ones else open_ones[0] if len(open_ones) == len(states) else INCOMPLETE
    points = (
        None if open_ones and len(open_ones) == len(states) else max(0.0, total - submission.late_submission_penalty)
    )
    return {**found, "state": state, "points": points, "handed_in": submission.timestamp, **columns}


def as_text(value) -> str:
    """Text of one field; a name that a spreadsheet would take for a formula is kept from being one."""
    if value is None:
        return ""
    text = verdict.number(value) if isinstance(value, float) else str(value)
    return f"'{text}" if isinstance(value, str) and text[:1] in ("=", "+", "-", "@") else text
