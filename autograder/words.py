"""Calls and values as a student would write them."""

from __future__ import annotations

import builtins
from dataclasses import is_dataclass
from typing import Any

import numpy as np

from autograder.compare import NotData, Raised
from autograder.exercise import Call

LIBRARY_ERRORS = {"LinAlgError", "AxisError", "_ArrayMemoryError", "UFuncTypeError", "InvalidOperation"}
TIME_LIMIT = "TimeLimit"  # what the student kit's recorder raises in a call that takes too long
LIMITS = (  # exception, what its text holds, what a student is told
    (TIME_LIMIT, "", "did not come to an end in time. Does its loop end for this input?"),
    ("MemoryError", "", "needs more memory than a hand-in may use."),
    ("OSError", "File too large", "writes a larger file than a hand-in may write."),
    ("OSError", "No space left", "writes more to the disk than a hand-in may write."),
    ("BlockingIOError", "temporarily unavailable", "starts more processes than a hand-in may start."),
    ("RuntimeError", "can't start new thread", "starts more threads than a hand-in may start."),
)
MOST = 120
MOST_OF_A_CALL = 400  # shared out among its arguments
MOST_OF_A_RECORD = 400  # only our own calls hold records


def call_words(name: str, one: Call) -> str:
    """`name(2.0, [100, 300], accum=8)`, shortened where it is long."""
    most = min(MOST, MOST_OF_A_CALL // max(1, len(one.args) + len(one.kwargs)))
    listed = [value_words(value, most) for value in one.args]
    listed += [f"{key}={value_words(value, most)}" for key, value in one.kwargs.items()]
    return f"{name}({', '.join(listed)})"


def limit_words(raised: str, text: str) -> str:
    """What to say where an exception shows that a limit of the grader's kernel was met; "" for any other."""
    return next((said for name, part, said in LIMITS if raised == name and part in text), "")


def value_words(value: Any, most: int = MOST) -> str:
    """A value without numpy's own wrapping, at most `most` characters, a record's at most 400."""
    if isinstance(value, NotData | Raised):
        return f"an object of type {value.type_name}"
    text = " ".join(repr(_plain(value)).split())
    most = MOST_OF_A_RECORD if is_dataclass(value) else most
    return text if len(text) <= most else text[: most - 1] + "…"


def known_error(name: str) -> str:
    """The name of an error where Python or numpy made it; a class of the student's own could be called anything."""
    known = isinstance(getattr(builtins, name, None), type) or name in LIBRARY_ERRORS
    return name if known else "an error of its own kind"


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return _Typed(value) if isinstance(value, float) else value


class _Typed(float):
    """A float that shows 72000000000.0 as 72e9, as somebody would type it; others as Python does."""

    def __repr__(self) -> str:
        power = next((power for power in (12, 9, 6) if 10**power <= abs(self) < 1e15), 0)
        text = f"{self / 10**power:g}e{power}"
        return text if power and float(text) == self else super().__repr__()
