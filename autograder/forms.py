"""The form of an answer, and the form that is asked for, in words."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np


def expected_form(reference: Any) -> str:
    """The form that is asked for, in words."""
    if isinstance(reference, bool | np.bool_):
        return "True or False"
    if isinstance(reference, Real):
        return "a number"
    if isinstance(reference, str):
        return "a text"
    if isinstance(reference, np.ndarray):
        return "a numpy array" if reference.ndim else "a number"
    if isinstance(reference, set | frozenset):
        return "a set"
    return "a dict" if isinstance(reference, dict) else "a list or tuple"


def form_of(answer: Any) -> str:
    """The form of what came back, in words."""
    if isinstance(answer, bool):
        return "True or False"
    if isinstance(answer, Real):
        return "a number"
    if isinstance(answer, np.ndarray):
        return f"an array of shape {answer.shape}"
    return {str: "a text", list: "a list", set: "a set", dict: "a dict", type(None): "None"}.get(
        type(answer), "an object"
    )
