"""Part 7's figures, panels and helpers: their numbers are the reference's, at every end they stay readable and calm."""

import copy
import itertools
import math

import numpy as np
import pytest
from pictures import ends, is_calm, is_sound, texts

from partrain import megatron_flops, panels, style
from partrain.figures.compute_budget import compute_budget
from partrain.figures.ring_steps import ring_steps
from partrain.figures.scaling_curve import scaling_curve
from partrain.ring_rules import ring_allreduce as tried
from partrain_ref import clock
from partrain_ref.exercises import part7

LINKS = list(itertools.product((1e6, 2e10, 1e12), (1e9, 3e10, 9e11), (0, 1e-5, 1e-2), (0, 0.5, 1)))
RUNS = [(seconds, n, *link) for seconds in (1, 60, 60_000) for n in (1, 2, 64, 4096) for link in LINKS]
RINGS = list(itertools.product(range(2, 9), range(15), (1, 2, 3, 8, 13, 32)))
BUDGETS = list(
    itertools.product((1e6, 7e9, 1e12), (1e8, 2e12, 15.6e12), (1, 512, 16384), (312e12, 1979e12), (0.05, 1), (0, 1))
)

# ---- scaling_curve ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("yours", [None, 0.0, -1.0, 1e30])
def test_scaling_curve_is_sound(yours):
    for numbers in RUNS[::7]:
        picture = scaling_curve(*numbers, yours)
        is_sound(picture)
        assert picture == scaling_curve(*numbers, yours)


@pytest.mark.parametrize("numbers", RUNS[::11])
def test_scaling_curve_has_the_numbers_of_the_reference(numbers):
    seconds, n, nbytes, bandwidth, latency, overlap = numbers
    computing, swap = seconds / n, clock.allreduce_seconds(nbytes, n, bandwidth, latency)
    hidden = overlap * min(computing, swap)
    faster = clock.speedup(seconds, computing, swap - hidden)
    (row,) = [text for text in texts(scaling_curve(*numbers)) if " of the ideal " in text]
    assert f"= {style.significant(faster)}, which is {100 * faster / n:.1f}% of the ideal {n:,}" in row


def test_where_communication_equals_computing():
    (row,) = [text for text in texts(scaling_curve(29_483, 768, 523.8e9, 25e9, 0, 0)) if text.startswith("takes as")]
    assert row.endswith("from 705 devices on")
    assert 29_483 / 705 <= clock.allreduce_seconds(523.8e9, 705, 25e9, 0)
    assert 29_483 / 704 > clock.allreduce_seconds(523.8e9, 704, 25e9, 0)


def test_what_communication_is_made_of():
    words = "0.0666 ms for the bytes + 0.0205 s latency of 2,046 steps"
    assert words in texts(scaling_curve(60, 1024, 1e6, 30e9, 10e-6, 0))


def test_where_they_are_equal_to_the_last_bit_but_one():
    """60/46 s of computing, and 2 · 45/46 · 20/30 s of communication: float noise must not make it 47."""
    texts_46 = texts(scaling_curve(60, 4, 20e9, 30e9, 0, 0))
    assert any(text.endswith("from 46 devices on") for text in texts_46)


def test_buttons_of_scaling_curve():
    panel = panels.scaling_curve()
    assert is_calm(panel) == (
        "On 4 devices an update takes 16.0 s, 15.0 s of it computing: 3.75 times as fast as one device, where 4 times "
        "would be ideal."
    )
    panel.buttons["174.6B parameters, all sharded"].click()
    assert is_calm(panel).startswith("On 768 devices an update takes 80.3 s, 38.4 s of it computing: 367 times")
    panel.controls["overlap"].value = 100
    assert is_calm(panel).startswith("On 768 devices an update takes 41.9 s")


# ---- ring_steps ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("numbers", RINGS[::3])
def test_ring_steps_is_sound(numbers):
    picture = ring_steps(*numbers)
    is_sound(picture)
    assert picture == ring_steps(*numbers)
    assert len(picture.svg) < 30_000  # few elements, so that a slider stays quick


@pytest.mark.parametrize("n", range(2, 9))
@pytest.mark.parametrize("elements", [1, 5, 8, 32])
def test_the_last_step_of_a_ring_is_the_reference_s(n, elements):
    held, sent = clock.ring_allreduce([np.full(elements, d + 1.0) for d in range(n)])
    words = texts(ring_steps(n, 2 * (n - 1), elements))
    chunks = min(n, elements)
    assert words.count(f"{held[0][0]:.0f} ✓") == n * chunks and words.count("empty") == n - chunks
    rows = [words[words.index(f"device {d}") + 1] for d in range(n)]
    assert rows == [str(number) for number in sent]
    assert f"together so far: {sum(sent):,} of 2 × {n - 1} × {8 * elements} = {sum(sent):,} bytes" in words


def test_halves_of_a_ring():
    assert ring_steps(4, 3, 8).sentence == (
        "After 3 of 6 steps (reduce-scatter): each device has sent 48 bytes. Complete sums: 4 of 16 chunks."
    )
    assert ring_steps(4, 14, 8) == ring_steps(4, 6, 8)
    assert ring_steps(3, 2, 3).svg.count("333") == 0
    assert ring_steps(2, 0, 1).sentence.startswith("Before the first of 2 steps: each device has sent 0 bytes.")


