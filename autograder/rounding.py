"""A right answer that was rounded on its way."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np


def rounded(answer: Any, reference: Any) -> bool:
    """Whether a number or an array is the reference, rounded to some decimals or cut to whole numbers."""
    if not isinstance(reference, float | np.ndarray) or not isinstance(answer, Real | np.ndarray):
        return False
    right = np.asarray(reference, dtype=float)
    shorter = (np.trunc(right), *(np.round(right, digits) for digits in range(9)))
    return any(np.allclose(answer, short, rtol=1e-14, atol=0) for short in shorter)
