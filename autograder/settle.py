"""Settle: what nobody could judge must not stand as a zero, and every hand-in gets its verdict.json."""

from __future__ import annotations

import json
from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.preprocessors import NbGraderPreprocessor

from autograder import verdict
from autograder.ask import KEY, Grading
from autograder.course import CourseSettings
from autograder.judge import ANSWERS, name_of

VERDICT_FILE = "verdict.json"
ANSWERS_FILE = "recorded_answers.json"


class Settle(CourseSettings, NbGraderPreprocessor):
    """After SaveAutoGrades: no automatic score where a person must look; verdict and recorded answers on disk."""

    def preprocess(self, nb, resources):
        grading: Grading = resources[KEY]
        about = resources["nbgrader"]
        open_ones = [
            cell.metadata.nbgrader.grade_id
            for cell in nb.cells
            if cell.metadata.get("nbgrader", {}).get("grade")
            and grading.verdicts[name_of(cell)].state in verdict.NO_POINTS_YET
        ]
        if open_ones:
            with Gradebook(about["db_url"]) as book:
                ask_for_a_person(book, about["student"], about["assignment"], about["notebook"], open_ones)
        folder = Path(resources["metadata"]["path"])
        write_verdict(folder, grading, resources[ANSWERS])
        return nb, resources


def ask_for_a_person(book: Gradebook, student: str, assignment: str, notebook: str, grade_ids: list[str]) -> None:
    """No automatic score for these cells, and a mark that a person must look; an older score does not stay."""
    for grade_id in grade_ids:
        grade = book.find_grade(grade_id, notebook, assignment, student)
        grade.auto_score = None
        grade.needs_manual_grade = True
    book.db.commit()


def write_verdict(folder: Path, grading: Grading, answers: dict) -> None:
    said = verdict.summary(grading.student, grading.assignment, grading.verdicts, grading.sealed, grading.repairs)
    _write(folder / VERDICT_FILE, said)
    _write(folder / ANSWERS_FILE, answers)


def _write(path: Path, content: dict) -> None:
    path.unlink(missing_ok=True)
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False), encoding="utf-8", errors="replace")