# ---- compute_budget -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("yours", [None, -3.0, 0.0, 22.4, 1e30])
def test_compute_budget_is_sound(yours):
    for numbers in BUDGETS[::3]:
        picture = compute_budget(*numbers, yours)
        is_sound(picture)
        assert picture == compute_budget(*numbers, yours)


@pytest.mark.parametrize("numbers", BUDGETS[::5])
def test_compute_budget_has_the_numbers_of_the_reference(numbers):
    params, tokens, gpus, peak, share, recompute = numbers
    words = texts(compute_budget(*numbers))
    flops = clock.train_flops(params, tokens) * (8 / 6 if recompute else 1)
    assert f"{8 if recompute else 6} × parameters × tokens = {flops:.2e} FLOPs".replace("e+", "e") in words
    days = clock.training_days(params, tokens, gpus, peak * share, recompute=bool(recompute))
    sizes = {"years": 1 / 365, "days": 1, "hours": 24, "minutes": 1440, "seconds": 86_400}
    shown = [f"{style.significant(days * size)} {unit}" for unit, size in sizes.items()]
    assert sum(words.count(text) for text in shown) == 2  # over the ruler and in the table
    rate = tokens / (days * 86_400)
    assert f"{style.significant(100 * clock.utilisation(params, rate, gpus, peak))}%" in words


def test_buttons_of_compute_budget():
    panel = panels.compute_budget()
    panel.buttons["Llama 3 405B on 16,384 H100"].click()
    assert "3.79e25 FLOPs: 67.7 days on 16,384 GPUs at 40% of 989 TFLOP/s" in is_calm(panel)
    panel.controls["peak"].value = 1_979e12
    assert "33.8 days" in is_calm(panel)
    panel.buttons["174.6B on 1,536 A100"].click()
    assert "22.5 days on 1,536 GPUs at 45% of 312 TFLOP/s" in is_calm(panel)
    assert "33.8%" in texts(panel.picture)  # of the peak, for the model


# ---- the reader's own functions -----------------------------------------------------------------------------------


def unwritten(*arguments, **named):
    raise NotImplementedError


@pytest.mark.parametrize(
    ("factory", "right", "name", "same", "other"),
    [
        (panels.scaling_curve, clock.allreduce_seconds, "allreduce_seconds", "as drawn", "draws another time"),
        (panels.compute_budget, clock.training_days, "training_days", "where the mark is", "the mark is elsewhere"),
    ],
)
def test_panels_ask_the_readers_own_function(factory, right, name, same, other):
    assert is_calm(factory(unwritten)) == f"Finish the cell above first: {name} is not written yet."
    assert is_calm(factory(lambda *a, **k: math.nan)).startswith(f"Finish the cell above first: {name} returned nan")
    wrong = factory(lambda *a, **k: 2 * right(*a, **k))
    assert is_calm(wrong).startswith(f"Your {name} gives ") and other in is_calm(wrong)
    assert "◆" in wrong.picture.svg
    panel = factory(right)
    for control in panel.controls.values():
        for end in ends(control):
            control.value = end
            assert same in is_calm(panel)


# ---- helpers ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("recompute", [True, False])
def test_megatron_flops_is_the_reference_s(recompute):
    for run in ((1536, 2048, 96, 12_288, 51_200), (1, 1024, 12, 768, 50_257), (3, 7, 2, 5, 11)):
        assert megatron_flops(*run, recompute) == pytest.approx(clock.megatron_flops(*run, recompute), rel=1e-14)
    with pytest.raises(ValueError, match="layers must be a whole number of at least 1, not 0"):
        megatron_flops(1, 1, 0, 1, 1)


RING = part7.ring_allreduce


def rules(function):
    """What `check` says of a ring on the first visible example that is off, or None."""
    found = (tried((function,), copy.deepcopy(one.args[0])) for one in RING.examples)
    return next((said for said in found if said), None)


def test_check_takes_every_right_ring():
    assert rules(clock.ring_allreduce) is None

    def backwards(arrays):
        held, sent = clock.ring_allreduce(arrays[::-1])
        return np.array(held[::-1]), np.array(sent[::-1], dtype=float)

    assert rules(backwards) is None


@pytest.mark.parametrize("mistake", RING.mistakes, ids=lambda mistake: mistake.name)
def test_check_finds_every_wrong_ring(mistake):
    said = rules(mistake.twin)
    assert said and said.endswith(".")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda arrays: None, "returned nothing"),
        (lambda arrays: arrays[0], "Two results are asked for"),
        (lambda arrays: (arrays[:1], [0]), "must be a list of 3 arrays"),
        (lambda arrays: ([array[:1] for array in arrays], [0] * 3), "each device holds 3 elements"),
        (lambda arrays: (clock.ring_allreduce(arrays)[0], 96), "must be a list of 3 numbers"),
        (lambda arrays: (clock.ring_allreduce(arrays)[0], [32, 32, 40]), "one chunk in each of 2(n - 1) steps"),
        (lambda arrays: (clock.ring_allreduce(arrays)[0], [96, 0, 0]), "device 0 sent 96 of them"),
        (lambda arrays: arrays[0].fill(0) or (arrays, [0] * 3), "changed its input"),
    ],
)
def test_check_says_what_is_off_in_a_ring(answer, said):
    assert said in rules(answer)
