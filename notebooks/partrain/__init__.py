"""The student kit: checks with hints, panels with sliders, and small helpers. It holds no solution."""

from partrain import panels
from partrain.check import check
from partrain.need import need_counts, need_counts_or_zero, need_positive, need_positive_or_zero

__all__ = ["check", "need_counts", "need_counts_or_zero", "need_positive", "need_positive_or_zero", "panels"]
