"""Where student code runs. `open_box` is the one door: the rest of the package knows nothing of kernels."""

from autograder.sandbox.box import Box, BoxError, Limits, Ran
from autograder.sandbox.pool import POOL, open_box

__all__ = ["POOL", "Box", "BoxError", "Limits", "Ran", "open_box"]
