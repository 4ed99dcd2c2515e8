"""Part 5's reference against facts, other software's schedules and its own refusals."""

import math
import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from partrain_ref import pipeline
from partrain_ref.exercises import _part5_orders as judged
from partrain_ref.exercises._part5_times import _any_order

SIZES = st.tuples(st.integers(1, 7), st.integers(1, 12))
TIMES = st.floats(0.25, 8)


def read(row):
    """An order of the oracles, "<stage>F<micro-batch>", as one of ours; what costs nothing is left out."""
    items = [[re.fullmatch(r"\d+([FB])(\d+)", item) for item in stage] for stage in row["order"]]
    return [[(found[1], int(found[2])) for found in stage if found] for stage in items]


def ideal(microbatches, forward, backward):
    return microbatches * (forward + backward)


@pytest.mark.parametrize(
    ("stages", "microbatches", "share"),
    [(4, 8, "3/11"), (8, 16, "7/23"), (8, 64, "7/71"), (12, 1, "11/12"), (4, 16, "3/19"), (2, 3, "1/4"), (1, 5, "0")],
)
def test_published_and_recomputed_bubbles(stages, microbatches, share):
    """The facts' table; BLOOM with one micro-batch; GPipe's "negligible" at four micro-batches a stage."""
    assert pipeline.pipeline_bubble(stages, microbatches) == float(Fraction(share))


