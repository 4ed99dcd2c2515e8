"""A class through the whole way: what each sample student gets, in verdict, grade book, feedback and report."""

import json
import re
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import nbformat
import pytest
from classes import class_list
from click.testing import CliRunner
from nbgrader.apps.api import NbGraderAPI

from autograder import book, verdict, wire
from autograder.__main__ import cli
from autograder.ask import value_calls
from autograder.course import create, open_course
from autograder.doctor import examine, leaks_in
from autograder.grade import grade
from autograder.regrade import regrade
from partrain_ref.exercises import ASSIGNMENTS
from partrain_ref.samples import CLASSES

PART1 = "part1_split_the_batch"
REPOSITORY = Path(__file__).resolve().parents[2]
PART8, WRITTEN = "part8_plan_a_run", {"part8_plan_a_run": {"why_this_plan": 5}}  # read by a person: name -> points
EVERY = [(part, student) for part in CLASSES for student in class_list(part)]


def said(class_of, student, part=PART1):
    return book.read_verdict(class_of(part)[0].root, student, part)


def db(config):
    return NbGraderAPI(config=config).coursedir.db_url


@pytest.mark.parametrize(("part", "student"), EVERY)
def test_every_hand_in_has_a_verdict_of_the_stated_form(class_of, part, student):
    got = said(class_of, student, part)
    assert set(got) == {"student", "part", "points", "max_points", "sealed", "repairs", "exercises"}
    assert (got["student"], got["part"]) == (student, part)
    written = WRITTEN.get(part, {})
    assert got["max_points"] == sum(e.points for e in ASSIGNMENTS[part]) + sum(written.values())
    for row in got["exercises"].values():
        assert set(row) == {"state", "points", "max_points", "mistake", "message", "reason"}
        assert row["state"] in verdict.STATES


@pytest.mark.parametrize("part", CLASSES)
def test_all_right_gets_all_points_and_blank_none(class_of, part):
    right, blank = said(class_of, "all-right", part), said(class_of, "blank", part)
    assert {row["state"] for row in right["exercises"].values()} <= {verdict.RIGHT, verdict.WAITS}
    assert blank["points"] == 0 and {row["state"] for row in blank["exercises"].values()} == {verdict.NOT_STARTED}


@pytest.mark.parametrize(
    ("student", "name", "wanted", "words"),
    [
        ("prints-instead-of-returning", "global_tokens", "wrong", "It printed something: return it instead."),
        ("changes-its-input", "allreduce_mean", "wrong", "changed its input"),
        ("other-forms-of-right", "global_tokens", "right", ""),
        ("other-forms-of-right", "allreduce_mean", "right", ""),
        ("other-forms-of-right", "loss_per_token", "right", ""),
        ("other-forms-of-right", "why_average", "right", ""),
        ("right-values-no-refusals", "data_parallel_grad", "partly", "Still missing: ValueError"),
        ("half-done", "global_tokens", "right", ""),
        ("half-done", "per_token_loss", "not started", ""),
        ("unknown-name-in-a-cell", "global_tokens", "wrong", "NameError: name 'tokns_before' is not defined"),
        ("unknown-name-in-a-cell", "allreduce_mean", "right", ""),
        ("warns-while-right", "allreduce_mean", "right", ""),
        ("loops-for-ever", "per_token_loss", "wrong", "did not come to an end in time"),
        ("loops-for-ever", "token_weighted_grad", "right", ""),
        ("ends-the-program", "global_tokens", "wrong", "ended or crashed"),
        ("ends-the-program", "what_to_divide_by", "right", ""),
        ("looks-for-the-reference", "global_tokens", "wrong", "gave 1048576"),
        ("hands-in-a-web-page", "global_tokens", "could not be graded", "it is a web page"),
        ("hands-in-an-empty-file", "why_average", "could not be graded", "it is empty"),
    ],
)
def test_what_a_sample_student_is_told(class_of, student, name, wanted, words):
    row = said(class_of, student)["exercises"][name]
    assert row["state"] == wanted and words in row["message"]


@pytest.mark.parametrize("part", CLASSES)
def test_the_grade_book_says_the_same_as_the_verdicts(class_of, part):
    rows = book.scores(db(class_of(part)[1]), part)
    assert set(rows) == set(class_list(part))
    for student, row in rows.items():
        assert row == {name: v["points"] for name, v in said(class_of, student, part)["exercises"].items()}


