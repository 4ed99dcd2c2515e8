"""Is an answer right in another form, or off, and in which way? Works on plain data only (see `wire`)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from autograder.forms import expected_form, form_of


@dataclass(frozen=True)
class Off:
    """In which way an answer is off; `sentence` names what came back, never the value that was expected.

    kind: "nothing", "type", "shape", "not finite" or "value", in the order in which a student is told.
    """

    kind: str
    sentence: str = ""


@dataclass(frozen=True)
class NotData:
    """Stands for an object that cannot be turned into plain data; all we know is the name of its type."""

    type_name: str


@dataclass(frozen=True)
class Raised:
    """Stands for the answer of a call that ended in an exception of that name."""

    type_name: str


ORDER = ("nothing", "type", "shape", "not finite", "value")


def difference(answer: Any, reference: Any, tolerance: tuple[float, float], digits: int | None = None) -> Off | None:
    """None where `answer` is as good as `reference`, else the first way in which it is off.

    tolerance: (relative, absolute); for arrays the relative part is of the largest entry of the reference.
    digits: compare a typed number after rounding both to that many decimals.
    Accepted in another form: list for array, 0-d array or float for int, tuple for list, list for set.
    """
    if answer is None:
        return Off("nothing", "it returned nothing (None)")
    if isinstance(answer, NotData):
        return Off("type", f"it returned an object of type {answer.type_name}; {expected_form(reference)} was expected")
    if isinstance(reference, bool | np.bool_):
        return _bool(answer, bool(reference))
    if isinstance(reference, Real):
        return _number(answer, reference, tolerance, digits)
    if isinstance(reference, str):
        return _text(answer, reference)
    if isinstance(reference, np.ndarray):
        return _array(answer, reference, tolerance)
    if isinstance(reference, set | frozenset):
        return _set(answer, set(reference))
    if isinstance(reference, dict):
        return _dict(answer, reference, tolerance)
    return _sequence(answer, list(reference), tolerance)


def same(answer: Any, twin: Any, tolerance: tuple[float, float], digits: int | None = None) -> bool:
    """Whether an answer is what a wrong twin gives; unlike `difference`, NaN is the same as NaN and errors compare."""
    if type(answer) is type(twin) is float and digits is None and math.isfinite(answer) and math.isfinite(twin):
        return math.isclose(answer, twin, rel_tol=tolerance[0], abs_tol=tolerance[1])  # the commonest, made quick
    if isinstance(answer, NotData | Raised) or isinstance(twin, NotData | Raised) or answer is None or twin is None:
        return answer == twin if type(answer) is type(twin) else False
    if isinstance(twin, list | tuple) and isinstance(answer, list | tuple):
        return len(answer) == len(twin) and all(same(a, t, tolerance) for a, t in zip(answer, twin, strict=True))
    if isinstance(twin, np.ndarray | float) and not np.isfinite(twin).all():
        answer = as_array(answer) if isinstance(answer, list) else answer
        if not isinstance(answer, np.ndarray | float) or np.shape(answer) != np.shape(twin):
            return False
        return bool(np.allclose(answer, twin, rtol=tolerance[0], atol=tolerance[1], equal_nan=True))
    return difference(answer, twin, tolerance, digits) is None


def _wrong_type(answer: Any, reference: Any) -> Off:
    return Off("type", f"it returned {form_of(answer)}; {expected_form(reference)} was expected")


def _bool(answer: Any, reference: bool) -> Off | None:
    if isinstance(answer, np.ndarray) and answer.shape == () and answer.dtype.kind == "b":
        answer = bool(answer)
    if not isinstance(answer, bool):
        return _wrong_type(answer, reference)
    return None if answer == reference else Off("value")


def _number(answer: Any, reference: Real, tolerance: tuple[float, float], digits: int | None) -> Off | None:
    if isinstance(answer, np.ndarray) and answer.shape == () and answer.dtype.kind in "iuf":
        answer = answer.item()
    if isinstance(answer, np.ndarray | list):
        shape = answer.shape if isinstance(answer, np.ndarray) else f"({len(answer)},)"
        return Off(
            "shape",
            f"it returned {'an array' if isinstance(answer, np.ndarray) else 'a list'} of shape {shape}; "
            "one single number was expected",
        )
    if isinstance(answer, bool) or not isinstance(answer, Real):
        return _wrong_type(answer, reference)
    if isinstance(answer, float) and not math.isfinite(answer):
        return Off("not finite", f"it returned {answer}, which is not a finite number")
    try:
        return None if _close(answer, reference, tolerance, digits) else Off("value")
    except OverflowError:  # an int beyond the floats
        return Off("value")


def _close(answer: Real, reference: Real, tolerance: tuple[float, float], digits: int | None) -> bool:
    if digits is not None:
        return abs(round(answer, digits) - round(reference, digits)) < 10.0**-digits / 2
    if isinstance(reference, int | np.integer):
        if isinstance(answer, int):
            return answer == int(reference)
        return math.isclose(answer, reference, rel_tol=1e-12, abs_tol=1e-9)
    relative, absolute = tolerance
    return math.isclose(answer, reference, rel_tol=relative, abs_tol=absolute)


def _text(answer: Any, reference: str) -> Off | None:
    if not isinstance(answer, str):
        return _wrong_type(answer, reference)
    return None if answer.strip() == reference else Off("value")


def _array(answer: Any, reference: np.ndarray, tolerance: tuple[float, float]) -> Off | None:
    if isinstance(answer, Real) and not isinstance(answer, bool):
        answer = np.asarray(answer)
    if isinstance(answer, list):
        answer = as_array(answer)
        if answer is None:
            return Off("type", "it returned a list that does not make an array of numbers")
    if not isinstance(answer, np.ndarray) or answer.dtype.kind not in "iufb":
        return _wrong_type(answer, reference)
    if answer.shape != reference.shape:
        return Off("shape", f"it returned shape {answer.shape}; shape {reference.shape} was expected")
    if answer.dtype.kind == "f" and not np.isfinite(answer).all():
        return Off("not finite", "it returned an array in which not every entry is a finite number")
    scale = float(np.abs(reference).max(initial=0.0))
    off = np.abs(answer.astype(float) - reference.astype(float)).max(initial=0.0)
    relative, absolute = tolerance
    return None if off <= absolute + relative * scale else Off("value")


def as_array(rows: list) -> np.ndarray | None:
    """A (nested) list of numbers as an array, or None where it does not make one."""
    try:
        array = np.array(rows)
    except (ValueError, OverflowError):
        return None
    return array if array.dtype.kind in "iuf" else None


def _sequence(answer: Any, reference: list, tolerance: tuple[float, float]) -> Off | None:
    if isinstance(answer, np.ndarray) and answer.ndim:
        answer = list(answer) if answer.ndim > 1 else answer.tolist()
    if not isinstance(answer, list | tuple):
        return _wrong_type(answer, reference)
    if len(answer) != len(reference):
        return Off("shape", f"it returned {len(answer)} items; {len(reference)} were expected")
    return _worst(difference(a, r, tolerance) for a, r in zip(answer, reference, strict=True))


def _set(answer: Any, reference: set) -> Off | None:
    if not isinstance(answer, set | list):
        return _wrong_type(answer, reference)
    try:
        return None if set(answer) == reference else Off("value")
    except TypeError:
        return Off("type", "it returned a list whose items are not names or numbers")


def _dict(answer: Any, reference: dict, tolerance: tuple[float, float]) -> Off | None:
    if not isinstance(answer, dict):
        return _wrong_type(answer, reference)
    if answer.keys() != reference.keys():
        return Off("shape", "it returned a dict with other keys than those asked for")
    return _worst(difference(answer[key], reference[key], tolerance) for key in reference)


def _worst(offs) -> Off | None:
    """The difference a student should hear of first."""
    return min((off for off in offs if off), key=lambda off: ORDER.index(off.kind), default=None)
