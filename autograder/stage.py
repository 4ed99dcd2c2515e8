"""The stage: where the folder of a graded hand-in is put together, before it stands under its final name."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path

from nbgrader.converters import Autograde
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from autograder.book import verdict_path
from autograder.course import Course

STAGE = ".grading"  # in the course folder


class Stage:
    """The graded folders of one assignment. What is put in place is there whole, whenever the run is killed."""

    def __init__(self, course: Course, config: Config, assignment: str):
        self.course, self.assignment = course, assignment
        self.coursedir = CourseDirectory(config=config)
        self._autograde = Autograde(config=config, coursedir=self.coursedir)
        self._folder = course.root / STAGE / assignment

    def clear(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    def open(self, student: str) -> Path:
        """An empty folder to fill."""
        stage = self._folder / student
        shutil.rmtree(stage, ignore_errors=True)
        stage.mkdir(parents=True)
        return stage

    def copy_files(self, submitted: Path, stage: Path) -> None:
        """The hand-in's other files, and over them the course's own, as nbgrader does; links are left out."""
        files = {**self._files(submitted), **self._own_files}
        for name, path in files.items():
            target = stage / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)

    def put(self, student: str) -> None:
        """Put the finished folder under its final name."""
        self._permit(student)
        final = self._final(student)
        final.parent.mkdir(parents=True, exist_ok=True)
        old = self._folder / f"{student}.old"
        shutil.rmtree(old, ignore_errors=True)
        if final.exists():
            final.rename(old)
        (self._folder / student).rename(final)
        shutil.rmtree(old, ignore_errors=True)

    def put_files(self, student: str, names: Iterable[str]) -> None:
        """Put single files, one after the other, in place of those of a folder that stays."""
        self._permit(student)
        for name in names:
            (self._folder / student / name).replace(self._final(student) / name)

    def _final(self, student: str) -> Path:
        return verdict_path(self.course.root, student, self.assignment).parent

    def _permit(self, student: str) -> None:
        mode = int(str(self._autograde.permissions), 8)
        for path in (self._folder / student).rglob("*"):
            if path.is_file():
                path.chmod(mode)

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
            plain = (path for path in paths if path.is_file() and not path.is_symlink())  # no pipes, no sockets
            found.update({str(path.relative_to(folder)): path for path in plain})
        return found


def _ignored(name: str, patterns: list[str]) -> bool:
    return any(fnmatch(name, pattern) for pattern in patterns)
