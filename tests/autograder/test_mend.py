"""Intake's repairs, one slip each, against a small released notebook."""

import copy
import json
import time

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.match import Refusal
from autograder.mend import mend


def graded(name, source, **about):
    cell = new_code_cell(source, id=name)
    cell.metadata = {
        "nbgrader": {
            "grade_id": name,
            "grade": False,
            "solution": True,
            "locked": False,
            "schema_version": 3,
            "task": False,
            **about,
        }
    }
    return cell


CHECK = {"grade": True, "solution": False, "locked": True, "points": 4}
RELEASED = new_notebook(
    cells=[
        new_markdown_cell("# Part", id="title"),
        graded("avg-answer", "def avg(xs):\n    # your code here\n    raise NotImplementedError"),
        graded("avg-check", 'check("avg", avg)', **CHECK),
        new_markdown_cell("Next", id="next"),
        graded("bub-answer", "bub = ...  # seconds"),
        graded("bub-check", 'check("bub", bub)', **CHECK),
    ],
    metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
)
ANSWER = "def avg(xs):\n    total = sum(xs)\n    return total / len(xs)"


def handed_in():
    nb = copy.deepcopy(RELEASED)
    nb.cells[1].source = ANSWER
    nb.cells[4].source = "bub = 3"
    return json.loads(nbformat.writes(nb))


def names(nb):
    return [cell.metadata.nbgrader.grade_id for cell in nb.cells if "nbgrader" in cell.metadata]


def source_of(nb, name):
    (cell,) = [cell for cell in nb.cells if cell.metadata.get("nbgrader", {}).get("grade_id") == name]
    return cell.source


ALL = ["avg-answer", "avg-check", "bub-answer", "bub-check"]


def mended(content):
    nb, repairs = mend(content, RELEASED)
    nbformat.validate(nb)
    return nb, repairs


def test_a_sound_notebook_needs_no_repair():
    nb, repairs = mended(handed_in())
    assert repairs == [] and names(nb) == ALL
    assert source_of(nb, "avg-answer") == ANSWER
    assert nb.metadata.kernelspec.name == "python3"


def test_F001_a_check_pasted_twice_runs_once():
    content = handed_in()
    content["cells"].insert(3, {**copy.deepcopy(content["cells"][2]), "id": "another"})
    nb, repairs = mended(content)
    assert names(nb) == ALL
    assert repairs == ["The cell avg-check appears 2 times; it was run once, as handed out."]


def test_F003_an_answer_split_in_two_is_joined():
    content = handed_in()
    first, second = copy.deepcopy(content["cells"][1]), copy.deepcopy(content["cells"][1])
    first["source"], second["source"], second["id"] = ANSWER[:30], ANSWER[30:], "half"
    first["source"], second["source"] = "def avg(xs):\n    total = sum(xs)", "    return total / len(xs)"
    content["cells"][1:2] = [first, second]
    nb, repairs = mended(content)
    assert names(nb) == ALL and source_of(nb, "avg-answer") == ANSWER
    assert repairs == ["The answer avg-answer is in 2 cells; they were run in order."]


WRITTEN = new_markdown_cell("YOUR ANSWER HERE", id="why")
WRITTEN.metadata = graded("why", "", grade=True, points=5).metadata
WITH_WRITTEN = new_notebook(cells=[*RELEASED.cells[:3], WRITTEN, *RELEASED.cells[3:]], metadata=RELEASED.metadata)


@pytest.mark.parametrize("pieces", [["Because it fits."], ["Because", "it fits."], ["One", "two", "YOUR ANSWER HERE"]])
def test_a_written_answer_stays_text_and_pieces_are_joined(pieces):
    content = handed_in()
    cells = [{**json.loads(nbformat.writes(WITH_WRITTEN))["cells"][3], "source": piece} for piece in pieces]
    content["cells"][3:3] = cells
    nb, repairs = mend(content, WITH_WRITTEN)
    (cell,) = [cell for cell in nb.cells if cell.id == "why"]
    assert cell.cell_type == "markdown" and cell.metadata.nbgrader.points == 5
    assert cell.source == "\n".join(piece for piece in pieces if piece != "YOUR ANSWER HERE")
    assert len(repairs) == (len(pieces) > 1)