def test_bubbles_of_bloom_as_its_batch_grows():
    shares = [pipeline.pipeline_bubble(12, batch // (8 * 2)) for batch in (16, 192, 2048)]
    assert [round(share, 3) for share in shares] == [0.917, 0.478, 0.079]


def test_seed_lessons(oracles):
    (row,) = [row for row in oracles["seed_lessons"] if row["what"] == "bubble"]
    assert pipeline.pipeline_bubble(row["p"], row["m"]) == row["value"]


def test_pipeline_megatron_formula(oracles):
    for row in oracles["pipeline_megatron_formula"]["rows"]:
        share = pipeline.pipeline_bubble(row["p"], row["m"])
        assert share == float(Fraction(row["course_bubble_of_total"]))
        ratio = Fraction(row["megatron_bubble_over_ideal"])
        assert share == pytest.approx(float(ratio / (1 + ratio)), abs=1e-15)
        assert pipeline.interleaved_bubble(row["p"], row["m"], row["v"]) == share


@pytest.mark.parametrize("costs", [("F1_B1", 1, 1), ("F1_B2", 1, 2)], ids=lambda costs: costs[0])
def test_pipeline_real_gloo(oracles, costs):
    """Executed orders: ours are equal item by item, in time, in both bubbles and in flight."""
    name, forward, backward = costs
    for row in oracles["pipeline_real_gloo"]["rows"]:
        p, m, v, said = row["p"], row["m"], row["v"], row[name]
        of_total = float(Fraction(said["bubble_fraction_of_total"]))
        assert pipeline.interleaved_bubble(p, m, v) == of_total
        if v > 1:
            continue
        assert pipeline.pipeline_bubble(p, m) == of_total
        make = {"1F1B": pipeline.one_f_one_b_order, "GPipe": pipeline.gpipe_order}[row["schedule"]]
        assert make(p, m) == read(row)
        total = pipeline.pipeline_time(read(row), forward, backward)
        assert total == said["makespan"]
        assert total / ideal(m, forward, backward) - 1 == float(Fraction(said["bubble_over_ideal"]))
        assert pipeline.peak_in_flight(read(row)) == said["peak_in_flight_per_rank"]


def test_pipeline_order_without_processes(oracles):
    for row in oracles["pipeline_order_without_processes"]["rows"]:
        p, m, v = row["p"], row["m"], row["v"]
        if row["schedule"] in ("GPipe", "Interleaved1F1B", "LoopedBFS"):
            share = pipeline.pipeline_bubble(p, m) if v == 1 else pipeline.interleaved_bubble(p, m, v)
            assert {float(Fraction(row[name]["bubble_exact"])) for name in ("F1_B1", "F1_B2")} == {share}
        if row["schedule"] == "GPipe":
            assert pipeline.gpipe_order(p, m) == read(row)
            assert pipeline.pipeline_time(read(row), 1, 1) == row["F1_B1"]["makespan"]
            assert pipeline.pipeline_time(read(row), 1, 2) == row["F1_B2"]["makespan"]


def test_pipeline_accepts_without_processes(oracles):
    """The course allows fewer micro-batches than stages everywhere, and is as strict as the paper on interleaving."""
    for row in oracles["pipeline_accepts_without_processes"]["rows"]:
        p, m, v = row["p"], row["m"], row["v"]
        if row["schedule"] == "Interleaved1F1B":
            with pytest.raises(ValueError, match="multiple of stages"):
                pipeline.interleaved_bubble(p, m, v)
        else:
            make = {"1F1B": pipeline.one_f_one_b_order, "GPipe": pipeline.gpipe_order}[row["schedule"]]
            assert pipeline.pipeline_time(make(p, m), 1, 2) == 3 * (p + m - 1)


@given(SIZES, TIMES, TIMES)
def test_simulated_schedules_of_equal_stages_take_the_time_of_the_closed_form(sizes, forward, backward):
    p, m = sizes
    closed = ideal(m, forward, backward) / (1 - pipeline.pipeline_bubble(p, m))
    for make in (pipeline.gpipe_order, pipeline.one_f_one_b_order):
        assert pipeline.pipeline_time(make(p, m), forward, backward) == pytest.approx(closed, rel=1e-12)


@given(SIZES)
def test_micro_batches_in_flight(sizes):
    p, m = sizes
    assert pipeline.peak_in_flight(pipeline.gpipe_order(p, m)) == [m] * p
    assert pipeline.peak_in_flight(pipeline.one_f_one_b_order(p, m)) == [min(p - s, m) for s in range(p)]


@given(SIZES, st.integers(2, 5))
def test_share_and_ratio_are_linked(sizes, v):
    p, m = sizes
    ratio = (p - 1) / (v * m * p)
    assert pipeline.interleaved_bubble(p, m * p, v) == pytest.approx(ratio / (1 + ratio))


@given(st.integers(1, 4), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_time_of_any_order_lies_between_its_bounds(stages, microbatches, seed):
    rng = np.random.default_rng(seed)
    order = _any_order(rng, stages, microbatches)
    times = [list(rng.uniform(0.5, 4, size=stages)) for _ in "FB"]
    total = pipeline.pipeline_time(order, *times)
    work = [microbatches * (f + b) for f, b in zip(*times, strict=True)]
    chain = sum(map(sum, times))  # one micro-batch down and up
    assert max(*work, chain) <= total * (1 + 1e-12)
    assert total <= sum(work) * (1 + 1e-12)
    equal = pipeline.pipeline_time(order, 1.5, 2.5)
    assert equal == pipeline.pipeline_time(order, [1.5] * stages, np.full(stages, 2.5))


def test_a_slow_stage_breaks_the_formula():
    forward, backward = [1, 1.5, 1, 1], [2, 3, 2, 2]
    assert pipeline.pipeline_time(pipeline.one_f_one_b_order(4, 8), forward, backward) == 42
    assert pipeline.pipeline_time(pipeline.gpipe_order(4, 8), forward, backward) == 45
    assert 1 - 27 / 42 == pytest.approx(0.357, abs=5e-4)


def test_the_worked_example_of_unequal_stages():
    order = [[("F", 0), ("F", 1), ("B", 0), ("B", 1)], [("F", 0), ("B", 0), ("F", 1), ("B", 1)]]
    assert pipeline.pipeline_time(order, [1.0, 3.0], [2.0, 4.0]) == 17
    assert pipeline.pipeline_time(order, 1, 2) == 9
    assert pipeline.peak_in_flight(order) == [2, 1]
    assert isinstance(pipeline.pipeline_time(order, 1, 2), float)


F0, B0, F1, B1 = ("F", 0), ("B", 0), ("F", 1), ("B", 1)


@pytest.mark.parametrize(
    ("order", "said"),
    [
        ([], "must not be empty"),
        ([[]], "must not be empty"),
        (7, "list of stages"),
        ([[("F", 0, 1)]], "list of stages"),
        ([[F0, B0], [F0]], "stage 1 does not"),
        ([[F0, B0, B0]], "stage 0 does not"),
        ([[F1, B1]], "2 micro-batches"),
        ([[F0, ("B", -1)]], "at least 0, not -1"),
        ([[F0, ("B", 0.5)]], "at least 0, not 0.5"),
        ([[F0, ("X", 0)]], "stage 0 does not"),
    ],
)
def test_orders_that_are_refused(order, said):
    for ask in (pipeline.peak_in_flight, lambda order: pipeline.pipeline_time(order, 1, 2)):
        with pytest.raises(ValueError, match=said):
            ask(order)


def test_an_order_that_halts_is_refused():
    with pytest.raises(ValueError, match=r"comes to a halt: stage 0 waits for ever to run \('B', 0\)"):
        pipeline.pipeline_time([[F0, B0, F1, B1], [F1, B1, F0, B0]], 1, 2)
    with pytest.raises(ValueError, match=r"\('B', 0\) before \('F', 0\) on stage 0"):
        pipeline.peak_in_flight([[B0, F0]])


@pytest.mark.parametrize("times", [0, -1.0, math.nan, math.inf, True, "1", [1.0], [1.0, 0], [1.0, 1.0, 1.0]])
def test_times_that_are_refused(times):
    order = pipeline.gpipe_order(2, 2)
    with pytest.raises(ValueError, match=r"forward_time"):
        pipeline.pipeline_time(order, times, 2)
    with pytest.raises(ValueError, match=r"backward_time"):
        pipeline.pipeline_time(order, 1, times)


def test_counts_that_are_refused():
    for ask in (pipeline.pipeline_bubble, pipeline.gpipe_order, pipeline.one_f_one_b_order):
        with pytest.raises(ValueError, match=r"stages must be a whole number of at least 1, not 0"):
            ask(0, 8)
        with pytest.raises(ValueError, match=r"microbatches .* not 2.5"):
            ask(4, 2.5)
        assert ask(4.0, 8) == ask(4, 8)
    with pytest.raises(ValueError, match=r"microbatches = 6 is not a multiple of stages = 4"):
        pipeline.interleaved_bubble(4, 6, 2)


# ---- orders are judged by what they mean --------------------------------------------------------------------------


def judge(exercise, order, stages=4, microbatches=8):
    return exercise.accepts(judged.call(stages, microbatches), order, None)


@given(SIZES, st.randoms(use_true_random=False))
def test_other_orders_that_mean_the_same_are_accepted(sizes, random):
    p, m = sizes
    names = random.sample(range(m), m)
    gpipe, one = pipeline.gpipe_order(p, m), pipeline.one_f_one_b_order(p, m)
    last_in_first_out = [items[:m] + items[m:][::-1] for items in gpipe]
    for exercise, order in (
        (judged.gpipe_order, gpipe),
        (judged.gpipe_order, last_in_first_out),
        (judged.one_f_one_b_order, one),
    ):
        renamed = [[[letter, names[i]] for letter, i in items] for items in order]
        assert judge(exercise, order, p, m) and judge(exercise, renamed, p, m)


@pytest.mark.parametrize("answer", [None, 7, "F0", [], [[]] * 4, [[("F", 0)]], {"F": 0}, [[("F", "0")]] * 4, [7] * 4])
def test_what_is_no_order_is_neither_right_nor_a_known_mistake(answer):
    for exercise in (judged.gpipe_order, judged.one_f_one_b_order):
        assert not judge(exercise, answer)
        found = exercise.mistake([answer] * 2, exercise.examples)
        assert found is None or found.name == "items_missing"