@pytest.mark.parametrize("part", CLASSES)
def test_judged_again_from_the_record_every_verdict_is_the_same(class_of, part):
    results = list(regrade(*class_of(part), part, dry_run=True))
    assert [result.student for result in results] == sorted(class_list(part))
    assert [result for result in results if result.changes or result.kept or result.unread] == []
    assert sum(result.recorded for result in results) >= 3


def test_what_could_not_be_graded_has_no_score_and_asks_for_a_person(class_of):
    with NbGraderAPI(config=class_of(PART1)[1]).gradebook as gradebook:
        submission = gradebook.find_submission(PART1, "hands-in-a-web-page")
        grades = [grade for notebook in submission.notebooks for grade in notebook.grades]
        assert grades and all(grade.auto_score is None and grade.needs_manual_grade for grade in grades)
        right = gradebook.find_submission(PART1, "all-right")
        assert right.score == right.max_score and not right.needs_manual_grade


@pytest.mark.parametrize(
    ("part", "student", "state"),
    [(PART8, "all-right", verdict.WAITS), (PART8, "half-done", verdict.WAITS), (PART8, "blank", verdict.NOT_STARTED)],
)
def test_a_written_answer_waits_for_a_person_and_the_rest_of_the_grade_stands(class_of, part, student, state):
    course, config = class_of(part)
    rows = said(class_of, student, part)["exercises"]
    assert rows["why_this_plan"]["state"] == state and rows["why_this_plan"]["max_points"] == 5
    rest = [row["points"] for name, row in rows.items() if name != "why_this_plan"]
    assert said(class_of, student, part)["points"] == sum(rest)
    with NbGraderAPI(config=config).gradebook as gradebook:
        grade = gradebook.find_grade("why_this_plan", part, part, student)
        assert grade.needs_manual_grade == (state == verdict.WAITS)
        assert grade.auto_score == (None if state == verdict.WAITS else 0)
    page = (course.root / "feedback" / student / part / f"{part}.html").read_text(encoding="utf-8")
    answer = CLASSES[part][student].get("answers", {}).get("why_this_plan", "YOUR ANSWER HERE")
    assert answer in page
    released = nbformat.read(course.root / "release" / part / f"{part}.ipynb", as_version=4)
    (cell,) = [cell for cell in released.cells if cell.id == "why_this_plan"]
    assert cell.source == "YOUR ANSWER HERE"


def test_hand_ins_carry_timestamp_and_secret_and_stay_as_they_were(class_of):
    root = class_of(PART1)[0].root
    for student in class_list(PART1):
        what = CLASSES[PART1][student]
        folder = root / "submitted" / student / PART1
        assert (folder / "timestamp.txt").read_text() and (folder / "submission_secret.txt").read_text()
        assert (folder / f"{PART1}.ipynb").read_bytes() == (
            root / "students" / student / PART1 / f"{PART1}.ipynb"
        ).read_bytes()
        if "write" in what:
            assert (folder / f"{PART1}.ipynb").read_bytes() == what["write"]


@pytest.mark.parametrize(("part", "student"), EVERY)
def test_feedback_shows_the_verdicts_and_nothing_hidden(class_of, part, student):
    course, _ = class_of(part)
    folder = course.root / "feedback" / student / part
    page = (folder / f"{part}.html").read_text(encoding="utf-8")
    got = said(class_of, student, part)
    for name, row in got["exercises"].items():
        assert f"{name}: {row['state']}" in page or name in WRITTEN.get(part, {})
    graded = nbformat.read(course.root / "autograded" / student / part / f"{part}.ipynb", as_version=4)
    shown = page + (course.root / "autograded" / student / part / "verdict.json").read_text(encoding="utf-8")
    checks = "\n".join(cell.source for cell in graded.cells if cell.id.endswith("-check"))
    shown += checks
    own_words = json.dumps(CLASSES[part][student].get("answers", {}))
    assert checks.count("check(") == len(checks.splitlines())
    for word in ("partrain_ref", "autograder.", "record import", wire.MIME, course.secret.decode()):
        assert word in own_words or word not in shown, word
    assert "Traceback" not in json.dumps(got)
    for exercise in ASSIGNMENTS[part]:
        hidden = value_calls(exercise, course.secret, part, student)[len(exercise.examples) :]
        for one in (one for one in hidden if exercise.kind == "function"):
            packed = re.findall(r'"base64":"([^"]+)"', wire.encode_calls((one,)))
            assert not any(text in shown for text in packed if len(text) > 16)
    assert not (folder / "recorded_answers.json").exists()


