"""What a release must not hold is found in every guise; what it may hold is not complained of."""

import base64
import json
import shutil

import nbformat
import pytest

from autograder import wire
from autograder.doctor import faults
from autograder.exercise import Exercise, Mistake, call, draw_key
from autograder.leaks import leaks_in, squeezed, unpacked

PART = "part1_split_the_batch"
LINE = "need_counts(per_device_batch=per_device_batch, seq=seq, accum=accum, devices=devices)"
SECOND = "return int(per_device_batch) * int(seq) * int(accum) * int(devices)"
HELD = "holds a line of the solution of global_tokens-answer"


def spoil(course, change):
    path = course.root / "release" / PART / f"{PART}.ipynb"
    nb = nbformat.read(path, as_version=4)
    change(nb)
    nbformat.write(nb, path)


def test_a_clean_release_is_clean(small_course):
    assert list(leaks_in(small_course[0], PART, ("anna",))) == []


@pytest.mark.parametrize(
    "change",
    [
        lambda nb: nb.cells[0].update(source=f"Hint:\n\n    {LINE}"),
        lambda nb: nb.cells[3].update(source="# " + LINE.replace(" ", "")),
        lambda nb: nb.cells[3].metadata.update(note=LINE),
        lambda nb: nb.metadata.update(note=base64.b64encode(LINE.encode()).decode()),
        lambda nb: nb.cells[3].update(source="text = " + json.dumps(LINE.replace(", ", ",\n"))),
    ],
    ids=["in a text", "in a comment", "in a cell's metadata", "packed", "as a string"],
)
def test_F082_a_solution_is_found_in_another_guise(small_course, change):
    spoil(small_course[0], change)
    assert any(HELD in leak for leak in leaks_in(small_course[0], PART))


def test_F082_a_solution_is_found_in_a_file_beside_the_notebook(small_course):
    course, _ = small_course
    (course.root / "release" / PART / course.kit / "extra.py").write_text(f"def f():\n    {LINE}\n    {SECOND}\n")
    assert f"extra.py {HELD}" in list(leaks_in(course, PART))


def test_S30_a_hidden_input_and_the_secret_are_found(small_course):
    course, _ = small_course
    exercise = course.exercises(PART)["per_token_loss"]
    one = exercise.hidden(draw_key(course.secret, PART, "anna", "per_token_loss"))[1]
    sent = json.dumps(wire.encode_call(one)["args"], indent=2)
    (course.root / "release" / PART / "data.json").write_text(sent + course.secret.decode())
    found = list(leaks_in(course, PART, ("anna",)))
    assert "data.json holds a hidden input of per_token_loss" in found and "data.json holds the course secret" in found
    assert not any("hidden input" in leak for leak in leaks_in(course, PART, ("bo",)))


def test_F082_what_an_editor_leaves_behind_is_found(small_course):
    course, _ = small_course
    folder = course.root / "release" / PART
    (folder / ".ipynb_checkpoints").mkdir()
    shutil.copyfile(course.root / "source" / PART / f"{PART}.ipynb", folder / ".ipynb_checkpoints" / "copy.ipynb")
    (folder / "gradebook.db").write_bytes(b"")
    spoil(course, lambda nb: nb.metadata.update(widgets={}))
    found = " ".join(leaks_in(course, PART))
    assert "gradebook.db does not belong" in found and "copy.ipynb does not belong" in found and "widget state" in found


def test_S40_a_reference_that_fails_its_own_test_is_named():
    def half(x):
        return x / 2

    wrong = Exercise("half", half, (Mistake("double", lambda x: x * 2, "Twice."),), 1, examples=(call(0),))
    assert faults(wrong) == []
    blurred = Exercise("half", half, wrong.mistakes, 1, draw=lambda rng: [call(0)])
    assert "tells every mistake from the right answer" in faults(blurred)[0]
    refusing = Exercise("half", lambda x: 1 / x, (), 1, examples=(call(0),))
    assert faults(refusing) == ["half: the reference refuses a legal input"]


def test_squeezed_and_unpacked():
    assert squeezed('a = "b c"\\n\t') == "a=bc"
    assert LINE in unpacked(base64.b64encode(LINE.encode()).decode())
