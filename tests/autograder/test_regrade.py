"""Judging recorded answers again: who changes, who stays, and that no student code runs."""

import dataclasses
import json
import shutil
import subprocess
import sys

import nbformat
import pytest
from click.testing import CliRunner
from nbgrader.apps.api import NbGraderAPI

from autograder import answer, book, judge, verdict
from autograder.__main__ import cli
from autograder.assess import assess
from autograder.course import CourseError, open_course
from autograder.demo import Sample, hand_in
from autograder.exercise import Mistake, call
from autograder.grade import grade
from autograder.regrade import AGAIN, regrade
from autograder.settle import write_records
from partrain_ref.exercises import ASSIGNMENTS
from partrain_ref.samples import CLASSES

PART = "part1_split_the_batch"
ROUGH = """
def per_token_loss(mean_losses, token_counts):
    if len(mean_losses) != len(token_counts) or not sum(token_counts) or any(n < 0 or n % 1 for n in token_counts):
        raise ValueError("mean_losses and token_counts must belong together")
    pairs = [(m, n) for m, n in zip(mean_losses, token_counts) if n]
    if not np.all(np.isfinite([m for m, _ in pairs])):
        raise ValueError("a loss with tokens must be finite")
    return sum(m * n for m, n in pairs) / sum(token_counts) * (1 + 1e-6)
"""
DOUBLED = "def global_tokens(per_device_batch, seq, accum, devices):\n    return 7 * per_device_batch"
HALF = "raise {}('\\ud800 half')"
OWN = {
    "rounds-roughly": {"per_token_loss-answer": ROUGH},
    "takes-seven": {"global_tokens-answer": DOUBLED},
    "stops-with-half-a-character": {"global_tokens-answer": HALF.format("ValueError")},
    "raises-half-a-character": {
        "global_tokens-answer": f"def global_tokens(*a, **k):\n    {HALF.format('RuntimeError')}"
    },
    "ends-the-program": {"global_tokens-answer": "import os\nos._exit(0)"},
}
OF_THE_DEMO = ("all-right", "blank", "right-values-no-refusals", "hands-in-a-web-page")
EVERYBODY = sorted([*OWN, *OF_THE_DEMO])


@pytest.fixture(scope="module")
def graded_folder(released_folder, tmp_path_factory):
    """A class graded once, with a manual score and a comment; copied for each test."""
    root = tmp_path_factory.mktemp("graded") / "course"
    shutil.copytree(released_folder, root)
    course, config = open_course(root)
    samples = [Sample(name, answers) for name, answers in OWN.items()]
    samples += [Sample(name, **CLASSES[PART][name]) for name in OF_THE_DEMO]
    for sample in samples:
        hand_in(course, PART, sample, root / "submitted" / sample.name / PART)
    assert all(not result.log for result in grade(course, config, PART))
    with NbGraderAPI(config=config).gradebook as gradebook:
        for name in ("per_token_loss", "global_tokens"):
            row = gradebook.find_grade(f"{name}-check", PART, PART, "rounds-roughly")
            row.manual_score, row.needs_manual_grade = 2.5, False
        gradebook.find_comment("per_token_loss-answer", PART, PART, "rounds-roughly").manual_comment = "Nearly."
        gradebook.db.commit()
    return root


@pytest.fixture
def graded(graded_folder, tmp_path, monkeypatch):
    """(course, config) of a class of one's own, in which a kernel that starts would fail the test."""
    shutil.copytree(graded_folder, tmp_path / "graded")
    monkeypatch.setattr(answer, "open_box", lambda *a: pytest.fail("student code was run"))
    return open_course(tmp_path / "graded")


def change(monkeypatch, name, **what):
    """The exercise `name` as its author changed it."""
    changed = tuple(dataclasses.replace(e, **what) if e.name == name else e for e in ASSIGNMENTS[PART])
    assert changed != ASSIGNMENTS[PART]
    monkeypatch.setitem(ASSIGNMENTS, PART, changed)


