"""A self-check: is the pipeline active, is the release fit to be released, do grade book and verdicts agree?"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import nbformat
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from autograder import book
from autograder.breakouts import places, try_all
from autograder.course import SECRET_FILE, Course
from autograder.exercise import Exercise, draw_key
from autograder.footing import Finding, configured, elsewhere, private, secret
from autograder.sandbox import POOL, BoxError
from autograder.stubs import drop_regions


def examine(course: Course, config: Config) -> Iterator[Finding]:
    """Everything that can be looked at, in an order that a teacher can follow."""
    yield configured(config)
    yield elsewhere(course)
    yield private(course)
    yield secret(course)
    db_url = CourseDirectory(config=config).db_url
    yield from kernel(course, db_url)
    for assignment in sorted(path.name for path in (course.root / "source").glob("*") if path.is_dir()):
        yield from exercises(course, assignment)
        if (course.root / "release" / assignment).is_dir():
            yield release(course, assignment)
            yield grades(course, db_url, assignment)


def kernel(course: Course, db_url: str) -> Iterator[Finding]:
    """Try to break out of a student's kernel, and say what held."""
    try:
        seal = POOL.level((course.reference,)).words
    except BoxError as error:
        yield Finding("the student's kernel", str(error), False)
        return
    unsealed = "unsealed: a separate process with a clean environment; the disk and the network are not hidden"
    yield Finding("the student's kernel", seal or unsealed)
    hidden = [course.root, course.root / SECRET_FILE, *book.doors(db_url)]
    for tried in try_all((course.reference,), places(*hidden)):
        said = {True: "held", False: "got through", None: "not tried: nothing holds it without a seal"}[tried.held]
        yield Finding(f"tried from a student's kernel: {tried.attempt.name}", said, tried.held is not False)


def exercises(course: Course, assignment: str) -> Iterator[Finding]:
    """The self-test of each exercise: the reference is right, every mistake is told apart."""
    bad = [sentence for e in course.exercises(assignment).values() for sentence in faults(e)]
    yield Finding(f"{assignment}: exercises", "; ".join(bad) or "each passes its self-test", not bad)


def faults(exercise: Exercise) -> list[str]:
    """What is wrong with an exercise, in words; empty where nothing is."""
    found = []
    try:
        calls = exercise.hidden(draw_key(b"doctor", "doctor", "doctor", exercise.name))
    except ValueError as error:
        return [str(error)]
    for one in (*exercise.examples, *calls):
        if type(exercise.run(exercise.reference, one)).__name__ == "Raised":
            found.append(f"{exercise.name}: the reference refuses a legal input")
    for one in exercise.refusals:
        if getattr(exercise.run(exercise.reference, one), "type_name", "") != "ValueError":
            found.append(f"{exercise.name}: the reference does not refuse where {one.why}")
    return found


def release(course: Course, assignment: str) -> Finding:
    """The released copy holds no solution, no output and no name of the reference."""
    leaks = sorted(set(leaks_in(course, assignment)))
    return Finding(f"{assignment}: release", "; ".join(leaks) or "nothing leaks", not leaks)


def leaks_in(course: Course, assignment: str) -> Iterator[str]:
    """What a released folder holds that students must not see, in words."""
    folder = course.root / "release" / assignment
    for path in sorted(folder.rglob("*")):
        if path.is_file() and re.search(rf"\b{re.escape(course.reference)}\b", path.read_text("utf-8", "replace")):
            yield f"{path.name} names {course.reference}"
    for path in sorted(folder.glob("*.ipynb")):
        released = nbformat.read(path, as_version=4)
        source = nbformat.read(course.root / "source" / assignment / path.name, as_version=4)
        if "widgets" in released.metadata:
            yield f"{path.name} holds widget state"
        text = "\n".join(cell.source for cell in released.cells)
        for cell in released.cells:
            if cell.cell_type == "code" and (cell.outputs or cell.execution_count is not None):
                yield f"{path.name}: cell {cell.get('id')} holds an output or a count"
            if "BEGIN SOLUTION" in cell.source:
                yield f"{path.name}: cell {cell.get('id')} holds a solution mark"
        for cell in source.cells:
            about = cell.metadata.get("nbgrader", {})
            if cell.cell_type == "markdown" and about.get("solution") and cell.source in text:
                yield f"{path.name} holds the written answer {cell.get('id')}"
            if cell.cell_type == "code" and about.get("solution"):
                if "BEGIN SOLUTION" not in cell.source:
                    yield f"{path.name}: the answer cell {cell.get('id')} has no solution marks"
                for line in solution_lines(cell.source):
                    if line in text:
                        yield f"{path.name} holds a line of the solution of {cell.get('id')}"


def solution_lines(source: str) -> list[str]:
    """Lines that only the solution of a cell holds, long enough to be told from chance."""
    kept = {line.strip() for line in drop_regions(source).splitlines()}
    inside = [line.strip() for line in source.splitlines() if "SOLUTION" not in line]
    return [line for line in inside if line not in kept and len(line) > 24 and not _is_message(line)]


def _is_message(line: str) -> bool:
    """A lone text or comment is prose that the lesson may use too."""
    if line.startswith("#"):
        return True
    try:
        return isinstance(ast.parse(line).body[0], ast.Expr) and isinstance(ast.parse(line).body[0].value, ast.Constant)
    except (SyntaxError, IndexError):
        return False


def grades(course: Course, db_url: str, assignment: str) -> Finding:
    """Each automatic score of the grade book is the verdict's."""
    what = f"{assignment}: grade book against verdicts"
    found, off = book.scores(db_url, assignment), []
    for student, row in found.items():
        said = book.read_verdict(course.root, student, assignment)
        if said is None:
            off.append(f"{student} has a score and no verdict")
            continue
        for name, verdict in said["exercises"].items():
            if row.get(name) != verdict["points"]:
                off.append(f"{student}, {name}: {row.get(name)} in the book, {verdict['points']} in the verdict")
    return Finding(what, "; ".join(off[:5]) or f"{len(found)} students, all the same", not off)
