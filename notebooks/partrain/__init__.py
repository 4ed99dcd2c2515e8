"""The student kit: checks with hints, panels with sliders, and small helpers. It holds no solution."""

from partrain import panels
from partrain.adam_run import AdamRun
from partrain.calm import once_written
from partrain.check import check
from partrain.flops import megatron_flops
from partrain.layers import gelu
from partrain.need import (
    need_counts,
    need_counts_or_zero,
    need_matrices,
    need_order,
    need_positive,
    need_positive_or_zero,
)
from partrain.planning import Cluster, Gpu, Model, Plan

__all__ = [
    "AdamRun",
    "Cluster",
    "Gpu",
    "Model",
    "Plan",
    "check",
    "gelu",
    "megatron_flops",
    "need_counts",
    "need_counts_or_zero",
    "need_matrices",
    "need_order",
    "need_positive",
    "need_positive_or_zero",
    "once_written",
    "panels",
]