def exercise(name):
    return next(e for e in ASSIGNMENTS[PART] if e.name == name)


def again(graded, **how):
    return {result.student: result for result in regrade(*graded, PART, **how)}


def files(course):
    """Every graded file -> its bytes."""
    folder = course.root / "autograded"
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def rows(config):
    """Everything the grade book holds of the class, in a form to compare."""
    found = {}
    with NbGraderAPI(config=config).gradebook as gradebook:
        for submission in gradebook.assignment_submissions(PART):
            (notebook,) = submission.notebooks
            found[submission.student.id] = (
                {g.name: (g.auto_score, g.manual_score, g.needs_manual_grade) for g in notebook.grades},
                {c.name: (c.auto_comment, c.manual_comment) for c in notebook.comments},
                (notebook.late_submission_penalty, submission.score, submission.timestamp),
            )
    return found


def moved(results):
    return {(student, one.exercise): one for student, result in results.items() for one in result.changes}


def test_nothing_changed_changes_nothing(graded):
    before, book_before = files(graded[0]), rows(graded[1])
    results = again(graded)
    assert sorted(results) == EVERYBODY and moved(results) == {}
    assert not any(result.kept or result.unread for result in results.values())
    assert [s for s, result in results.items() if not result.recorded] == ["hands-in-a-web-page"]
    assert files(graded[0]) == before and rows(graded[1]) == book_before


def test_a_looser_tolerance_lifts_those_it_concerns_and_a_way_back_leads_back(graded, monkeypatch):
    before, book_before = files(graded[0]), rows(graded[1])
    with monkeypatch.context() as looser:
        change(looser, "per_token_loss", tolerance=(1e-4, 0.0))
        found = moved(again(graded))
    assert list(found) == [("rounds-roughly", "per_token_loss")]
    (one,) = found.values()
    assert (one.old.state, one.new.state, one.new.points) == (verdict.WRONG, verdict.RIGHT, 4)
    said = book.read_verdict(graded[0].root, "rounds-roughly", PART)
    assert said["exercises"]["per_token_loss"]["state"] == "right" and said["points"] == said["max_points"] == 26
    path = graded[0].root / "autograded" / "rounds-roughly" / PART / f"{PART}.ipynb"
    cells = {cell.id: cell for cell in nbformat.read(path, as_version=4).cells}
    shown = cells["per_token_loss-check"]
    assert "per_token_loss: right" in shown.outputs[0].data["text/plain"]
    assert shown.outputs[-1].data["text/plain"] == "4.0" and shown.source.startswith("check(")
    changed = {name for name, content in files(graded[0]).items() if content != before[name]}
    assert changed == {f"rounds-roughly/{PART}/{name}" for name in (path.name, "verdict.json")}
    assert again(graded)["rounds-roughly"].changes[0].new.points == 0
    assert files(graded[0]) == before
    after = rows(graded[1])
    grades = after["rounds-roughly"][0]
    assert grades["per_token_loss-check"] == (0, 2.5, True), "a person looks again, as after nbgrader's autograde"
    grades["per_token_loss-check"] = (0, 2.5, False)
    assert after == book_before


def test_manual_scores_and_comments_stay(graded, monkeypatch):
    change(monkeypatch, "per_token_loss", tolerance=(1e-4, 0.0))
    again(graded)
    grades, comments, _ = rows(graded[1])["rounds-roughly"]
    assert grades["per_token_loss-check"] == (4, 2.5, True)
    assert grades["global_tokens-check"] == (4, 2.5, False), "nothing changed there: nobody is asked to look again"
    assert comments["per_token_loss-answer"] == (None, "Nearly.")


