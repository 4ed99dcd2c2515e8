import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from autograder import wire
from autograder.compare import NotData
from autograder.exercise import call
from partrain.plain import pack, unpack

SCALARS = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.text(max_size=20)
PLAIN = st.recursive(
    SCALARS | arrays(np.float64, array_shapes(max_dims=3, max_side=4), elements=st.floats(-1e9, 1e9)),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def equal(a, b):
    if isinstance(b, np.ndarray):
        return isinstance(a, np.ndarray) and a.dtype == b.dtype and a.shape == b.shape and bool(np.all(a == b))
    if isinstance(b, list):
        return isinstance(a, list) and len(a) == len(b) and all(map(equal, a, b))
    if isinstance(b, dict):
        return isinstance(a, dict) and a.keys() == b.keys() and all(equal(a[key], b[key]) for key in b)
    return type(a) is type(b) and a == b


@given(PLAIN)
def test_both_sides_of_the_wire_agree(value):
    """The kit and the grader do not import each other; what one packs the other reads, through JSON."""
    through = json.loads(json.dumps(pack(value)))
    assert equal(wire.decode(through), value)
    assert equal(unpack(json.loads(json.dumps(wire.encode(value)))), value)


def test_a_call_keeps_its_tuples_and_an_answer_may_have_lists():
    """Students get the pairs that they were promised; what they answer is judged as lists."""
    order = [[("F", 0), ("B", 0)]]
    (raw,) = json.loads(wire.encode_calls((call(order, times=(1.0, 2.0)),)))
    assert unpack(raw["args"]) == [order] and unpack(raw["kwargs"]["times"]) == (1.0, 2.0)
    assert wire.decode(pack(order)) == wire.encode(order) == [[["F", 0], ["B", 0]]]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_numbers_that_json_does_not_know(value):
    text = json.dumps(pack(value), allow_nan=False)
    back = wire.decode(json.loads(text))
    assert back == value or (math.isnan(back) and math.isnan(value))


def test_what_is_not_data_comes_as_its_type_only():
    class Always:
        def __eq__(self, other):
            return True

        __hash__ = None

    assert wire.decode(pack(Always())) == NotData("Always")
    assert wire.decode(pack([1, 2j]))[1] == NotData("complex")
    assert wire.decode(pack(...)) == NotData("ellipsis")


def test_subclasses_give_their_plain_value():
    class Sly(float):
        def __eq__(self, other):
            return True

        def __float__(self):
            return 1.25

        __hash__ = None

    assert type(pack(Sly(3.0))) is float and pack(Sly(3.0)) == 3.0


HOSTILE = [
    {"float": "1e5"},
    {"array": {"dtype": "O", "shape": [1], "base64": "AAAA"}},
    {"array": {"dtype": "<f8", "shape": [2**40], "base64": ""}},
    {"array": {"dtype": "<f8", "shape": [-1], "base64": ""}},
    {"array": {"dtype": "<f8", "shape": [True], "base64": "AAAAAAAAAAA="}},
    {"array": {"dtype": "<f8", "shape": [1], "base64": "!!"}},
    {"array": {"dtype": ["<f8"], "shape": [1], "base64": ""}},
    {"array": "x"},
    {"dict": [[1]]},
    {"dict": [[[], 1]]},
    {"set": [[]]},
    {"set": 3},
    {"other": 3},
    {"pickle": "gASV"},
    {},
    {"float": "nan", "x": 1},
    10**5000,
    math.nan,
]


@pytest.mark.parametrize("raw", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_values_are_refused(raw):
    with pytest.raises(wire.WireError):
        wire.decode(raw)


def test_deep_nesting_is_refused():
    deep = []
    for _ in range(50):
        deep = [deep]
    with pytest.raises(wire.WireError, match="nested"):
        wire.decode(deep)


GOOD = {"value": 1, "changed": False, "printed": False}


@pytest.mark.parametrize(
    "raw",
    [
        None,
        [],
        {"exercise": "b", "outcomes": [GOOD]},
        {"exercise": "a", "outcomes": []},
        {"exercise": "a", "outcomes": [GOOD, GOOD]},
        {"exercise": "a", "outcomes": [{**GOOD, "points": 4}]},
        {"exercise": "a", "outcomes": [{"value": 1}]},
        {"exercise": "a", "outcomes": [{**GOOD, "changed": 0}]},
        {"exercise": "a", "outcomes": [GOOD], "points": 4},
        {"exercise": "a", "missing": True, "outcomes": [GOOD]},
        {"exercise": "a", "missing": 1},
        {"exercise": "a", "outcomes": [{"raised": 3, "text": "", "changed": False, "printed": False}]},
        {"exercise": "a", "outcomes": [{**GOOD, "value": "x" * wire.MAX_BYTES}]},
    ],
)
def test_a_bundle_that_does_not_fit_is_refused(raw):
    with pytest.raises(wire.WireError):
        wire.read_bundle(raw, "a", 1)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["float", "array", "dict", "set", "other", "dtype", "shape", "base64", "x"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSON)
def test_any_json_is_read_or_refused(raw):
    """Never another exception than WireError."""
    for content in (raw, {"exercise": "a", "outcomes": raw}, {"exercise": "a", "outcomes": [{**GOOD, "value": raw}]}):
        try:
            wire.read_bundle(content, "a", 1)
        except wire.WireError:
            pass


def test_nothing_is_ever_unpickled(repository):
    for folder in ("autograder", "notebooks/partrain"):
        for path in (repository / folder).rglob("*.py"):
            source = path.read_text(encoding="utf-8")
            assert not any(
                word in source for word in ("import pickle", "pickle.load", "allow_pickle=True", "marshal.load")
            )
