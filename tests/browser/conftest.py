import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True)
def browser_is_there():
    import lab

    if lab.chromium() is None:
        if os.environ.get("CI"):
            pytest.fail("no Chromium or Chrome on this machine; in CI nothing is skipped")
        pytest.skip("no Chromium or Chrome on this machine: install one to run the browser tests")


@pytest.fixture(scope="session")
def students_folder(tmp_path_factory):
    """All parts as a student receives them, each in its folder."""
    import shutil

    from nbgrader.apps.api import NbGraderAPI

    from autograder.course import create, open_course

    repository = Path(__file__).resolve().parents[2]
    root = tmp_path_factory.mktemp("student") / "course"
    create(root, repository)
    course, config = open_course(root)
    folder = root.parent / "desk"
    for source in sorted((course.root / "source").iterdir()):
        said = NbGraderAPI(config=config).generate_assignment(source.name)
        assert said["success"], said
        shutil.copytree(course.root / "release" / source.name, folder / source.name)
    return folder
