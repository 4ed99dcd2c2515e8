"""A sample class, end to end: release, hand-ins through a private exchange, collection, grades, feedback, report."""

from __future__ import annotations

import importlib
import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbgrader.apps.api import NbGraderAPI
from traitlets.config import Config

from autograder import course as courses
from autograder import report
from autograder.course import Course, CourseError
from autograder.grade import grade
from autograder.stubs import without_marks

MARK = "made-by-autograder-demo"


@dataclass(frozen=True)
class Sample:
    """A sample student, named for what they do.

    answers: cell id -> new source of that cell, over the authors' solutions unless `blank`; tamper: a last change of
    the notebook; write: what is handed in instead of a notebook.
    """

    name: str
    answers: dict[str, str] = field(default_factory=dict)
    blank: bool = False
    tamper: Callable[[nbformat.NotebookNode], None] | None = None
    write: bytes | None = None


def samples(course: Course) -> dict[str, tuple[Sample, ...]]:
    """assignment -> the sample class that the reference package describes."""
    classes = importlib.import_module(f"{course.reference}.samples").CLASSES
    return {part: tuple(Sample(name, **what) for name, what in students.items()) for part, students in classes.items()}


def hand_in(course: Course, assignment: str, sample: Sample, folder: Path) -> None:
    """Write into `folder` what this sample student hands in: the released files, with their answers."""
    shutil.copytree(course.root / "release" / assignment, folder, dirs_exist_ok=True)
    path = folder / f"{assignment}.ipynb"
    if sample.write is not None:
        path.write_bytes(sample.write)
        return
    nb = nbformat.read(path, as_version=4)
    source = nbformat.read(course.root / "source" / assignment / path.name, as_version=4)
    solutions = {cell.id: without_marks(cell.source) for cell in source.cells if cell.id.endswith("-answer")}
    for cell in nb.cells:
        if cell.id in sample.answers:
            cell.source = sample.answers[cell.id]
        elif cell.id in solutions and not sample.blank:
            cell.source = solutions[cell.id]
    if sample.tamper:
        sample.tamper(nb)
    nbformat.write(nb, path)


def run(folder: Path, start: Path, console, only: Mapping[str, Sequence[str]] | None = None) -> None:
    """Build and grade the demo course in `folder`; an old demo there is made anew.

    only: part -> the sample students who take part, where it is not the whole class of all parts.
    """
    root = folder.resolve()
    if root.exists() and any(root.iterdir()):
        if not (root / MARK).exists():
            raise CourseError(f"{root} is not empty and no demo course; the demo makes its folder anew and will not.")
        shutil.rmtree(root)
    course = courses.create(root, start)
    (root / MARK).write_text("The demo makes this folder anew each time.\n", encoding="utf-8")
    with (root / courses.CONFIG_FILE).open("a", encoding="utf-8") as config:
        config.write("\n# The demo only: a private exchange, and one account that hands in for all.\n")
        config.write('c.Exchange.root = str(Path(__file__).parent / "exchange")\n')
        config.write('c.Exchange.cache = str(Path(__file__).parent / "students" / ".cache")\n')
        config.write("c.ExchangeCollect.check_owner = False\n")
    (root / "exchange").mkdir()
    (root / "exchange").chmod(0o777)
    course, config = courses.open_course(root)
    classes = samples(course)
    if only is not None:
        classes = {part: tuple(s for s in classes[part] if s.name in names) for part, names in only.items()}
    for assignment in sorted(classes):
        _round(course, config, assignment, classes[assignment], console)
    page = report.write(course, NbGraderAPI(config=config).coursedir.db_url)
    console.print(f"Course folder:  {root}")
    console.print(f"Grade book:     {root / 'gradebook.db'}")
    for assignment in sorted(classes):
        console.print(f"Feedback:       {root / 'feedback'}/STUDENT/{assignment}/{assignment}.html")
        console.print(f"Verdicts:       {root / 'autograded'}/STUDENT/{assignment}/verdict.json")
    console.print(f"Class report:   {page}")


def _round(course: Course, config: Config, assignment: str, students: tuple[Sample, ...], console) -> None:
    api = NbGraderAPI(config=config)
    must(api.generate_assignment(assignment), f"generate {assignment}")
    must(api.release_assignment(assignment), f"release {assignment}")
    console.print(f"{assignment}: released; {len(students)} students hand in.")
    for sample in students:
        place = course.root / "students" / sample.name / assignment
        hand_in(course, assignment, sample, place)
        submit(config, assignment, sample.name, place.parent)
    must(api.collect(assignment), f"collect {assignment}")
    for number, result in enumerate(grade(course, config, assignment), 1):
        points = result.verdict["points"]
        said = "could not be graded" if points is None else f"{points:g} of {result.verdict['max_points']:g} points"
        console.print(f"  {number:>2} of {len(students)}  {result.student}: {said}")
    must(api.generate_feedback(assignment), f"feedback {assignment}")
    must(api.release_feedback(assignment), f"release feedback {assignment}")


def submit(config: Config, assignment: str, student: str, folder: Path) -> None:
    """`nbgrader submit ASSIGNMENT --student STUDENT`, started in the student's folder."""
    student_config = Config(
        json.loads(json.dumps({"CourseDirectory": {"course_id": config.CourseDirectory.course_id}}))
    )
    student_config.Exchange = config.Exchange
    student_config.CourseDirectory.student_id = student
    student_config.CourseDirectory.assignment_id = assignment
    api = NbGraderAPI(config=student_config)
    with _inside(folder):
        api.exchange.Submit(coursedir=api.coursedir, authenticator=api.authenticator, parent=api).start()


@contextmanager
def _inside(folder: Path):
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def must(said: dict, what: str) -> None:
    """Stop with nbgrader's own words where one of its steps failed."""
    if not said["success"]:
        raise CourseError(f"nbgrader could not {what}: {said.get('log', '')}{said.get('error', '')}")
