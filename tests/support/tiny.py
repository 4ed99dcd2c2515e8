"""A course with one notebook of one exercise, made from nothing but the reference package `tiny_ref` and the kit."""

import shutil

import nbformat
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.apps.api import NbGraderAPI

from autograder.course import CONFIG, CONFIG_FILE, SECRET_FILE, open_course

ANSWER = "def double(x):\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION"


def tiny_course(root, repository):
    """(course, config) of a released course in folder `root`."""
    source = root / "source" / "tiny"
    source.mkdir(parents=True)
    about = {"schema_version": 3, "task": False}
    answer = {"grade": False, "grade_id": "double-answer", "locked": False, "solution": True, **about}
    check = {"grade": True, "grade_id": "double-check", "locked": True, "solution": False, "points": 2, **about}
    cells = [
        new_code_cell(ANSWER, id="double-answer", metadata={"nbgrader": answer}),
        new_code_cell("check('double', double)", id="double-check", metadata={"nbgrader": check}),
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(new_notebook(cells=cells, metadata={"kernelspec": kernel}), source / "tiny.ipynb")
    skipped = shutil.ignore_patterns("__pycache__")
    shutil.copytree(repository / "notebooks" / "partrain", source / "partrain", ignore=skipped)
    (root / CONFIG_FILE).write_text(CONFIG.format(reference="tiny_ref", kit="partrain", course_id="tiny"))
    (root / SECRET_FILE).write_text("0" * 64)
    course, config = open_course(root)
    said = NbGraderAPI(config=config).generate_assignment("tiny")
    assert said["success"], said
    return course, config


def hand_in_tiny(course, student, body):
    """A hand-in whose answer cell says `body`."""
    folder = course.root / "submitted" / student / "tiny"
    folder.mkdir(parents=True)
    nb = nbformat.read(course.root / "release" / "tiny" / "tiny.ipynb", 4)
    nb.cells[0].source = body
    nbformat.write(nb, folder / "tiny.ipynb")
    return folder / "tiny.ipynb"
