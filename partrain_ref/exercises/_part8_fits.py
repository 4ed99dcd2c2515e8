"""The exercise `fits`: does a plan fit, and what speaks against it first?

An answer is one of few words, so the calls are built around the mistakes: each memory size lies between what two ways
of counting find, and each bad plan breaks rules that some order or some forgotten rule would say otherwise.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from autograder.exercise import Call, Exercise, Mistake, call, refuse
from partrain_ref import memory, plan
from partrain_ref.plan import FITS, REASONS, Gpu, Model, Plan

ROOMY = 1e15  # bytes: memory is no question
NODE = 8  # GPUs

# ---- wrong twins --------------------------------------------------------------------------------------------------


def _bytes(
    params=lambda one: one.tensor_parallel * one.pipeline_parallel,
    shared_by=lambda one: one.data_parallel,
    stage=lambda one: one.stage,
    flying=lambda one: one.pipeline_parallel,
    split=lambda one: 1,
    keeps=True,
):
    """An estimate of the bytes on a GPU; `params` is what the parameters are divided by, `split` the kept inputs."""

    def estimate(one: Plan, model: Model) -> float:
        state = memory.zero_bytes_per_device(model.params / params(one), shared_by(one), stage(one))
        inputs = 2 * model.seq * one.micro_batch * model.hidden * model.layers / one.pipeline_parallel
        return state + (flying(one) * inputs / split(one) if keeps else 0)

    return estimate


def _nothing_recomputed(one: Plan, model: Model) -> float:
    state = memory.zero_bytes_per_device(
        model.params / (one.tensor_parallel * one.pipeline_parallel), one.data_parallel, one.stage
    )
    t = one.tensor_parallel if model.heads % one.tensor_parallel == 0 else 1
    return state + memory.activation_bytes(
        model.seq, one.micro_batch, model.hidden, model.heads, model.layers, tensor_parallel=t
    )


def _weights_alone(one: Plan, model: Model) -> float:
    return (
        _bytes()(one, model)
        - _bytes(keeps=False)(one, model)
        + 2 * model.params / (one.tensor_parallel * one.pipeline_parallel)
    )


ESTIMATES: dict[str, tuple[Callable, ...]] = {
    "activations_forgotten": (_bytes(keeps=False),),
    "one_micro_batch_kept": (_bytes(flying=lambda one: 1),),
    "all_micro_batches_kept": (_bytes(flying=lambda one: one.accumulation),),
    "inputs_split": (_bytes(split=lambda one: one.tensor_parallel),),
    "nothing_recomputed": (_nothing_recomputed,),
    "model_not_split": (
        _bytes(params=lambda one: 1),
        _bytes(params=lambda one: one.tensor_parallel),
        _bytes(params=lambda one: one.pipeline_parallel),
    ),
    "stage_ignored": (_bytes(stage=lambda one: 0),),
    "sharded_by_all_gpus": (
        _bytes(shared_by=lambda one: one.data_parallel * one.tensor_parallel * one.pipeline_parallel),
    ),
    "weights_alone": (_weights_alone,),
}

RULES = {
    "divisible": lambda one, model, gpu, node: (
        model.heads % one.tensor_parallel != 0
        or model.layers % one.pipeline_parallel != 0
        or one.data_parallel * one.micro_batch * one.accumulation != model.batch
    ),
    "node": lambda one, model, gpu, node: node % one.tensor_parallel != 0,
    "micro-batches": lambda one, model, gpu, node: one.accumulation < one.pipeline_parallel,
    "memory": lambda one, model, gpu, node: _bytes()(one, model) > gpu.memory_bytes,
}


def _twin(reason="", rule=None, order=REASONS, word=FITS):
    """fits with another rule for one reason, in another order, or with another word for a plan that fits."""
    rules = {**RULES, reason: rule}

    def twin(one, model, gpu, gpus_per_node):
        for name in order:
            if rules[name](one, model, gpu, gpus_per_node):
                return False, name
        return True, word

    return twin


def _memory(estimate):
    return _twin("memory", lambda one, model, gpu, node: estimate(one, model) > gpu.memory_bytes)


MEMORY_SENTENCES = {
    "activations_forgotten": "Only the model state was counted there. The kept inputs of the layers need memory too.",
    "one_micro_batch_kept": (
        "The inputs of one micro-batch were counted there. The first stage has started others before the first comes "
        "back, and keeps theirs too."
    ),
    "all_micro_batches_kept": (
        "The inputs of all micro-batches of the update were counted there, as in GPipe. Under 1F1B the first stage has "
        "never more of them in flight than there are stages."
    ),
    "inputs_split": (
        "The inputs of the layers were divided by tensor_parallel there. Each GPU of the group needs them whole: it is "
        "the matrices that are cut."
    ),
    "nothing_recomputed": (
        "That counts all activations of a layer. Here they are recomputed: only the input of each layer is kept."
    ),
    "model_not_split": (
        "The parameters were not divided by both tensor_parallel and pipeline_parallel there. A GPU has a part of each "
        "matrix, and the layers of one stage."
    ),
    "stage_ignored": "The sharding stage makes no difference there. From stage 1 on the replicas share a part.",
    "sharded_by_all_gpus": (
        "The state was sharded over all GPUs there. Only replicas hold the same parameters and can share them; tensor "
        "and pipeline parallel have been divided by already."
    ),
    "weights_alone": "The weights alone were counted for the model. Gradients and optimizer state take more than they.",
}

WRONG_ORDER = (
    "The plan breaks more than one rule, and that is not the first of them. Check in the order divisible, node, "
    "micro-batches, memory, and return at the first that is broken."
)
NO_WORD = 'A plan that fits is answered with True and the word "fits".'


def _uneven(heads=True, layers=True, batch=True):
    return lambda one, model, gpu, node: (
        (heads and model.heads % one.tensor_parallel != 0)
        or (layers and model.layers % one.pipeline_parallel != 0)
        or (batch and one.data_parallel * one.micro_batch * one.accumulation != model.batch)
    )


MISTAKES = (
    Mistake("no_word", _twin(word=""), NO_WORD),
    Mistake("no_word", _twin(word=None), NO_WORD),
    *(
        Mistake(name, _memory(estimate), MEMORY_SENTENCES[name])
        for name, estimates in ESTIMATES.items()
        for estimate in estimates
    ),
    Mistake(
        "heads_unchecked",
        _twin("divisible", _uneven(heads=False)),
        "A plan passed whose tensor_parallel does not divide the heads. A head is computed on one GPU, whole.",
    ),
    Mistake(
        "layers_unchecked",
        _twin("divisible", _uneven(layers=False)),
        "A plan passed whose pipeline_parallel does not divide the layers. Each stage gets as many layers as another.",
    ),
    Mistake(
        "batch_unchecked",
        _twin("divisible", _uneven(batch=False)),
        "A plan passed whose replicas, micro-batch and accumulation do not make up the batch of the model.",
    ),
    Mistake(
        "divisible_unchecked",
        _twin("divisible", lambda *_: False),
        "A plan passed that does not divide heads, layers and batch.",
    ),
    Mistake(
        "group_straddles_nodes",
        _twin("node", lambda one, model, gpu, node: one.tensor_parallel > node),
        "A tensor-parallel group is small enough for a node there, but node after node some groups lie in two of them. "
        "tensor_parallel must divide the GPUs of a node.",
    ),
    Mistake(
        "node_unchecked",
        _twin("node", lambda *_: False),
        "A plan passed whose tensor-parallel group does not lie inside one node.",
    ),
    Mistake(
        "micro_batches_unchecked",
        _twin("micro-batches", lambda *_: False),
        "A plan passed with fewer micro-batches than stages: some stages would wait for most of the time.",
    ),
    Mistake(
        "more_micro_batches_than_stages",
        _twin("micro-batches", lambda one, model, gpu, node: one.accumulation <= one.pipeline_parallel),
        "A plan with as many micro-batches as stages was sent away. At least as many are asked for.",
    ),
    *(
        Mistake(
            "micro_batches_against_replicas",
            _twin("micro-batches", rule),
            "The replicas were compared with something there. It is the micro-batches of one replica that fill stages.",
        )
        for rule in (
            lambda one, model, gpu, node: one.accumulation < one.data_parallel,
            lambda one, model, gpu, node: one.data_parallel < one.pipeline_parallel,
        )
    ),
    *(
        Mistake("wrong_order", _twin(order=order), WRONG_ORDER)
        for order in (
            REASONS[::-1],
            ("memory", "divisible", "node", "micro-batches"),
            ("node", "divisible", "micro-batches", "memory"),
            ("divisible", "micro-batches", "node", "memory"),
            ("divisible", "node", "memory", "micro-batches"),
        )
    ),
)

# ---- calls --------------------------------------------------------------------------------------------------------


def _gpu(memory_bytes: float) -> Gpu:
    return Gpu(float(f"{memory_bytes:.3g}"), 312e12, 0.5)


def _model(heads: int, layers: int, seq: int, batch: int) -> Model:
    hidden = 128 * heads
    return Model(float(12 * layers * hidden**2), layers, hidden, heads, seq, 51_200, 300e9, batch)


def _by_memory(heads: int, layers: int, seq: int, d: int, b: int) -> Iterator[Call]:
    """One plan, on GPUs whose memory lies between what the right count and the twins find."""
    one = Plan(8, 3, d, 1, b, 9, 3600.0)
    model = _model(heads, layers, seq, d * b * 9)
    found = sorted(estimate(one, model) for ways in (*ESTIMATES.values(), (_bytes(),)) for estimate in ways)
    for low, high in itertools.pairwise(found):
        yield call(one, model, _gpu(math.sqrt(low * high)), NODE)


def _by_rules(heads: int, layers: int, seq: int, d: int, b: int) -> Iterator[Call]:
    """Plans that break no rule, one, or several; heads are a multiple of 48, layers of 12, d of none of 5, 16."""

    def one(t=8, p=4, a=12, d=d, layers=layers, heads=heads, batch=0, memory_bytes=ROOMY, stage=0):
        model = _model(heads, layers, seq, batch or d * b * a)
        return call(Plan(t, p, d, stage, b, a, 1800.0), model, _gpu(memory_bytes), NODE)

    yield one(heads=36)  # heads
    yield one(p=5)  # layers, since 12 · j is drawn without the factor 5
    yield one(batch=d * b * 12 + d)  # batch
    yield one(t=6)  # lies in two nodes
    yield one(t=16)  # does not fit into a node
    yield one(a=4, d=2)  # as many micro-batches as stages
    yield one(a=6, d=7)  # fewer micro-batches than replicas
    yield one(a=3, d=2)  # fewer than stages
    yield one(a=3, d=2, memory_bytes=1e6)  # and no memory
    yield one(t=6, a=3)  # in two nodes, and fewer than stages
    yield one(t=5, a=12)  # neither heads nor node
    yield one(t=16, p=5, a=3, d=2, memory_bytes=1e6)  # everything
    yield one(t=1, p=1, a=1, d=1)


def _draw(rng: np.random.Generator) -> Iterator[Call]:
    def some():
        return int(rng.choice([48, 96])), 12 * int(rng.choice([2, 3, 4, 6, 7])), int(rng.choice([1024, 2048, 4096]))

    yield from _by_memory(*some(), d=int(rng.integers(3, 8)), b=int(rng.integers(3, 7)))
    yield from _by_rules(*some(), d=int(rng.choice([3, 6, 7])), b=int(rng.integers(2, 5)))
    for stage in range(4):  # a little more than is needed, and a little less
        heads, layers, seq = some()
        d, b = int(rng.integers(2, 9)), int(rng.integers(1, 5))
        one, model = Plan(4, 2, d, stage, b, 6, 600.0), _model(heads, layers, seq, d * b * 6)
        need = plan.bytes_per_gpu(one, model)
        yield call(one, model, _gpu(need * 1.02), 4)
        yield call(one, model, _gpu(need * 0.98), 4)


_OWN = Plan(8, 4, 32, 1, 1, 56, 3600.0), Model(76.1e9, 60, 10_240, 80, 2048, 51_200, 300e9, 1792)
_NOTEBOOK = [call(replace(_OWN[0], tensor_parallel=t), _OWN[1], _gpu(72e9), NODE) for t in (8, 16, 7)]
SHOWN = (*_NOTEBOOK, *_by_memory(48, 36, 2048, d=5, b=5), *_by_rules(48, 24, 2048, d=3, b=2))
_ONE = SHOWN[0].args

fits = Exercise(
    "fits",
    reference=plan.fits,
    points=4,
    examples=SHOWN,
    draw=_draw,
    refusals=(
        refuse("gpus_per_node is 0", *_ONE[:3], 0),
        refuse("gpus_per_node is 2.5", *_ONE[:3], 2.5),
        refuse("gpus_per_node is True", *_ONE[:3], True),
        refuse("gpus_per_node is NaN", *_ONE[:3], math.nan),
        refuse("gpus_per_node is infinite, and the plan does not divide", replace(_ONE[0], micro_batch=7), *_ONE[1:3],
               math.inf),
    ),
    mistakes=MISTAKES,
)  # fmt: skip
