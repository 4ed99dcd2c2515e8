"""What all tests share: the kit on the import path, nbgrader's helpers on PATH, one demo class for the whole run."""

import json
import os
import shutil
import sys
from functools import cache
from pathlib import Path

import hypothesis
import pytest

hypothesis.settings.register_profile("house", deadline=None)  # a busy machine is no fault of the code
hypothesis.settings.load_profile("house")
REPOSITORY = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPOSITORY / "notebooks"))
sys.path.insert(0, str(REPOSITORY / "tests" / "support"))  # what several test files use
sys.path.append(str(REPOSITORY / "tests"))  # for `corpus`; last, so that no folder here hides a package
pytest.register_assert_rewrite("pictures")
os.environ["PATH"] = str(Path(sys.executable).parent) + os.pathsep + os.environ.get("PATH", "")
os.environ["JUPYTER_PLATFORM_DIRS"] = "1"

# Two processes take one file after the other: the longest come first, so that none is left alone with one at the end.
LONGEST = (
    *("test_corpus.py", "test_class_run.py", "test_grade.py", "test_many.py", "test_regrade.py", "test_docs.py"),
    *("test_samples.py", "test_answer.py", "test_class_level.py", "test_sandbox.py", "test_exercises.py"),
    *("test_postgres.py", "test_breakouts.py", "test_side_by_side.py"),
)


def pytest_collection_modifyitems(items):
    rank = {name: at for at, name in enumerate(LONGEST)}
    items.sort(key=lambda item: rank.get(item.path.name, len(rank)))


@pytest.fixture(scope="session", autouse=True)
def one_version_of_the_grade_book():
    """nbgrader starts a process for each new grade book, three seconds, to ask alembic what is always the same."""
    api = sys.modules.get("nbgrader.api")
    with pytest.MonkeyPatch.context() as patch:
        if api:
            patch.setattr(api, "get_alembic_version", cache(api.get_alembic_version))
        yield


@pytest.fixture(scope="session")
def repository() -> Path:
    return REPOSITORY


@pytest.fixture(scope="session")
def oracles() -> dict:
    """Numbers made by other software; tests/oracles/README.md says which and how they are used."""
    return json.loads((REPOSITORY / "tests" / "oracles" / "oracles.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def class_of(tmp_path_factory):
    """part -> (course, config) of its demo class, graded end to end once. Tests must leave it as it is."""
    from classes import class_list
    from rich.console import Console

    from autograder.course import open_course
    from autograder.demo import run

    made = {}

    def get(part):
        if part not in made:
            made[part] = tmp_path_factory.mktemp("class") / "course"
            students = class_list(part)
            with pytest.MonkeyPatch.context() as patch:
                if len(students) < 8:  # so few are graded before a second kernel is warm
                    patch.setattr("autograder.grade.cores", lambda: 1)
                run(made[part], REPOSITORY, Console(quiet=True), {part: students})
        return open_course(made[part])

    return get


@pytest.fixture(scope="session")
def released_folder(tmp_path_factory):
    """A course folder with part 1 released; copied for each test that changes it."""
    from nbgrader.apps.api import NbGraderAPI

    from autograder.course import create, open_course

    root = tmp_path_factory.mktemp("released") / "course"
    create(root, REPOSITORY)
    said = NbGraderAPI(config=open_course(root)[1]).generate_assignment("part1_split_the_batch")
    assert said["success"], said
    return root


@pytest.fixture
def small_course(released_folder, tmp_path):
    """A course of its own with part 1 released and nobody's hand-in yet: (course, config)."""
    from autograder.course import open_course

    shutil.copytree(released_folder, tmp_path / "course")
    return open_course(tmp_path / "course")
