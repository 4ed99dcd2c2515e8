"""The class run: side by side, resumable after any death, the same grades as nbgrader's own command."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time

import nbformat
import pytest
from click.testing import CliRunner
from nbgrader.apps.api import NbGraderAPI

from autograder import book, settle, submission, workers
from autograder.__main__ import cli
from autograder.course import CourseError, open_course
from autograder.demo import Sample, hand_in, samples
from autograder.grade import grade
from autograder.ledger import Ledger
from autograder.sandbox import seal
from autograder.stage import STAGE

PART = "part1_split_the_batch"
HAND_INS = 16
CHOSEN = ("all-right", "blank", "forgets-accumulation", "right-values-no-refusals", "half-done", "ends-the-program")


def db(config):
    return NbGraderAPI(config=config).coursedir.db_url


def fill(course, count):
    """`count` students hand in, taking turns at what the chosen samples do."""
    kinds = {sample.name: sample for sample in samples(course)[PART]}
    for number in range(count):
        name = CHOSEN[number % len(CHOSEN)]
        hand_in(course, PART, kinds[name], course.root / "submitted" / f"s{number:03d}-{name}" / PART)


def state_of(course, config):
    """Everything that a class run writes, in comparable form."""
    with NbGraderAPI(config=config).gradebook as gradebook:
        rows = sorted(
            (s.student.id, g.name, g.auto_score, g.needs_manual_grade, g.manual_score)
            for s in gradebook.assignment_submissions(PART)
            for n in s.notebooks
            for g in n.grades
        )
        comments = sorted(
            (s.student.id, c.name, c.auto_comment)
            for s in gradebook.assignment_submissions(PART)
            for n in s.notebooks
            for c in n.comments
        )
    folders = {
        path.relative_to(course.root).as_posix(): plain(path)
        for path in sorted((course.root / "autograded").rglob("*"))
        if path.is_file()
    }
    return rows, comments, folders


def plain(path):
    if path.suffix == ".ipynb":
        nb = nbformat.read(path, 4)
        for cell in nb.cells:
            for output in cell.get("outputs", ()):
                output.get("data", {}).pop("application/vnd.jupyter.widget-view+json", None)
                output.pop("metadata", None)
        return json.dumps(nb, sort_keys=True)
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def undisturbed(released_folder, tmp_path_factory):
    """A course with sixteen hand-ins, graded in one go: what every other way must come to."""
    root = tmp_path_factory.mktemp("undisturbed") / "course"
    shutil.copytree(released_folder, root)
    course, config = open_course(root)
    fill(course, HAND_INS)
    pristine = root.with_name("pristine")
    shutil.copytree(root, pristine)
    results = list(grade(course, config, PART, jobs=2))
    assert len(results) == HAND_INS and not any(result.log for result in results)
    return pristine, state_of(course, config)


def copy_of(undisturbed, tmp_path):
    root = tmp_path / "course"
    shutil.copytree(undisturbed[0], root)
    return open_course(root)


def test_what_the_class_run_wrote(undisturbed):
    rows, _, folders = undisturbed[1]
    by_student = {}
    for student, _, score, _, _ in rows:
        by_student[student] = by_student.get(student, 0) + score
    assert by_student["s000-all-right"] == 26 and by_student["s001-blank"] == 0
    assert 0 < by_student["s005-ends-the-program"] < 26
    assert json.loads(folders[f"autograded/s000-all-right/{PART}/verdict.json"])["sealed"] is True


def test_one_job_gives_the_same(undisturbed, tmp_path):
    course, config = copy_of(undisturbed, tmp_path)
    assert len(list(grade(course, config, PART, jobs=1))) == HAND_INS
    assert state_of(course, config) == undisturbed[1]


def test_nbgrader_autograde_gives_the_same(undisturbed, tmp_path):
    course, config = copy_of(undisturbed, tmp_path)
    for folder in sorted((course.root / "submitted").iterdir())[8:]:
        shutil.rmtree(folder)
    command = [sys.executable, "-m", "nbgrader", "autograde", PART]
    ran = subprocess.run(command, cwd=course.root, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    got, wanted = state_of(course, config), undisturbed[1]
    students = {folder.name for folder in (course.root / "submitted").iterdir()}
    assert got[0] == [row for row in wanted[0] if row[0] in students]
    assert got[1] == [row for row in wanted[1] if row[0] in students]
    for name, text in got[2].items():
        if name.endswith(("verdict.json", ".ipynb")):
            assert text == wanted[2][name], name
        else:
            assert name in wanted[2], name


def test_killed_at_random_moments_nothing_is_lost_and_nothing_doubled(undisturbed, tmp_path):
    course, config = copy_of(undisturbed, tmp_path)
    command = [sys.executable, "-m", "autograder", "grade", "part1", "--jobs", "2", "--course", str(course.root)]
    chance, kills, left = random.Random(20), 0, HAND_INS
    while kills < 4 and left:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        first = time.monotonic()
        while time.monotonic() - first < 60 and len(verdicts(course)) == HAND_INS - left and process.poll() is None:
            time.sleep(0.01)
        time.sleep(chance.random() * 0.6)
        process.send_signal(signal.SIGKILL)
        process.wait()
        kills, left = kills + 1, HAND_INS - len(verdicts(course))
    assert kills >= 2, "it was really killed while it worked"
    results = list(grade(course, config, PART, jobs=2))
    assert len(results) == HAND_INS and sum(result.skipped for result in results) >= HAND_INS - left - 1
    assert state_of(course, config) == undisturbed[1]
    assert not (course.root / STAGE / PART).exists()


def verdicts(course):
    return list((course.root / "autograded").glob("*/*/verdict.json"))


def test_interrupted_it_says_so_and_goes_on(undisturbed, tmp_path):
    course, config = copy_of(undisturbed, tmp_path)
    command = [sys.executable, "-m", "autograder", "grade", "part1", "--jobs", "1", "--course", str(course.root)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        while not verdicts(course):
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130 and "Traceback" not in out + err and "goes on" in out + err
    assert len(list(grade(course, config, PART))) == HAND_INS
    assert state_of(course, config) == undisturbed[1]


def test_a_resubmission_is_noticed_however_it_came(undisturbed, tmp_path):
    course, config = copy_of(undisturbed, tmp_path)
    for folder in sorted((course.root / "submitted").iterdir())[2:]:
        shutil.rmtree(folder)
    list(grade(course, config, PART))
    old = course.root / "submitted" / "s001-blank" / PART / f"{PART}.ipynb"
    before = old.stat()
    shutil.copyfile(course.root / "submitted" / "s000-all-right" / PART / old.name, old)
    os.utime(old, (before.st_atime, before.st_mtime))  # an archive restores old times
    again = {result.student: result for result in grade(course, config, PART)}
    assert again["s000-all-right"].skipped and not again["s001-blank"].skipped
    assert again["s001-blank"].verdict["points"] == 26


def test_two_runs_at_once_are_refused(small_course):
    course, config = small_course
    fill(course, 2)
    first = grade(course, config, PART)
    next(first)
    with pytest.raises(CourseError, match="Another run is grading"):
        next(grade(course, config, PART))
    assert len(list(first)) == 1


def test_a_worker_that_ends_costs_one_hand_in(small_course, monkeypatch):
    course, config = small_course
    fill(course, 6)
    honest = submission.Grader.grade

    def deadly(self, one):
        if one.student.startswith("s002"):
            os._exit(7)
        return honest(self, one)

    monkeypatch.setattr(submission.Grader, "grade", deadly)
    results = {result.student[:4]: result for result in grade(course, config, PART, jobs=2)}
    assert len(results) == 6 and [name for name, result in results.items() if result.log] == ["s002"]
    assert workers.ENDED in results["s002"].log
    assert set(results["s002"].ungraded) == set(results["s000"].verdict["exercises"])
    assert set(book.scores(db(config), PART)["s002-forgets-accumulation"].values()) == {None}
    assert results["s000"].verdict["points"] == 26


def test_a_step_of_ours_that_fails_costs_one_hand_in_and_the_exit_status(small_course, monkeypatch):
    course, _ = small_course
    fill(course, 3)
    keep = Ledger.keep

    def full_disk(self, graded):
        if graded.hand_in.student.startswith("s001"):
            raise OSError(28, "No space left on device")
        keep(self, graded)

    monkeypatch.setattr(Ledger, "keep", full_disk)
    ran = CliRunner().invoke(cli, ["grade", "part1", "--course", str(course.root)])
    assert ran.exit_code == 1 and "could not be graded: s001-blank, everything" in ran.output
    assert "3 hand-ins, 3 graded now" in ran.output and "No space left" in ran.output


def test_without_a_seal_it_is_said_and_may_be_refused(small_course, monkeypatch):
    course, _ = small_course
    fill(course, 1)
    environment = {**os.environ, "PATH": "/nowhere"}
    command = [sys.executable, "-m", "autograder", "grade", "part1", "--jobs", "1", "--course", str(course.root)]
    refused = subprocess.run([*command, "--require-seal"], capture_output=True, text=True, env=environment, check=False)
    assert refused.returncode == 2 and "cannot be sealed off" in refused.stderr
    assert not verdicts(course)
    ran = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert ran.returncode == 0 and "Graded unsealed" in ran.stdout
    assert book.read_verdict(course.root, "s000-all-right", PART)["sealed"] is False
    assert seal.levels()[0].words == "sealed"


def test_F076_manual_scores_and_comments_stay(small_course):
    course, config = small_course
    fill(course, 1)
    student = "s000-all-right"
    list(grade(course, config, PART))
    with NbGraderAPI(config=config).gradebook as gradebook:
        one = gradebook.find_grade("global_tokens-check", PART, PART, student)
        one.manual_score = 1.5
        gradebook.find_comment("global_tokens-answer", PART, PART, student).manual_comment = "Talked about it."
        gradebook.db.commit()
    for newer in (False, True):
        if newer:
            (course.root / "submitted" / student / PART / "notes.txt").write_text("a newer hand-in")
        list(grade(course, config, PART, again=True))
        with NbGraderAPI(config=config).gradebook as gradebook:
            one = gradebook.find_grade("global_tokens-check", PART, PART, student)
            assert (one.manual_score, one.auto_score) == (1.5, one.max_score)
            assert one.needs_manual_grade is newer, "asked to look again only where something is new"
            comment = gradebook.find_comment("global_tokens-answer", PART, PART, student)
            assert comment.manual_comment == "Talked about it."


def test_S41_links_in_a_hand_in_are_not_followed(small_course):
    course, config = small_course
    fill(course, 1)
    folder = course.root / "submitted" / "s000-all-right" / PART
    (folder / "secret.txt").symlink_to(course.root / ".course_secret")
    (folder / "notes.txt").write_text("mine")
    list(grade(course, config, PART))
    graded = course.root / "autograded" / "s000-all-right" / PART
    assert (graded / "notes.txt").read_text() == "mine" and not (graded / "secret.txt").exists()


def test_pipes_and_files_that_cannot_be_read_stop_nothing(small_course, monkeypatch):
    course, config = small_course
    fill(course, 2)
    folder = course.root / "submitted" / "s000-all-right" / PART
    os.mkfifo(folder / "pipe")
    (folder / "closed.txt").write_text("x")
    before = settle.fingerprint(folder)
    honest = type(folder).open

    def closed(self, *arguments, **named):
        if self.name == "closed.txt":
            raise PermissionError(13, "Permission denied")
        return honest(self, *arguments, **named)

    with monkeypatch.context() as patch:
        patch.setattr(type(folder), "open", closed)
        assert settle.fingerprint(folder) != before
    results = {result.student[:4]: result for result in grade(course, config, PART)}
    assert results["s000"].log == "" and results["s000"].verdict["points"] == 26 and len(results) == 2


def test_an_assignment_of_two_notebooks_is_refused_in_one_sentence(small_course):
    course, config = small_course
    fill(course, 1)
    with NbGraderAPI(config=config).gradebook as gradebook:
        gradebook.add_notebook("second", PART)
    with pytest.raises(CourseError, match=r"must have one notebook .* part1_split_the_batch, second"):
        list(grade(course, config, PART))


def test_late_penalties_are_the_courses_own(small_course):
    course, _ = small_course
    fill(course, 1)
    (course.root / "late.py").write_text(
        "from nbgrader.plugins import BasePlugin\nclass Late(BasePlugin):\n"
        "    def late_submission_penalty(self, student_id, score, total_seconds_late):\n        return 5\n"
    )
    with (course.root / "nbgrader_config.py").open("a") as file:
        file.write("\nimport sys\nsys.path.insert(0, str(Path(__file__).parent))\nimport late\n")
        file.write("c.AssignLatePenalties.plugin_class = late.Late\n")
    folder = course.root / "submitted" / "s000-all-right" / PART
    (folder / "timestamp.txt").write_text("2030-01-02 00:00:00 UTC")
    course, config = open_course(course.root)
    with NbGraderAPI(config=config).gradebook as gradebook:
        gradebook.update_or_create_assignment(PART, duedate="2030-01-01 00:00:00 UTC")
    list(grade(course, config, PART))
    with NbGraderAPI(config=config).gradebook as gradebook:
        found = gradebook.find_submission(PART, "s000-all-right")
        assert found.late_submission_penalty == 5 and found.total_seconds_late == 86400


def test_a_single_hand_in_needs_no_worker(small_course, monkeypatch):
    course, config = small_course
    hand_in(course, PART, Sample("anna"), course.root / "submitted" / "anna" / PART)
    monkeypatch.setattr(workers, "_workers", None)
    (result,) = grade(course, config, PART)
    assert result.verdict["points"] == 26
