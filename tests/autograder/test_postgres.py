"""The grade book in PostgreSQL: the whole round with a real server, which the tests start and stop."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from nbgrader.apps.api import NbGraderAPI
from postgres import server
from sqlalchemy import create_engine, text

from autograder import book, grade
from autograder.__main__ import cli
from autograder.course import create, open_course
from autograder.demo import Sample, hand_in
from partrain_ref.samples import CLASSES

PART = "part1_split_the_batch"
POINTS = {
    "all-right": 26,
    "blank": 0,
    "hands-in-a-web-page": None,
    "right-values-no-refusals": 23,
    "takes-the-mean-of-means": 17,
}


@pytest.fixture(scope="module")
def url():
    with server() as made:
        yield made


@pytest.fixture(scope="module")
def course(url, repository, tmp_path_factory):
    """(course, config, address of the grade book) of a class that was graded side by side."""
    root = tmp_path_factory.mktemp("postgres") / "course"
    create(root, repository)
    address = url("round")
    with (root / "nbgrader_config.py").open("a") as config:
        config.write(f"\nc.CourseDirectory.db_url = {address!r}\n")
    course, config = open_course(root)
    assert NbGraderAPI(config=config).generate_assignment(PART)["success"]
    for name in POINTS:
        hand_in(course, PART, Sample(name, **CLASSES[PART][name]), root / "submitted" / name / PART)
    assert not [result.log for result in grade.grade(course, config, PART, jobs=2) if result.log]
    return course, config, address


def test_the_class_run_fills_the_grade_book(course):
    course, _, address = course
    found = book.scores(address, PART)
    for student, points in POINTS.items():
        said = book.read_verdict(course.root, student, PART)
        assert said["points"] == points
        assert found[student] == {name: row["points"] for name, row in said["exercises"].items()}
    assert book.roster(address) == sorted(POINTS)
    assert not list(course.root.rglob("gradebook.db*"))
    engine = create_engine(address)
    with engine.connect() as connection:
        assert connection.execute(text("select count(*) from submitted_assignment")).scalar() == len(POINTS)
        busy = "select count(*) from pg_stat_activity where datname = 'round' and state like 'idle in transaction%'"
        assert connection.execute(text(busy)).scalar() == 0, "no session is left open"
    engine.dispose()


def test_two_autograders_at_once_give_the_same_grades(course):
    course, _, address = course
    before = book.scores(address, PART), {s: book.read_verdict(course.root, s, PART) for s in POINTS}
    students = ("all-right", "hands-in-a-web-page")
    command = [sys.executable, "-m", "nbgrader", "autograde", PART, "--force", "--student"]
    started = [
        subprocess.Popen([*command, student], cwd=course.root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        for student in students
    ]
    for process in started:
        said, _ = process.communicate(timeout=300)
        assert process.returncode == 0, said.decode()
    assert before == (book.scores(address, PART), {s: book.read_verdict(course.root, s, PART) for s in POINTS})


def test_regrade_changes_what_it_should(course, monkeypatch):
    from dataclasses import replace

    from partrain_ref.exercises import ASSIGNMENTS

    course, config, address = course
    before = book.scores(address, PART)
    with NbGraderAPI(config=config).gradebook as gradebook:
        gradebook.find_grade("loss_per_token-check", PART, PART, "all-right").manual_score = 0.5
        gradebook.db.commit()
    with monkeypatch.context() as other:
        changed = tuple(replace(e, reference=1.5) if e.name == "loss_per_token" else e for e in ASSIGNMENTS[PART])
        other.setitem(ASSIGNMENTS, PART, changed)
        said = CliRunner().invoke(cli, ["regrade", "part1", "--course", str(course.root)])
    assert said.exit_code == 0 and "4 hand-ins judged again, 3 changed (3 in points)" in said.output
    assert "takes-the-mean-of-means, loss_per_token: 0 -> 1 of 1 points: right" in said.output
    assert book.scores(address, PART)["takes-the-mean-of-means"]["loss_per_token"] == 1
    with NbGraderAPI(config=config).gradebook as gradebook:
        row = gradebook.find_grade("loss_per_token-check", PART, PART, "all-right")
        assert (row.auto_score, row.manual_score, row.needs_manual_grade) == (0, 0.5, True)
    assert CliRunner().invoke(cli, ["regrade", "part1", "--course", str(course.root)]).exit_code == 0
    assert book.scores(address, PART) == before


def test_feedback_report_and_doctor(course):
    course, config, _ = course
    assert NbGraderAPI(config=config).generate_feedback(PART)["success"]
    page = course.root / "feedback" / "all-right" / PART / f"{PART}.html"
    assert "global_tokens: right" in page.read_text(encoding="utf-8")
    assert CliRunner().invoke(cli, ["report", "--course", str(course.root)]).exit_code == 0
    assert "takes-the-mean-of-means" in (course.root / "report" / "index.html").read_text(encoding="utf-8")
    checked = CliRunner().invoke(cli, ["doctor", "--course", str(course.root)])
    assert f"{len(POINTS)} students, all the same" in re.sub(r"\s+", " ", checked.output), checked.output
    assert checked.exit_code == 0, checked.output


def test_a_server_that_is_not_there_gets_one_sentence(course, tmp_path):
    root = tmp_path / "course"
    root.mkdir()
    (root / "source" / PART).mkdir(parents=True)
    text = (
        (course[0].root / "nbgrader_config.py").read_text().replace(course[2], "postgresql://nobody@/x?host=/nowhere")
    )
    (root / "nbgrader_config.py").write_text(text)
    command = [sys.executable, "-m", "autograder", "regrade", "part1", "--course", str(root)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 2 and "Traceback" not in ran.stderr
    assert "autograder: The grade book cannot be used (c.CourseDirectory.db_url): " in ran.stderr
    assert "/nowhere" in ran.stderr


@pytest.mark.parametrize(
    ("address", "found"),
    [
        ("sqlite:////srv/course/gradebook.db", ["/srv/course/gradebook.db"]),
        ("sqlite://", []),
        ("postgresql://a@db.example.org/x", []),
        ("postgresql+psycopg://a@/x?host=/run/pg&port=5433", ["/run/pg/.s.PGSQL.5433"]),
        ("postgresql://a@/x?host=/run/pg,db.example.org", ["/run/pg/.s.PGSQL.5432"]),
        ("postgresql:///x", ["/var/run/postgresql/.s.PGSQL.5432", "/tmp/.s.PGSQL.5432"]),
        ("mysql://a@db.example.org/x", []),
    ],
)
def test_the_doors_of_a_grade_book(address, found):
    assert book.doors(address) == [Path(one) for one in found]
