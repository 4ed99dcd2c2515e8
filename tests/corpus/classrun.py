"""The class of the corpus: one course, all hand-ins, one class run, and fingerprints of what must stay untouched."""

from __future__ import annotations

import hashlib
import sqlite3
import stat
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from nbgrader.apps.api import NbGraderAPI

from autograder import book, report
from autograder.course import Course, create, open_course
from autograder.grade import grade
from corpus.builder import Case, all_right

CANARY = "canary-student"
FASTER = "\nc.Answer.cell_seconds = 6\n"


def fingerprint(*places: Path) -> dict[str, str]:
    """path -> digest of bytes and mode of every file under `places`; a link counts by where it points."""
    found = {}
    for place in places:
        for path in sorted([place] if place.is_file() else place.rglob("*")):
            if path.is_symlink():
                found[str(path)] = f"link to {path.readlink()}"
            elif path.is_file():
                mode = stat.S_IMODE(path.stat().st_mode)
                found[str(path)] = f"{mode:o} {hashlib.sha256(path.read_bytes()).hexdigest()}"
    return found


@dataclass
class ClassRun:
    """What came of it."""

    course: Course
    config: object
    db_url: str
    results: dict = field(default_factory=dict)  # (part, student) -> Result
    before: dict = field(default_factory=dict)
    after: dict = field(default_factory=dict)
    rows_before: list = field(default_factory=list)
    rows_after: list = field(default_factory=list)
    seconds: float = 0.0
    feedback: dict = field(default_factory=dict)  # part -> what nbgrader said of making it
    books: dict = field(default_factory=dict)  # part -> what the grade book holds, read once

    def verdict(self, case: Case) -> dict:
        return book.read_verdict(self.course.root, case.name, case.part)

    def submitted(self, case: Case) -> Path:
        return self.course.root / "submitted" / case.name / case.part

    def scores(self, case: Case) -> dict:
        if case.part not in self.books:
            self.books[case.part] = book.scores(self.db_url, case.part)
        return self.books[case.part][case.name]

    def page(self, case: Case) -> str:
        path = self.course.root / "feedback" / case.name / case.part / f"{case.part}.html"
        return path.read_text(encoding="utf-8")


def run(root: Path, repository: Path, cases: list[Case]) -> ClassRun:
    create(root, repository)
    with (root / "nbgrader_config.py").open("a") as config:
        config.write(FASTER)
    course, config = open_course(root)
    api = NbGraderAPI(config=config)
    done = ClassRun(course, config, api.coursedir.db_url)
    by_part = defaultdict(list)
    for case in cases:
        by_part[case.part].append(case)
    for part in sorted(by_part, reverse=True):  # part 1 last: by then there are rows of others to guard
        said = api.generate_assignment(part)
        assert said["success"], said
        all_right(root, part).write(root / "submitted" / CANARY / part)
        for case in by_part[part]:
            hand_in(root, case)
    done.before = fingerprint(*guarded(root))
    started = time.monotonic()
    for part in sorted(by_part, reverse=True):
        done.rows_before = rows_of_others(done.db_url, part)
        for result in grade(course, config, part):
            done.results[part, result.student] = result
        done.rows_after = rows_of_others(done.db_url, part)
        assert done.rows_before == done.rows_after, f"grading {part} changed rows of another part"
    done.seconds = time.monotonic() - started
    done.after = fingerprint(*guarded(root))
    for part in by_part:
        done.feedback[part] = api.generate_feedback(part)
    report.write(course, done.db_url)
    return done


def guarded(root: Path) -> list[Path]:
    return [root / name for name in ("submitted", "release", "source", "nbgrader_config.py", ".course_secret")]


def hand_in(root: Path, case: Case) -> None:
    made = all_right(root, case.part, case.blank)
    for change in case.changes:
        change(made)
    made.write(root / "submitted" / case.name / case.part)


def rows_of_others(db_url: str, part: str) -> list:
    """All grades of the other assignments, as the file holds them."""
    with sqlite3.connect(db_url.removeprefix("sqlite:///")) as book_file:
        query = (
            "select a.name, s.student_id, g.id, g.auto_score, g.manual_score, g.needs_manual_grade from grade g "
            "join submitted_notebook n on g.notebook_id = n.id join submitted_assignment s on n.assignment_id = s.id "
            "join assignment a on s.assignment_id = a.id where a.name != ? order by g.id"
        )
        return book_file.execute(query, (part,)).fetchall()
