"""Refusals that all reference functions share: each raises ValueError with a sentence naming the argument."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np


def whole(name: str, value: Any, least: int = 1) -> int:
    """`value` as an int of at least `least`; 2.0 counts as whole, True does not."""
    if type(value) is int and value >= least:  # nearly always, and thousands of times in a search
        return value
    number = value.item() if isinstance(value, np.ndarray | np.generic) and np.ndim(value) == 0 else value
    is_number = isinstance(number, Real) and not isinstance(number, bool)
    if not is_number or not math.isfinite(number) or number != int(number) or number < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, not {value!r}")
    return int(number)


def finite(name: str, value: Any) -> float:
    """`value` as a finite float."""
    if type(value) is float and math.isfinite(value):  # the same
        return value
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        raise ValueError(f"{name} must be a finite number, not {value!r}")
    return float(value)


def positive(name: str, value: Any) -> float:
    """`value` as a finite float above 0."""
    if finite(name, value) <= 0:
        raise ValueError(f"{name} must be a finite number above 0, not {value!r}")
    return float(value)


def not_negative(name: str, value: Any) -> float:
    """`value` as a finite float of at least 0."""
    if finite(name, value) < 0:
        raise ValueError(f"{name} must be a finite number of at least 0, not {value!r}")
    return float(value)


def finite_array(name: str, value: Any) -> np.ndarray:
    """`value` as a float64 array without NaN or infinity; a copy is made only where numpy needs one."""
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be an array of numbers with equal rows") from None
    if array.size == 0:
        raise ValueError(f"{name} must not be empty; its shape is {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} holds an entry that is not a finite number")
    return array


def same_length(name: str, these: Sequence, other_name: str, those: Sequence) -> None:
    """Two lists that belong together, and are not empty."""
    if len(these) != len(those) or len(these) == 0:
        raise ValueError(f"{name} and {other_name} must be equally long and not empty: {len(these)} and {len(those)}")
