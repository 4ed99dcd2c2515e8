"""Part 6: cut the matrices of a layer over devices, so that one all-reduce a block is enough; count what is sent."""

from __future__ import annotations

import math

import numpy as np

from partrain_ref import _need

ALLREDUCES = 4  # of one layer and micro-batch: attention and MLP, forward and backward


def gelu(x: np.ndarray) -> np.ndarray:
    """The exact GELU, x·Φ(x) with the normal distribution function Φ. Source: arXiv 1606.08415, section 2."""
    x = np.asarray(x, dtype=float)
    flat = [0.5 * value * (1 + math.erf(value / math.sqrt(2))) for value in x.ravel().tolist()]
    return np.array(flat).reshape(x.shape)


def split_columns(W: np.ndarray, devices: int) -> list[np.ndarray]:
    """`devices` equal pieces of neighbouring columns of the matrix W, in order.

    Raises ValueError for a bad count, columns that devices do not divide, what is not a matrix, NaN or infinity.
    """
    return _split("columns", W, devices, axis=1)


def split_rows(W: np.ndarray, devices: int) -> list[np.ndarray]:
    """`devices` equal pieces of neighbouring rows of the matrix W, in order. Raises ValueError as `split_columns`."""
    return _split("rows", W, devices, axis=0)


def mlp_partial(X: np.ndarray, W_up_piece: np.ndarray, W_down_piece: np.ndarray) -> np.ndarray:
    """What one device computes before the all-reduce: its term of the sum gelu(X·W_up)·W_down.

    X: (tokens, hidden); W_up_piece: (hidden, inner/devices); W_down_piece: (inner/devices, hidden). No biases.
    Raises ValueError for shapes that do not go together, what is not a matrix, NaN or infinity.
    Source: Megatron-LM, arXiv 2104.04473, section 2.3.
    """
    X, W_up_piece, W_down_piece = (
        _matrix(name, value) for name, value in {"X": X, "W_up_piece": W_up_piece, "W_down_piece": W_down_piece}.items()
    )
    if X.shape[1] != len(W_up_piece) or W_up_piece.shape[1] != len(W_down_piece):
        shapes = X.shape, W_up_piece.shape, W_down_piece.shape
        raise ValueError(f"X, W_up_piece and W_down_piece do not go together: their shapes are {shapes}")
    return gelu(X @ W_up_piece) @ W_down_piece


def tensor_parallel_mlp(X: np.ndarray, W_up: np.ndarray, W_down: np.ndarray, devices: int) -> np.ndarray:
    """The MLP gelu(X·W_up)·W_down on `devices`: W_up by columns, W_down by rows, one all-reduce.

    X: (tokens, hidden); W_up: (hidden, inner); W_down: (inner, hidden). Raises ValueError as `mlp_partial`, for a bad
    count, and for an inner size that devices do not divide.
    """
    pieces = zip(split_columns(W_up, devices), split_rows(W_down, devices), strict=True)
    return np.sum([mlp_partial(X, up, down) for up, down in pieces], axis=0)


def tensor_parallel_attention(
    X: np.ndarray, Wq: np.ndarray, Wk: np.ndarray, Wv: np.ndarray, Wo: np.ndarray, heads: int, devices: int
) -> np.ndarray:
    """Full attention without mask or bias: Wq, Wk, Wv by columns in whole heads, Wo by rows, one all-reduce.

    X: (tokens, hidden); weights: (hidden, hidden). Head i has the columns i·hidden/heads to (i + 1)·hidden/heads, its
    scores are scaled by 1/√(hidden/heads). Raises ValueError for bad counts, a hidden size that heads do not divide,
    heads that devices do not divide, other shapes, NaN or infinity. Source: Megatron-LM, arXiv 2104.04473, section 2.3.
    """
    heads, devices = _need.whole("heads", heads), _need.whole("devices", devices)
    X = _matrix("X", X)
    hidden = X.shape[1]
    weights = {name: _matrix(name, W) for name, W in {"Wq": Wq, "Wk": Wk, "Wv": Wv, "Wo": Wo}.items()}
    for name, W in weights.items():
        if W.shape != (hidden, hidden):
            raise ValueError(f"{name} must have the shape {(hidden, hidden)}, not {W.shape}")
    if hidden % heads:
        raise ValueError(f"heads = {heads} does not divide the hidden size {hidden}")
    if heads % devices:
        raise ValueError(f"devices = {devices} does not divide heads = {heads}")

    queries, keys, values = (split_columns(weights[name], devices) for name in ("Wq", "Wk", "Wv"))
    partials = []
    for q, k, v, out in zip(queries, keys, values, split_rows(weights["Wo"], devices), strict=True):
        by_head = [split_columns(X @ piece, heads // devices) for piece in (q, k, v)]
        partials.append(np.hstack([_head(*head) for head in zip(*by_head, strict=True)]) @ out)
    return np.sum(partials, axis=0)  # the all-reduce


def tensor_parallel_traffic(batch: int, seq: int, hidden: int, devices: int, bytes_per_element: float) -> float:
    """Bytes that each device sends for one layer and one micro-batch, forward and backward, with ring all-reduces.

    Four all-reduces of batch·seq·hidden elements, each sending 2(t−1)/t times its elements from every device.
    Raises ValueError for counts that are not whole numbers of at least 1, and bytes_per_element not above 0.
    Source: Megatron-LM, arXiv 2104.04473, section 3.2.
    """
    named = {"batch": batch, "seq": seq, "hidden": hidden}
    elements = math.prod(_need.whole(name, value) for name, value in named.items())
    devices = _need.whole("devices", devices)
    per_element = _need.positive("bytes_per_element", bytes_per_element)
    return ALLREDUCES * 2 * (devices - 1) / devices * elements * per_element


def _head(queries: np.ndarray, keys: np.ndarray, values: np.ndarray) -> np.ndarray:
    """One attention head; each argument is (tokens, head size)."""
    scores = queries @ keys.T / math.sqrt(queries.shape[1])
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    return shares / shares.sum(axis=1, keepdims=True) @ values


def _split(what: str, W: np.ndarray, devices: int, axis: int) -> list[np.ndarray]:
    W, devices = _matrix("W", W), _need.whole("devices", devices)
    if W.shape[axis] % devices:
        raise ValueError(f"devices = {devices} does not divide the {W.shape[axis]} {what} of W")
    return np.split(W, devices, axis=axis)


def _matrix(name: str, value: np.ndarray) -> np.ndarray:
    array = _need.finite_array(name, value)
    if array.ndim != 2:
        raise ValueError(f"{name} must be a matrix of two dimensions; its shape is {array.shape}")
    return array
