"""The panels of the course. Each factory returns a Panel; make it the last line of a cell."""

from partrain.panels.part1 import batch_grid, token_weighting
from partrain.panels.part3 import activation_bars, memory_bars

__all__ = ["activation_bars", "batch_grid", "memory_bars", "token_weighting"]
