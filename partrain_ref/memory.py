"""Part 3: the bytes that training keeps on each GPU, with and without sharding, and what sharding sends.

`shard`, `unshard` and `sharded_adam_step` stand in `_sharding.py` and are imported here: one module to students.
"""

from __future__ import annotations

from partrain_ref import _need
from partrain_ref._sharding import shard, sharded_adam_step, unshard

__all__ = [
    "activation_bytes",
    "largest_model",
    "model_state_bytes",
    "parameter_count",
    "shard",
    "sharded_adam_step",
    "unshard",
    "zero_bytes_per_device",
    "zero_traffic",
]

RECOMPUTE = ("none", "selective", "full")


def model_state_bytes(
    params: float, weight_bytes: float = 2, grad_bytes: float = 2, optimizer_bytes: float = 12
) -> float:
    """Bytes of weights, gradients and optimizer state of `params` parameters, nothing sharded.

    The defaults are 16-bit mixed-precision Adam: 12 = fp32 copy of the weight, first and second moment, 4 bytes each.
    Raises ValueError unless each is a finite number above 0. Source: ZeRO, arXiv 1910.02054, section 3.1.
    """
    return zero_bytes_per_device(params, 1, 0, weight_bytes, grad_bytes, optimizer_bytes)


def zero_bytes_per_device(
    params: float,
    devices: int,
    stage: int,
    weight_bytes: float = 2,
    grad_bytes: float = 2,
    optimizer_bytes: float = 12,
) -> float:
    """Bytes of model state on each of `devices` data-parallel devices.

    Stage 0 shards nothing, 1 the optimizer state, 2 the gradients too, 3 the weights too. Ideal shards, no padding,
    buffers or activations. Raises ValueError for a bad count, another stage, and what is not a finite number above 0.
    Source: ZeRO, arXiv 1910.02054, section 5 and Table 1.
    """
    params, devices = _need.positive("params", params), _need.whole("devices", devices)
    stage = _stage(stage)
    named = {"weight_bytes": weight_bytes, "grad_bytes": grad_bytes, "optimizer_bytes": optimizer_bytes}
    weight, grad, optimizer = (_need.positive(name, value) for name, value in named.items())
    optimizer /= devices if stage >= 1 else 1
    grad /= devices if stage >= 2 else 1
    weight /= devices if stage >= 3 else 1
    return params * (weight + grad + optimizer)


def largest_model(
    gpu_bytes: float,
    devices: int,
    stage: int,
    weight_bytes: float = 2,
    grad_bytes: float = 2,
    optimizer_bytes: float = 12,
) -> float:
    """Parameters whose model state fills `gpu_bytes` on each device; not rounded. Raises as `zero_bytes_per_device`."""
    gpu_bytes = _need.positive("gpu_bytes", gpu_bytes)
    return gpu_bytes / zero_bytes_per_device(1, devices, stage, weight_bytes, grad_bytes, optimizer_bytes)


def zero_traffic(params: float, devices: int, stage: int) -> float:
    """Parameters that each device sends in one step, with ring collectives.

    A reduce-scatter or an all-gather of n numbers sends n(N−1)/N from each of N devices. Stages 0 to 2 need one of
    each, stage 3 gathers the weights twice. Raises ValueError as `zero_bytes_per_device`.
    Source: ZeRO, arXiv 1910.02054, section 7 (which takes (N−1)/N as 1).
    """
    params, devices = _need.positive("params", params), _need.whole("devices", devices)
    passes = 3 if _stage(stage) == 3 else 2
    return passes * params * (devices - 1) / devices


def activation_bytes(
    seq: int,
    batch: int,
    hidden: int,
    heads: int,
    layers: int,
    tensor_parallel: int = 1,
    sequence_parallel: bool = False,
    recompute: str = "none",
) -> float:
    """Bytes of activations that one device keeps for the backward pass of one micro-batch, all layers, no pipeline.

    Transformer layers with 16-bit activations, 1-byte dropout masks, an MLP of width 4·hidden and plain attention.
    Raises ValueError for bad counts, an unknown recompute, heads that tensor_parallel does not divide, and with
    sequence_parallel a seq that it does not divide. Source: Korthikanti et al., arXiv 2205.05198, Table 2.
    """
    named = {"seq": seq, "batch": batch, "hidden": hidden, "heads": heads, "layers": layers}
    seq, batch, hidden, heads, layers = (_need.whole(name, value) for name, value in named.items())
    devices = _need.whole("tensor_parallel", tensor_parallel)
    if recompute not in RECOMPUTE:
        raise ValueError(f"recompute must be one of {', '.join(RECOMPUTE)}, not {recompute!r}")
    if heads % devices:
        raise ValueError(f"tensor_parallel = {devices} does not divide heads = {heads}")
    if sequence_parallel and seq % devices:
        raise ValueError(f"tensor_parallel = {devices} does not divide seq = {seq}, which sequence_parallel needs")
    whole = seq * batch * hidden
    if recompute == "full":
        return 2.0 * whole * layers
    outside, inside = 10 * whole, 24 * whole / devices  # norms, dropouts and block inputs; inside attention and MLP
    scores = 5 * heads * seq**2 * batch / devices if recompute == "none" else 0.0
    return layers * (outside / (devices if sequence_parallel else 1) + inside + scores)


def parameter_count(hidden: int, layers: int, vocabulary: int, positions: int = 0) -> int:
    """Parameters of a GPT-2-like model (MLP of 4·hidden, biases, tied embeddings); `positions` are learned ones."""
    return 12 * layers * hidden**2 + 13 * layers * hidden + 2 * hidden + (vocabulary + positions) * hidden


def _stage(stage: int) -> int:
    if _need.whole("stage", stage, least=0) > 3:
        raise ValueError(f"stage must be 0, 1, 2 or 3, not {stage!r}")
    return int(stage)
