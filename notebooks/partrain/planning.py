"""What Part 8 plans with: a plan, a model, a GPU, a cluster. Each refuses bad numbers when it is made.

They hold numbers and do nothing else. Once made they do not change: `dataclasses.replace(plan, stage=2)` makes another.
"""

from dataclasses import dataclass, fields

from partrain.need import need_counts, need_counts_or_zero, need_positive, need_positive_or_zero
from partrain.typed import typed


class _Record:
    """Shows its fields as somebody would type them: memory_bytes=72e9 instead of 72000000000.0."""

    def __repr__(self):
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        whole = {name: int(value) for name, value in values.items() if isinstance(value, float) and value % 1 == 0}
        listed = (f"{name}={typed(value)}" for name, value in (values | whole).items())
        return f"{type(self).__name__}({', '.join(listed)})"


@dataclass(frozen=True, repr=False)
class Plan(_Record):
    """How a run is laid out."""

    tensor_parallel: int  # GPUs that share each matrix
    pipeline_parallel: int  # stages
    data_parallel: int  # copies of the model (replicas)
    stage: int  # of sharding, 0 to 3
    micro_batch: int  # sequences of one micro-batch, on one replica
    accumulation: int  # micro-batches of one update, on one replica
    checkpoint_seconds: float  # seconds of computing between two saves

    def __post_init__(self):
        need_counts(tensor_parallel=self.tensor_parallel, pipeline_parallel=self.pipeline_parallel)
        need_counts(data_parallel=self.data_parallel, micro_batch=self.micro_batch, accumulation=self.accumulation)
        need_counts_or_zero(stage=self.stage)
        if self.stage > 3:
            raise ValueError(f"stage must be 0, 1, 2 or 3, not {self.stage!r}")
        need_positive(checkpoint_seconds=self.checkpoint_seconds)


@dataclass(frozen=True, repr=False)
class Model(_Record):
    """A transformer and its training."""

    params: float  # parameters
    layers: int  # transformer layers
    hidden: int  # hidden size
    heads: int  # attention heads
    seq: int  # tokens of a sequence
    vocabulary: int  # different tokens
    tokens: float  # tokens of the whole run
    batch: int  # sequences of an update, all replicas together

    def __post_init__(self):
        need_counts(layers=self.layers, hidden=self.hidden, heads=self.heads, seq=self.seq)
        need_counts(vocabulary=self.vocabulary, batch=self.batch)
        need_positive(params=self.params, tokens=self.tokens)


@dataclass(frozen=True, repr=False)
class Gpu(_Record):
    """One GPU."""

    memory_bytes: float  # bytes that a run may use
    peak_flops: float  # FLOP/s by the data sheet, dense
    efficiency: float  # share of the peak that its matrices reach

    def __post_init__(self):
        need_positive(memory_bytes=self.memory_bytes, peak_flops=self.peak_flops, efficiency=self.efficiency)
        if self.efficiency > 1:
            raise ValueError(f"efficiency must be a share of at most 1, not {self.efficiency!r}")


@dataclass(frozen=True, repr=False)
class Cluster(_Record):
    """GPUs in nodes, their network, and how often they fail."""

    gpus: int  # in the whole cluster
    gpus_per_node: int  # GPUs that share a fast network
    gpu: Gpu  # each of them
    bandwidth_inside: float  # bytes a second that a GPU sends inside its node
    bandwidth_between: float  # bytes a second that a GPU sends to other nodes
    latency: float  # seconds that each step of a ring, or message, takes on top
    device_mtbf: float  # seconds between failures of one GPU, on average
    save_seconds: float  # seconds that one checkpoint takes
    restart_seconds: float  # seconds from a failure until the run goes on

    def __post_init__(self):
        need_counts(gpus=self.gpus, gpus_per_node=self.gpus_per_node)
        need_positive(bandwidth_inside=self.bandwidth_inside, bandwidth_between=self.bandwidth_between)
        need_positive(device_mtbf=self.device_mtbf, save_seconds=self.save_seconds)
        need_positive_or_zero(latency=self.latency, restart_seconds=self.restart_seconds)
