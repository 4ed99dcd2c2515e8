"""The exercise `plan_run`: any plan within 5% of the quickest is right, so mistakes are told by what a plan breaks.

Twins are the best plans under a rule or a cost that somebody forgot; `made` recognises any plan of that kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from functools import lru_cache
from typing import Any

import numpy as np

from autograder.exercise import Call, Exercise, Mistake, call, refuse
from partrain_ref import checkpoint, pipeline, plan
from partrain_ref.plan import Cluster, Gpu, Model, Plan

WITHIN = 1.05  # of the fewest days
TIE = 1 + 1e-9
FIELDS = tuple(Plan.__dataclass_fields__)


def read(answer: Any) -> Plan | None:
    """The plan that an answer describes, or None."""
    if not isinstance(answer, dict) or set(answer) != set(FIELDS):
        return None
    try:
        return Plan(**{name: answer[name] if name == FIELDS[-1] else int(answer[name]) for name in FIELDS})
    except (TypeError, ValueError, OverflowError):
        return None


def reason(one: Plan, model: Model, cluster: Cluster) -> str:
    """The first reason against a plan on this cluster, "gpus" before all others; "" where it fits."""
    if one.tensor_parallel * one.pipeline_parallel * one.data_parallel != cluster.gpus:
        return "gpus"
    good, why = plan.fits(one, model, cluster.gpu, cluster.gpus_per_node)
    return "" if good else why


def accepted(one: Plan | None, model: Model, cluster: Cluster) -> bool:
    """Whether a plan fits and is within 5% of the quickest."""
    if one is None or reason(one, model, cluster):
        return False
    return plan.run_days(one, model, cluster) <= WITHIN * _fewest_days(model, cluster)


@lru_cache(maxsize=512)
def _fewest_days(model: Model, cluster: Cluster) -> float:
    return plan.run_days(plan.plan_run(model, cluster), model, cluster)


# ---- costs that somebody forgot -----------------------------------------------------------------------------------


def without_bubble(one: Plan, model: Model, cluster: Cluster) -> float:
    """The time of an update less the share in which its stages wait."""
    alone = replace(cluster, gpus=one.tensor_parallel * one.pipeline_parallel)
    batch = replace(model, batch=one.micro_batch * one.accumulation)
    drained = plan.step_seconds(replace(one, data_parallel=1), batch, alone)  # until the gradients are sent
    waiting = drained * pipeline.pipeline_bubble(one.pipeline_parallel, one.accumulation)
    return plan.step_seconds(one, model, cluster) - waiting


def without_communication(one: Plan, model: Model, cluster: Cluster) -> float:
    return plan.step_seconds(one, model, replace(cluster, bandwidth_inside=1e30, bandwidth_between=1e30, latency=0.0))


@lru_cache(maxsize=64)
def _looked_at(model: Model, cluster: Cluster) -> tuple[tuple[Plan, str, float], ...]:
    """Every plan that divides, the first reason against it, and its days."""
    return tuple(
        (one, reason(one, model, cluster), plan.run_days(one, model, cluster)) for one in plan.plans(model, cluster)
    )


def _candidates(model: Model, cluster: Cluster) -> list[tuple[Plan, float]]:
    """The plans that fit, with their days."""
    return [(one, days) for one, why, days in _looked_at(model, cluster) if not why]


@lru_cache(maxsize=512)
def _least(cost: Callable, model: Model, cluster: Cluster) -> float:
    return min(cost(one, model, cluster) for one, _ in _candidates(model, cluster))


def _best_for(cost: Callable) -> Callable:
    """Of the plans that are best by this cost, the one that turns out slowest."""

    @lru_cache(maxsize=512)
    def twin(model, cluster):
        least = _least(cost, model, cluster)
        tied = [row for row in _candidates(model, cluster) if cost(row[0], model, cluster) <= least * TIE]
        return max(tied, key=lambda row: row[1])[0]

    return twin


def _best_breaking(why: str) -> Callable:
    """The quickest plan that has this reason against it."""

    @lru_cache(maxsize=512)
    def twin(model, cluster):
        found = [(one, days) for one, reason, days in _looked_at(model, cluster) if reason == why]
        return min(found, key=lambda row: row[1])[0] if found else plan.plan_run(model, cluster)

    return twin


def _changed(**how) -> Callable:
    def twin(model, cluster):
        best = plan.plan_run(model, cluster)
        return replace(best, **{name: change(best, model, cluster) for name, change in how.items()})

    return twin


def _slowest(model, cluster):
    return max(_candidates(model, cluster), key=lambda row: row[1])[0]


# ---- what an answer shows -----------------------------------------------------------------------------------------


def _made(shows: Callable[[Plan, Model, Cluster], bool]) -> Callable:
    """An answer shows a mistake on a call where it is right all the same, or where `shows` says so."""

    def made(one: Call, answer: Any) -> bool:
        found, (model, cluster) = read(answer), one.args
        return found is not None and (accepted(found, model, cluster) or shows(found, model, cluster))

    return made


def _breaks(why: str) -> Callable:
    return _made(lambda one, model, cluster: reason(one, model, cluster) == why)


def _minimal(cost: Callable) -> Callable:
    def shows(one, model, cluster):
        return not reason(one, model, cluster) and cost(one, model, cluster) <= _least(cost, model, cluster) * TIE

    return _made(shows)


def _interval(too: Callable[[float, float], bool]) -> Callable:
    """A plan that would be right with the best interval, and has one that is too long or too short."""

    def shows(one, model, cluster):
        best = plan.plan_run(model, cluster).checkpoint_seconds
        return too(one.checkpoint_seconds, best) and accepted(replace(one, checkpoint_seconds=best), model, cluster)

    return _made(shows)


def _one_gpu_interval(best, model, cluster):
    return checkpoint.best_interval(cluster.save_seconds, cluster.device_mtbf)


MISTAKES = (
    Mistake(
        "no_plan",
        lambda model, cluster: asdict(plan.plan_run(model, cluster)) | {"stage": 4},
        "What came back is no plan. Return one object of the class Plan, with all its fields.",
        made=lambda one, answer: answer is not None and read(answer) is None,
    ),
    Mistake(
        "gpus_left_over",
        _changed(data_parallel=lambda best, *_: 2 * best.data_parallel),
        "The degrees of the plan, multiplied, are not the GPUs of the cluster.",
        made=_breaks("gpus"),
    ),
    Mistake(
        "does_not_divide",
        _changed(accumulation=lambda best, *_: best.accumulation + 1),
        "The plan does not divide: heads by tensor_parallel, layers by pipeline_parallel, and the batch by replicas, "
        "micro-batch and accumulation.",
        made=_breaks("divisible"),
    ),
    Mistake(
        "across_nodes",
        _best_breaking("node"),
        "The tensor-parallel group of the plan does not lie inside one node.",
        made=_breaks("node"),
    ),
    Mistake(
        "too_few_micro_batches",
        _best_breaking("micro-batches"),
        "The plan has fewer micro-batches than stages.",
        made=_breaks("micro-batches"),
    ),
    Mistake(
        "out_of_memory",
        _best_breaking("memory"),
        "The plan needs more memory than a GPU has. Ask fits before you compare times.",
        made=_breaks("memory"),
    ),
    Mistake(
        "saves_too_rarely",
        _changed(checkpoint_seconds=lambda *_: 1e7),
        "The plan is good but for its checkpoints: it saves too rarely, and loses too much work at each failure.",
        made=_interval(lambda seconds, best: seconds > best),
    ),
    Mistake(
        "saves_too_rarely",
        _changed(checkpoint_seconds=_one_gpu_interval),
        "The plan is good but for its checkpoints: it saves too rarely, and loses too much work at each failure.",
        made=_interval(lambda seconds, best: seconds > best),
    ),
    Mistake(
        "saves_too_often",
        _changed(checkpoint_seconds=lambda best, model, cluster: plan.step_seconds(best, model, cluster)),
        "The plan is good but for its checkpoints: it saves too often, and spends too much time on that.",
        made=_interval(lambda seconds, best: seconds < best),
    ),
    Mistake(
        "bubble_forgotten",
        _best_for(without_bubble),
        "The plan is the quickest if stages never wait. With the bubble another one is quicker.",
        made=_minimal(without_bubble),
    ),
    Mistake(
        "communication_forgotten",
        _best_for(without_communication),
        "The plan is the quickest if sending takes no time. With the communication another one is quicker.",
        made=_minimal(without_communication),
    ),
    Mistake(
        "not_the_quickest",
        _slowest,
        "The plan fits, but another one takes over 5% fewer days. Compare the days of all plans that fit.",
        made=_made(lambda one, model, cluster: not reason(one, model, cluster)),
    ),
    Mistake(
        "no_good_plan",
        lambda model, cluster: (_best_breaking("memory") if cluster.gpus == 1024 else _slowest)(model, cluster),
        "Some of the plans that came back break a rule, others fit and are too slow. If plan_run asks fits and "
        "step_seconds, look at those first.",
        made=_made(lambda one, model, cluster: True),
    ),
)

# ---- machines -----------------------------------------------------------------------------------------------------


def _model(layers: int, heads: int, batch: int, tokens: float, seq: int = 2048) -> Model:
    hidden = 128 * heads
    return Model(float(12 * layers * hidden**2), layers, hidden, heads, seq, 51_200, tokens, batch)


def _cluster(gpus: int, memory=72e9, between=25e9, mtbf=2e7, save=120.0, inside=300e9, node=8) -> Cluster:
    return Cluster(gpus, node, Gpu(memory, 312e12, 0.5), inside, between, 5e-6, mtbf, save, 300.0)


def _draw(rng: np.random.Generator) -> Iterator[Call]:
    def some(low, high):
        return float(rng.integers(low, high)) * 1e9

    layers, heads = int(rng.choice([48, 60, 72])), int(rng.choice([64, 80, 96]))
    yield call(
        _model(layers, heads, 128 * int(rng.integers(8, 16)), some(200, 400)), _cluster(1024, between=some(20, 30))
    )
    layers, heads = int(rng.choice([24, 36, 48])), int(rng.choice([48, 64]))
    yield call(
        _model(layers, heads, 64 * int(rng.integers(2, 6)), some(100, 300)),
        _cluster(256, 36e9, some(2, 6), mtbf=float(rng.integers(4, 9)) * 1e6, save=float(rng.integers(60, 200))),
    )
    layers, heads = int(rng.choice([96, 80, 64])), int(rng.choice([96, 128]))
    yield call(
        _model(layers, heads, int(rng.choice([512, 768, 1024])), some(100, 300)),
        _cluster(1024, between=some(40, 60), inside=some(100, 200), node=4),
    )


SHOWN = (
    call(replace(_model(60, 80, 1792, 300e9), params=76.1e9), _cluster(1024, mtbf=1.8e8, save=60.0)),
    call(_model(48, 64, 192, 100e9), _cluster(256, 36e9, 4e9, mtbf=5e6)),
)

_TOO_LARGE = _model(96, 96, 256, 300e9)

plan_run = Exercise(
    "plan_run",
    reference=plan.plan_run,
    points=6,
    examples=SHOWN,
    draw=_draw,
    drive=lambda function, one: _plain(function(*one.args)),
    accepts=lambda one, answer, reference: accepted(read(answer), *one.args),
    refusals=(
        refuse("the model does not fit into so few GPUs", _TOO_LARGE, _cluster(8)),
        refuse("no degree divides a batch of 7", replace(_TOO_LARGE, batch=7), _cluster(1024)),
    ),
    mistakes=MISTAKES,
)  # fmt: skip


def _plain(found: Any) -> Any:
    """A plan as it comes over the wire: a dict of its fields."""
    return asdict(found) if isinstance(found, Plan) else found