def test_a_new_mistake_is_named(graded, monkeypatch):
    before = rows(graded[1])
    seven = Mistake("seven", lambda batch, seq, accum, devices: 7 * batch, "Seven of what?")
    change(monkeypatch, "global_tokens", mistakes=(*exercise("global_tokens").mistakes, seven))
    found = moved(again(graded))
    assert list(found) == [("takes-seven", "global_tokens")]
    row = book.read_verdict(graded[0].root, "takes-seven", PART)["exercises"]["global_tokens"]
    assert (row["mistake"], row["reason"], row["points"]) == ("seven", "mistake", 0) and "Seven of" in row["message"]
    assert rows(graded[1]) == before


def test_a_stricter_reference_takes_points(graded, monkeypatch):
    change(monkeypatch, "what_to_divide_by", reference="z")
    found = moved(again(graded))
    lost = {student for student, name in found if name == "what_to_divide_by"}
    assert lost == set(EVERYBODY) - {"blank", "hands-in-a-web-page"} and len(found) == len(lost)
    scores = book.scores(NbGraderAPI(config=graded[1]).coursedir.db_url, PART)
    for student in EVERYBODY:
        said = book.read_verdict(graded[0].root, student, PART)
        assert scores[student] == {name: row["points"] for name, row in said["exercises"].items()}


def test_another_draw_must_be_run_again(graded, monkeypatch):
    before, book_before = files(graded[0]), rows(graded[1])
    old = exercise("global_tokens").draw
    change(monkeypatch, "global_tokens", draw=lambda rng: [*old(rng), call(3, 5, 7, 11)], tolerance=(1.0, 0.0))
    results = again(graded)
    judged = {student: result for student, result in results.items() if result.recorded}
    assert len(judged) == len(EVERYBODY) - 1
    assert all(result.kept == {"global_tokens": AGAIN} for result in judged.values()) and moved(results) == {}
    assert files(graded[0]) == before and rows(graded[1]) == book_before
    said = CliRunner().invoke(cli, ["regrade", "part1", "--course", str(graded[0].root)])
    assert "takes-seven must be run again: other inputs are asked now in global_tokens." in said.output
    assert "8 must be run again.\n" in said.output and f"autograder grade {PART} --again" in said.output
    assert said.exit_code == 0


def test_changed_points_wait_for_a_release(graded, monkeypatch):
    before = files(graded[0])
    change(monkeypatch, "per_token_loss", points=6, tolerance=(1e-4, 0.0))
    said = CliRunner().invoke(cli, ["regrade", "part1", "--course", str(graded[0].root)])
    sentence = "per_token_loss gives 6 points in partrain_ref and 4 in the release; its verdicts stay as they are."
    assert said.output.count(sentence) == 1 and said.exit_code == 0
    assert files(graded[0]) == before


def test_released_anew_with_other_points_it_gives_them(graded, monkeypatch):
    course, config = graded
    change(monkeypatch, "per_token_loss", points=6)
    path = course.root / "source" / PART / f"{PART}.ipynb"
    nb = nbformat.read(path, as_version=4)
    next(cell for cell in nb.cells if cell.id == "per_token_loss-check").metadata.nbgrader.points = 6
    nbformat.write(nb, path)
    assert NbGraderAPI(config=config).generate_assignment(PART, force=True)["success"]
    results = again(graded)
    assert not any(result.kept or result.unread for result in results.values())
    assert book.read_verdict(course.root, "all-right", PART)["points"] == 28
    assert rows(config)["all-right"][0]["per_token_loss-check"] == (6, None, False)
    assert rows(config)["blank"][0]["per_token_loss-check"] == (0, None, False)
    assert again(graded)["all-right"].changes == ()


@pytest.fixture
def break_judging(monkeypatch):
    """Let the judging of one exercise stop with an error, in draws or after them; a call mends it."""

    def go(name, where):
        mending = pytest.MonkeyPatch()
        if where == "draw":
            change(mending, name, draw=lambda rng: 1 / 0)
        else:
            mending.setattr(judge, "assess", lambda one, *a: assess(one, *a) if one.name != name else 1 / 0)
        mend.append(mending.undo)
        return mending.undo

    mend = []
    yield go
    for undo in mend:
        undo()


