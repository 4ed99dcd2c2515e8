"""The one writer of a class run: graded hand-ins into the grade book and the autograded folder, whole or not at all.

The order makes a run that is killed repeatable: grades first, in one transaction; then the folder, complete, under its
final name. Without that folder's verdict a hand-in counts as not graded, and grading it again changes nothing twice.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import AssignLatePenalties
from traitlets.config import Config

from autograder import book, verdict
from autograder.book import graded_cells
from autograder.course import Course, CourseError
from autograder.settle import VERDICT_FILE, fingerprint, write_records, write_verdict
from autograder.sources import Sources, sources
from autograder.stage import Stage
from autograder.submission import Graded


class Ledger:
    """An open grade book and the folders beside it, for one assignment. Use as a context manager."""

    def __init__(self, course: Course, config: Config, assignment: str):
        self.course, self.assignment = course, assignment
        self.coursedir = CourseDirectory(config=config)
        self.stage = Stage(course, config, assignment)
        self._late = AssignLatePenalties(config=config)
        self._late.init_plugin()
        self.book = Gradebook(self.coursedir.db_url, self.coursedir.course_id)

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *error) -> None:
        self.book.close()
        self.stage.clear()

    def let_go(self) -> None:
        """Close the connection, so that a process forked now shares none; the next use opens another."""
        self.book.db.remove()
        self.book.engine.dispose()

    def points(self) -> dict[str, float]:
        """name -> points of every graded cell. CourseError where the assignment was not released."""
        found = graded_cells(self.book, self.assignment)
        if not found:
            first = f"run `nbgrader generate_assignment {self.assignment}` first"
            raise CourseError(f"{self.assignment} was not released yet; {first}.")
        return found

    def notebook(self) -> str:
        """The name of the assignment's notebook as it was released. CourseError where there is not just one."""
        names = sorted(notebook.name for notebook in self.book.find_assignment(self.assignment).notebooks)
        if len(names) != 1:
            listed = ", ".join(names) or "none"
            raise CourseError(f"{self.assignment} must have one notebook to be graded here; released are: {listed}.")
        return names[0]

    def sources(self, notebook: str) -> Sources:
        return sources(self.book, self.assignment, notebook)

    def submitted(self, student: str) -> Path:
        return self.course.root / "submitted" / student / self.assignment

    def keep(self, graded: Graded) -> None:
        """Write down what came of one hand-in."""
        student = graded.hand_in.student
        handed_in = fingerprint(self.submitted(student))
        same = handed_in == book.handed_in(self.course.root, student, self.assignment)
        self._set(student, self._submission(student), graded.notebook, graded.scores, graded.comments, same)
        stage = self.stage.open(student)
        self.stage.copy_files(self.submitted(student), stage)
        (stage / f"{graded.notebook}.ipynb").write_text(graded.text, encoding="utf-8", errors="replace")
        write_records(stage, graded.verdict, graded.answers, handed_in)
        self.stage.put(student)

    def revise(self, student: str, notebook: str, text: str, said: dict, scores: dict) -> None:
        """Write down another verdict on what an earlier run recorded, and the scores that it changes.

        The hand-in's files, its recorded answers, manual scores and comments stay. The verdict comes last: as long as
        the old one stands, the change is still to be made, and making it again changes nothing twice.
        """
        if scores:
            self._set(student, self.book.find_submission(self.assignment, student), notebook, scores, {})
        stage = self.stage.open(student)
        (stage / f"{notebook}.ipynb").write_text(text, encoding="utf-8", errors="replace")
        write_verdict(stage, said)
        self.stage.put_files(student, (f"{notebook}.ipynb", VERDICT_FILE))

    def refuse(self, student: str, points: dict[str, float], reason: str) -> dict:
        """Write down that a hand-in could not be graded at all, and why. points: of all that would have been graded."""
        said = {name: verdict.ungraded(most, reason) for name, most in points.items()}
        summary = verdict.summary(student, self.assignment, said, False, [])
        submission = self._submission(student)
        for notebook in submission.notebooks:
            for grade in notebook.grades:
                grade.auto_score, grade.needs_manual_grade = None, True
        self.book.db.commit()
        stage = self.stage.open(student)
        write_records(stage, summary, {}, fingerprint(self.submitted(student)))
        self.stage.put(student)
        return summary

    def _submission(self, student: str):
        self.book.update_or_create_student(student)
        stamp = self.coursedir.get_existing_timestamp(str(self.submitted(student)))
        about = {"timestamp": stamp} if stamp else {}
        return self.book.update_or_create_submission(self.assignment, student, **about)

    def _set(self, student: str, submission, name: str, scores: dict, comments: dict, same: bool = False) -> None:
        """Scores, nbgrader's own comments and the late penalty of one notebook, in one transaction.

        Where a person has given points by hand, they are asked to look again, unless hand-in and score are the same.
        """
        (notebook,) = [one for one in submission.notebooks if one.name == name]
        names = self._cell_names
        for grade in notebook.grades:
            name = names[grade.cell_id]
            if name in scores:
                score, person = scores[name]
                if grade.manual_score is None:
                    grade.needs_manual_grade = person
                elif not (same and grade.auto_score == score):
                    grade.needs_manual_grade = True
                grade.auto_score = score
        for comment in notebook.comments:
            name = names[comment.cell_id]
            if name in comments:
                comment.auto_comment = comments[name]
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
