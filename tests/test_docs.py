"""Every command of the READMEs does what they say, in the order in which they say it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.course import open_course
from autograder.demo import Sample, hand_in, submit

PART = "part1_split_the_batch"
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)


def commands(path):
    """The lines of all shell blocks of a page."""
    return [line for block in BLOCK.findall(path.read_text(encoding="utf-8")) for line in block.strip().split("\n")]


@pytest.fixture(scope="module")
def round_of_a_teacher(repository, tmp_path_factory):
    """All commands of the teacher's page run one after the other; a student hands in before collection."""
    folder = tmp_path_factory.mktemp("docs")
    bin_folder = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}"}
    course, ran = folder / "my-course", {}
    for line in commands(repository / "autograder" / "README.md"):
        if line in ("make setup", "source .venv/bin/activate", "cd my-course"):
            continue  # done: these tests run in that environment; the next ones are started in the course folder
        if line.startswith("nbgrader collect"):
            student_hands_in(course, folder / "anna")
        if line.startswith("autograder init"):
            where, line_run = repository, line.replace("my-course", str(course))
        else:
            where, line_run = course, line
        done = subprocess.run(
            line_run, shell=True, cwd=where, env=environment, capture_output=True, text=True, check=False
        )
        ran[line] = (done.returncode, done.stdout + done.stderr)
        if line.startswith("autograder init"):
            exchange = folder / "exchange"
            exchange.mkdir()
            exchange.chmod(0o777)
            with (course / "nbgrader_config.py").open("a") as config:
                config.write(f"\nc.Exchange.root = {str(exchange)!r}\nc.ExchangeCollect.check_owner = False\n")
    return course, ran


def student_hands_in(course_folder, place):
    course, config = open_course(course_folder)
    hand_in(course, PART, Sample("anna"), place / PART)
    config.CourseDirectory.course_id = "partrain"
    submit(config, PART, "anna", place)


def test_every_command_for_teachers_works(round_of_a_teacher):
    course, ran = round_of_a_teacher
    assert len(ran) >= 9
    assert {line: said for line, (status, said) in ran.items() if status != 0} == {}
    assert (course / "autograded" / "anna" / PART / "verdict.json").is_file()
    assert (course / "feedback" / "anna" / PART / f"{PART}.html").is_file()
    assert (course / "report" / "index.html").is_file()


def test_commands_named_in_passing_exist(repository, round_of_a_teacher):
    page = "".join((repository / name).read_text() for name in ("README.md", "autograder/README.md"))
    named = set(re.findall(r"autograder (init|grade|regrade|report|doctor|demo)\b", page))
    assert {"init", "grade", "regrade", "report", "doctor"} <= named
    helped = [
        subprocess.run(
            [sys.executable, "-m", "autograder", name, "--help"], capture_output=True, text=True, check=True
        ).stdout
        for name in ("grade", "regrade")
    ]
    for option in set(re.findall(r"`(--[a-z-]+)", page)) - {"--force"}:
        assert any(option in text for text in helped), option


def test_regrade_as_the_page_says_it(round_of_a_teacher):
    course, _ = round_of_a_teacher
    command = [sys.executable, "-m", "autograder", "regrade", "part1", "--course", str(course)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "1 hand-ins judged again, 0 changed" in done.stdout


def test_what_students_install_is_what_the_course_asks_for(repository):
    install, _lab = commands(repository / "notebooks" / "README.md")
    wanted = dict(re.findall(r"^([a-z]+)([<>=,.\d]+)", (repository / "requirements.txt").read_text(), re.MULTILINE))
    named = dict(re.findall(r'"([a-z]+)([<>=,.\d]+)"', install))
    assert named == {name: wanted[name] for name in ("jupyterlab", "numpy", "matplotlib", "ipywidgets")}


def test_links_between_pages_lead_somewhere(repository):
    for page in ("README.md", "autograder/README.md", "notebooks/README.md", ".github/CONTRIBUTING.md"):
        path = repository / page
        for target in re.findall(r"\]\((?!http)([^)#]+)\)", path.read_text(encoding="utf-8")):
            assert (path.parent / target).exists(), f"{page}: {target}"
