"""Part 3: cut a flat array into shards, put it together again, and an Adam whose moments live in shards."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from partrain_ref import _need

BETA_1, BETA_2, EPS = 0.9, 0.999, 1e-8  # Adam's usual constants, arXiv 1412.6980


def shard(flat: np.ndarray, devices: int) -> list[np.ndarray]:
    """`flat` in `devices` equal pieces of ceil(size/devices) entries, in order; the end is filled with zeros.

    Raises ValueError for a bad count, an array that is empty or not one-dimensional, NaN or infinity.
    """
    flat, devices = _flat("flat", flat), _need.whole("devices", devices)
    size = math.ceil(flat.size / devices)
    return list(np.pad(flat, (0, size * devices - flat.size)).reshape(devices, size))


def unshard(pieces: Sequence[np.ndarray], size: int) -> np.ndarray:
    """The flat array of `size` entries that `shard` cut into `pieces`.

    Raises ValueError for no pieces, unequal or empty pieces, NaN or infinity, and a size above what they hold.
    """
    size = _need.whole("size", size)
    arrays = [_flat(f"pieces[{i}]", piece) for i, piece in enumerate(pieces)]
    if not arrays or len({array.size for array in arrays}) > 1:
        raise ValueError(f"pieces must be equally long and at least one, not {[array.size for array in arrays]}")
    if size > sum(array.size for array in arrays):
        raise ValueError(f"size = {size} is more than the {len(arrays)} pieces of {arrays[0].size} entries hold")
    return np.concatenate(arrays)[:size]


def sharded_adam_step(
    weights: np.ndarray,
    grads: Sequence[np.ndarray],
    moments: Sequence[tuple[np.ndarray, np.ndarray]],
    step: int,
    lr: float,
) -> tuple[np.ndarray, list[tuple[np.ndarray, np.ndarray]]]:
    """One Adam step on the mean of `grads`; device d holds and updates only piece d of both moments.

    weights: (size,); grads: one array (size,) a device; moments: one (m, v) a device, pieces as `shard` makes them;
    step counts from 0. Returns the gathered new weights and the new moments, in the forms they came in.
    Raises ValueError for shapes and numbers of devices that do not go together, NaN or infinity, a step that is not a
    whole number of at least 0, and lr not above 0. Source: Adam, arXiv 1412.6980; ZeRO, arXiv 1910.02054, section 5.1.
    """
    weights = _flat("weights", weights)
    grads = [_flat(f"grads[{d}]", grad) for d, grad in enumerate(grads)]
    moments = [(_flat(f"moments[{d}]", m), _flat(f"moments[{d}]", v)) for d, (m, v) in enumerate(moments)]
    step, lr = _need.whole("step", step, least=0), _need.positive("lr", lr)
    _need.same_length("grads", grads, "moments", moments)
    if any(grad.shape != weights.shape for grad in grads):
        raise ValueError(f"grads must have the shape {weights.shape} of weights, not {[g.shape for g in grads]}")
    pieces = shard(weights, len(grads))
    if any(moment.shape != pieces[0].shape for pair in moments for moment in pair):
        raise ValueError(f"moments must hold pieces of {pieces[0].size} entries, as shard makes them")

    gradient = shard(np.mean(grads, axis=0), len(grads))  # a reduce-scatter: device d gets piece d of the mean
    new_pieces, new_moments = [], []
    for piece, grad, (m, v) in zip(pieces, gradient, moments, strict=True):
        m = BETA_1 * m + (1 - BETA_1) * grad
        v = BETA_2 * v + (1 - BETA_2) * grad**2
        m_hat, v_hat = m / (1 - BETA_1 ** (step + 1)), v / (1 - BETA_2 ** (step + 1))
        new_pieces.append(piece - lr * m_hat / (np.sqrt(v_hat) + EPS))
        new_moments.append((m, v))
    return unshard(new_pieces, weights.size), new_moments  # an all-gather


def _flat(name: str, value: np.ndarray) -> np.ndarray:
    array = _need.finite_array(name, value)
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional; its shape is {array.shape}")
    return array
