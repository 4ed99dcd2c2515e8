"""The sample classes: every mistake of every function is made by somebody, and is named.

Here the sample answers, which are our own code, run in this process, without a kernel: the same recorder, wire and
judge. That kernels give the same is shown by the class runs of tests/autograder/test_class_run.py.
"""

import contextlib
import io
import json

import nbformat
import pytest

from autograder import verdict, wire
from autograder.ask import value_calls
from autograder.assess import assess
from partrain import record as recorder
from partrain_ref.exercises import ASSIGNMENTS
from partrain_ref.samples import CLASSES

SECRET = b"a secret of the tests"
STOPS = ("loops-for-ever", "ends-the-program")  # not in this process


def reached(cells, own):
    """Exercises whose verdict a student's own answers can change: theirs, and those that build on them."""
    found = set()
    for cell in cells:
        name, is_answer = cell.id.removesuffix("-answer"), cell.id.endswith("-answer")
        if is_answer and (cell.id in own or any(other in cell.source for other in found)):
            found.add(name)
    return found


def verdicts(part, student, what, repository, monkeypatch, everything=True):
    """exercise -> verdict on one sample student's answers, over the authors' solutions; or only where they differ."""
    nb = nbformat.read(repository / "notebooks" / f"{part}.ipynb", as_version=4)
    space, sent = {"__name__": "__main__"}, []
    shell = type("Shell", (), {"user_ns": space})
    monkeypatch.setattr(recorder, "get_ipython", lambda: shell)
    monkeypatch.setattr(recorder, "publish_display_data", sent.append)
    exercises, said = {e.name: e for e in ASSIGNMENTS[part]}, {}
    changed = reached(nb.cells, what.get("answers", {}))
    for cell in (cell for cell in nb.cells if cell.cell_type == "code"):
        name = cell.id.removesuffix("-check")
        if cell.id.endswith("-check") and name in exercises:
            if not everything and name not in changed:
                continue  # the solution, whose verdict the test below asks for
            exercise = exercises[name]
            calls = value_calls(exercise, SECRET, part, student)
            asked = (*calls, *exercise.refusals)
            text = wire.encode_calls(asked)
            recorder.record(name, list(exercise.functions), text, scenario=exercise.scenario, kind=exercise.kind)
            raw = json.loads(json.dumps(sent[-1][recorder.MIME]))
            said[name] = assess(exercise, calls, wire.read_bundle(raw, name, len(asked)))
        elif not cell.id.startswith(("try", "panel", "read")) and "panels." not in cell.source:
            with contextlib.suppress(Exception), contextlib.redirect_stdout(io.StringIO()):
                exec(what.get("answers", {}).get(cell.id, cell.source), space)
    return said


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # a kernel shows them and goes on
@pytest.mark.parametrize("part", CLASSES)
def test_every_mistake_of_every_function_is_made_and_named(part, repository, monkeypatch):
    named, students = {}, CLASSES[part]
    for student, what in students.items():
        if (what.get("blank") and "answers" not in what) or "write" in what or student in STOPS:
            continue
        for name, row in verdicts(part, student, what, repository, monkeypatch, everything=False).items():
            named.setdefault(name, set()).add(row.mistake)
    for exercise in ASSIGNMENTS[part]:
        if exercise.kind == "function":
            missing = {mistake.name for mistake in exercise.mistakes} - named[exercise.name]
            assert not missing, (exercise.name, missing)


@pytest.mark.parametrize("part", CLASSES)
def test_the_solutions_are_right(part, repository, monkeypatch):
    said = verdicts(part, "all-right", {}, repository, monkeypatch)
    assert {name: row.state for name, row in said.items()} == {e.name: verdict.RIGHT for e in ASSIGNMENTS[part]}
