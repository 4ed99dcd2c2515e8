"""Settle: what nobody could judge must not stand as a zero, and every hand-in gets its verdict.json."""

from __future__ import annotations

import hashlib
import json
import os
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
        handed_in = fingerprint(self.course.root / "submitted" / about["student"] / about["assignment"])
        write_records(folder, grading.summary(), resources[ANSWERS], handed_in)
        return nb, resources


def ask_for_a_person(book: Gradebook, student: str, assignment: str, notebook: str, grade_ids: list[str]) -> None:
    """No automatic score for these cells, and a mark that a person must look; an older score does not stay."""
    for grade_id in grade_ids:
        grade = book.find_grade(grade_id, notebook, assignment, student)
        grade.auto_score = None
        grade.needs_manual_grade = True
    book.db.commit()


def write_records(folder: Path, said: dict, answers: dict, handed_in: str) -> None:
    """verdict.json for people and programs; beside it, for the teacher only, what `regrade` and a later run need."""
    write_verdict(folder, said)
    record = {"handed_in": handed_in, "exercises": answers}
    _write(folder / ANSWERS_FILE, json.dumps(record, indent=1))  # in ASCII: half characters too come back as they were


def write_verdict(folder: Path, said: dict) -> None:
    _write(folder / VERDICT_FILE, json.dumps(said, indent=1, ensure_ascii=False))


def fingerprint(folder: Path) -> str:
    """A digest of everything in a hand-in, by which a newer one is told from the one that was graded."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        digest.update(f"{name}\0".encode("utf-8", "surrogateescape"))
        if path.is_symlink():
            digest.update(os.fsencode(os.readlink(path)))
        elif path.is_file():
            digest.update(_content(path))
        digest.update(b"\0")
    return digest.hexdigest()


def _content(path: Path) -> bytes:
    """The digest of one file; one that may not be read is told from an empty one, and stops nothing."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").digest()
    except OSError as error:
        return f"unreadable: {error.errno}".encode()


def _write(path: Path, text: str) -> None:
    path.unlink(missing_ok=True)
    path.write_text(text, encoding="utf-8", errors="replace")
