"""Part 5, split the layers: exercises, with the mistakes of the field as wrong twins.

Wrong numbers and their causes: the field's table of misconceptions (the two bubble numbers taken for each other, p/m, a
1 that is off, the interleaved formula, 1F1B believed to have less bubble, GPipe's number of micro-batches in flight).
"""

from __future__ import annotations

import math

from autograder.exercise import Exercise, Mistake, call, refuse
from partrain_ref import pipeline
from partrain_ref.exercises._part5_orders import gpipe_order, one_f_one_b_order
from partrain_ref.exercises._part5_times import peak_in_flight, pipeline_time

# ---- the bubble ---------------------------------------------------------------------------------------------------

STAGES, MICROBATCHES = 4, 8
OVER_IDEAL = "That is the idle time over the ideal time. The question asks for the idle share of the total time."
OF_TOTAL = "That is the idle share of the total time. The question asks for the idle time over the ideal time."
STAGES_OVER = "That is stages over micro-batches. A stage waits for the p - 1 others, not for p."
ONE_OFF = "The total time has one round too many there: m micro-batches on p stages take m + p - 1 rounds."
NOT_MINUS_1 = "That counts p idle rounds on each stage. A stage waits for the p - 1 others only."
BUSY = "That is the share of the time in which a stage is at work. The bubble is the rest."
PERCENT = "That is in percent. Return a share between 0 and 1."
SWAPPED = "Stages and micro-batches are taken for each other there."
NAIVE = "That is the naive schedule, in which one stage works at a time. In GPipe stages work side by side."
INTERLEAVED = "That is a formula for interleaved chunks. Here each device holds one stage, in one piece."
P, M = STAGES, MICROBATCHES
OF_100 = 100 * (P - 1) / (M + P - 1)  # idle share of total time in percent, which people round to one decimal too

bubble_of_total = Exercise(
    "bubble_of_total",
    kind="number",
    reference=pipeline.pipeline_bubble(P, M),
    digits=3,
    unit="idle share of total time, between 0 and 1",
    points=1,
    mistakes=(
        Mistake("over_ideal", (P - 1) / M, OVER_IDEAL),
        Mistake("stages_over_microbatches", P / M, STAGES_OVER),
        Mistake("off_by_one", (P - 1) / (M + P), ONE_OFF),
        Mistake("idle_rounds_off_by_one", P / (M + P - 1), NOT_MINUS_1),
        Mistake("idle_rounds_off_by_one", P / (M + P), NOT_MINUS_1),
        Mistake("interleaved", (P - 1) / (2 * M + P - 1), INTERLEAVED),
        Mistake("interleaved", (P - 1) / (2 * M), INTERLEAVED),
        Mistake("busy_share", M / (M + P - 1), BUSY),
        Mistake("swapped", (M - 1) / (M + P - 1), SWAPPED),
        Mistake("naive_schedule", (P - 1) / P, NAIVE),
        *(Mistake("percent", round(OF_100, places), PERCENT, unit=True) for places in (3, 1)),
        Mistake("percent_over_ideal", 100 * (P - 1) / M, OVER_IDEAL + " And it is in percent.", unit=True),
    ),
)

bubble_over_ideal = Exercise(
    "bubble_over_ideal",
    kind="number",
    reference=(P - 1) / M,
    digits=3,
    unit="idle time over ideal time, as a fraction",
    points=1,
    mistakes=(
        Mistake("of_total", (P - 1) / (M + P - 1), OF_TOTAL),
        Mistake("stages_over_microbatches", P / M, STAGES_OVER),
        Mistake(
            "total_over_ideal", (M + P - 1) / M, "That is the total time over the ideal time. Take idle time only."
        ),
        Mistake("upside_down", M / (P - 1), "That is the ideal time over the idle time: turn it round."),
        Mistake("interleaved", (P - 1) / (2 * M), INTERLEAVED),
        Mistake("interleaved", (P - 1) / (2 * M + P - 1), INTERLEAVED),
        Mistake("off_by_one", (P - 1) / (M + P), ONE_OFF),
        Mistake("swapped", (M - 1) / P, SWAPPED),
        Mistake("percent", 100 * (P - 1) / M, PERCENT.replace("a share between 0 and 1", "a fraction"), unit=True),
        *(
            Mistake("percent_of_total", round(OF_100, places), OF_TOTAL + " And it is in percent.", unit=True)
            for places in (3, 1)
        ),
    ),
)


def _draw_pipeline_bubble(rng):
    for _ in range(3):
        yield call(int(rng.integers(3, 33)), int(rng.integers(3, 129)))
    yield call(int(rng.integers(6, 17)), int(rng.integers(2, 5)))  # fewer micro-batches than stages
    yield call(float(rng.integers(2, 9)), 1)  # 4.0 counts as whole
    yield call(1, int(rng.integers(2, 9)))


