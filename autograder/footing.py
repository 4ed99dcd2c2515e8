"""What a course stands on: the grading steps are ours, here and elsewhere; folder and secret are closed to others."""

from __future__ import annotations

import stat
from dataclasses import dataclass
from pathlib import Path

from nbgrader.apps import NbGrader
from nbgrader.converters import Autograde, GenerateAssignment
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from autograder import nbgrader_config
from autograder.course import CONFIG_FILE, SECRET_FILE, Course, CourseError


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    what: str
    said: str
    good: bool = True


def configured(config: Config) -> Finding:
    """The steps that nbgrader and Formgrader will run in this folder are ours."""
    ours = steps_are_ours(config)
    what = "the grading steps in nbgrader_config.py"
    said = (
        "active" if ours else "not active: nbgrader_config.py must call configure, and change none of its lists later"
    )
    return Finding(what, said, ours)


def steps_are_ours(config: Config) -> bool:
    grading = Autograde(config=config, coursedir=CourseDirectory(config=config))
    making = GenerateAssignment(config=config, coursedir=CourseDirectory(config=config))
    return (
        list(grading.autograde_preprocessors) == nbgrader_config.GRADE
        and list(grading.sanitize_preprocessors) == nbgrader_config.SANITIZE
        and list(making.preprocessors) == nbgrader_config.RELEASE
        and grading.pre_convert_hook is not None
    )


def elsewhere(course: Course) -> Finding:
    """Formgrader, started in another folder, does not find this course under other grading steps."""
    what = "JupyterLab started in another folder"
    app = NbGrader(log_level="ERROR")  # to find no configuration there is the usual case
    app.load_cwd_config = False
    app.load_config_file()
    root = app.config.CourseDirectory.get("root")
    if root is None or Path(root).resolve() != course.root:
        return Finding(what, "does not find this course: start it in the course folder")
    good = steps_are_ours(app.config)
    said = f"Jupyter's own {CONFIG_FILE} names this course and does not call configure: all would get 0"
    return Finding(what, "active there too" if good else said, good)


def private(course: Course) -> Finding:
    """Other accounts of this machine, students' too, cannot look into the course folder."""
    closed = not stat.S_IMODE(course.root.stat().st_mode) & 0o007
    said = "private" if closed else "others on this machine may look into it: chmod o-rwx it"
    return Finding("the course folder", said, closed)


def secret(course: Course) -> Finding:
    """The secret is there, and nobody else may read it."""
    what = "the course secret"
    try:
        strong = len(course.secret) >= 32
    except CourseError as error:
        return Finding(what, str(error), False)
    mode = stat.S_IMODE((course.root / SECRET_FILE).stat().st_mode)
    if mode & 0o077:
        return Finding(what, f"others on this machine may read {SECRET_FILE}: chmod 600 it", False)
    return Finding(what, "private" if strong else "too short to be a secret", strong)