@pytest.mark.parametrize("where", ["draw", "judging"])
def test_an_exercise_that_breaks_costs_nobody_points(graded, break_judging, where):
    before = files(graded[0])
    break_judging("per_token_loss", where)
    said = CliRunner().invoke(cli, ["regrade", "part1", "--course", str(graded[0].root)])
    assert "per_token_loss could not be judged, because its exercise stopped with an error" in said.output
    assert said.exit_code == 1 and files(graded[0]) == before


def test_a_dry_run_says_it_and_writes_nothing(graded, monkeypatch):
    change(monkeypatch, "per_token_loss", tolerance=(1e-4, 0.0))
    everything = {path: path.stat().st_mtime_ns for path in graded[0].root.rglob("*") if path.is_file()}
    before, book_before = files(graded[0]), rows(graded[1])
    command = ["regrade", "part1", "--course", str(graded[0].root)]
    dry = CliRunner().invoke(cli, [*command, "--dry-run"])
    line = "rounds-roughly, per_token_loss: 0 -> 4 of 4 points: right\n"
    assert line in dry.output and "8 hand-ins judged again, 1 changed (1 in points), 0 must" in dry.output
    assert "Nothing was written." in dry.output and dry.exit_code == 0
    assert {path: path.stat().st_mtime_ns for path in everything} == everything
    assert files(graded[0]) == before and rows(graded[1]) == book_before
    wet = CliRunner().invoke(cli, command)
    assert line in wet.output and "nbgrader generate_feedback" in wet.output and wet.exit_code == 0
    assert files(graded[0]) != before


KILLED = """
import dataclasses, os, sys
from autograder.course import open_course
from autograder.ledger import Ledger
from autograder.regrade import regrade
from autograder.stage import Stage
from partrain_ref.exercises import ASSIGNMENTS

place, root, part = sys.argv[1:]
ASSIGNMENTS[part] = tuple(
    dataclasses.replace(e, reference="z") if e.name == "what_to_divide_by" else e for e in ASSIGNMENTS[part]
)
seen = []

def die_at_the_third(*a, **k):
    seen.append(a)
    if len(seen) == 3:
        os._exit(9)

def before(owner, name):
    real = getattr(owner, name)
    def wrapped(*a, **k):
        die_at_the_third()
        return real(*a, **k)
    setattr(owner, name, wrapped)

if place == "no grade yet":
    before(Ledger, "_set")
elif place == "grade, no notebook":
    before(Stage, "open")
elif place == "notebook, no verdict":
    real = Stage.put_files
    def half(self, student, names):
        real(self, student, names[:1])
        die_at_the_third()
        real(self, student, names[1:])
    Stage.put_files = half
for _ in regrade(*open_course(root), part):
    pass
"""


@pytest.mark.parametrize("place", ["no grade yet", "grade, no notebook", "notebook, no verdict"])
def test_killed_and_run_again_it_ends_as_if_undisturbed(graded, graded_folder, monkeypatch, tmp_path, place):
    before = files(graded[0])
    command = [sys.executable, "-c", KILLED, place, str(graded[0].root), PART]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 9, ran.stderr
    half = {name for name, content in files(graded[0]).items() if content != before[name]}
    assert 4 <= len(half) <= 5 and files(graded[0]).keys() == before.keys()
    change(monkeypatch, "what_to_divide_by", reference="z")
    again(graded)
    shutil.copytree(graded_folder, tmp_path / "undisturbed")
    undisturbed = open_course(tmp_path / "undisturbed")
    again(undisturbed)
    assert files(graded[0]) == files(undisturbed[0]) and rows(graded[1]) == rows(undisturbed[1])


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("recorded_answers.json", "{"),
        ("recorded_answers.json", "[]"),
        ("recorded_answers.json", '{"exercises": {"global_tokens": {"asked": 3}}}'),
        ("verdict.json", '{"exercises": {"global_tokens": {"state": "right"}}}'),
        (f"{PART}.ipynb", "<html>"),
    ],
)
def test_one_damaged_hand_in_is_said_and_the_others_go_on(graded, monkeypatch, name, content):
    change(monkeypatch, "what_to_divide_by", reference="z")
    path = graded[0].root / "autograded" / "all-right" / PART / name
    path.chmod(0o644)
    path.write_text(content)
    said = CliRunner().invoke(cli, ["regrade", "part1", "--course", str(graded[0].root)])
    assert f"all-right was not judged again: {name} cannot be read.\n" in said.output and said.exit_code == 1
    assert "takes-seven, what_to_divide_by:" in said.output and "7 hand-ins judged again, 6 changed" in said.output
    assert path.read_text() == content


