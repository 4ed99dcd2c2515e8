"""Grades in the form that a learning platform imports, as nbgrader export plugins.

    nbgrader export --exporter autograder.platforms.MoodleCSV --to moodle.csv
    nbgrader export --exporter autograder.platforms.CanvasCSV --to canvas.csv

One column an assignment, all exercises summed. A cell is empty where nothing was handed in and where somebody must
still look: nothing is claimed there, as a zero would. Column layouts: Moodle's documentation, "Grade import"; Canvas's
guide, "How do I import grades in the Gradebook?".
"""

from __future__ import annotations

import csv
from pathlib import Path

from nbgrader.api import Gradebook, Student
from nbgrader.plugins.export import ExportPlugin

from autograder import verdict
from autograder.course import CourseSettings
from autograder.export import GRADED, as_text, row


class _PlatformCSV(ExportPlugin):
    """What both have in common; `file_name`, `header` and `about` differ."""

    file_name = ""
    header: tuple[str, ...] = ()

    def about(self, student: Student) -> list[str]:
        """The first columns: who this is."""
        raise NotImplementedError

    def before(self, points: list[str]) -> list[list[str]]:
        """Rows between the header and the students."""
        return []

    def export(self, gradebook: Gradebook) -> None:
        root = CourseSettings(config=self.config).course.root
        names = sorted(one.name for one in gradebook.assignments if not self.assignment or one.name in self.assignment)
        students = [one for one in gradebook.students if not self.student or one.id in map(str, self.student)]
        possible = [verdict.number(gradebook.find_assignment(name).max_score) for name in names]
        target = Path(self.to or self.file_name)
        with target.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow([*self.header, *names])
            writer.writerows(self.before(possible))
            for student in sorted(students, key=lambda one: one.id):
                rows = (row(gradebook, root, name, student.id) for name in names)
                writer.writerow([*map(as_text, self.about(student)), *map(_points, rows)])
        self.log.info("Exported %d students to %s", len(students), target)


class MoodleCSV(_PlatformCSV):
    """Moodle: Grades, Import, CSV file. Map "ID number" or "Email address" to the user, a part to its grade item."""

    file_name = "moodle.csv"
    header = ("First name", "Last name", "ID number", "Email address")

    def about(self, student: Student) -> list[str]:
        return [student.first_name or "", student.last_name or "", student.id, student.email or ""]


class CanvasCSV(_PlatformCSV):
    """Canvas: Gradebook, Import. Students are found by their SIS login, or by Canvas's own id if nbgrader knows it."""

    file_name = "canvas.csv"
    header = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")

    def before(self, points: list[str]) -> list[list[str]]:
        return [["    Points Possible", "", "", "", "", *points]]

    def about(self, student: Student) -> list[str]:
        name = ", ".join(filter(None, [student.last_name, student.first_name])) or student.id
        return [name, student.lms_user_id or "", "", student.id, ""]


def _points(found: dict) -> str:
    return verdict.number(found["points"]) if found["state"] == GRADED else ""
