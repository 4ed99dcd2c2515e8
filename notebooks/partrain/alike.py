"""Is an answer right in another form? The student's side of the grader's table; tests hold the two equal."""

import math

import numpy as np

from partrain.plain import pack, unpack


def alike(answer, wanted, tolerance):
    """Whether `answer` is the same plain data as `wanted`; NaN is the same as NaN, so that wrong values compare too."""
    try:
        answer = unpack(pack(answer))
    except ValueError:
        return False
    return _alike(answer, wanted, tolerance)


def off(answer, wanted, tolerance):
    """None where `answer` is right, else one sentence on its form ("" where only the value is off)."""
    packed = pack(answer)
    if packed is None:
        return "It returned nothing (None). Did you print instead of return?"
    try:
        answer = unpack(packed)
    except ValueError:
        return f"It returned an object of type {type(answer).__name__}; {_asked(wanted)} is asked for."
    shape, asked = np.shape(answer) if _is_array(answer) else (), np.shape(wanted) if _is_array(wanted) else ()
    if _is_array(wanted) and isinstance(answer, list):
        try:
            shape = np.shape(answer)
        except ValueError:
            return "It returned a list whose rows are not equally long."
    if _number_like(wanted) and (isinstance(answer, list) or shape):
        return "One single number is asked for."
    if _form(answer) != _form(wanted) and not _stands_for(answer, wanted):
        return f"It returned {_form(answer)}; {_asked(wanted)} is asked for."
    if _is_array(wanted) and shape != asked:
        return f"Its shape is {shape}; shape {asked} is asked for."
    if _has_nonfinite(answer):
        return "Not every number in it is finite."
    return None if _alike(answer, wanted, tolerance) else ""


def rounded(answer, wanted):
    """Whether a number or an array is the one wanted, rounded to some decimals or cut to whole numbers."""
    if not (isinstance(wanted, float) or _is_array(wanted)) or not (_number_like(answer) or _is_array(answer)):
        return False
    right = np.asarray(wanted, dtype=float)
    shorter = (np.trunc(right), *(np.round(right, digits) for digits in range(9)))
    return any(np.allclose(answer, short, rtol=1e-14, atol=0) for short in shorter)


def _alike(answer, wanted, tolerance):
    if _number_like(wanted):
        answer = answer.item() if _is_array(answer) and answer.shape == () else answer
        return _number_like(answer) and _close(answer, wanted, tolerance)
    if _is_array(wanted):
        return _arrays_alike(answer, wanted, tolerance)
    if isinstance(wanted, list):
        if _is_array(answer) and answer.ndim:
            answer = answer.tolist() if answer.ndim == 1 else list(answer)
        same_length = isinstance(answer, list) and len(answer) == len(wanted)
        return same_length and all(_alike(a, w, tolerance) for a, w in zip(answer, wanted))
    if isinstance(wanted, dict):
        same_keys = isinstance(answer, dict) and answer.keys() == wanted.keys()
        return same_keys and all(_alike(answer[key], wanted[key], tolerance) for key in wanted)
    if isinstance(wanted, set) and isinstance(answer, list):
        return all(isinstance(item, (str, int, float)) for item in answer) and set(answer) == wanted
    return type(answer) is type(wanted) and answer == wanted


def _arrays_alike(answer, wanted, tolerance):
    if isinstance(answer, list) or _number_like(answer):
        try:
            answer = np.array(answer)
        except ValueError:
            return False
    if not _is_array(answer) or answer.shape != wanted.shape or answer.dtype.kind not in "biuf":
        return False
    absolute = tolerance[1] + tolerance[0] * float(np.max(np.abs(wanted[np.isfinite(wanted)]), initial=0.0))
    return bool(np.allclose(answer.astype(float), wanted.astype(float), rtol=0, atol=absolute, equal_nan=True))


def _close(answer, wanted, tolerance):
    if not math.isfinite(wanted) or not math.isfinite(answer):
        return answer == wanted or (answer != answer and wanted != wanted)
    if isinstance(wanted, int):
        return answer == wanted or (isinstance(answer, float) and math.isclose(answer, wanted, rel_tol=1e-12))
    return math.isclose(answer, wanted, rel_tol=tolerance[0], abs_tol=tolerance[1])


def _number_like(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_array(value):
    return isinstance(value, np.ndarray)


def _has_nonfinite(value):
    if isinstance(value, (list, set)):
        return any(_has_nonfinite(item) for item in value)
    if isinstance(value, dict):
        return any(_has_nonfinite(item) for item in value.values())
    numeric = _number_like(value) or (_is_array(value) and value.dtype.kind == "f")
    return bool(numeric and not np.isfinite(value).all())


def _stands_for(answer, wanted):
    """Forms that are taken for each other: list and array, list and set, a number and an array without dimensions."""
    pairs = ((list, np.ndarray), (np.ndarray, list), (list, set), (np.ndarray, int), (np.ndarray, float))
    zero_d = _number_like(answer) and _is_array(wanted) and wanted.shape == ()
    return zero_d or any(isinstance(answer, a) and isinstance(wanted, w) for a, w in pairs)


def _asked(wanted):
    return "a list or tuple" if isinstance(wanted, list) else _form(wanted)


def _form(value):
    if isinstance(value, bool):
        return "True or False"
    if _number_like(value):
        return "a number"
    names = {str: "a text", list: "a list", set: "a set", dict: "a dict", np.ndarray: "an array", type(None): "None"}
    return names.get(type(value), "an object")
