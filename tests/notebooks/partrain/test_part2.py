"""Part 2's figures and panels: their numbers are the reference's, at every end they stay readable and calm."""

import itertools
import math

import numpy as np
import pytest
from pictures import is_calm, is_sound, texts

from partrain import panels
from partrain.figures import small_steps as valley
from partrain.figures.axes import Axis
from partrain.figures.critical_batch import MIN_STEPS, critical_batch
from partrain.figures.loss_curves import loss_curves
from partrain.figures.schedule import LATER, schedule
from partrain.figures.small_steps import RULES, descend, small_steps
from partrain.panels.student import ask_student_several
from partrain_ref import learning_rate as lr

FACTORS = [2**power for power in range(7)]
PATHS = list(itertools.product(FACTORS, RULES, [0, 1, 16], [0.0, 1.0, 2.0]))
SCHEDULES = [(p, w, t, f) for p, w, t, f in itertools.product([0.4, 0.8, 1.0], [0, 1, 4, 20], [10, 24, 60], [0.0, 0.4])]
BATCHES = list(itertools.product([2**power for power in range(4, 17, 2)], [128, 1024, 8192]))


# ---- many small steps, or few big ones ----------------------------------------------------------------------------


@pytest.mark.parametrize("numbers", PATHS[::4])
def test_small_steps_is_sound(numbers):
    picture = small_steps(*numbers)
    is_sound(picture)
    assert picture == small_steps(*numbers)


@pytest.mark.parametrize(("factor", "warm_up"), itertools.product(FACTORS, [0, 3, 16]))
def test_the_big_steps_go_by_the_rules_of_the_reference(factor, warm_up):
    """Without noise a quadratic has a closed form: each weight is multiplied by 1 − rate × curvature."""
    for rule, optimizer in (("linear", "sgd"), ("square root", "adam")):
        peak = lr.scaled_lr(valley.SMALL_RATE, 1, factor, optimizer)
        assert valley.SMALL_RATE * RULES[rule](factor) == pytest.approx(peak)
        rates = [lr.warmup_lr(step, peak, warm_up) for step in range(256 // factor)]
        ends = [
            start * math.prod(1 - rate * curvature for rate in rates)
            for start, curvature in zip(valley.START, (valley.FLAT, valley.STEEP), strict=True)
        ]
        assert descend(factor, peak, warm_up, 0.0)[-1] == pytest.approx(ends, rel=1e-9, abs=1e-12)
    assert RULES["none"](factor) == 1


def test_a_big_batch_sees_the_mean_of_the_noise_of_the_small_ones():
    small, big = np.array(valley._noise(1)), np.array(valley._noise(8))
    np.testing.assert_allclose(big, small.reshape(32, 8, 2).mean(axis=1), atol=1e-12)


def test_what_the_lesson_says_of_the_valley():
    end = lambda factor, rule, warm_up: valley.loss(  # noqa: E731
        *descend(factor, valley.SMALL_RATE * RULES[rule](factor), warm_up, 1.0)[-1]
    )
    small = end(1, "none", 0)
    assert end(8, "none", 0) > 10 * small  # at the old rate the big steps do not get there
    assert end(8, "linear", 0) == pytest.approx(small, rel=0.2)
    assert small < end(8, "square root", 0) < end(8, "none", 0)
    assert end(64, "linear", 0) > valley.loss(*valley.START)  # diverges
    assert end(64, "linear", 2) > valley.loss(*valley.START)  # and warm-up only puts it off
    across = lambda warm_up: [y for _, y in descend(32, 1.6, warm_up, 0.0)]  # noqa: E731
    assert sum(a * b < 0 for a, b in itertools.pairwise(across(0))) == 8  # from wall to wall at every step
    assert max(map(abs, across(2)[2:])) < 0.25 * max(map(abs, across(0)[1:]))


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ((8, "none", 0, 1.0), "Batch × 8 at the old rate: 32 big steps end at a loss of 1.85; 256 small steps"),
        ((8, "linear", 2, 1.0), "Batch × 8 with the linear rule and 2 steps of warm-up: 32 big steps end"),
        ((64, "linear", 0, 1.0), "of the start. Each step overshoots the valley's floor."),
        ((1, "linear", 0, 1.0), "With the small batch, 256 steps end at a loss of 0.10: the two paths are one."),
        ((1, "linear", 3, 1.0), "Batch × 1 with the linear rule and 3 steps of warm-up: 256 big steps end"),
    ],
)
def test_small_steps_sentence(numbers, said):
    assert said in small_steps(*numbers).sentence