def test_a_deleted_written_answer_comes_back_unanswered():
    nb, repairs = mend(handed_in(), WITH_WRITTEN)
    assert source_of(nb, "why") == "YOUR ANSWER HERE"
    assert repairs == ["The answer cell why is missing from the hand-in."]


def test_an_untouched_copy_of_the_stub_does_not_undo_the_answer():
    content = handed_in()
    content["cells"].insert(2, {**copy.deepcopy(json.loads(nbformat.writes(RELEASED))["cells"][1]), "id": "copy"})
    nb, _ = mended(content)
    assert source_of(nb, "avg-answer") == ANSWER


def test_F005_a_deleted_check_comes_back_behind_its_answer():
    content = handed_in()
    del content["cells"][2]
    nb, repairs = mended(content)
    assert names(nb) == ALL
    assert repairs == ["The cell avg-check was missing; it was put back as handed out."]


def test_F007_without_any_metadata_cells_are_found_by_id():
    content = handed_in()
    for cell in content["cells"]:
        cell["metadata"] = {}
    nb, _ = mended(content)
    assert names(nb) == ALL and source_of(nb, "avg-answer") == ANSWER


def test_F007_without_metadata_and_ids_cells_are_found_by_likeness():
    content = handed_in()
    for cell in content["cells"]:
        cell["metadata"] = {}
        del cell["id"]
    nb, _ = mended(content)
    assert names(nb) == ALL
    assert source_of(nb, "avg-answer") == ANSWER and source_of(nb, "bub-answer") == "bub = 3"


def test_F021_line_ends_do_not_count_as_a_change():
    content = handed_in()
    for cell in content["cells"]:
        cell["source"] = "".join(cell["source"]).replace("\n", "\r\n")
    nb, repairs = mended(content)
    assert repairs == [] and source_of(nb, "avg-answer") == ANSWER


def test_F025_a_changed_check_is_put_back():
    content = handed_in()
    content["cells"][2]["source"] = "4.0"
    nb, repairs = mended(content)
    assert source_of(nb, "avg-check") == 'check("avg", avg)'
    assert repairs == ["The cell avg-check had been changed; it was put back as handed out."]


def test_S18_an_answer_turned_into_text_is_turned_back():
    content = handed_in()
    content["cells"][1]["cell_type"] = "markdown"
    nb, repairs = mended(content)
    assert source_of(nb, "avg-answer") == ANSWER
    assert nb.cells[1].cell_type == "code"
    assert repairs == ["The answer avg-answer had been turned into another kind of cell; it was turned back."]


def test_a_check_moved_above_its_answer_is_moved_back():
    content = handed_in()
    content["cells"].insert(0, content["cells"].pop(2))
    nb, repairs = mended(content)
    assert names(nb) == ALL
    assert repairs == ["The cell avg-check stood above its answer; it was moved below it."]


def test_a_helper_between_answer_and_check_stays_there():
    content = handed_in()
    content["cells"].insert(
        2, {"cell_type": "code", "source": "helper = 1", "metadata": {}, "outputs": [], "execution_count": None}
    )
    nb, repairs = mended(content)
    assert [cell.source for cell in nb.cells][1:4] == [ANSWER, "helper = 1", 'check("avg", avg)'] and repairs == []


def test_a_missing_answer_is_said():
    content = handed_in()
    del content["cells"][1]
    nb, repairs = mended(content)
    assert names(nb) == ["avg-check", "bub-answer", "bub-check"]
    assert repairs == ["The answer cell avg-answer is missing from the hand-in."]


def test_tags_points_and_widget_state_of_a_student_are_dropped():
    content = handed_in()
    content["metadata"]["widgets"] = {"application/vnd.jupyter.widget-state+json": {"abc": {}}}
    content["cells"][2]["metadata"]["tags"] = ["skip-execution"]
    content["cells"][2]["metadata"]["nbgrader"]["points"] = 4000
    content["cells"][0]["metadata"]["tags"] = ["skip-execution"]
    nb, _ = mended(content)
    assert "widgets" not in nb.metadata
    assert all("tags" not in cell.metadata for cell in nb.cells)
    assert nb.cells[2].metadata.nbgrader.points == 4