def test_feedback_is_released_to_the_students(class_of):
    released = list((class_of(PART1)[0].root / "exchange").glob("*/feedback/*.html"))
    assert len(released) >= len(class_list(PART1))


def test_the_report_counts_and_lists(class_of):
    page = (class_of(PART1)[0].root / "report" / "index.html").read_text(encoding="utf-8")
    assert "hands-in-a-web-page" in page and "it is a web page, saved under a notebook&#39;s name" in page
    assert "mean of means" in page and "unsealed" not in page
    assert "<script" not in page and "http" not in page.replace("http-equiv", "")


@pytest.mark.parametrize("part", CLASSES)
def test_the_released_copy_holds_no_solution_no_draw_and_no_reference(class_of, part):
    course, _ = class_of(part)
    assert list(leaks_in(course, part)) == []
    released = (course.root / "release" / part / f"{part}.ipynb").read_text(encoding="utf-8")
    assert "record(" not in released and course.secret.decode() not in released
    kit = {path.name for path in (course.root / "release" / part / course.kit).iterdir()}
    assert {"check.py", "record.py", "examples.json"} <= kit


def test_a_leak_is_found(small_course):
    course, _ = small_course
    path = course.root / "release" / PART1 / f"{PART1}.ipynb"
    nb = nbformat.read(path, as_version=4)
    source = nbformat.read(course.root / "source" / PART1 / f"{PART1}.ipynb", as_version=4)
    nb.cells[-1].source = next(cell.source for cell in source.cells if cell.id == "token_weighted_grad-answer")
    nb.cells[-2].source += "\nsee partrain_ref"
    nbformat.write(nb, path)
    found = " ".join(leaks_in(course, PART1))
    assert "a line of the solution" in found and "names partrain_ref" in found and "solution mark" in found


def test_the_doctor_is_content(class_of):
    findings = list(examine(*class_of(PART1)))
    assert [f for f in findings if not f.good] == []
    said = {f.what: f.said for f in findings}
    assert said["the student's kernel"] == "sealed" and f"{PART1}: grade book against verdicts" in said
    assert said["tried from a student's kernel: a server on this machine"] == "held"


# ---- three ways to grade ------------------------------------------------------------------------------------------

SOME = [
    "all-right",
    "blank",
    "takes-the-mean-of-means",
    "right-values-no-refusals",
    "ends-the-program",
    "hands-in-a-web-page",
]


def another_course(class_of, root):
    """A fresh course with the demo's secret and some of its hand-ins, nothing graded yet."""
    create(root, REPOSITORY)
    shutil.copyfile(class_of(PART1)[0].root / ".course_secret", root / ".course_secret")
    course, config = open_course(root)
    assert NbGraderAPI(config=config).generate_assignment(PART1)["success"]
    for student in SOME:
        shutil.copytree(class_of(PART1)[0].root / "submitted" / student, root / "submitted" / student)
    return course, config


def same_grades(class_of, other):
    wanted, got = book.scores(db(class_of(PART1)[1]), PART1), book.scores(db(other[1]), PART1)
    assert got == {student: wanted[student] for student in SOME}
    for student in SOME:
        assert book.read_verdict(other[0].root, student, PART1) == said(class_of, student)


