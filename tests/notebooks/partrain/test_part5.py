"""Part 5's figure, panel and kit: their numbers are the reference's, at every end they stay readable and calm."""

import itertools
import time
from fractions import Fraction

import pytest
from pictures import is_calm, is_sound, texts

from partrain import need_order, panels, schedules, style
from partrain.check import PROPERTIES
from partrain.figures.pipeline_timeline import pipeline_timeline
from partrain_ref import pipeline
from partrain_ref.exercises import part5
from partrain_ref.exercises._part5_times import DOUBLES, FROM_ONE, LATE_BACKWARD, MISSES, TWO

SHAPES = [
    (stages, microbatches, schedule, chunks, ratio, slow_stage, slow)
    for stages, microbatches, (schedule, chunks), ratio, (slow_stage, slow) in itertools.product(
        [2, 3, 4, 8, 16],
        [1, 2, 8, 16, 32],
        [("naive", 1), ("GPipe", 1), ("1F1B", 1), ("interleaved", 2), ("interleaved", 4)],
        [0.5, 2, 3],
        [(0, 1), (1, 1.25), (15, 3)],
    )
    if schedule != "interleaved" or microbatches % stages == 0
]
ORDERS = {"GPipe": pipeline.gpipe_order, "1F1B": pipeline.one_f_one_b_order}


@pytest.mark.parametrize("shape", SHAPES[::17], ids=str)
def test_the_timeline_is_sound(shape):
    for given in (None, 0.0, 33.0, 1e30):
        picture = pipeline_timeline(*shape, time=given)
        is_sound(picture)
        assert picture == pipeline_timeline(*shape, time=given)


@pytest.mark.parametrize("shape", [s for s in SHAPES if s[2] in ORDERS][::7], ids=str)
def test_the_timeline_has_the_numbers_of_the_reference(shape):
    p, m, schedule, _, ratio, slow_stage, slow = shape
    pace = [slow if slow > 1 and s == min(slow_stage, p - 1) else 1 for s in range(p)]
    order = ORDERS[schedule](p, m)
    total = pipeline.pipeline_time(order, pace, [ratio * each for each in pace])
    working = m * (1 + ratio) * sum(pace) / p
    picture = pipeline_timeline(*shape)
    words = texts(picture)
    assert style.short(total) in words and f"ideal {style.short(working)}" in words
    assert f"{100 * (1 - working / total):.1f}%" in words and f"{100 * (total / working - 1):,.1f}%" in words
    flying = pipeline.peak_in_flight(order)
    assert all(words[words.index("in flight") + 1 :].count(str(n)) >= flying.count(n) for n in set(flying))
    formula = pipeline.pipeline_bubble(p, m)
    if slow == 1:
        assert 1 - working / total == pytest.approx(formula, abs=1e-12)
        assert f"= ({p} − 1) ÷ ({m} + {p} − 1)" in words
    elif f"{100 * (1 - working / total):.1f}" != f"{100 * formula:.1f}":
        assert f"≠ ({p} − 1) ÷ ({m} + {p} − 1) = {100 * formula:.1f}%, the formula" in words


@pytest.mark.parametrize("shape", [s for s in SHAPES if s[2] == "interleaved" and s[6] == 1][::3], ids=str)
def test_interleaved_pictures_have_the_bubble_of_the_reference(shape):
    p, m, _, chunks, *_ = shape
    share = pipeline.interleaved_bubble(p, m, chunks)
    assert f"{100 * share:.1f}% of the total time is idle" in pipeline_timeline(*shape).sentence


def test_schedules_are_those_of_the_reference():
    for p, m in itertools.product(range(1, 7), range(1, 9)):
        for name, make in ORDERS.items():
            plan = schedules.plan(name, p, m)
            assert [[(letter, i) for letter, _, i in items] for items in plan] == make(p, m)
            assert schedules.run(plan, [1] * p, [2] * p).in_flight == pipeline.peak_in_flight(make(p, m))
        if m % p == 0:
            assert schedules.plan("interleaved", p, m, 1) == schedules.plan("1F1B", p, m)
        naive = schedules.run(schedules.plan("naive", p, m), [1] * p, [2] * p)
        assert naive.total == 3 * m * p and naive.in_flight == [1] * p


def interleaved(oracles):
    for block in ("pipeline_real_gloo", "pipeline_order_without_processes"):
        for row in oracles[block]["rows"]:
            if row["schedule"] == "Interleaved1F1B":
                yield row