pipeline_bubble = Exercise(
    "pipeline_bubble",
    reference=pipeline.pipeline_bubble,
    points=4,
    examples=(call(3, 6), call(12, 1)),
    draw=_draw_pipeline_bubble,
    refusals=(
        refuse("stages is 0", 0, 8),
        refuse("microbatches is 2.5", 4, 2.5),
        refuse("microbatches is 0", 4, 0),
        refuse("stages is negative", -4, 8),
        refuse("stages is True", True, 8),
        refuse("microbatches is NaN", 4, math.nan),
        refuse("microbatches is infinite", 4, math.inf),
    ),
    mistakes=(
        Mistake("percent", lambda p, m: 100 * (p - 1) / (m + p - 1), PERCENT, unit=True),
        Mistake("percent_over_ideal", lambda p, m: 100 * (p - 1) / m, OVER_IDEAL + " And it is in percent.", unit=True),
        Mistake("over_ideal", lambda p, m: (p - 1) / m, OVER_IDEAL),
        Mistake("stages_over_microbatches", lambda p, m: p / m, STAGES_OVER),
        Mistake("off_by_one", lambda p, m: (p - 1) / (m + p), ONE_OFF),
        Mistake("idle_rounds_off_by_one", lambda p, m: p / (m + p - 1), NOT_MINUS_1),
        Mistake("idle_rounds_off_by_one", lambda p, m: p / (m + p), NOT_MINUS_1),
        Mistake("busy_share", lambda p, m: m / (m + p - 1), BUSY),
        Mistake("swapped", lambda p, m: (m - 1) / (m + p - 1), SWAPPED),
        Mistake(
            "no_micro_batches",
            lambda p, m: (p - 1) / p,
            "That is the idle share when the batch is not cut at all. The number of micro-batches was not used.",
        ),
    ),
)


def _draw_interleaved_bubble(rng):
    for chunks in (2, 3, int(rng.integers(4, 9))):
        stages = int(rng.integers(3, 17))
        yield call(stages, stages * int(rng.integers(1, 9)), chunks)
    yield call(float(rng.integers(2, 9)), 1680.0, 2)  # a multiple of all of them
    yield call(4, 4 * int(rng.integers(2, 9)), 1)


interleaved_bubble = Exercise(
    "interleaved_bubble",
    reference=pipeline.interleaved_bubble,
    points=4,
    examples=(call(4, 8, 2), call(3, 6, 4)),
    draw=_draw_interleaved_bubble,
    refusals=(
        refuse("microbatches is not a multiple of stages", 4, 6, 2),
        refuse("chunks is 0", 4, 8, 0),
        refuse("there are fewer micro-batches than stages", 4, 2, 2),
        refuse("stages is 0", 0, 8, 2),
        refuse("chunks is 1.5", 4, 8, 1.5),
        refuse("chunks is True", 4, 8, True),
        refuse("microbatches is negative", 4, -8, 2),
        refuse("stages is NaN", math.nan, 8, 2),
        refuse("chunks is infinite", 4, 8, math.inf),
    ),
    mistakes=(
        Mistake("percent", lambda p, m, v: 100 * (p - 1) / (v * m + p - 1), PERCENT, unit=True),
        Mistake("over_ideal", lambda p, m, v: (p - 1) / (v * m), OVER_IDEAL),
        Mistake(
            "chunks_ignored",
            lambda p, m, v: (p - 1) / (m + p - 1),
            "That is the share for one stage on each device. The chunks make it smaller.",
        ),
        Mistake(
            "chunks_ignored_over_ideal",
            lambda p, m, v: (p - 1) / m,
            "That is the idle time over the ideal time, for one stage on each device. Take the share of total, with "
            "chunks.",
        ),
        Mistake(
            "share_divided_by_chunks",
            lambda p, m, v: (p - 1) / (m + p - 1) / v,
            "The share of total was divided by the chunks. Chunks divide the idle time, so the total gets shorter too.",
        ),
        Mistake(
            "more_stages",
            lambda p, m, v: (p * v - 1) / (m + p * v - 1),
            "That is a pipeline of stages × chunks devices. There are as many devices as before, with several pieces "
            "each.",
        ),
        Mistake(
            "chunks_multiply",
            lambda p, m, v: v * (p - 1) / (m + v * (p - 1)),
            "There the chunks make the idle time longer. A device waits for p - 1 others, but for pieces that are "
            "smaller.",
        ),
        Mistake("busy_share", lambda p, m, v: v * m / (v * m + p - 1), BUSY),
        Mistake("off_by_one", lambda p, m, v: (p - 1) / (v * m + p), "The total is one piece too long there."),
    ),
)

# ---- choices ------------------------------------------------------------------------------------------------------

what_1f1b_saves = Exercise(
    "what_1f1b_saves",
    kind="choice",
    reference="b",
    points=1,
    mistakes=(
        Mistake(
            "time",
            "a",
            "That takes 1F1B for a quicker schedule. Its first and last stages wait as long as GPipe's; look at the "
            "ends of the two timelines.",
        ),
        Mistake(
            "both",
            "c",
            "Half of that is so: less is in flight. But the bubble is the same, since the first micro-batch still "
            "has to go all the way down and the last one all the way back.",
        ),
        Mistake(
            "traffic",
            "d",
            "That counts hand-overs. Each micro-batch crosses each border once forward and once backward, in "
            "whatever order.",
        ),
    ),
)

more_microbatches = Exercise(
    "more_microbatches",
    kind="choice",
    reference="c",
    points=1,
    mistakes=(
        Mistake(
            "bubble_stays",
            "a",
            "That makes the bubble a matter of the stages alone. The idle time lasts p - 1 micro-batches, and these "
            "are smaller now.",
        ),
        Mistake(
            "memory_grows",
            "b",
            "That is so in GPipe. In 1F1B the number in flight stops at the number of stages.",
        ),
        Mistake(
            "quarter_of_the_share",
            "d",
            "That scales the share of total. The idle time falls to a quarter, but the total gets shorter too, so "
            "the share falls less.",
        ),
    ),
)

EXERCISES = (
    bubble_of_total,
    bubble_over_ideal,
    pipeline_bubble,
    gpipe_order,
    peak_in_flight,
    one_f_one_b_order,
    pipeline_time,
    interleaved_bubble,
    what_1f1b_saves,
    more_microbatches,
)
