"""The bundle: inputs as plain JSON for the kernel, and strict decoding of what a kernel published.

What comes back was made by student code: every size, depth and form is checked, nothing is ever unpickled, and any
surprise is a `WireError`. Forms: JSON numbers, strings, true, false, null and lists stand for themselves; the rest is a
one-key object: {"float": "nan"}, {"set": [...]}, {"dict": [[key, value], ...]}, {"array": {dtype, shape, base64}},
{"other": "type name"}; and in calls only, so that students get what they were promised, {"tuple": [...]} for a pair and
{"record": [class, [[field, value], ...]]} for a dataclass, which the kit has under the same name.
"""

from __future__ import annotations

import base64
import binascii
import dataclasses
import json
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from autograder.compare import NotData
from autograder.exercise import Call

MIME = "application/vnd.partrain.answers+json"
MAX_BYTES = 8_000_000
MAX_DEPTH = 12
MAX_DIGITS = 400
DTYPES = {f"<{kind}{size}" for kind in "iu" for size in (2, 4, 8)} | {"<f4", "<f8", "|b1", "|i1", "|u1", "<f2"}
NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


class WireError(ValueError):
    """What a kernel published cannot be read as answers."""


@dataclass(frozen=True)
class Outcome:
    """What happened in one call: a value, or the name and text of the exception that was raised."""

    value: Any = None
    raised: str = ""
    text: str = ""
    changed: bool = False
    printed: bool = False


@dataclass(frozen=True)
class Bundle:
    """All that one check cell recorded. `missing` is set where the name was not defined."""

    exercise: str
    missing: bool = False
    outcomes: tuple[Outcome, ...] = field(default_factory=tuple)


def encode(value: Any, tuples: bool = False) -> Any:
    """Plain data as JSON-ready objects. With `tuples`, as in calls, a tuple is told from a list, and records may go."""
    if isinstance(value, np.ndarray):
        array = np.ascontiguousarray(value)
        packed = base64.b64encode(array.tobytes()).decode()
        return {"array": {"dtype": array.dtype.str, "shape": list(value.shape), "base64": packed}}
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"}
    if isinstance(value, list | tuple):
        items = [encode(item, tuples) for item in value]
        return {"tuple": items} if tuples and isinstance(value, tuple) else items
    if isinstance(value, set | frozenset):
        return {"set": [encode(item, tuples) for item in sorted(value)]}
    if isinstance(value, dict):
        return {"dict": [[encode(key, tuples), encode(item, tuples)] for key, item in value.items()]}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if tuples and dataclasses.is_dataclass(value):
        fields = [[field.name, encode(getattr(value, field.name), True)] for field in dataclasses.fields(value)]
        return {"record": [type(value).__name__, fields]}
    raise TypeError(f"{type(value).__name__} is not plain data")


def encode_calls(calls: tuple[Call, ...]) -> str:
    """The calls of one check cell as a JSON text."""
    return json.dumps([encode_call(one) for one in calls], allow_nan=False, separators=(",", ":"))


def encode_call(one: Call) -> dict:
    """The inputs of one call as JSON-ready objects."""
    named = {key: encode(value, tuples=True) for key, value in one.kwargs.items()}
    return {"args": encode(list(one.args), tuples=True), "kwargs": named}


def decode(raw: Any, depth: int = 0) -> Any:
    """The opposite of `encode`, for data that may be hostile."""
    if depth > MAX_DEPTH:
        raise WireError("the answer is nested too deeply")
    if raw is None or isinstance(raw, bool | str):
        return raw
    if isinstance(raw, int):
        if raw.bit_length() > MAX_DIGITS * 4:
            raise WireError("the answer is a whole number with too many digits")
        return raw
    if isinstance(raw, float):
        if not math.isfinite(raw):
            raise WireError("the answer holds a number that JSON does not know")
        return raw
    if isinstance(raw, list):
        return [decode(item, depth + 1) for item in raw]
    if isinstance(raw, dict) and len(raw) == 1:
        ((form, body),) = raw.items()
        if form in _FORMS:
            return _FORMS[form](body, depth + 1)
    raise WireError("the answer has an unknown form")


