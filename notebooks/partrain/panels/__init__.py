"""The panels of the course. Each factory returns a Panel; make it the last line of a cell."""

from partrain.panels.part1 import batch_grid, token_weighting
from partrain.panels.part2 import critical_batch, schedule, small_steps_big_step
from partrain.panels.part3 import activation_bars, memory_bars
from partrain.panels.part4 import checkpoint_interval, resume_curves
from partrain.panels.part6 import head_cuts, matrix_cuts

__all__ = [
    "activation_bars",
    "batch_grid",
    "checkpoint_interval",
    "critical_batch",
    "head_cuts",
    "matrix_cuts",
    "memory_bars",
    "resume_curves",
    "schedule",
    "small_steps_big_step",
    "token_weighting",
]
