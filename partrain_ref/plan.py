"""Part 8: put it together. Which plans fit a cluster, how long an update takes under them, and which one is quickest.

The model is a simple one, with everything recomputed in the backward pass and nothing overlapped; the notebook spells
it out. Tensor-parallel traffic runs inside a node, all other traffic between nodes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache

from partrain_ref import _need, checkpoint, clock, memory, pipeline
from partrain_ref._planning import Cluster, Gpu, Model, Plan

__all__ = [
    "REASONS",
    "Cluster",
    "Gpu",
    "Model",
    "Plan",
    "bytes_per_gpu",
    "fits",
    "plan_run",
    "plans",
    "replicas",
    "run_days",
    "step_seconds",
]

REASONS = ("divisible", "node", "micro-batches", "memory")  # in the order in which they are checked
FITS = "fits"
FLOPS = 8  # a parameter and token: forward 2, backward 4, forward again 2
BYTES = 2  # a bf16 number
ALLREDUCES = 6  # a layer and micro-batch: two in each of forward, backward, forward again


def replicas(gpus: int, tensor_parallel: int, pipeline_parallel: int) -> int:
    """Copies of the model: GPUs over the GPUs of one copy. Raises ValueError for a bad count, or what does not divide.

    Source: Megatron-LM, arXiv 2104.04473, section 3.1: p · t · d = n.
    """
    gpus, t = _need.whole("gpus", gpus), _need.whole("tensor_parallel", tensor_parallel)
    p = _need.whole("pipeline_parallel", pipeline_parallel)
    if gpus % (t * p):
        raise ValueError(f"gpus = {gpus} is not a multiple of tensor_parallel · pipeline_parallel = {t} · {p}")
    return gpus // (t * p)


def bytes_per_gpu(plan: Plan, model: Model) -> float:
    """Bytes on a GPU of the first stage: its share of the model state, and the inputs of its layers, under 1F1B.

    With everything recomputed only those inputs are kept, for as many micro-batches as there are stages. The layer at
    work, logits and buffers are left out. Raises ValueError where heads or layers do not divide.
    """
    t, p = plan.tensor_parallel, plan.pipeline_parallel
    if model.layers % p:
        raise ValueError(f"pipeline_parallel = {p} does not divide layers = {model.layers}")
    state = memory.zero_bytes_per_device(model.params / (t * p), plan.data_parallel, plan.stage)
    kept = memory.activation_bytes(
        model.seq, plan.micro_batch, model.hidden, model.heads, model.layers // p, t, recompute="full"
    )
    return state + p * kept


def fits(plan: Plan, model: Model, gpu: Gpu, gpus_per_node: int) -> tuple[bool, str]:
    """(True, "fits"), or False and the first of REASONS that speaks against the plan.

    divisible: tensor_parallel divides the heads, pipeline_parallel the layers, and data_parallel · micro_batch ·
    accumulation is the batch. node: tensor_parallel divides gpus_per_node. micro-batches: accumulation is at least
    pipeline_parallel. memory: `bytes_per_gpu` is at most gpu.memory_bytes. Raises ValueError for a bad gpus_per_node.
    """
    gpus_per_node = _need.whole("gpus_per_node", gpus_per_node)
    uneven = model.heads % plan.tensor_parallel or model.layers % plan.pipeline_parallel
    if uneven or plan.data_parallel * plan.micro_batch * plan.accumulation != model.batch:
        return False, "divisible"
    if gpus_per_node % plan.tensor_parallel:
        return False, "node"
    if plan.accumulation < plan.pipeline_parallel:
        return False, "micro-batches"
    if bytes_per_gpu(plan, model) > gpu.memory_bytes:
        return False, "memory"
    return True, FITS


def step_seconds(plan: Plan, model: Model, cluster: Cluster) -> float:
    """Seconds of one update: (accumulation + stages − 1) times one micro-batch on one stage, then the gradients.

    One micro-batch: 8 FLOPs a parameter and token at peak · efficiency, six all-reduces a layer inside the node, and
    one message forward and one back between stages. Gradients, in passes of half a ring all-reduce: two in stages 0
    and 1, accumulation + 1 in stage 2, 3 · accumulation in stage 3. Raises ValueError for a plan that does not use
    exactly the cluster's GPUs and the model's batch, or does not divide the layers.
    """
    t, p, d = plan.tensor_parallel, plan.pipeline_parallel, plan.data_parallel
    if t * p * d != cluster.gpus:
        raise ValueError(f"plan needs {t} · {p} · {d} GPUs, and cluster.gpus is {cluster.gpus}")
    if d * plan.micro_batch * plan.accumulation != model.batch or model.layers % p:
        raise ValueError(f"plan does not divide model.batch = {model.batch} and model.layers = {model.layers}")
    between = cluster.bandwidth_between, cluster.latency
    share = model.params / (t * p)
    message = BYTES * plan.micro_batch * model.seq * model.hidden
    rate = cluster.gpu.peak_flops * cluster.gpu.efficiency
    computing = FLOPS * share * plan.micro_batch * model.seq / rate
    tensor = clock.allreduce_seconds(message, t, cluster.bandwidth_inside, cluster.latency)
    handing_on = 2 * (cluster.latency + message / cluster.bandwidth_between) if p > 1 else 0.0
    one = computing + ALLREDUCES * (model.layers // p) * tensor + handing_on
    busy = plan.accumulation * one
    passes = (2, 2, plan.accumulation + 1, 3 * plan.accumulation)[plan.stage]
    gradients = passes / 2 * clock.allreduce_seconds(BYTES * share, d, *between)
    return busy / (1 - pipeline.pipeline_bubble(p, plan.accumulation)) + gradients


def run_days(plan: Plan, model: Model, cluster: Cluster) -> float:
    """Days of the whole run: its updates, and on top the waste of checkpoints and failures (first order)."""
    updates = clock.optimizer_steps(model.tokens, model.batch * model.seq)
    mean = checkpoint.mtbf(cluster.device_mtbf, cluster.gpus)
    waste = checkpoint.wasted_fraction(plan.checkpoint_seconds, cluster.save_seconds, mean, cluster.restart_seconds)
    return updates * step_seconds(plan, model, cluster) / clock.SECONDS_PER_DAY * (1 + waste)


def plans(model: Model, cluster: Cluster) -> Iterator[Plan]:
    """Every plan that divides and uses all GPUs, with the best checkpoint interval; it may not fit otherwise."""
    mean = checkpoint.mtbf(cluster.device_mtbf, cluster.gpus)
    interval = checkpoint.best_interval(cluster.save_seconds, mean)
    for t in _divisors(math.gcd(cluster.gpus, model.heads)):
        for p in _divisors(math.gcd(cluster.gpus // t, model.layers)):
            d = cluster.gpus // (t * p)
            for b in _divisors(model.batch // d if model.batch % d == 0 else 0):
                for stage in range(4):
                    yield Plan(t, p, d, stage, b, model.batch // (d * b), interval)


@lru_cache(maxsize=512)
def plan_run(model: Model, cluster: Cluster) -> Plan:
    """The plan that fits, uses all GPUs and takes the fewest days. Raises ValueError where none fits."""
    found = [plan for plan in plans(model, cluster) if fits(plan, model, cluster.gpu, cluster.gpus_per_node)[0]]
    if not found:
        raise ValueError(f"no plan of cluster.gpus = {cluster.gpus} fits a model of {model.params:.4g} parameters")
    return min(found, key=lambda plan: run_days(plan, model, cluster))


@lru_cache(maxsize=4096)
def _divisors(number: int) -> tuple[int, ...]:
    return tuple(n for n in range(1, number + 1) if number % n == 0)
