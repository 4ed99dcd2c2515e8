"""Part 7: the wall clock. Speed-up with communication, the ring all-reduce, compute budgets and what they omit.

`inconsistent_cell` stands in `_run_table.py` and is imported here: one module to students.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from partrain_ref import _need
from partrain_ref._run_table import inconsistent_cell

__all__ = [
    "allreduce_seconds",
    "inconsistent_cell",
    "megatron_flops",
    "optimizer_steps",
    "ring_allreduce",
    "speedup",
    "train_flops",
    "training_days",
    "utilisation",
]

SECONDS_PER_DAY = 86_400
FORWARD_AND_BACKWARD = 6  # FLOPs a parameter and token: 2 forward, 4 backward
RECOMPUTED = 2  # one more forward, where activations are recomputed


def speedup(t_single: float, t_compute: float, t_comm: float) -> float:
    """t_single / (t_compute + t_comm): how many times faster than one device, communication not hidden; all in seconds.

    Raises ValueError for times that are not finite numbers above 0; t_comm may be 0.
    """
    single, compute = _need.positive("t_single", t_single), _need.positive("t_compute", t_compute)
    return single / (compute + _need.not_negative("t_comm", t_comm))


def ring_allreduce(arrays: Sequence[np.ndarray]) -> tuple[list[np.ndarray], list[int]]:
    """(the sum as each device holds it, bytes each device sent): a ring all-reduce of one 1-D float64 array a device.

    Each device cuts its array into as many chunks as there are devices; a chunk may be empty. n - 1 steps of
    reduce-scatter and n - 1 of all-gather; in each, device d sends one chunk to device d + 1. Inputs are not changed.
    Raises ValueError for an empty list, arrays that are empty, unequal, not 1-D or not finite.
    Source of the bytes: NVIDIA nccl-tests, PERFORMANCE: 2(n - 1)/n of the array from each device.
    """
    arrays = [_need.finite_array(f"arrays[{d}]", array) for d, array in enumerate(arrays)]
    if not arrays or len({array.shape for array in arrays}) > 1 or arrays[0].ndim != 1:
        raise ValueError(f"arrays must be 1-D and of one shape, one a device, not {[a.shape for a in arrays]}")
    n = len(arrays)
    held = [[chunk.copy() for chunk in np.array_split(array, n)] for array in arrays]
    sent = [0] * n
    for step in range(2 * (n - 1)):
        on_the_wire = [(d, (d - step) % n) for d in range(n)]  # after n - 1 steps d's chunk d + 1 is complete
        moving = [held[d][c] for d, c in on_the_wire]
        for (d, c), chunk in zip(on_the_wire, moving, strict=True):
            after = (d + 1) % n
            held[after][c] = held[after][c] + chunk if step < n - 1 else chunk.copy()
            sent[d] += chunk.nbytes
    return [np.concatenate(chunks) for chunks in held], sent


def allreduce_seconds(nbytes: float, devices: int, bandwidth: float, latency: float) -> float:
    """Ring all-reduce: 2(n - 1) steps of `latency` seconds, and 2(n - 1)/n of nbytes at `bandwidth` bytes a second.

    Raises ValueError for a bad count of devices, nbytes or bandwidth not above 0, latency below 0, NaN or infinity.
    Source: Thakur, Rabenseifner and Gropp 2005, without the time of the additions.
    """
    steps = 2 * (_need.whole("devices", devices) - 1)
    size, rate = _need.positive("nbytes", nbytes), _need.positive("bandwidth", bandwidth)
    return steps * _need.not_negative("latency", latency) + steps / int(devices) * size / rate


def train_flops(params: float, tokens: float) -> float:
    """6ND: floating-point operations of a training. Raises ValueError for what is not a finite number above 0.

    Source: Kaplan and others, arXiv 2001.08361, section 2.1 (attention over the context left out).
    """
    return FORWARD_AND_BACKWARD * _need.positive("params", params) * _need.positive("tokens", tokens)


def training_days(
    params: float, tokens: float, devices: int, flops_per_device: float, recompute: bool = False
) -> float:
    """Days of 24 hours for 6ND, or 8ND with full recomputation, at `flops_per_device` FLOP/s reached on each device.

    Raises ValueError for a bad count of devices, and for what is not a finite number above 0.
    Source: Megatron-LM, arXiv 2104.04473, equation 4.
    """
    if not isinstance(recompute, bool | np.bool_):
        raise ValueError(f"recompute must be True or False, not {recompute!r}")
    factor = FORWARD_AND_BACKWARD + (RECOMPUTED if recompute else 0)
    flops = factor * _need.positive("params", params) * _need.positive("tokens", tokens)
    rate = _need.whole("devices", devices) * _need.positive("flops_per_device", flops_per_device)
    return flops / rate / SECONDS_PER_DAY


def utilisation(params: float, tokens_per_second: float, devices: int, peak_flops: float) -> float:
    """Model FLOPs utilisation: 6N a token at the run's `tokens_per_second`, as a share of all devices' peak.

    Recomputation does not count. Raises ValueError for a bad count of devices, and for what is not a finite number
    above 0. Source: PaLM, arXiv 2204.02311, section 4.1, without the attention term.
    """
    rate = FORWARD_AND_BACKWARD * _need.positive("params", params)
    rate *= _need.positive("tokens_per_second", tokens_per_second)
    return rate / (_need.whole("devices", devices) * _need.positive("peak_flops", peak_flops))


def optimizer_steps(tokens: float, tokens_per_update: float) -> int:
    """Updates that it takes to see `tokens`, rounded up. Raises ValueError for what is not a finite number above 0."""
    tokens, each = _need.positive("tokens", tokens), _need.positive("tokens_per_update", tokens_per_update)
    return math.ceil(Fraction(tokens) / Fraction(each))


def megatron_flops(batch: int, seq: int, layers: int, hidden: int, vocabulary: int, recompute: bool = True) -> float:
    """FLOPs of one update of a GPT, attention (not causal) and logits included; with full recomputation by default.

    batch: sequences an update. Source: Megatron-LM, arXiv 2104.04473, equation 3; without recomputation Korthikanti and
    others, arXiv 2205.05198, equation 7.
    """
    attention, passes = seq / (6 * hidden), 96 if recompute else 72
    logits = vocabulary / (passes / 6 * layers * hidden)
    return float(passes * batch * seq * layers * hidden**2 * (1 + attention + logits))
