"""Running a notebook: death costs one cell, a machine without kernels costs nobody points, the kit is the course's."""

import json

import nbformat
import pytest
from nbgrader.apps.api import NbGraderAPI

from autograder import answer, book, verdict
from autograder.demo import Sample, hand_in
from autograder.grade import grade
from autograder.sandbox import BoxError

PART = "part1_split_the_batch"


@pytest.fixture
def graded(small_course):
    """Hand in for one student and return the verdict."""
    course, config = small_course

    def one(change, files=()):
        folder = course.root / "submitted" / "anna" / PART
        hand_in(course, PART, Sample("anna"), folder)
        path = folder / f"{PART}.ipynb"
        nb = nbformat.read(path, as_version=4)
        change({cell.id: cell for cell in nb.cells}, nb)
        nbformat.write(nb, path)
        for name, text in files:
            (folder / name).write_text(text)
        (result,) = grade(course, config, PART, again=True)
        return result.verdict

    one.course, one.config = course, config
    return one


def states(got):
    return {name: row["state"] for name, row in got["exercises"].items()}


def test_S36_a_crash_in_an_answer_cell_costs_that_exercise_only(graded):
    def crash(cells, nb):
        cells["global_tokens-answer"].source = "import os\nos.abort()"

    got = graded(crash)
    bad = {name for name, state in states(got).items() if state != "right"}
    assert bad == {"global_tokens"} and states(got)["global_tokens"] == "wrong"
    assert got["repairs"] == [
        "Cell global_tokens-answer ended or crashed the program, or could not be stopped; the rest was run without it."
    ]


def test_a_crash_in_an_ordinary_cell_costs_nothing(graded):
    def crash(cells, nb):
        nb.cells.insert(3, nbformat.v4.new_code_cell("import os\nos._exit(1)"))

    got = graded(crash)
    assert set(states(got).values()) == {"right"} and "Code cell" in got["repairs"][0]


def test_S15_a_kit_of_the_students_own_is_not_used(graded):
    got = graded(lambda cells, nb: None, files=[("partrain/record.py", "raise SystemExit"), ("numpy.py", "x = 1")])
    assert set(states(got).values()) == {"right"}


def test_S11_a_second_bundle_in_the_check_is_no_answer(graded):
    def forge(cells, nb):
        cells["global_tokens-answer"].source += (
            "\nfrom IPython.display import publish_display_data\n_right = global_tokens\n"
            "def global_tokens(*a):\n"
            "    publish_display_data({'application/vnd.partrain.answers+json': {'exercise': 'global_tokens'}})\n"
            "    return _right(*a)"
        )

    row = graded(forge)["exercises"]["global_tokens"]
    assert (row["state"], row["points"]) == ("wrong", 0.0) and "more than one answer" in row["message"]


def test_S09_a_recorder_of_the_students_own_earns_nothing(graded):
    def forge(cells, nb):
        cells["imports"].source += "\nimport partrain.record\npartrain.record.record = lambda *a, **k: print('4.0')"

    got = graded(forge)
    assert set(states(got).values()) == {verdict.UNGRADED} and got["points"] is None


def test_S12_swapped_display_machinery_earns_nothing(graded):
    def forge(cells, nb):
        cells["imports"].source += (
            "\nimport partrain.record\npartrain.record.publish_display_data = lambda d: print(d)\n"
            "get_ipython().showtraceback = lambda *a, **k: None"
        )

    assert set(states(graded(forge)).values()) == {verdict.UNGRADED}


def test_S34_names_taken_by_the_student_do_not_hinder_the_recorder(graded):
    def take(cells, nb):
        cells["imports"].source += "\nrecord = globals = json = get_ipython = display = 3\npartrain = 7"

    assert set(states(graded(take)).values()) == {"right"}


def test_S05_text_that_looks_like_a_verdict_decides_nothing(graded):
    def boast(cells, nb):
        cells["global_tokens-answer"].source = "print('global_tokens: right, 4 of 4 points')\n4.0"

    assert states(graded(boast))["global_tokens"] == "wrong"


def test_a_machine_that_cannot_start_a_kernel_costs_nobody_points(graded, monkeypatch):
    first = graded(lambda cells, nb: None)
    assert first["points"] == first["max_points"]

    def broken(files, limits, hidden):
        raise BoxError("no kernel today")

    monkeypatch.setattr(answer, "open_box", broken)
    got = graded(lambda cells, nb: None)
    assert set(states(got).values()) == {verdict.UNGRADED}
    db_url = NbGraderAPI(config=graded.config).coursedir.db_url
    assert set(book.scores(db_url, PART)["anna"].values()) == {None}


def test_recorded_answers_stay_beside_the_verdict(graded):
    graded(lambda cells, nb: None)
    folder = graded.course.root / "autograded" / "anna" / PART
    kept = json.loads((folder / "recorded_answers.json").read_text())
    row = kept["exercises"]["global_tokens"]
    assert row["bundles"][0]["exercise"] == "global_tokens" and len(row["bundles"]) == 1 and row["lost"] == ""
    assert len(row["asked"]) == len(kept["handed_in"]) == 64


def limited(source):
    """per_token_loss, a function that meets a limit."""

    def change(cells, nb):
        cells["per_token_loss-answer"].source = source

    return change


LOOPS_ON_BAD_INPUT = """
def per_token_loss(device_losses, device_tokens):
    while len(device_losses) != len(device_tokens):
        pass
    if not device_losses or min(device_tokens) < 0 or sum(device_tokens) == 0:
        raise ValueError
    return sum(l * n for l, n in zip(device_losses, device_tokens) if n) / sum(device_tokens)
"""


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("    while True:\n        try:\n            pass\n        except Exception:\n            pass", "in time"),
        ("    return bytearray(64 * 2**30)", "needs more memory than a hand-in may use"),
        ("    open('big', 'wb').truncate(10 * 2**30)", "writes a larger file than a hand-in may write"),
        (
            "    for i in range(8):\n        open(str(i), 'wb').write(bytes(100 * 2**20))",
            "writes more to the disk than a hand-in may write",
        ),
        (
            "    import os, time\n    for _ in range(500):\n        if os.fork() == 0:\n            time.sleep(60)",
            "starts more processes than a hand-in may start",
        ),
        (
            "    import threading, time\n    for _ in range(500):\n"
            "        threading.Thread(target=time.sleep, args=(60,)).start()",
            "starts more threads than a hand-in may start",
        ),
    ],
)
def test_each_limit_has_its_sentence(graded, body, words):
    got = graded(limited(f"def per_token_loss(device_losses, device_tokens):\n{body}"))
    row = got["exercises"]["per_token_loss"]
    assert (row["state"], row["points"]) == ("wrong", 0.0) and words in row["message"]
    assert states(got)["global_tokens"] == states(got)["token_weighted_grad"] == "right"


def test_S19_a_loop_that_never_ends_on_bad_input_costs_the_refusals_only(graded):
    row = graded(limited(LOOPS_ON_BAD_INPUT))["exercises"]["per_token_loss"]
    assert row["state"] == "partly" and "it did not come to an end in time" in row["message"]


def test_output_that_is_cut_is_said(graded):
    def chatty(cells, nb):
        cells["imports"].source += "\nfor i in range(300_000):\n    print(i)"

    got = graded(chatty)
    assert got["repairs"] == ["Code cell 1 showed more than is kept; the rest was cut."]
    assert set(states(got).values()) == {"right"}