def test_interleaved_schedule_against_other_software(oracles):
    """Item by item, and in time, bubble and flight."""
    rows = list(interleaved(oracles))
    assert len(rows) == 4
    for row in rows:
        p, m, v = row["p"], row["m"], row["v"]
        plan = schedules.plan("interleaved", p, m, v)
        ours = [[f"{chunk * p + d}{letter}{i}" for letter, chunk, i in items] for d, items in enumerate(plan)]
        assert ours == [[item for item in items if "REDUCE" not in item] for items in row["order"]]
        for name, backward in (("F1_B1", 1), ("F1_B2", 2)):
            ran, said = schedules.run(plan, [1] * p, [backward] * p), row[name]
            assert ran.total == said["makespan"]
            exact = said.get("bubble_exact") or said["bubble_fraction_of_total"]
            assert 1 - ran.working / p / ran.total == pytest.approx(float(Fraction(exact)), abs=1e-12)
            assert ran.in_flight == said.get("peak_in_flight_per_rank", ran.in_flight)


def test_pipeline_interleaved_memory_check(oracles):
    for row in oracles["pipeline_interleaved_memory_check"]["rows"]:
        p, m, v = row["p"], row["m"], row["v"]
        flying = schedules.run(schedules.plan("interleaved", p, m, v), [1] * p, [1] * p).in_flight[0]
        assert flying == row["torch_chunks"]
        assert flying / v == row["stage_equivalents"] == row["megatron"] == p + (p - 1) / v


def test_forward_backward_and_idle_differ_without_colour():
    """Letters where there is room; always light or dark, tall or lower; idle is hatched."""
    picture = pipeline_timeline(4, 8, "1F1B")
    assert {f"{letter}{i}" for letter in "FB" for i in range(8)} <= set(texts(picture))
    tall, low = (fill_height(picture, colour) for colour in (style.SKY, style.BLUE))
    assert low < tall
    small = pipeline_timeline(16, 32, "1F1B")
    tall, low = (fill_height(small, colour) for colour in (style.SKY, style.BLUE))
    assert low < tall
    assert f'stroke="{style.ORANGE}"' in small.svg


def fill_height(picture, colour):
    """The height of the last block of a colour."""
    path = next(line for line in reversed(picture.svg.splitlines()) if f'fill="{colour}"' in line and "<path" in line)
    return float(path.split("v")[1].split("h")[0])


# ---- the panel ----------------------------------------------------------------------------------------------------


def test_the_sentence_of_the_default():
    assert panels.pipeline_timeline().picture.sentence == (
        "4 stages, 8 micro-batches, GPipe: 27.3% of the total time is idle, and idle time is 37.5% of ideal time; "
        "stage 0 has 8 micro-batches in flight at most."
    )


def test_the_buttons():
    panel = panels.pipeline_timeline("naive")
    panel.buttons["BLOOM as first planned: 1 micro-batch"].click()
    assert is_calm(panel).startswith("12 stages, 1 micro-batch, 1F1B: 91.7% of the total time is idle")
    panel.buttons["4 stages, 8 micro-batches"].click()
    assert is_calm(panel).startswith("4 stages, 8 micro-batches, 1F1B: 27.3%")


def test_groups_of_micro_batches_are_asked_for_calmly():
    panel = panels.pipeline_timeline("interleaved")
    panel.controls["stages"].value = 5
    assert is_calm(panel) == (
        "Interleaved chunks take micro-batches in groups of 5, one for each device: 8 is not a multiple of 5."
    )


def test_controls_that_say_nothing_are_not_shown():
    panel = panels.pipeline_timeline()
    absent = lambda: {name for name, control in panel.controls.items() if control.layout.display == "none"}  # noqa: E731
    assert absent() == {"chunks", "slow_stage"}
    panel.set(schedule="interleaved", slow=1.5)
    assert absent() == set()


def test_a_slow_stage_breaks_the_formula_in_the_picture():
    panel = panels.pipeline_timeline("1F1B")
    panel.controls["slow"].value = 1.5
    assert is_calm(panel) == (
        "4 stages, 8 micro-batches, 1F1B, stage 1 taking 1.5 times as long: 35.7% of the total time is idle, and idle "
        "time is 55.6% of ideal time; the formula for equal stages says 27.3% of the total."
    )


def unwritten(stages, microbatches):
    raise NotImplementedError


def naive(stages, microbatches):
    return [[(letter, i) for i in range(microbatches) for letter in "FB"] for _ in range(stages)]


def waits(stages, microbatches):
    return pipeline.one_f_one_b_order(stages, microbatches)[::-1]


