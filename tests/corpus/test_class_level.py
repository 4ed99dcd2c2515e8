"""Cases that are about a class, a grade book or two runs, not about one submission."""

import csv
import json
import subprocess
import sys

import nbformat
import pytest
from nbgrader.apps.api import NbGraderAPI

from autograder import book, verdict
from autograder.doctor import examine
from autograder.export import StatesCSV
from autograder.grade import grade
from corpus.builder import PART1, all_right, answer, edit
from corpus.classrun import fingerprint

PART8 = "part8_plan_a_run"


def hand_in(course, student, *changes, part=PART1):
    made = all_right(course.root, part)
    for change in changes:
        change(made)
    folder = course.root / "submitted" / student / part
    made.write(folder)
    return folder / f"{part}.ipynb"


def export(config, target):
    api = NbGraderAPI(config=config)
    with api.gradebook as gradebook:
        StatesCSV(config=config, to=str(target)).export(gradebook)
    with target.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_F086_the_export_tells_states_apart(small_course, tmp_path):
    course, config = small_course
    with NbGraderAPI(config=config).gradebook as gradebook:
        for student in ("anna", "bo", "cy", "dana"):
            gradebook.update_or_create_student(student)
    wrong = "def {}(*args): return 7"
    hand_in(course, "anna")
    hand_in(course, "bo", answer("global_tokens", wrong.format("global_tokens")))
    hand_in(course, "cy").write_bytes(b"<html>")
    list(grade(course, config, PART1))
    rows = {row["student_id"]: row for row in export(config, tmp_path / "grades.csv")}
    assert list(rows) == ["anna", "bo", "cy", "dana"] and len({tuple(row) for row in rows.values()}) == 1
    assert [row["state"] for row in rows.values()] == ["graded", "graded", verdict.UNGRADED, "not submitted"]
    assert [row["points"] for row in rows.values()] == ["26", "22", "", ""]
    assert [row["global_tokens points"] for row in rows.values()] == ["4", "0", "", ""]
    assert [row["global_tokens state"] for row in rows.values()] == ["right", "wrong", verdict.UNGRADED, ""]
    command = [
        sys.executable,
        "-m",
        "nbgrader",
        "export",
        "--exporter",
        "autograder.export.StatesCSV",
        "--to",
        "own.csv",
    ]
    ran = subprocess.run(command, cwd=course.root, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert (course.root / "own.csv").read_bytes() == (tmp_path / "grades.csv").read_bytes()


def test_F084_a_removed_student_leaves_no_row(small_course, tmp_path):
    course, config = small_course
    for student in ("anna", "bo"):
        hand_in(course, student).write_bytes(b"")
    list(grade(course, config, PART1))
    with NbGraderAPI(config=config).gradebook as gradebook:
        gradebook.remove_student("bo")
    assert [row["student_id"] for row in export(config, tmp_path / "grades.csv")] == ["anna"]
    (left,) = [finding for finding in examine(course, config) if finding.what.endswith("who handed in")]
    assert not left.good and "bo" in left.said and "anna" not in left.said


def test_F078_a_verdict_of_another_maximum_is_named(small_course):
    course, config = small_course
    hand_in(course, "anna").write_bytes(b"")
    list(grade(course, config, PART1))
    path = book.verdict_path(course.root, "anna", PART1)
    said = json.loads(path.read_text())
    said["exercises"]["global_tokens"]["max_points"] = 2
    path.chmod(0o644)
    path.write_text(json.dumps(said))
    (found,) = [finding for finding in examine(course, config) if "grade book against" in finding.what]
    assert not found.good and "anna, global_tokens: graded for 2 points, now worth 4" in found.said


def test_F076_a_manual_score_and_its_comment_stay(small_course):
    course, config = small_course
    api = NbGraderAPI(config=config)
    assert api.generate_assignment(PART8)["success"]
    hand_in(course, "anna", edit("why_this_plan", "It fits."), part=PART8)
    list(grade(course, config, PART8))
    with api.gradebook as gradebook:
        gradebook.find_grade("why_this_plan", PART8, PART8, "anna").manual_score = 3
        gradebook.find_comment("why_this_plan", PART8, PART8, "anna").manual_comment = "Nearly."
        gradebook.db.commit()
    for text in ("It fits.", "It fits, and quickly."):
        hand_in(course, "anna", edit("why_this_plan", text), part=PART8)
        list(grade(course, config, PART8, again=True))
        with api.gradebook as gradebook:
            kept = gradebook.find_grade("why_this_plan", PART8, PART8, "anna")
            assert kept.manual_score == 3 and kept.score == 3
            assert gradebook.find_comment("why_this_plan", PART8, PART8, "anna").comment == "Nearly."
    graded = nbformat.read(course.root / "autograded" / "anna" / PART8 / f"{PART8}.ipynb", as_version=4)
    assert any(cell.source == "It fits, and quickly." for cell in graded.cells)


def test_F069_two_processes_grade_at_once(small_course):
    course, config = small_course
    for student in ("anna", "bo"):
        hand_in(course, student)
    command = [sys.executable, "-m", "nbgrader", "autograde", PART1, "--student"]
    running = [
        subprocess.Popen([*command, student], cwd=course.root, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        for student in ("anna", "bo")
    ]
    said = [process.communicate(timeout=300)[1].decode() for process in running]
    assert [process.returncode for process in running] == [0, 0], said
    scores = book.scores(NbGraderAPI(config=config).coursedir.db_url, PART1)
    assert {student: sum(row.values()) for student, row in scores.items()} == {"anna": 26, "bo": 26}


SPOILS = """
import builtins, os, pathlib, sys
for folder in (pathlib.Path.home() / ".ipython/profile_default/startup", pathlib.Path.cwd()):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "00-first.py").write_text("PLANTED = 1")
    (folder / "sitecustomize.py").write_text("PLANTED = 1")
builtins.sum = lambda *args: 7
np.mean = lambda *args, **kw: 7
os.environ["PLANTED"] = "1"
"""


def test_S14_one_hand_in_does_not_reach_the_next(small_course):
    """Honest b after hostile a is judged as b alone, to the last byte; and grading again gives the same."""
    course, config = small_course
    hand_in(course, "b", answer("global_tokens", "def global_tokens(*args): return 7"))
    list(grade(course, config, PART1))
    alone = book.verdict_path(course.root, "b", PART1).read_bytes()
    hand_in(course, "a", edit("loop", SPOILS))
    before = fingerprint(course.root / "submitted")
    results = {result.student: result for result in grade(course, config, PART1, again=True)}
    assert sorted(results) == ["a", "b"]
    assert book.verdict_path(course.root, "b", PART1).read_bytes() == alone
    first = book.verdict_path(course.root, "a", PART1).read_bytes()
    list(grade(course, config, PART1, again=True))
    assert book.verdict_path(course.root, "a", PART1).read_bytes() == first
    assert fingerprint(course.root / "submitted") == before


@pytest.mark.parametrize("stamp", [b"2026-11-29 23:59:00", b"2026-11-29 23:30:00 Europe/Paris"])
def test_F055_a_stamp_of_either_form_costs_nobody(small_course, stamp):
    course, config = small_course
    path = hand_in(course, "anna")
    (path.parent / "timestamp.txt").write_bytes(stamp)
    (result,) = grade(course, config, PART1)
    assert result.verdict["points"] == result.verdict["max_points"]