def _float(body: Any, depth: int) -> float:
    if body not in ("nan", "inf", "-inf"):
        raise WireError("the answer holds an unknown number")
    return NOT_FINITE[body]


def _set(body: Any, depth: int) -> set:
    try:
        return set(_list(body, depth))
    except TypeError:
        raise WireError("the answer is a set of things that are not names or numbers") from None


def _dict(body: Any, depth: int) -> dict:
    if not isinstance(body, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in body):
        raise WireError("the answer is a dict that cannot be read")
    try:
        return {decode(key, depth): decode(item, depth) for key, item in body}
    except TypeError:
        raise WireError("the answer is a dict whose keys are not names or numbers") from None


def _list(body: Any, depth: int) -> list:
    if not isinstance(body, list):
        raise WireError("the answer has an unknown form")
    return [decode(item, depth) for item in body]


def _array(body: Any, depth: int) -> np.ndarray:
    if not isinstance(body, dict) or body.keys() != {"dtype", "shape", "base64"}:
        raise WireError("the answer is an array that cannot be read")
    dtype, shape, packed = body["dtype"], body["shape"], body["base64"]
    if not isinstance(dtype, str) or dtype not in DTYPES or not isinstance(packed, str) or not isinstance(shape, list):
        raise WireError("the answer is an array of an unknown type")
    if len(shape) > 8 or not all(type(n) is int and 0 <= n <= MAX_BYTES for n in shape):
        raise WireError("the answer is an array of an impossible shape")
    try:
        raw = base64.b64decode(packed, validate=True)
    except (binascii.Error, ValueError):
        raise WireError("the answer is an array that cannot be read") from None
    if len(raw) != math.prod(shape) * np.dtype(dtype).itemsize:
        raise WireError("the answer is an array whose size does not fit its shape")
    return np.frombuffer(raw, dtype=dtype).reshape(shape).copy()


def _other(body: Any, depth: int) -> NotData:
    if not isinstance(body, str):
        raise WireError("the answer has an unknown form")
    return NotData("".join(ch for ch in body if ch.isprintable())[:60])


_FORMS = {"float": _float, "set": _set, "dict": _dict, "array": _array, "other": _other}


def read_bundle(raw: Any, exercise: str, calls: int) -> Bundle:
    """One published bundle, checked against the exercise and the number of calls it was given."""
    try:
        if len(json.dumps(raw, allow_nan=True)) > MAX_BYTES:
            raise WireError("the answers are larger than the grader reads")
    except (ValueError, TypeError, RecursionError):
        raise WireError("the answers cannot be read") from None
    if not isinstance(raw, dict) or raw.get("exercise") != exercise:
        raise WireError("the answers belong to another question")
    if raw.get("missing") is True and raw.keys() == {"exercise", "missing"}:
        return Bundle(exercise, missing=True)
    rows = raw.get("outcomes")
    if raw.keys() != {"exercise", "outcomes"} or not isinstance(rows, list) or len(rows) != calls:
        raise WireError("the answers do not fit the calls that were made")
    return Bundle(exercise, outcomes=tuple(_outcome(row) for row in rows))


def _outcome(row: Any) -> Outcome:
    if not isinstance(row, dict):
        raise WireError("an answer has an unknown form")
    flags = {key: row.get(key) for key in ("changed", "printed")}
    if not all(type(flag) is bool for flag in flags.values()):
        raise WireError("an answer has an unknown form")
    if row.keys() == {"value", "changed", "printed"}:
        return Outcome(decode(row["value"]), **flags)
    if row.keys() == {"raised", "text", "changed", "printed"}:
        if isinstance(row["raised"], str) and isinstance(row["text"], str):
            return Outcome(raised=row["raised"][:80], text=row["text"][:400], **flags)
    raise WireError("an answer has an unknown form")
