"""The panels of the course. Each factory returns a Panel; make it the last line of a cell."""

from partrain.panels.part1 import batch_grid, token_weighting
from partrain.panels.part2 import critical_batch, schedule, small_steps_big_step
from partrain.panels.part3 import activation_bars, memory_bars
from partrain.panels.part4 import checkpoint_interval, resume_curves
from partrain.panels.part5 import pipeline_timeline
from partrain.panels.part6 import head_cuts, matrix_cuts
from partrain.panels.part7 import compute_budget, ring_steps, scaling_curve
from partrain.panels.part8 import planner

__all__ = [
    "activation_bars",
    "batch_grid",
    "checkpoint_interval",
    "compute_budget",
    "critical_batch",
    "head_cuts",
    "matrix_cuts",
    "memory_bars",
    "pipeline_timeline",
    "planner",
    "resume_curves",
    "ring_steps",
    "scaling_curve",
    "schedule",
    "small_steps_big_step",
    "token_weighting",
]
