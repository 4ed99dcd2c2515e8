"""What is planned with: a plan, a model, a GPU, a cluster. Each refuses bad numbers when it is made.

Field by field equal to the student kit's classes of the same names; a test holds them so.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from partrain_ref import _need


class _Record:
    """Shows its fields as somebody would type them: memory_bytes=72e9 instead of 72000000000.0."""

    def __repr__(self) -> str:
        listed = (f"{field.name}={_typed(getattr(self, field.name))}" for field in fields(self))
        return f"{type(self).__name__}({', '.join(listed)})"


def _typed(value: object) -> str:
    if isinstance(value, float):
        value = int(value) if float(value).is_integer() else float(value)
    power = next((power for power in (12, 9, 6) if isinstance(value, int) and 10**power <= abs(value) < 10**15), 0)
    text = f"{value / 10**power:g}e{power}" if power else ""
    if text and float(text) == value:
        return text
    return repr(value)


@dataclass(frozen=True, repr=False)
class Plan(_Record):
    """How a run is laid out: degrees of parallelism, sharding stage, sequences, micro-batches, checkpoint interval."""

    tensor_parallel: int
    pipeline_parallel: int
    data_parallel: int
    stage: int
    micro_batch: int
    accumulation: int
    checkpoint_seconds: float

    def __post_init__(self):
        for name in ("tensor_parallel", "pipeline_parallel", "data_parallel", "micro_batch", "accumulation"):
            _need.whole(name, getattr(self, name))
        if _need.whole("stage", self.stage, least=0) > 3:
            raise ValueError(f"stage must be 0, 1, 2 or 3, not {self.stage!r}")
        _need.positive("checkpoint_seconds", self.checkpoint_seconds)


@dataclass(frozen=True, repr=False)
class Model(_Record):
    """A transformer, the tokens it is trained on, and the sequences of an update (`batch`)."""

    params: float
    layers: int
    hidden: int
    heads: int
    seq: int
    vocabulary: int
    tokens: float
    batch: int

    def __post_init__(self):
        for name in ("layers", "hidden", "heads", "seq", "vocabulary", "batch"):
            _need.whole(name, getattr(self, name))
        _need.positive("params", self.params)
        _need.positive("tokens", self.tokens)


@dataclass(frozen=True, repr=False)
class Gpu(_Record):
    """One GPU: the bytes a run may use, the peak in FLOP/s, and the share of it that its matrices reach."""

    memory_bytes: float
    peak_flops: float
    efficiency: float

    def __post_init__(self):
        for name in ("memory_bytes", "peak_flops", "efficiency"):
            _need.positive(name, getattr(self, name))
        if self.efficiency > 1:
            raise ValueError(f"efficiency must be a share of at most 1, not {self.efficiency!r}")


@dataclass(frozen=True, repr=False)
class Cluster(_Record):
    """GPUs in nodes. Bandwidths are bytes a second that a GPU sends; latency, mtbf, save and restart are seconds."""

    gpus: int
    gpus_per_node: int
    gpu: Gpu
    bandwidth_inside: float
    bandwidth_between: float
    latency: float
    device_mtbf: float
    save_seconds: float
    restart_seconds: float

    def __post_init__(self):
        for name in ("gpus", "gpus_per_node"):
            _need.whole(name, getattr(self, name))
        for name in ("bandwidth_inside", "bandwidth_between", "device_mtbf", "save_seconds"):
            _need.positive(name, getattr(self, name))
        for name in ("latency", "restart_seconds"):
            _need.not_negative(name, getattr(self, name))
