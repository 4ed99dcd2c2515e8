"""Part 8, plan a run: exercises, with the mistakes of the field as wrong twins.

Wrong numbers and their causes: the field's table of misconceptions (all GPUs as replicas, a degree forgotten, the
hardware rate taken for the model's). The written answer `why_this_plan` is read by a person and has no object here.
"""

from __future__ import annotations

import math

from autograder.exercise import Exercise, Mistake, call, refuse
from partrain_ref import plan
from partrain_ref.exercises._part8_fits import fits
from partrain_ref.exercises._part8_run import plan_run
from partrain_ref.exercises._part8_step import step_seconds

# ---- replicas -----------------------------------------------------------------------------------------------------


def _draw_replicas(rng):
    for _ in range(4):
        t, p = int(rng.choice([2, 4, 8])), int(rng.choice([3, 5, 6, 12, 16]))
        yield call(t * p * int(rng.integers(7, 90)), t, p)
    yield call(int(rng.integers(20, 400)), 1, 1)
    yield call(float(4 * 3 * rng.integers(5, 50)), 4.0, 3)  # 4.0 counts as whole


replicas = Exercise(
    "replicas",
    reference=plan.replicas,
    points=4,
    examples=(call(1024, 8, 4), call(2520, 8, 35), call(32, 1, 1)),
    draw=_draw_replicas,
    refusals=(
        refuse("8 · 4 GPUs do not divide 1,000", 1000, 8, 4),
        refuse("tensor_parallel is 0", 1024, 0, 4),
        refuse("gpus is 0", 0, 1, 1),
        refuse("pipeline_parallel is 1.5", 24, 8, 1.5),
        refuse("tensor_parallel is True", 1024, True, 4),
        refuse("gpus is NaN", math.nan, 8, 4),
        refuse("gpus is infinite", math.inf, 8, 4),
    ),
    mistakes=(
        Mistake(
            "all_gpus",
            lambda gpus, t, p: gpus,
            "Every GPU is counted as a replica there. A replica is a whole copy of the model, on several GPUs.",
        ),
        Mistake(
            "pipeline_forgotten",
            lambda gpus, t, p: gpus // t,
            "The stages are not in that: a copy has tensor_parallel GPUs on each of its stages.",
        ),
        Mistake(
            "tensor_forgotten",
            lambda gpus, t, p: gpus // p,
            "The tensor-parallel groups are not in that: each stage of a copy has several GPUs.",
        ),
        Mistake(
            "gpus_of_a_replica",
            lambda gpus, t, p: t * p,
            "Those are the GPUs of one replica. The question is how many replicas there are.",
        ),
        Mistake(
            "degrees_added",
            lambda gpus, t, p: gpus / (t + p),
            "The two degrees were added there. Each of the stages has its own tensor-parallel group.",
        ),
        Mistake(
            "degrees_added",
            lambda gpus, t, p: gpus // (t + p),
            "The two degrees were added there. Each of the stages has its own tensor-parallel group.",
        ),
    ),
)

# ---- choices ------------------------------------------------------------------------------------------------------

what_stays_inside = Exercise(
    "what_stays_inside",
    kind="choice",
    reference="c",
    points=1,
    mistakes=(
        Mistake(
            "gradients",
            "a",
            "Gradients are many bytes, but they are sent once an update. Look for what is sent again and again within "
            "one.",
        ),
        Mistake(
            "messages_between_stages",
            "b",
            "A stage hands on once for each micro-batch, after many layers. Something else is sent for every layer.",
        ),
        Mistake(
            "all_of_it",
            "d",
            "A run on more GPUs than a node has must send something between nodes. Ask what bears it best.",
        ),
    ),
)

what_the_rate_includes = Exercise(
    "what_the_rate_includes",
    kind="choice",
    reference="b",
    points=1,
    mistakes=(
        Mistake(
            "model_alone",
            "a",
            "Those runs recompute: the forward pass runs twice, and its second run is in the rate.",
        ),
        Mistake(
            "waiting_left_out",
            "c",
            "The rate is the operations of an update over its whole time. Waiting makes the time longer.",
        ),
        Mistake("sparse_peak", "d", "312 TFLOP/s is the dense peak of that GPU."),
    ),
)

EXERCISES = (replicas, fits, step_seconds, plan_run, what_stays_inside, what_the_rate_includes)
