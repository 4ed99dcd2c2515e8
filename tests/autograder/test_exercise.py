"""Exercises with more than one right answer: mistakes are told from the answer, never by `accepts`."""

from dataclasses import replace

import pytest

from autograder.authoring import examples
from autograder.compare import Raised
from autograder.exercise import Exercise, Mistake, call

SHUFFLE = Exercise(
    "shuffle",
    reference=lambda n: list(range(n))[::-1],
    points=4,
    examples=(call(4), call(5)),
    accepts=lambda one, answer, reference: isinstance(answer, list) and sorted(answer) == sorted(reference),
    mistakes=(
        Mistake(
            "from_one",
            lambda n: list(range(1, n + 1)),
            "Those start at 1.",
            made=lambda one, answer: isinstance(answer, list) and sorted(answer) == list(range(1, one.args[0] + 1)),
        ),
        Mistake("nothing_but_zeros", lambda n: [0] * n, "Those are zeros."),
    ),
)


def named(answers):
    found = SHUFFLE.mistake(answers, SHUFFLE.examples)
    return found.name if found else None


def test_every_right_form_is_right_and_no_mistake():
    for answer in ([3, 2, 1, 0], [0, 1, 2, 3], [2, 0, 3, 1]):
        assert SHUFFLE.right(answer, [3, 2, 1, 0], SHUFFLE.examples[0])
        assert named([answer, [4, 3, 2, 1, 0]]) is None


def test_a_mistake_is_named_in_every_form_if_all_answers_show_it():
    assert named([[1, 2, 3, 4], [1, 2, 3, 4, 5]]) == named([[4, 1, 3, 2], [5, 1, 2, 3, 4]]) == "from_one"
    assert named([[1, 2, 3, 4], [0, 1, 2, 3, 4]]) is None
    assert named([[0] * 4, [0] * 5]) == "nothing_but_zeros"
    assert named([Raised("KeyError"), Raised("KeyError")]) is None


def test_calls_that_cannot_tell_a_mistake_are_blurred():
    assert SHUFFLE.blurred(SHUFFLE.examples) == []
    assert set(SHUFFLE.blurred([call(0)])) == {"from_one", "nothing_but_zeros"}
    assert SHUFFLE.blurred([call(1)]) == ["nothing_but_zeros"]
    everything = replace(SHUFFLE.mistakes[0], name="everything", made=lambda one, answer: True)
    assert replace(SHUFFLE, mistakes=(everything, *SHUFFLE.mistakes)).blurred(SHUFFLE.examples) == [
        "from_one",
        "nothing_but_zeros",
    ]


@pytest.mark.parametrize("changes", [{}, {"accepts": None, "scenario": "some_driver"}])
def test_what_is_judged_by_properties_ships_inputs_only(changes):
    shipped = examples(replace(SHUFFLE, **changes))
    assert shipped == {
        "kind": "function",
        "by_properties": True,
        "examples": [{"args": [4], "kwargs": {}}, {"args": [5], "kwargs": {}}],
        "refusals": [],
    }
