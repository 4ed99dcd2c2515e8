"""The panels of the course. Each factory returns a Panel; make it the last line of a cell."""

from partrain.panels.part1 import batch_grid, token_weighting

__all__ = ["batch_grid", "token_weighting"]