def test_nbgrader_autograde_gives_the_same_grades(class_of, tmp_path):
    other = another_course(class_of, tmp_path / "cli")
    command = [sys.executable, "-m", "nbgrader", "autograde", PART1]
    ran = subprocess.run(command, cwd=other[0].root, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    same_grades(class_of, other)


def test_the_formgrader_button_gives_the_same_grades(class_of, tmp_path):
    other = another_course(class_of, tmp_path / "formgrader")
    port, token = 18_731, "of-the-tests"
    command = [
        *(sys.executable, "-m", "jupyter", "server", "--no-browser", "--allow-root", f"--port={port}"),
        *("--ServerApp.port_retries=0", f"--IdentityProvider.token={token}", "--ServerApp.ip=127.0.0.1"),
        "--ServerApp.jpserver_extensions={'nbgrader.server_extensions.formgrader': True}",
    ]
    with (tmp_path / "server.log").open("w") as log:
        server = subprocess.Popen(command, cwd=other[0].root, stdout=log, stderr=log)
    try:
        for student in SOME:
            url = f"http://127.0.0.1:{port}/formgrader/api/submission/{PART1}/{student}/autograde"
            answer = press(url, token)
            assert answer["success"], answer
        same_grades(class_of, other)
    finally:
        server.terminate()
        server.wait(30)


def press(url, token):
    """What Formgrader's page does when the button is pressed."""
    request = urllib.request.Request(url, method="POST", headers={"Authorization": f"token {token}"})
    for _ in range(60):
        try:
            with urllib.request.urlopen(request, timeout=120) as reply:
                return json.loads(reply.read())
        except urllib.error.URLError as error:
            if not isinstance(getattr(error, "reason", None), ConnectionError):
                raise
            time.sleep(1)
    raise AssertionError("the server did not start")


def test_under_a_stock_configuration_the_course_fails_closed(class_of, tmp_path):
    other, config = another_course(class_of, tmp_path / "stock")
    (other.root / "nbgrader_config.py").write_text("c = get_config()\nc.CourseDirectory.course_id = 'partrain'\n")
    command = [sys.executable, "-m", "nbgrader", "autograde", PART1, "--student", "all-right"]
    subprocess.run(command, cwd=other.root, capture_output=True, check=False)
    rows = book.scores(db(config), PART1)
    assert rows["all-right"] and all(score == 0 for score in rows["all-right"].values())
    graded = (other.root / "autograded" / "all-right" / PART1 / f"{PART1}.ipynb").read_text(encoding="utf-8")
    assert "No points were given: the grading steps of this course are not active." in graded


# ---- the class run ------------------------------------------------------------------------------------------------


def test_running_again_goes_on_where_it_was(class_of, tmp_path):
    course, config = another_course(class_of, tmp_path / "again")
    for student in SOME[2:]:
        shutil.rmtree(course.root / "submitted" / student)
    (course.root / "submitted" / "no-notebook" / PART1).mkdir(parents=True)
    (course.root / "submitted" / "no-notebook" / PART1 / "essay.txt").write_text("Dear teacher")
    first = {r.student: r for r in grade(course, config, PART1)}
    assert [r.skipped for r in first.values()] == [False] * 3
    assert first["no-notebook"].verdict["exercises"]["global_tokens"]["message"] == "No notebook was handed in."
    assert all(r.skipped for r in grade(course, config, PART1))
    path = course.root / "submitted" / "blank" / PART1 / f"{PART1}.ipynb"
    shutil.copyfile(course.root / "submitted" / "all-right" / PART1 / path.name, path)
    stamp = path.parent / "timestamp.txt"
    stamp.write_text("2030-01-01 00:00:00 UTC")
    again = {r.student: r for r in grade(course, config, PART1)}
    assert [s for s, r in again.items() if not r.skipped] == ["blank"]
    assert again["blank"].verdict["points"] == again["blank"].verdict["max_points"]
    path.write_bytes(b"<html>")
    stamp.write_text("2030-01-02 00:00:00 UTC")
    last = {r.student: r for r in grade(course, config, PART1)}["blank"]
    assert last.verdict["points"] is None, "an old score never stands for a new, unreadable hand-in"
    assert set(book.scores(db(config), PART1)["blank"].values()) == {None}


def test_the_command_line(class_of):
    root = str(class_of(PART1)[0].root)
    ran = CliRunner().invoke(cli, ["grade", "part1", "--course", root, "--each"], catch_exceptions=True)
    assert "all-right: 26 of 26 (graded before)" in ran.output and "hands-in-a-web-page, everything" in ran.output
    assert ran.exit_code == 1, "some could not be graded"
    assert "Class report:" in CliRunner().invoke(cli, ["report", "--course", root]).output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["grade", "part99"], "'part99' is not an assignment; this course has: part1"),
        (["grade", "part1", "--course", "/nonexistent"], "is not a course folder"),
        (["report", "--course", "."], "is not a course folder"),
    ],
)
def test_a_slip_gets_one_sentence(class_of, repository, arguments, words):
    if "--course" not in arguments:
        arguments = [*arguments, "--course", str(class_of(PART1)[0].root)]
    command = [sys.executable, "-m", "autograder", *arguments]
    ran = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=False)
    assert ran.returncode == 2 and words in ran.stderr and "Traceback" not in ran.stderr