def test_a_path_that_leaves_the_map_is_cut_off_and_said():
    assert "the big steps end outside the map" in texts(small_steps(64, "linear", 0, 1.0))
    assert "the big steps end outside the map" not in texts(small_steps(8, "linear", 0, 1.0))


# ---- a schedule ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("numbers", [n for n in SCHEDULES if n[2] > n[1]])
def test_schedule_is_sound_and_has_the_rates_of_the_reference(numbers):
    peak, warm_up, total, final = numbers
    picture = schedule(*numbers)
    is_sound(picture)
    right = [lr.cosine_lr(step, peak, warm_up, total, final) for step in range(total + LATER + 1)]
    assert schedule(*numbers, right) == picture
    words = texts(picture)
    for step in (0, warm_up, (warm_up + total) // 2, total):
        place = next(at for at, word in enumerate(words) if word.startswith(f"at step {step}"))
        assert words[place + 1] == f"{right[step]:.3f}"
    assert f"stays at {final:.3f} from step {total} on." in picture.sentence


@pytest.mark.parametrize("rate", [-1.0, 0.0, 3.0, 1e300, -1e300])
def test_any_rates_are_drawn_and_not_corrected(rate):
    picture = schedule(0.8, 4, 20, 0.08, [rate] * (20 + LATER + 1))
    is_sound(picture)
    assert picture.sentence == "Your rates leave the schedule at step 0 already."
    assert "0.200" not in picture.svg


def test_the_first_step_that_is_off_is_named():
    theirs = [lr.cosine_lr(step, 0.8, 4, 20, 0.08) for step in range(20)] + [0.0] * (LATER + 1)
    picture = schedule(0.8, 4, 20, 0.08, theirs)
    assert picture.sentence == "Your rates follow the schedule up to step 19 and leave it at step 20."
    is_sound(picture)


def test_no_room_for_the_decay_is_said():
    with pytest.raises(ValueError, match=r"10 steps in total leave no room after 20 steps of warm-up: .*\.$"):
        schedule(0.8, 20, 10, 0.08)
    panel = panels.schedule()
    panel.controls["total"].value = 10
    panel.controls["warm_up"].value = 20
    assert is_calm(panel).startswith("10 steps in total leave no room")


# ---- steps and examples -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("numbers", BATCHES)
def test_critical_batch_is_sound_and_has_the_numbers_of_the_reference(numbers):
    batch, critical = numbers
    picture = critical_batch(batch, critical)
    is_sound(picture)
    steps, examples = lr.steps_and_examples(batch, critical, MIN_STEPS)
    words = texts(picture)
    assert f"{steps:,.0f}" in words and f"{examples:,.0f}" in words
    assert critical_batch(batch, critical, (steps, examples)) == picture


@pytest.mark.parametrize("answer", [(1000.0, 2.0), (0.0, 0.0), (-5.0, 1e300), (1e300, -1.0)])
def test_any_pair_is_drawn_and_not_corrected(answer):
    picture = critical_batch(256, 1024, answer)
    is_sound(picture)
    assert picture.sentence.startswith("Your ") and "are not those of batch 256." in picture.sentence
    assert "5,000" not in picture.svg


@pytest.mark.parametrize(
    ("batch", "said"),
    [(1024, "is at the critical batch: 2,000 steps, 2.00 ×"), (256, "is 1/4 times"), (4096, "is 4 times")],
)
def test_critical_batch_sentence(batch, said):
    assert said in critical_batch(batch, 1024).sentence


# ---- losses of several runs ---------------------------------------------------------------------------------------


def test_loss_curves_is_sound_and_says_how_each_run_ends():
    whole = {name: list(np.geomspace(5, end, 33)) for name, end in (("a", 0.002), ("b", 0.0021), ("c", 0.08))}
    runs = {**whole, "d": [5.0, 700.0, math.inf], "e": [5.0, 1e-9]}
    picture = loss_curves(runs, [256, 256, 256, 256, 8192], 8192)
    is_sound(picture)
    assert picture.sentence.endswith("a: 0.002; b: 0.002; c: 0.080; d: diverged; e: 0.000.")
    assert picture._repr_mimebundle_() == {"text/html": picture.html, "text/plain": picture.sentence}
    assert picture.svg in picture.html


def test_an_axis_keeps_what_is_off_the_scale_at_its_end():
    axis, log = Axis(0, 10, 100, 200), Axis(0.01, 100, 300, 100, log=True)
    assert [axis.at(v) for v in (0, 5, 10, 11, -1, math.inf, math.nan)] == [100, 150, 200, 200, 100, 200, 200]
    assert axis.at(11, beyond=4) == 204 and axis.at(-1, beyond=4) == 96
    assert [log.at(v) for v in (0.01, 1, 100, 0, -1)] == [300, 200, 100, 300, 300]
    assert log.at(1e9, beyond=4) == 96 and log.ticks() == [0.01, 0.1, 1, 10, 100]


# ---- panels -------------------------------------------------------------------------------------------------------


def unwritten(*arguments):
    raise NotImplementedError


@pytest.mark.parametrize(
    ("student", "said"),
    [
        (unwritten, "is not written yet."),
        (lambda *a: None, "returned nothing."),
        (lambda *a: 0.5 if a[0] < 3 else math.nan, "returned nan, not a finite number."),
        (lambda *a: (0.1, 0.2), "returned a value of type tuple, not a number."),
        (lambda *a: [][0], "stopped with IndexError"),
    ],
)
def test_schedule_with_an_unfinished_function(student, said):
    panel = panels.schedule(student)
    assert is_calm(panel).startswith(f"Finish the cell above first: cosine_lr {said}")
    assert "0.200" not in panel.picture.svg


def test_schedule_with_a_students_function(capsys):
    panel = panels.schedule(lr.cosine_lr)
    assert panel.picture == panels.schedule().picture
    panel.controls["warm_up"].value = 0
    assert is_calm(panel).startswith("The rate is at its peak of 0.800 at step 0")
    late = panels.schedule(lambda step, *rest: print("hi") or lr.cosine_lr(max(0, step - 1), *rest))
    assert is_calm(late) == "Your rates follow the schedule up to step 0 and leave it at step 1."
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("student", "said"),
    [
        (unwritten, "is not written yet."),
        (lambda *a: None, "returned nothing."),
        (lambda *a: 5000.0, "returned a value of type float, not 2 numbers."),
        (lambda *a: (5000.0, 1.0, 2.0), "returned 3 values, not 2 numbers."),
        (lambda *a: (5000.0, "many"), "returned a value of type str, not a number."),
        (lambda *a: (math.inf, 1.0), "returned inf, not a finite number."),
        (lambda *a: "ab", "returned a value of type str, not 2 numbers."),
        (lambda *a: 1 / 0, "stopped with ZeroDivisionError: division by zero."),
    ],
)
def test_critical_batch_with_an_unfinished_function(student, said):
    panel = panels.critical_batch(student)
    assert is_calm(panel) == f"Finish the cell above first: steps_and_examples {said}"
    assert "5,000" not in panel.picture.svg


def test_critical_batch_with_a_students_function():
    panel = panels.critical_batch(lr.steps_and_examples)
    assert panel.picture == panels.critical_batch().picture
    swapped = panels.critical_batch(lambda *a: lr.steps_and_examples(*a)[::-1])
    assert is_calm(swapped) == "Your 1,280,000 steps and 5,000 examples are not those of batch 256."


def test_several_numbers_come_in_any_form():
    for form in (tuple, list, np.array):
        assert ask_student_several(lambda form=form: form([1, 2.5]), "f", 2) == ([1.0, 2.5], None)
