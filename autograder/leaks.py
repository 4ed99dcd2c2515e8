"""Is a release fit to be released? Looks for solutions in any guise, hidden inputs, outputs, names of the reference."""

from __future__ import annotations

import ast
import base64
import binascii
import json
import re
from collections.abc import Iterator
from pathlib import Path

import nbformat

from autograder import wire
from autograder.course import Course, CourseError
from autograder.exercise import draw_key
from autograder.stubs import drop_regions

LONG_ENOUGH = 24  # characters from which a line is told from chance
PACKED = re.compile(r"[A-Za-z0-9+/]{40,}={0,2}")
STRANGE = {".db", ".sqlite", ".pyc", ".pkl", ".key", ".log"}
PLACES = {".ipynb_checkpoints", "__pycache__"}


def leaks_in(course: Course, assignment: str, students: tuple[str, ...] = ()) -> Iterator[str]:
    """What a released folder holds that students must not see, in words.

    students: whose hidden inputs are looked for.
    """
    folder = course.root / "release" / assignment
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    texts = {path: path.read_text("utf-8", "replace") for path in files}
    for path, text in texts.items():
        if re.search(rf"\b{re.escape(course.reference)}\b", text):
            yield f"{path.name} names {course.reference}"
        if path.suffix in STRANGE or PLACES & set(path.relative_to(folder).parts):
            yield f"{path.relative_to(folder)} does not belong in a release"
        if _secret(course) in text:
            yield f"{path.name} holds the course secret"
    for path in (path for path in files if path.suffix == ".ipynb" and not PLACES & set(path.parts)):
        yield from _notebook(course, assignment, path)
    pools = {path: squeezed(unpacked(text)) for path, text in texts.items()}
    yield from _solutions(course, assignment, pools)
    yield from _hidden_inputs(course, assignment, students, pools)


def _secret(course: Course) -> str:
    try:
        return course.secret.decode()
    except CourseError:
        return "no secret yet, and so nothing to look for"


def _notebook(course: Course, assignment: str, path: Path) -> Iterator[str]:
    released = nbformat.read(path, as_version=4)
    if "widgets" in released.metadata:
        yield f"{path.name} holds widget state"
    for cell in released.cells:
        if cell.cell_type == "code" and (cell.outputs or cell.execution_count is not None):
            yield f"{path.name}: cell {cell.get('id')} holds an output or a count"
        if "BEGIN SOLUTION" in cell.source:
            yield f"{path.name}: cell {cell.get('id')} holds a solution mark"
    for cell in _answers(course, assignment, path.name):
        if cell.cell_type == "code" and "BEGIN SOLUTION" not in cell.source:
            yield f"{path.name}: the answer cell {cell.get('id')} has no solution marks"
        if cell.cell_type == "markdown" and any(cell.source in other.source for other in released.cells):
            yield f"{path.name} holds the written answer {cell.get('id')}"


def _answers(course: Course, assignment: str, name: str) -> list:
    source = nbformat.read(course.root / "source" / assignment / name, as_version=4)
    return [cell for cell in source.cells if cell.metadata.get("nbgrader", {}).get("solution")]


def _solutions(course: Course, assignment: str, pools: dict[Path, str]) -> Iterator[str]:
    """Lines of solutions in any file of the release: as code, in a text, a comment, metadata, or packed.

    In a notebook one line is one too many. The kit computes what its panels show, and may share lines with a solution,
    but not most of them.
    """
    for notebook in sorted((course.root / "source" / assignment).glob("*.ipynb")):
        for cell in _answers(course, assignment, notebook.name):
            lines = solution_lines(cell.source) if cell.cell_type == "code" else []
            for path, pool in pools.items() if lines else ():
                held = sum(squeezed(line) in pool for line in lines)
                if held and (path.suffix == ".ipynb" or 2 * held > len(lines)):
                    yield f"{path.name} holds a line of the solution of {cell.get('id')}"


def _hidden_inputs(course: Course, assignment: str, students, pools: dict[Path, str]) -> Iterator[str]:
    for exercise in course.exercises(assignment).values() if students else ():
        for student in students:
            for one in exercise.hidden(draw_key(course.secret, assignment, student, exercise.name)):
                sent = squeezed(json.dumps(wire.encode_call(one)["args"]))
                for path, pool in pools.items():
                    if len(sent) > LONG_ENOUGH and sent in pool:
                        yield f"{path.name} holds a hidden input of {exercise.name}"


def solution_lines(source: str) -> list[str]:
    """Lines that only the solution of a cell holds, long enough to be told from chance."""
    kept = {line.strip() for line in drop_regions(source).splitlines()}
    inside = [line.strip() for line in source.splitlines() if "SOLUTION" not in line]
    return [line for line in inside if line not in kept and len(line) > LONG_ENOUGH and not _is_message(line)]


def _is_message(line: str) -> bool:
    """A lone text or comment is prose that the lesson may use too."""
    if line.startswith("#"):
        return True
    try:
        return isinstance(ast.parse(line).body[0], ast.Expr) and isinstance(ast.parse(line).body[0].value, ast.Constant)
    except (SyntaxError, IndexError):
        return False


def squeezed(text: str) -> str:
    """`text` without blanks, quotes and backslashes, so that layout and JSON's escapes hide nothing."""
    return re.sub(r"\\[nrt]|[\s\"'\\]", "", text)


def unpacked(text: str) -> str:
    """`text`, and behind it what the packed pieces in it say."""
    found = [text]
    for piece in PACKED.findall(text):
        try:
            found.append(base64.b64decode(piece + "=" * (-len(piece) % 4)).decode("utf-8"))
        except (binascii.Error, ValueError):
            continue
    return "\n".join(found)
