"""What the kernel publishes, and that hostile answers become data or nothing."""

import json

import numpy as np
import pytest

from autograder import wire
from autograder.compare import NotData
from autograder.exercise import call
from partrain import record as recorder


@pytest.fixture
def published(monkeypatch):
    """Run `record` on functions of a student and return the bundle as the grader reads it."""
    sent = []

    def ask(names, calls, **space):
        class Shell:
            user_ns = space

        monkeypatch.setattr(recorder, "get_ipython", lambda: Shell)
        monkeypatch.setattr(recorder, "publish_display_data", sent.append)
        kind = "number" if calls is None else "function"
        text = wire.encode_calls(tuple(calls or [call()]))
        recorder.record("x", names, text, kind=kind)
        raw = json.loads(json.dumps(sent[-1][recorder.MIME], allow_nan=False))
        return wire.read_bundle(raw, "x", len(calls or [1]))

    return ask


def test_values_and_errors(published):
    def half(n):
        return n / 2 if n else 1 / n

    outcomes = published(["half"], [call(3), call(0)], half=half).outcomes
    assert (outcomes[0].value, outcomes[0].raised) == (1.5, "")
    assert (outcomes[1].raised, outcomes[1].text) == ("ZeroDivisionError", "division by zero")


def test_every_call_gets_fresh_inputs_and_changes_are_noted(published):
    def in_place(grads):
        grads[0] += 1
        return grads[0]

    array = np.zeros(2)
    one, two = published(["in_place"], [call([array]), call([array])], in_place=in_place).outcomes
    assert one.changed and two.changed
    np.testing.assert_array_equal(two.value, [1, 1])
    assert not array.any()


def test_S27_an_answer_that_shares_memory_is_taken_at_once(published):
    kept = []

    def view(x):
        kept.append(x)
        for old in kept[:-1]:
            old[:] = 9
        return x

    first, _ = published(["view"], [call(np.zeros(2)), call(np.ones(2))], view=view).outcomes
    np.testing.assert_array_equal(first.value, [0, 0])


def test_prints_are_noted_and_not_published(published):
    (outcome,) = published(["f"], [call(1)], f=lambda n: print("1.25")).outcomes
    assert outcome.printed and outcome.value is None


def test_S06_an_exit_inside_the_function_is_an_answer_like_any_error(published):
    (outcome,) = published(["f"], [call(1)], f=lambda n: exit()).outcomes
    assert outcome.raised == "SystemExit"


def test_a_missing_name(published):
    assert published(["f"], [call(1)], g=1).missing


def test_a_number_and_its_three_dots(published):
    assert published(["n"], None, n=np.float64(1.5)).outcomes[0].value == 1.5
    assert published(["n"], None, n=...).outcomes[0].value == NotData("ellipsis")


def test_S01_an_object_that_equals_everything_is_not_data(published):
    class Always:
        def __eq__(self, other):
            return True

        __hash__ = None

    (outcome,) = published(["f"], [call(1)], f=lambda n: Always()).outcomes
    assert outcome.value == NotData("Always")


class Sly(Exception):
    def __str__(self):
        raise RuntimeError("no text")


def test_an_error_whose_text_fails_is_still_an_answer(published):
    def f(n):
        raise Sly

    assert published(["f"], [call(1)], f=f).outcomes[0].raised == "Sly"


def test_a_recursive_list_and_a_huge_array_are_not_data(published):
    loop = []
    loop.append(loop)
    deep, big = published(["f"], [call(1), call(2)], f=lambda n: loop if n == 1 else np.zeros(10**6)).outcomes
    assert "other" in json.dumps(recorder.pack(loop))
    assert isinstance(big.value, NotData) and deep.value is not None


def test_a_keyboard_interrupt_stops_the_recording(published):
    def f(n):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        published(["f"], [call(1)], f=f)
