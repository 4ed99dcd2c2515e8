"""Plain data: what may leave a notebook as an answer. Numbers, texts, lists, sets, dicts and arrays; never objects.

JSON numbers, texts, true, false, null and lists stand for themselves; the rest is a one-key object:
{"float": "nan"}, {"set": [...]}, {"dict": [[key, value], ...]}, {"array": {dtype, shape, base64}}, {"other": "type"}.
Inputs may also hold {"tuple": [...]}; in an answer a tuple is as good as a list, and is packed as one.
They may hold {"record": [name, [[field, value], ...]]} too, one of RECORDS; in an answer it is packed as a dict.
"""

import base64
import dataclasses
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np

from partrain.planning import Cluster, Gpu, Model, Plan

RECORDS = {record.__name__: record for record in (Plan, Model, Gpu, Cluster)}

MAX_ITEMS = 200_000
MAX_DEPTH = 10


def pack(value, depth=0):
    """`value` as JSON-ready plain data; what is not data becomes {"other": its type}."""
    if value is None or value is True or value is False:
        return value
    if isinstance(value, np.ndarray):
        return _pack_array(value, depth)
    if isinstance(value, (np.bool_, np.integer, np.floating)):
        value = value.item()
    if isinstance(value, (Fraction, Decimal)):
        value = int(value) if value == value // 1 else float(value)
    if isinstance(value, int):
        return bool(value) if isinstance(value, bool) else int.__add__(value, 0)
    if isinstance(value, float):
        number = float.__add__(value, 0.0)
        return number if math.isfinite(number) else {"float": str(number)}
    if isinstance(value, str):
        return str.__str__(value)[:MAX_ITEMS]
    if isinstance(value, tuple(RECORDS.values())):
        value = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if depth < MAX_DEPTH and isinstance(value, (list, tuple, set, frozenset, dict)) and len(value) <= MAX_ITEMS:
        return _pack_many(value, depth + 1)
    return {"other": type(value).__name__}


def _pack_many(value, depth):
    if isinstance(value, dict):
        return {"dict": [[pack(key, depth), pack(item, depth)] for key, item in dict.items(value)]}
    items = [pack(item, depth) for item in value]
    return {"set": items} if isinstance(value, (set, frozenset)) else items


def _pack_array(value, depth):
    array = np.array(value, copy=True, subok=False, order="C")
    if array.dtype == object and array.size <= MAX_ITEMS and depth < MAX_DEPTH:
        return pack(array.tolist(), depth + 1)
    if array.dtype.kind == "f" and array.dtype.itemsize > 8:
        array = array.astype(np.float64)
    if array.dtype.kind not in "biuf" or array.size > MAX_ITEMS:
        return {"other": f"array of {array.dtype.name}" if array.size <= MAX_ITEMS else "array too large to be read"}
    array = array.astype(array.dtype.newbyteorder("<"))
    return {
        "array": {
            "dtype": array.dtype.str,
            "shape": list(array.shape),
            "base64": base64.b64encode(array.tobytes()).decode(),
        }
    }


def unpack(raw):
    """The opposite of `pack`, for data of the course itself."""
    if isinstance(raw, list):
        return [unpack(item) for item in raw]
    if not isinstance(raw, dict):
        return raw
    ((form, body),) = raw.items()
    if form == "float":
        return float(body)
    if form == "set":
        return {unpack(item) for item in body}
    if form == "tuple":
        return tuple(unpack(item) for item in body)
    if form == "record":
        name, fields = body
        return RECORDS[name](**{field: unpack(item) for field, item in fields})
    if form == "dict":
        return {unpack(key): unpack(item) for key, item in body}
    if form == "array":
        flat = np.frombuffer(base64.b64decode(body["base64"]), dtype=body["dtype"])
        return flat.reshape(body["shape"]).copy()
    raise ValueError(f"unknown form {form!r}")