def test_an_old_format_is_read():
    old = {
        "nbformat": 3,
        "worksheets": [
            {"cells": [{"cell_type": "code", "input": 'check("avg", avg)'}, {"cell_type": "code", "input": ANSWER}]}
        ],
    }
    nb, repairs = mended(old)
    assert source_of(nb, "avg-answer") == ANSWER and "old format" in repairs[0]


@pytest.mark.parametrize(
    "content",
    [
        None,
        [],
        {},
        {"cells": []},
        {"cells": "x"},
        {"cells": [3, None]},
        {"cells": [{"cell_type": "code", "source": "print('another course')", "metadata": {}}]},
    ],
)
def test_what_is_not_this_part_is_refused_in_one_sentence(content):
    with pytest.raises(Refusal) as refusal:
        mend(content, RELEASED)
    assert str(refusal.value)[-1] in ".?"


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda i: st.lists(i, max_size=3) | st.dictionaries(st.text(max_size=5), i, max_size=3),
    max_leaves=5,
)
KEYS = st.sampled_from(["cell_type", "source", "metadata", "id", "outputs", "attachments"])


@settings(max_examples=150)
@given(st.data())
def test_a_damaged_notebook_is_mended_or_refused(data):
    content = handed_in()
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content["cells"]) - 1))
        if isinstance(content["cells"][at], dict):
            content["cells"][at][data.draw(KEYS)] = data.draw(JUNK)
        if data.draw(st.booleans()):
            content["cells"][at] = data.draw(JUNK)
    try:
        nb, _ = mend(content, RELEASED)
    except Refusal:
        return
    nbformat.validate(nb)
    assert sorted(name for name in names(nb) if name.endswith("-check")) == ["avg-check", "bub-check"]


def test_a_long_notebook_without_names_is_matched_in_seconds():
    content = handed_in()
    for cell in content["cells"]:
        cell["metadata"], cell["id"] = {}, ""
    filling = {"cell_type": "code", "metadata": {}, "source": "x1 = 2 # filling\n" * 1_000}
    content["cells"] += [filling] * 3_000
    started = time.monotonic()
    nb, _ = mend(content, RELEASED)
    assert source_of(nb, "avg-answer") == ANSWER and time.monotonic() - started < 20


def test_F003_a_half_without_a_name_is_joined_and_a_helper_is_not():
    content = handed_in()
    half = {"cell_type": "code", "metadata": {}, "source": "    return total / len(xs)"}
    content["cells"][1]["source"] = "def avg(xs):\n    total = sum(xs)"
    content["cells"].insert(2, half)
    content["cells"].insert(3, {**half, "source": "print(avg([1]))"})
    nb, repairs = mended(content)
    assert source_of(nb, "avg-answer") == ANSWER and nb.cells[2].source == "print(avg([1]))"
    assert repairs == ["The answer avg-answer is in 2 cells; they were run in order."]


def test_S16_unknown_metadata_is_named_and_an_editors_own_is_not():
    content = handed_in()
    content["metadata"] |= {"colab": {}, "payload": "x"}
    content["cells"][0]["metadata"] = {"tags": ["a"], "another": 1}
    assert mended(content)[1] == ["Unknown metadata was left out: another, payload."]


def test_F100_another_kernel_and_a_newer_format_are_named():
    content = handed_in()
    content["metadata"]["kernelspec"]["name"], content["nbformat"] = "myenv", 6
    assert mended(content)[1] == [
        "The notebook was in a newer format; it was read all the same.",
        "The notebook names the kernel myenv; the course's own was used.",
    ]


def test_F025_what_a_changed_check_had_defined_is_named():
    content = handed_in()
    content["cells"][2]["source"] = 'import math\ncheck("avg", avg)'
    assert mended(content)[1] == [
        "The cell avg-check had been changed; it was put back as handed out. What it had defined is gone: math."
    ]


def test_F035_a_call_that_ends_the_program_is_left_out():
    content = handed_in()
    content["cells"][1]["source"] = ANSWER + "\nx = 'ü'; exit(0)\nquit()"
    content["cells"][4]["source"] = "bub = 3\ndef later(): exit()"
    nb, repairs = mended(content)
    assert source_of(nb, "avg-answer") == ANSWER + "\nx = 'ü'; pass\npass"
    assert source_of(nb, "bub-answer") == "bub = 3\ndef later(): exit()"
    assert repairs == ["exit() or quit() was left out of 1 cell; it would end the program."]
