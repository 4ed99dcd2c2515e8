"""The exercise `step_seconds`: the time of one update, with one part of it forgotten or misread in each twin."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from autograder.exercise import Call, Exercise, Mistake, call, refuse
from partrain_ref import clock, pipeline, plan
from partrain_ref.plan import Cluster, Gpu, Model, Plan

FULL, LATE = ("computing", "tensor", "handing_on"), "gradients"


def _passes(one: Plan) -> float:
    return (2, 2, one.accumulation + 1, 3 * one.accumulation)[one.stage]


def _twin(
    flops=8,
    size=2,
    allreduces=6,
    layers=lambda one, model: model.layers / one.pipeline_parallel,
    tensor_over="inside",
    handing_over="between",
    gradients_over="between",
    ways=2,
    alone=False,
    slots=lambda one: one.accumulation + one.pipeline_parallel - 1,
    passes=_passes,
    gradient_share=lambda one: one.tensor_parallel * one.pipeline_parallel,
    share=lambda one: one.tensor_parallel * one.pipeline_parallel,
    efficiency=True,
    latency=True,
    counted=(*FULL, LATE),
    stretched=False,
):
    """The time of an update with parts of it changed; `counted` names those that are counted at all."""

    def seconds(one: Plan, model: Model, cluster: Cluster) -> float:
        networks = {"inside": cluster.bandwidth_inside, "between": cluster.bandwidth_between}
        wait = cluster.latency if latency else 0.0
        message = size * one.micro_batch * model.seq * model.hidden
        rate = cluster.gpu.peak_flops * (cluster.gpu.efficiency if efficiency else 1)
        ring = clock.allreduce_seconds(message, one.tensor_parallel, networks[tensor_over], wait)
        hands = one.pipeline_parallel > 1 or alone
        parts = {
            "computing": flops * model.params / share(one) * one.micro_batch * model.seq / rate,
            "tensor": allreduces * layers(one, model) * ring,
            "handing_on": ways * (wait + message / networks[handing_over]) if hands else 0.0,
        }
        whole = size * model.params / gradient_share(one)
        late = passes(one) / 2 * clock.allreduce_seconds(whole, one.data_parallel, networks[gradients_over], wait)
        late = late if LATE in counted else 0.0
        busy = sum(part for name, part in parts.items() if name in counted)
        if stretched:
            return slots(one) / one.accumulation * (one.accumulation * busy + late)
        return slots(one) * busy + late

    return seconds


def _idle(one: Plan) -> float:
    return pipeline.pipeline_bubble(one.pipeline_parallel, one.accumulation)


def _without(*names):
    return tuple(name for name in (*FULL, LATE) if name not in names)


BUBBLE = "The bubble is not in that. The stages wait while the pipeline fills and drains."
SIZE = (
    "The bubble has another size there. The micro-batches take accumulation + pipeline_parallel − 1 slots, and the "
    "gradients are sent after them."
)
AGAIN = (
    "The forward pass is counted once there. Everything is recomputed, so it runs twice: its operations and its "
    "all-reduces."
)
LAYERS = "The all-reduces of another number of layers were counted. A stage has its share of the layers of the model."
NETWORK = (
    "Some of the traffic went over the wrong network. The tensor-parallel all-reduces stay inside a node; messages "
    "between stages and gradients do not."
)
WHOLE = (
    "Something was counted for the whole model there. A GPU computes with its own parameters, and sends the gradients "
    "of those."
)

MISTAKES = (
    Mistake(
        "elements",
        _twin(size=1),
        "Elements were sent there, not bytes: a number in bf16 has 2 bytes.",
        unit=True,
    ),
    Mistake("bubble_forgotten", _twin(slots=lambda one: one.accumulation), BUBBLE),
    Mistake("bubble_of_another_size", _twin(slots=lambda one: one.accumulation * (1 + _idle(one))), SIZE),
    Mistake("bubble_of_another_size", _twin(slots=lambda one: one.accumulation + one.pipeline_parallel), SIZE),
    Mistake("bubble_of_another_size", _twin(stretched=True), SIZE),
    Mistake(
        "one_micro_batch",
        _twin(slots=lambda one: one.pipeline_parallel),
        "One micro-batch goes through the stages there. An update has as many of them as accumulation says.",
    ),
    Mistake(
        "communication_forgotten",
        _twin(counted=("computing",)),
        "Only computing is in that. Hidden states, messages between stages and gradients have to be sent.",
    ),
    Mistake("tensor_forgotten", _twin(counted=_without("tensor")), "The tensor-parallel all-reduces are not in that."),
    Mistake(
        "handing_on_forgotten", _twin(counted=_without("handing_on")), "What a stage hands to the next is not in that."
    ),
    Mistake(
        "gradients_forgotten",
        _twin(counted=_without("gradients")),
        "What the replicas send each other, the gradients, is not in that.",
    ),
    Mistake("recompute_forgotten", _twin(flops=6), AGAIN),
    Mistake("recompute_forgotten", _twin(allreduces=4), AGAIN),
    Mistake("recompute_forgotten", _twin(flops=6, allreduces=4), AGAIN),
    Mistake("layers_of_a_stage", _twin(layers=lambda one, model: model.layers), LAYERS),
    Mistake("layers_of_a_stage", _twin(layers=lambda one, model: 1), LAYERS),
    Mistake("other_network", _twin(gradients_over="inside"), NETWORK),
    Mistake("other_network", _twin(handing_over="inside"), NETWORK),
    Mistake("other_network", _twin(gradients_over="inside", handing_over="inside"), NETWORK),
    Mistake("other_network", _twin(tensor_over="between"), NETWORK),
    Mistake("other_network", _twin(tensor_over="between", gradients_over="inside", handing_over="inside"), NETWORK),
    Mistake("whole_model", _twin(gradient_share=lambda one: 1), WHOLE),
    Mistake("whole_model", _twin(share=lambda one: 1), WHOLE),
    Mistake("whole_model", _twin(share=lambda one: 1, gradient_share=lambda one: 1), WHOLE),
    Mistake(
        "peak_without_efficiency",
        _twin(efficiency=False),
        "That computes at the full peak. The GPU reaches a share of it, its efficiency.",
    ),
    Mistake(
        "stage_ignored",
        _twin(passes=lambda one: 2),
        "The gradients take two passes in every sharding stage there. Stages 2 and 3 send more.",
    ),
    Mistake(
        "passes_of_one_micro_batch",
        _twin(passes=lambda one: (2, 2, 2, 3)[one.stage]),
        "The passes of stages 2 and 3 are those of an update with one micro-batch. They come again with every "
        "micro-batch.",
    ),
    Mistake(
        "gradients_each_micro_batch",
        _twin(passes=lambda one: _passes(one) if one.stage > 1 else 2 * one.accumulation),
        "In stages 0 and 1 the gradients were sent with every micro-batch there. They are added up first and sent "
        "once.",
    ),
    Mistake(
        "passes_taken_for_all_reduces",
        _twin(passes=lambda one: 2 * _passes(one)),
        "Each pass was taken for a whole all-reduce. It is half of one: an all-reduce makes two passes.",
    ),
    Mistake("latency_forgotten", _twin(latency=False), "The latency of rings and messages is not in that."),
    Mistake(
        "one_way", _twin(ways=1), "Hidden states are handed on there, but no gradients come back from the next stage."
    ),
    Mistake(
        "one_stage_hands_on",
        _twin(alone=True),
        "A pipeline of one stage hands something on there. It has nobody to hand it to.",
    ),
)


def _case(t, p, d, stage, b, a, layers, hidden, seq, rates, latency) -> Call:
    memory, peak, efficiency, inside, between = rates
    model = Model(float(12 * layers * hidden**2), layers, hidden, 8 * t, seq, 51_200, 300e9, d * b * a)
    cluster = Cluster(t * p * d, 8, Gpu(memory, peak, efficiency), inside, between, latency, 1e8, 60.0, 300.0)
    return call(Plan(t, p, d, stage, b, a, 3600.0), model, cluster)


def _draw(rng: np.random.Generator) -> Iterator[Call]:
    def rest():
        layers, hidden = 12 * int(rng.integers(2, 8)), 128 * int(rng.integers(16, 96))
        rates = 72e9, 312e12, round(rng.uniform(0.4, 0.6), 2), float(rng.integers(150, 450)) * 1e9, 25e9
        latency = float(rng.integers(3, 30)) * 1e-6
        return layers, hidden, int(rng.choice([1024, 2048, 4096])), rates, latency

    for stage in range(4):
        t, p = int(rng.choice([2, 4, 8])), int(rng.choice([2, 3, 4, 6]))
        yield _case(
            t, p, int(rng.integers(3, 20)), stage, int(rng.integers(2, 5)), p + int(rng.integers(2, 20)), *rest()
        )
    yield _case(4, 1, int(rng.integers(3, 20)), 1, 2, 5, *rest())  # no pipeline
    yield _case(1, 4, 1, 0, 3, 12, *rest())  # neither tensor nor data parallel
    yield _case(1, 1, 1, 0, 1, 1, *rest())  # one GPU


A100 = (72e9, 312e12, 0.5, 300e9, 25e9)
SHOWN = (
    call(  # the notebook's own
        Plan(8, 4, 32, 1, 1, 56, 3600.0),
        Model(76.1e9, 60, 10_240, 80, 2048, 51_200, 300e9, 1792),
        Cluster(1024, 8, Gpu(72e9, 312e12, 0.5), 300e9, 25e9, 5e-6, 1.8e8, 60.0, 300.0),
    ),
    _case(4, 2, 4, 2, 2, 6, 24, 4096, 1024, A100, 1e-5),
    _case(2, 3, 5, 3, 2, 4, 24, 4096, 2048, A100, 1e-5),
    _case(4, 1, 8, 0, 2, 3, 24, 4096, 2048, A100, 1e-5),
)
_PLAN, _MODEL, _CLUSTER = SHOWN[1].args

step_seconds = Exercise(
    "step_seconds",
    reference=plan.step_seconds,
    points=6,
    examples=SHOWN,
    draw=_draw,
    refusals=(
        refuse("the plan needs other than the cluster's GPUs", _PLAN, _MODEL, replace(_CLUSTER, gpus=64)),
        refuse("replicas, micro-batch and accumulation do not make up the batch", _PLAN, replace(_MODEL, batch=50),
               _CLUSTER),
        refuse("the stages do not divide the layers", _PLAN, replace(_MODEL, layers=25), _CLUSTER),
    ),
    mistakes=MISTAKES,
)  # fmt: skip
