"""Part 1: split the batch over devices, average the gradients, and let every token weigh the same."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from partrain_ref import _need


def global_tokens(per_device_batch: int, seq: int, accum: int, devices: int) -> int:
    """Token positions per optimizer update, across all devices.

    per_device_batch: sequences a device takes in one micro-batch; seq: tokens a sequence; accum: micro-batches a device
    adds up before one update; devices: data-parallel replicas. Padding is not subtracted.
    Raises ValueError unless each is a whole number of at least 1. Source: Megatron-LM, arXiv 2104.04473, section 3.1.
    """
    named = {"per_device_batch": per_device_batch, "seq": seq, "accum": accum, "devices": devices}
    product = 1
    for name, value in named.items():
        product *= _need.whole(name, value)
    return product


def allreduce_mean(grads: Sequence[np.ndarray]) -> np.ndarray:
    """Elementwise mean of `grads`, one array of equal shape a device: what every device holds after the all-reduce.

    Raises ValueError for an empty list, unequal shapes, NaN or infinity. The inputs are not changed.
    """
    arrays = [_need.finite_array(f"grads[{i}]", grad) for i, grad in enumerate(grads)]
    if not arrays:
        raise ValueError("grads must hold one array a device; it is empty")
    if len({array.shape for array in arrays}) > 1:
        raise ValueError(f"grads must have equal shapes, not {[array.shape for array in arrays]}")
    return np.mean(arrays, axis=0)


def data_parallel_grad(w: np.ndarray, X: np.ndarray, y: np.ndarray, devices: int) -> np.ndarray:
    """Gradient (2/n) Xᵀ(Xw − y) of the mean squared error, from `devices` equal slices of the n rows, then averaged.

    w: (features,); X: (rows, features); y: (rows,). Device r takes rows r·n/devices to (r+1)·n/devices.
    Raises ValueError for a bad count, empty or unequal shapes, NaN or infinity, and rows that devices do not divide.
    """
    devices = _need.whole("devices", devices)
    w, X, y = _need.finite_array("w", w), _need.finite_array("X", X), _need.finite_array("y", y)
    if X.ndim != 2 or w.shape != X.shape[1:] or y.shape != X.shape[:1]:
        raise ValueError(f"X of shape {X.shape} does not go with w of shape {w.shape} and y of shape {y.shape}")
    if len(X) % devices:
        raise ValueError(f"devices = {devices} does not divide the {len(X)} rows")
    slices = zip(np.split(X, devices), np.split(y, devices), strict=True)
    return allreduce_mean([2 / len(rows) * rows.T @ (rows @ w - targets) for rows, targets in slices])


def per_token_loss(mean_losses: Sequence[float], token_counts: Sequence[int]) -> float:
    """The loss in which every token weighs the same, from the mean loss of each micro-batch and its token count.

    The mean that belongs to a count of 0 is ignored, even a NaN. Raises ValueError for empty or unequal lists, counts
    that are not whole or are negative, counts that are all 0, and losses that are not finite.
    """
    mean_losses, token_counts = list(mean_losses), list(token_counts)
    _need.same_length("mean_losses", mean_losses, "token_counts", token_counts)
    counts = [_need.whole(f"token_counts[{i}]", count, least=0) for i, count in enumerate(token_counts)]
    if not sum(counts):
        raise ValueError("token_counts must not all be 0")
    pairs = enumerate(zip(mean_losses, counts, strict=True))
    return sum(_need.finite(f"mean_losses[{i}]", mean) * n for i, (mean, n) in pairs if n) / sum(counts)


def token_weighted_grad(grad_means: Sequence[Sequence], token_counts: Sequence[Sequence[int]]) -> np.ndarray:
    """The gradient of the whole batch, every token weighing the same.

    grad_means[device][micro_batch] is the mean gradient over token_counts[device][micro_batch] tokens; devices may hold
    different numbers of micro-batches. A mean with a count of 0 is ignored. Raises ValueError as `per_token_loss` does,
    and for unequal gradient shapes.
    """
    grad_means, token_counts = [list(row) for row in grad_means], [list(row) for row in token_counts]
    _need.same_length("grad_means", grad_means, "token_counts", token_counts)
    for d, (grads, counts) in enumerate(zip(grad_means, token_counts, strict=True)):
        _need.same_length(f"grad_means[{d}]", grads, f"token_counts[{d}]", counts)
    grads = [np.asarray(grad, dtype=float) for row in grad_means for grad in row]
    counts = [_need.whole("token_counts", count, least=0) for row in token_counts for count in row]
    if len({grad.shape for grad in grads}) > 1 or not grads[0].size:
        raise ValueError(f"grad_means must have equal shapes that are not empty, not {[g.shape for g in grads]}")
    if not sum(counts):
        raise ValueError("token_counts must not all be 0")
    kept = [n * _need.finite_array("grad_means", grad) for grad, n in zip(grads, counts, strict=True) if n]
    return np.sum(kept, axis=0) / sum(counts)
