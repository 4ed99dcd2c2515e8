"""The one writer of a class run: graded hand-ins into the grade book and the autograded folder, whole or not at all.

The order makes a run that is killed repeatable: grades first, in one transaction; then the folder, complete, under its
final name. Without that folder's verdict a hand-in counts as not graded, and grading it again changes nothing twice.
"""

from __future__ import annotations

import os
import shutil
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.converters import Autograde
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import AssignLatePenalties
from traitlets.config import Config

from autograder import verdict
from autograder.book import verdict_path
from autograder.course import Course
from autograder.settle import fingerprint, write_records
from autograder.submission import Graded, HandIn, Sources, sources

STAGE = ".grading"  # in the course folder: where a graded hand-in is put together


class Ledger:
    """An open grade book and the folders beside it, for one assignment. Use as a context manager."""

    def __init__(self, course: Course, config: Config, assignment: str):
        self.course, self.assignment = course, assignment
        self.coursedir = CourseDirectory(config=config)
        self._autograde = Autograde(config=config, coursedir=self.coursedir)
        self._late = AssignLatePenalties(config=config)
        self._late.init_plugin()
        self.book = Gradebook(self.coursedir.db_url, self.coursedir.course_id)

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *error) -> None:
        self.book.close()
        shutil.rmtree(self.course.root / STAGE / self.assignment, ignore_errors=True)

    def let_go(self) -> None:
        """Close the connection, so that a process forked now shares none; the next use opens another."""
        self.book.db.remove()
        self.book.engine.dispose()

    def notebooks(self) -> list[str]:
        """The names of the assignment's notebooks as they were released."""
        return sorted(notebook.name for notebook in self.book.find_assignment(self.assignment).notebooks)

    def sources(self, notebook: str) -> Sources:
        return sources(self.book, self.assignment, notebook)

    def submitted(self, student: str) -> Path:
        return self.course.root / "submitted" / student / self.assignment

    def keep(self, graded: Graded) -> None:
        """Write down what came of one hand-in."""
        student = graded.hand_in.student
        self._grades(student, graded)
        stage = self._stage(student)
        self._copy_files(student, stage)
        (stage / f"{graded.notebook}.ipynb").write_text(graded.text, encoding="utf-8", errors="replace")
        write_records(stage, graded.verdict, graded.answers, fingerprint(self.submitted(student)))
        self._put(stage, student)

    def refuse(self, student: str, points: dict[str, float], reason: str) -> dict:
        """Write down that a hand-in could not be graded at all, and why. points: of all that would have been graded."""
        said = {name: verdict.ungraded(most, reason) for name, most in points.items()}
        summary = verdict.summary(student, self.assignment, said, False, [])
        submission = self._submission(student)
        for notebook in submission.notebooks:
            for grade in notebook.grades:
                grade.auto_score, grade.needs_manual_grade = None, True
        self.book.db.commit()
        stage = self._stage(student)
        write_records(stage, summary, {}, fingerprint(self.submitted(student)))
        self._put(stage, student)
        return summary

    def _submission(self, student: str):
        self.book.update_or_create_student(student)
        stamp = self.coursedir.get_existing_timestamp(str(self.submitted(student)))
        about = {"timestamp": stamp} if stamp else {}
        return self.book.update_or_create_submission(self.assignment, student, **about)

    def _grades(self, student: str, graded: Graded) -> None:
        submission = self._submission(student)
        (notebook,) = [one for one in submission.notebooks if one.name == graded.notebook]
        names = self._cell_names
        for grade in notebook.grades:
            name = names[grade.cell_id]
            if name in graded.scores:
                score, person = graded.scores[name]
                grade.auto_score = score
                grade.needs_manual_grade = person or grade.manual_score is not None
        for comment in notebook.comments:
            name = names[comment.cell_id]
            if name in graded.comments:
                comment.auto_comment = graded.comments[name]
        self.book.db.flush()
        notebook.late_submission_penalty = self._penalty(student, submission, notebook)
        self.book.db.commit()
        self.book.db.expunge_all()  # else a large class would stay in memory

    @cached_property
    def _cell_names(self) -> dict[str, str]:
        """Cell id of the grade book -> grade id; asking each grade for its cell would be a query each."""
        notebooks = self.book.find_assignment(self.assignment).notebooks
        return {cell.id: cell.name for notebook in notebooks for cell in notebook._base_cells}

    def _penalty(self, student: str, submission, notebook) -> float | None:
        """As nbgrader's AssignLatePenalties has it, with the course's own plugin."""
        notebook.late_submission_penalty = None
        late = submission.total_seconds_late
        if late <= 0:
            return None
        penalty = self._late.plugin_inst.late_submission_penalty(student, notebook.score, late)
        return None if penalty is None else self._late._check_late_penalty(notebook, penalty)

    def _stage(self, student: str) -> Path:
        stage = self.course.root / STAGE / self.assignment / student
        shutil.rmtree(stage, ignore_errors=True)
        stage.mkdir(parents=True)
        return stage

    def _copy_files(self, student: str, stage: Path) -> None:
        """The hand-in's other files, and over them the course's own, as nbgrader does; links are left out."""
        files = {**self._files(self.submitted(student)), **self._own_files}
        for name, path in files.items():
            target = stage / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)

    @cached_property
    def _own_files(self) -> dict[str, Path]:
        kept = self._autograde.exclude_overwriting.get(self.assignment, [])
        found = self._files(self.course.root / "source" / self.assignment)
        return {name: path for name, path in found.items() if name not in kept}

    def _files(self, folder: Path) -> dict[str, Path]:
        """Name within the folder -> file, of all that nbgrader would copy."""
        ignore, found = [*self.coursedir.ignore, "*.ipynb"], {}
        for place, folders, names in os.walk(folder):
            folders[:] = [name for name in folders if not _ignored(name, ignore)]
            paths = (Path(place, name) for name in names if not _ignored(name, ignore))
            found.update({str(path.relative_to(folder)): path for path in paths if not path.is_symlink()})
        return found

    def _put(self, stage: Path, student: str) -> None:
        """Put the finished folder under its final name."""
        mode = int(str(self._autograde.permissions), 8)
        for path in stage.rglob("*"):
            if path.is_file():
                path.chmod(mode)
        final = verdict_path(self.course.root, student, self.assignment).parent
        final.parent.mkdir(parents=True, exist_ok=True)
        old = stage.with_name(f"{student}.old")
        shutil.rmtree(old, ignore_errors=True)
        if final.exists():
            final.rename(old)
        stage.rename(final)
        shutil.rmtree(old, ignore_errors=True)


def _ignored(name: str, patterns: list[str]) -> bool:
    return any(fnmatch(name, pattern) for pattern in patterns)


def hand_in(ledger: Ledger, student: str, notebook: str) -> HandIn:
    """The hand-in of one student."""
    return HandIn(student, ledger.assignment, ledger.submitted(student) / f"{notebook}.ipynb")
