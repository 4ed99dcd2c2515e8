"""One message, in the stated order, on a small exercise."""

import numpy as np
import pytest

from autograder import verdict, wire
from autograder.assess import SAME_INPUT, assess
from autograder.exercise import Call, Exercise, Mistake, call, refuse
from autograder.rounding import rounded
from autograder.wire import Bundle, NotData, Outcome
from autograder.words import value_words


def bubble(stages, microbatches):
    if stages < 1 or microbatches < 1:
        raise ValueError("at least 1")
    return (stages - 1) / (microbatches + stages - 1)


EXERCISE = Exercise(
    "bubble",
    reference=bubble,
    points=4,
    examples=(call(4, 8),),
    draw=lambda rng: [call(int(rng.integers(3, 9)), int(rng.integers(10, 30))) for _ in range(2)],
    refusals=(refuse("stages is 0", 0, 8),),
    mistakes=(
        Mistake("over_ideal", lambda p, m: (p - 1) / m, "That is over the ideal time."),
        Mistake("percent", lambda p, m: 100 * bubble(p, m), "That is in percent; a share is asked for.", unit=True),
    ),
)
CALLS = (*EXERCISE.examples, *EXERCISE.hidden(b"key"))


def said(function, refuses=True, **more):
    outcomes = [Outcome(wire.decode(wire.encode(function(*one.args))), **more) for one in CALLS]
    outcomes.append(Outcome(raised="ValueError") if refuses else Outcome(0.0))
    return assess(EXERCISE, CALLS, Bundle("bubble", outcomes=tuple(outcomes)))


def test_right():
    assert said(bubble) == verdict.right(4)


@pytest.mark.parametrize(
    ("function", "reason", "words"),
    [
        (lambda p, m: None, "nothing", "bubble(4, 8) returned nothing (None). Did you print instead of return?"),
        (lambda p, m: "0.27", "type", "it returned a text; a number was expected"),
        (lambda p, m: [bubble(p, m)], "shape", "one single number was expected"),
        (lambda p, m: float("nan"), "not finite", "not a finite number"),
        (lambda p, m: 100 * bubble(p, m), "mistake", "bubble(4, 8) gave 27.27"),
        (lambda p, m: (p - 1) / m, "mistake", "bubble(4, 8) gave 0.375.\nThat is over the ideal time."),
        (lambda p, m: 3 / 11, "examples only", "It is right on the visible examples, but not on other inputs."),
        (lambda p, m: 0.3, "value", "bubble(4, 8) gave 0.3."),
    ],
)
def test_one_message_for_each_way_of_being_off(function, reason, words):
    got = said(function)
    assert (got.state, got.points, got.reason) == (verdict.WRONG, 0.0, reason)
    assert words in got.message


def test_printed_instead_of_returned():
    assert "It printed something: return it instead." in said(lambda p, m: None, printed=True).message


def test_F063_a_changed_input_has_its_own_message():
    got = said(bubble, changed=True)
    assert (got.state, got.reason) == (verdict.WRONG, "changed") and "changed its input" in got.message


def test_missing_refusals_cost_a_quarter_and_never_hide_a_mistake():
    got = said(bubble, refuses=False)
    assert (got.state, got.points, got.reason) == (verdict.PARTLY, 3.0, "refusals")
    assert "Where stages is 0, it gave an answer." in got.message
    assert said(lambda p, m: (p - 1) / m, refuses=False).mistake == "over_ideal"


def test_S26_different_answers_for_the_same_input():
    calls = (*CALLS, CALLS[0])
    outcomes = [Outcome(bubble(*one.args)) for one in CALLS] + [Outcome(bubble(*CALLS[0].args) * (1 + 1e-10))]
    assert assess(EXERCISE, calls, Bundle("bubble", outcomes=(*outcomes, Outcome(raised="ValueError")))).points == 4
    loose = Exercise("loose", lambda x: 1.0, (), 4, examples=(call(1),), tolerance=(0.5, 0.5))
    twice = (loose.examples[0], loose.examples[0])
    bundle = Bundle("loose", outcomes=(Outcome(1.0), Outcome("1")))
    assert assess(loose, twice, bundle).state == verdict.WRONG


def test_errors_show_their_text_on_visible_inputs_only():
    outcomes = tuple(Outcome(raised="KeyError", text="'secret input'") for _ in (*CALLS, 0))
    shown = assess(EXERCISE, CALLS, Bundle("bubble", outcomes=outcomes))
    assert "bubble(4, 8) stopped with KeyError: 'secret input'." in shown.message
    hidden = (Outcome(bubble(4, 8)), *outcomes[1:])
    assert "secret input" not in assess(EXERCISE, CALLS, Bundle("bubble", outcomes=hidden)).message


def test_not_started_by_every_call_and_by_dots():
    stub = Bundle("bubble", outcomes=tuple(Outcome(raised="NotImplementedError") for _ in (*CALLS, 0)))
    assert assess(EXERCISE, CALLS, stub).state == verdict.NOT_STARTED
    number = Exercise("n", 3, (Mistake("four", 4, "That is four."),), 1, kind="number", unit="stages")
    dots = Bundle("n", outcomes=(Outcome(wire.NotData("ellipsis")),))
    assert assess(number, (Call(),), dots).state == verdict.NOT_STARTED
    assert assess(number, (Call(),), Bundle("n", outcomes=(Outcome(4),))).message == "n = 4 is not it.\nThat is four."
    assert (
        assess(number, (Call(),), Bundle("n", outcomes=(Outcome(5),))).message == "n = 5 is not it. Asked for: stages."
    )