def test_a_notebook_that_lost_its_cells_is_not_judged(graded):
    path = graded[0].root / "autograded" / "all-right" / PART / f"{PART}.ipynb"
    nb = nbformat.read(path, as_version=4)
    nb.cells = [cell for cell in nb.cells if cell.id != "global_tokens-check"]
    path.chmod(0o644)
    nbformat.write(nb, path)
    assert "does not hold the exercises of its verdict.json" in again(graded)["all-right"].unread


def test_a_hand_in_that_the_grade_book_does_not_know_is_said(graded, monkeypatch):
    with NbGraderAPI(config=graded[1]).gradebook as gradebook:
        gradebook.remove_submission(PART, "all-right")
    change(monkeypatch, "what_to_divide_by", reference="z")
    results = again(graded)
    assert results["all-right"].unread == "the grade book does not know this hand-in"
    assert results["takes-seven"].changes


def test_what_was_judged_by_a_broken_exercise_is_judged_at_last(released_folder, tmp_path, break_judging):
    shutil.copytree(released_folder, tmp_path / "course")
    course, config = open_course(tmp_path / "course")
    hand_in(course, PART, Sample("anna"), course.root / "submitted" / "anna" / PART)
    mend = break_judging("per_token_loss", "judging")
    (result,) = grade(course, config, PART)
    mend()
    assert result.ungraded == ["per_token_loss"]
    (after,) = regrade(course, config, PART)
    assert [str(one) for one in after.changes] == ["per_token_loss: none -> 4 of 4 points: right"]
    with NbGraderAPI(config=config).gradebook as gradebook:
        row = gradebook.find_grade("per_token_loss-check", PART, PART, "anna")
        assert (row.auto_score, row.needs_manual_grade) == (4, False)


def test_regrade_keeps_away_from_a_class_run_and_from_what_was_not_released(graded, small_course):
    running = grade(*graded, PART)
    next(running)
    with pytest.raises(CourseError, match="Another run is grading"):
        again(graded)
    running.close()
    with NbGraderAPI(config=small_course[1]).gradebook as gradebook:
        gradebook.remove_assignment(PART)
    with pytest.raises(CourseError, match="was not released yet"):
        again(small_course)


def test_half_a_character_stays_what_it_became(graded):
    root = graded[0].root
    called = book.read_verdict(root, "raises-half-a-character", PART)["exercises"]["global_tokens"]
    assert "stopped with RuntimeError: ? half." in called["message"]
    answered = book.read_verdict(root, "stops-with-half-a-character", PART)["exercises"]["global_tokens"]
    assert "The answer cell stopped with ValueError: ? half." in answered["message"]
    assert moved(again(graded)) == {}


def test_recorded_answers_hold_what_no_text_file_can(tmp_path):
    write_records(tmp_path, {}, {"why_average": {"bundles": ["\ud800"]}}, "")
    kept = json.loads((tmp_path / "recorded_answers.json").read_text(encoding="utf-8"))
    assert kept["exercises"]["why_average"]["bundles"] == ["\ud800"]