@pytest.mark.parametrize(
    ("student", "said"),
    [
        (pipeline.gpipe_order, "4 stages, 8 micro-batches, your gpipe_order: 27.3% of the total"),
        (naive, "4 stages, 8 micro-batches, your gpipe_order: 75.0% of the total"),
        (waits, "Your gpipe_order comes to a halt after 4 of 64 items: stage 0 waits to run B0."),
        (lambda p, m: [items[:-1] for items in pipeline.gpipe_order(p, m)], "Your gpipe_order has 60 items"),
        (lambda p, m: pipeline.gpipe_order(p, m - 1), "Your gpipe_order has 56 items, not two for each stage"),
        (unwritten, "Finish the cell above first: gpipe_order is not written yet."),
        (lambda p, m: None, "Finish the cell above first: gpipe_order returned nothing."),
        (lambda p, m: 7, "Look at gpipe_order again, in the cell above. It must be a list"),
        (lambda p, m: [[]], "Look at gpipe_order again, in the cell above. It has 1 lists for 4 stages"),
        (lambda p, m: [[("X", 0)]] * p, "Look at gpipe_order again, in the cell above. Stage 0 has the item ('X', 0)"),
        (lambda p, m: [[]] * p, "Your gpipe_order has 0 items"),
    ],
)
def test_a_readers_order_is_drawn_as_it_is(student, said):
    panel = panels.pipeline_timeline(gpipe_order=student)
    assert is_calm(panel).startswith(said)
    is_sound(panel.picture)
    panel.controls["schedule"].value = "1F1B"
    assert is_calm(panel).startswith("4 stages, 8 micro-batches, 1F1B:")
    panel = panels.pipeline_timeline("1F1B", one_f_one_b_order=student)
    assert is_calm(panel).startswith(said.replace("gpipe_order", "one_f_one_b_order"))
    is_sound(panel.picture)


def test_a_readers_time_is_a_diamond():
    panel = panels.pipeline_timeline("1F1B", pipeline_time=pipeline.pipeline_time)
    assert is_calm(panel).startswith("Your pipeline_time gives 33, where the picture ends. 4 stages")
    panel.set(slow=1.5, slow_stage=3)
    assert "where the picture ends. 4 stages" in is_calm(panel)
    height = panel.picture.height
    panel.controls["schedule"].value = "interleaved"  # which is no order of theirs
    assert is_calm(panel).startswith("4 stages") and panel.picture.height == height
    wrong = panels.pipeline_timeline(pipeline_time=lambda order, forward, backward: 40.5)
    assert is_calm(wrong).startswith("Your pipeline_time gives 40.5, but the picture ends elsewhere.")
    late = panels.pipeline_timeline(pipeline_time=lambda order, forward, backward: unwritten(1, 1))
    assert is_calm(late) == "Finish the cell above first: pipeline_time is not written yet."


def test_the_default_is_quick_to_draw():
    pipeline_timeline(4, 8, "1F1B")
    started = time.perf_counter()
    for _ in range(5):
        pipeline_timeline(4, 8, "1F1B")
    assert (time.perf_counter() - started) / 5 < 0.05
    assert len(pipeline_timeline(16, 32, "interleaved", 4).svg) < 150_000


# ---- checks by rule -----------------------------------------------------------------------------------------------

BY_RULE = (part5.gpipe_order, part5.one_f_one_b_order)


@pytest.mark.parametrize("exercise", BY_RULE, ids=lambda exercise: exercise.name)
def test_the_check_accepts_what_the_grader_accepts_and_objects_to_every_mistake(exercise):
    rule = PROPERTIES[exercise.name]
    for one in exercise.examples:
        assert rule((exercise.reference,), *one.args) is None
    for mistake in exercise.mistakes:
        said = [rule((mistake.twin,), *one.args) for one in exercise.examples]
        assert any(said), mistake.name
        assert all(text is None or text.endswith(".") for text in said)


@pytest.mark.parametrize(
    ("order", "said"),
    [
        (lambda p, m: None, "returned nothing"),
        (lambda p, m: 4, "must be a list"),
        (lambda p, m: [[("F", 0)]], "has 1 lists"),
        (lambda p, m: [[(x, i + 1) for x, i in items] for items in pipeline.gpipe_order(p, m)], "counted from 1"),
        (lambda p, m: [[*items, ("F", m)] for items in pipeline.gpipe_order(p, m)], "beyond the"),
        (lambda p, m: [[*items, ("F", 0)] for items in pipeline.gpipe_order(p, m)], "('F', 0) comes 2 times"),
        (lambda p, m: [items[1:] for items in pipeline.gpipe_order(p, m)], "('F', 0) is missing"),
        (lambda p, m: [items[::-1] for items in pipeline.gpipe_order(p, m)], "needs what its forward has kept"),
        (waits, "comes to a halt: stage 0 waits to run ('B', 0) and stage 1"),
    ],
)
def test_what_the_rules_say_of_an_order(order, said):
    for exercise in BY_RULE:
        assert said in PROPERTIES[exercise.name]((order,), 4, 8)


def test_need_order():
    need_order(TWO)
    for bad in (MISSES, DOUBLES, FROM_ONE, [], [[]], 7, [[("F", 0), ("X", 0)]], [[("F", 0), ("B", [0])]]):
        with pytest.raises(ValueError, match="order"):
            need_order(bad)
    need_order(LATE_BACKWARD)  # what a pipeline can run is another question