def test_S06_a_polite_exit_is_named():
    outcomes = tuple(Outcome(raised="SystemExit") for _ in (*CALLS, 0))
    assert "ended the program" in assess(EXERCISE, CALLS, Bundle("bubble", outcomes=outcomes)).message


def test_a_name_that_is_missing():
    got = assess(EXERCISE, CALLS, Bundle("bubble", missing=True), "NameError: name 'x' is not defined")
    assert (got.state, got.points) == (verdict.WRONG, 0.0)
    assert (
        got.message
        == "bubble is not there when its check runs. The answer cell stopped with NameError: name 'x' is not defined."
    )


def test_no_message_holds_an_expected_value_or_a_hidden_input():
    for function in (
        lambda p, m: None,
        lambda p, m: 0.3,
        lambda p, m: (p - 1) / m,
        lambda p, m: 3 / 11,
        lambda p, m: "x",
    ):
        message = said(function).message
        for one in CALLS[1:]:
            assert f"({one.args[0]}, {one.args[1]})" not in message
            assert f"{bubble(*one.args):.6f}"[:6] not in message
        assert "0.2727" not in message or function(4, 8) == 3 / 11


def test_answers_with_more_than_one_right_form():
    shuffle = Exercise(
        "shuffle",
        reference=lambda n: list(range(n)),
        mistakes=(Mistake("short", lambda n: list(range(n - 1)), "One is missing."),),
        points=4,
        examples=(call(3),),
        accepts=lambda one, answer, reference: isinstance(answer, list) and sorted(answer) == reference,
    )
    assert assess(shuffle, shuffle.examples, Bundle("shuffle", outcomes=(Outcome([2, 0, 1]),))).points == 4
    assert assess(shuffle, shuffle.examples, Bundle("shuffle", outcomes=(Outcome([0, 1]),))).mistake == "short"
    assert assess(shuffle, shuffle.examples, Bundle("shuffle", outcomes=(Outcome(np.ones(2)),))).state == verdict.WRONG


def test_draws_that_blur_a_mistake_are_rejected():
    blurred = Exercise(
        "tokens", lambda a, d: a * d, (Mistake("forgot", lambda a, d: d, "Forgot."),), 4, draw=lambda rng: [call(1, 5)]
    )
    with pytest.raises(ValueError, match="tells every mistake"):
        blurred.hidden(b"key")


def test_nothing_on_a_hidden_input_is_told_in_the_students_words():
    """A function may keep its inputs; no type, shape, error or repeated call can carry them into a message."""
    once = Outcome(bubble(4, 8))
    for kept in (
        Outcome(NotData("Kept_7_20")),
        Outcome(np.zeros((0, 7, 20))),
        Outcome(raised="Kept_7_20", text="7, 20"),
    ):
        outcomes = (once, *[kept] * (len(CALLS) - 1), Outcome(raised="ValueError"))
        message = assess(EXERCISE, CALLS, Bundle("bubble", outcomes=outcomes)).message
        assert message.startswith("On an input that is not among the examples") and "7" not in message
    calls = (*CALLS, CALLS[0])
    right = [Outcome(bubble(*one.args)) for one in CALLS]
    again = (*right, Outcome(raised="ValueError", text="7, 20"), Outcome(raised="ValueError"))
    assert assess(EXERCISE, calls, Bundle("bubble", outcomes=again)).message == SAME_INPUT
    own = (*right, Outcome(raised="Kept_7_20", text="7, 20"))
    assert (
        "it stopped with an error of its own kind." in assess(EXERCISE, CALLS, Bundle("bubble", outcomes=own)).message
    )


def test_a_right_number_that_was_rounded_is_told_so():
    assert rounded(3.14, 3.14159) and rounded(3, 3.14159) and rounded(np.array([0.33, 0.67]), np.array([1 / 3, 2 / 3]))
    assert not rounded(3.15, 3.14159) and not rounded("3.14", 3.14159) and not rounded(7, 8)
    short = said(lambda p, m: round(bubble(p, m), 4))
    assert short.message == "bubble(4, 8) gave 0.2727.\nIt looks rounded. Return the number as it comes out."
    assert short.reason == "rounded"
    assert said(lambda p, m: round(bubble(p, m), 4) + (m > 9)).reason == "value", "rounded in one call only"


def test_a_count_is_a_whole_number():
    down = Mistake("rounded_down", 35_762, "Round up.")
    steps = Exercise("steps", kind="number", reference=35_763, unit="steps", points=1, mistakes=(down,))

    def judged(value):
        return assess(steps, (Call(),), Bundle("steps", outcomes=(Outcome(value),)))

    assert judged(35_763) == judged(35_763.0) == verdict.right(1)
    assert judged(35_762.4).mistake == "rounded_down", "a mistake is known by its rounded value"
    assert judged(35_762.79).message == "steps = 35762.79 is not it. Asked for: steps, a whole number."


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (7.5e9, "7.5e9"),
        (2_467_458_000_000.0, "2467458000000.0"),
        ([1e6, -3.125e12, 2.0], "[1e6, -3.125e12, 2.0]"),
        (8_388_608, "8388608"),
        (1e15, "1000000000000000.0"),
        (float("-inf"), "-inf"),
    ],
)
def test_large_numbers_are_shown_as_they_are_typed(value, words):
    assert value_words(value) == words
