"""What a course consists of: its folders, its secret, its reference package; and how a new one is made."""

from __future__ import annotations

import importlib
import os
import secrets
import shutil
import sys
import tomllib
from functools import cached_property
from pathlib import Path

import nbformat
from traitlets import Unicode
from traitlets.config import Config, Configurable

from autograder.exercise import Exercise

SECRET_FILE = ".course_secret"
CONFIG_FILE = "nbgrader_config.py"
CONFIG = '''"""The course's nbgrader configuration: nbgrader's command line and Formgrader read it from this folder."""

from pathlib import Path

from autograder.nbgrader_config import configure

c = get_config()  # noqa: F821  provided by nbgrader

configure(c, root=Path(__file__).parent, reference={reference!r}, kit={kit!r})

c.CourseDirectory.course_id = {course_id!r}
# Where students fetch and hand in. A folder all of them can reach; see nbgrader's manual on the exchange.
# c.Exchange.root = "/srv/nbgrader/exchange"
'''


class CourseError(Exception):
    """Something a teacher can put right; its text is one clear sentence."""


class CourseSettings(Configurable):
    """What each of our steps must know of the course; set once for all as `c.CourseSettings`."""

    root = Unicode(help="The course folder.").tag(config=True)
    reference = Unicode(help="The package with the exercises, importable by the teacher only.").tag(config=True)
    kit = Unicode(help="The folder beside the notebook that students import from.").tag(config=True)

    @property
    def course(self) -> Course:
        return Course(Path(self.root or "."), self.reference, self.kit)


class Course:
    """A course folder as the grader sees it."""

    def __init__(self, root: Path, reference: str, kit: str):
        self.root, self.reference, self.kit = Path(root).resolve(), reference, kit

    @cached_property
    def secret(self) -> bytes:
        """The course's own secret. Hidden inputs are drawn from it, so another course draws others."""
        try:
            text = (self.root / SECRET_FILE).read_text(encoding="ascii").strip()
        except OSError:
            raise CourseError(
                f"The course secret {self.root / SECRET_FILE} is missing; restore it from a backup, or make a new one "
                "with `autograder init` (hidden inputs will then be drawn anew)."
            ) from None
        return text.encode()

    def exercises(self, assignment: str) -> dict[str, Exercise]:
        """The exercises of an assignment by name; empty where the reference package does not know it."""
        known = importlib.import_module(f"{self.reference}.exercises").ASSIGNMENTS if self.reference else {}
        return {exercise.name: exercise for exercise in known.get(assignment, ())}

    def released(self, assignment: str, notebook: str) -> nbformat.NotebookNode:
        """The notebook as students received it."""
        path = self.root / "release" / assignment / f"{notebook}.ipynb"
        try:
            return nbformat.read(path, as_version=4)
        except Exception:
            raise CourseError(
                f"{path} cannot be read; run `nbgrader generate_assignment {assignment}` first."
            ) from None

    def files_beside(self, assignment: str) -> list[tuple[Path, str]]:
        """(file, path beside the notebook) of all that was released with it; a student's copies are never used."""
        folder = self.root / "source" / assignment
        found = (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink())
        inside = [(path, path.relative_to(folder)) for path in found]
        skipped = ("__pycache__", ".ipynb_checkpoints")
        return [
            (path, str(rel)) for path, rel in inside if path.suffix != ".ipynb" and not set(rel.parts) & set(skipped)
        ]

    def assignment(self, prefix: str) -> str:
        """The one assignment of the course that begins with `prefix`."""
        folder = self.root / "source"
        names = sorted(path.name for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
        found = [prefix] if prefix in names else [name for name in names if name.startswith(prefix)]
        if len(found) != 1:
            what = "is not an assignment" if not found else f"could be {' or '.join(found)}"
            raise CourseError(f"{prefix!r} {what}; this course has: {', '.join(names) or 'none'}.")
        return found[0]


def load_config(root: Path) -> Config:
    """The configuration that nbgrader's own commands read when started in the course folder."""
    from nbgrader.apps.baseapp import NbGrader

    root = Path(root).resolve()
    tools = os.path.dirname(sys.executable)
    if tools not in os.environ.get("PATH", "").split(os.pathsep):  # nbgrader starts `alembic` by name
        os.environ["PATH"] = tools + os.pathsep + os.environ.get("PATH", os.defpath)
    if not (root / CONFIG_FILE).is_file():
        raise CourseError(f"{root} is not a course folder: it holds no {CONFIG_FILE}. `autograder init DIR` makes one.")
    app, before = NbGrader(raise_config_file_errors=True), os.getcwd()
    os.chdir(root)
    try:
        app.load_config_file()
    except (Exception, SystemExit) as error:
        raise CourseError(f"{root / CONFIG_FILE} cannot be read: {error}") from error
    finally:
        os.chdir(before)
    app.config.CourseDirectory.root = str(root)
    return app.config


def open_course(root: Path) -> tuple[Course, Config]:
    """The course in folder `root` and its configuration."""
    config = load_config(root)
    if "CourseSettings" not in config:
        raise CourseError(f"{Path(root) / CONFIG_FILE} does not call autograder.nbgrader_config.configure.")
    return CourseSettings(config=config).course, config


def find_repository(start: Path) -> tuple[Path, dict]:
    """The repository a course is made from, and its [tool.autograder] settings."""
    places = [start, *start.parents, Path(__file__).resolve().parent.parent]
    for place in places:
        project = place / "pyproject.toml"
        if project.is_file():
            settings = tomllib.loads(project.read_text(encoding="utf-8")).get("tool", {}).get("autograder")
            if settings:
                return place, settings
    raise CourseError("No pyproject.toml with a [tool.autograder] section was found; start in the course's repository.")


def create(root: Path, start: Path) -> Course:
    """Make `root` an nbgrader course folder: sources, kit, configuration, secret. What is there already is kept."""
    repository, settings = find_repository(Path(start).resolve())
    root = Path(root).resolve()
    if root.exists() and not root.is_dir():
        raise CourseError(f"{root} is a file; a course needs a folder.")
    notebooks, kit = repository / settings["notebooks"], settings["kit"]
    root.parent.mkdir(parents=True, exist_ok=True)
    root.mkdir(mode=0o700, exist_ok=True)  # it will hold solutions, hand-ins and grades
    course = Course(root, settings["reference"], kit)
    for notebook in sorted(notebooks.glob("*.ipynb")):
        if not course.exercises(notebook.stem):
            continue
        source = root / "source" / notebook.stem
        source.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(notebook, source / notebook.name)
        shutil.rmtree(source / kit, ignore_errors=True)
        shutil.copytree(notebooks / kit, source / kit, ignore=shutil.ignore_patterns("__pycache__", ".*"))
    if not (root / CONFIG_FILE).exists():
        text = CONFIG.format(reference=settings["reference"], kit=kit, course_id=settings["course_id"])
        (root / CONFIG_FILE).write_text(text, encoding="utf-8")
    if not (root / SECRET_FILE).exists():
        handle = os.open(root / SECRET_FILE, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w") as file:
            file.write(secrets.token_hex(32))
    return course
