import math

import numpy as np
import pytest

from autograder.compare import NotData, Off, Raised, difference, same

TOLERANCE = (1e-9, 1e-12)


@pytest.mark.parametrize(
    ("answer", "reference"),
    [
        (256, 256),
        (256.0, 256),
        (np.array(256), 256),
        (0.1 + 0.2, 0.3),
        ([1.0, 2.0], np.array([1.0, 2.0])),
        ([1, 2], np.array([1.0, 2.0])),
        (np.array([1, 2]), np.array([1.0, 2.0])),
        (np.array([1.0, 2.0]), [1.0, 2.0]),
        (2.0, np.array(2.0)),
        ([["F", 0], ["B", 0]], [("F", 0), ("B", 0)]),
        (["weights", "moments"], {"weights", "moments"}),
        (True, True),
        ("c", "c"),
        (np.array([1e6, 1e-5 + 1e-10]), np.array([1e6, 1e-5])),
        ({"a": 1.0}, {"a": 1}),
    ],
)
def test_right_in_another_form(answer, reference):
    assert difference(answer, reference, TOLERANCE) is None


@pytest.mark.parametrize(
    ("answer", "reference", "kind"),
    [
        (None, 256, "nothing"),
        (NotData("Always"), 256, "type"),
        ("256", 256, "type"),
        (True, 1, "type"),
        (1, True, "type"),
        ([256], 256, "shape"),
        (np.array([[1.0], [2.0]]), np.array([1.0, 2.0]), "shape"),
        (1.0, np.array([1.0, 1.0]), "shape"),
        ([[1.0], [2.0, 3.0]], np.array([1.0, 2.0]), "type"),
        (math.nan, 1.0, "not finite"),
        (math.inf, 1, "not finite"),
        (np.array([1.0, math.nan]), np.array([1.0, 2.0]), "not finite"),
        (257, 256, "value"),
        (256.0001, 256, "value"),
        (10**400, 1.0, "value"),
        ([1.0, 2.1], np.array([1.0, 2.0]), "value"),
        ([1, 2, 3], [1, 2], "shape"),
        ({"a": 1}, {"b": 1}, "shape"),
        (["weights"], {"weights", "moments"}, "value"),
        ("d", "c", "value"),
    ],
)
def test_off_in_which_way(answer, reference, kind):
    assert difference(answer, reference, TOLERANCE).kind == kind


def test_a_shape_message_names_both_shapes():
    off = difference(np.ones((2, 1)), np.ones(2), TOLERANCE)
    assert off == Off("shape", "it returned shape (2, 1); shape (2,) was expected")


@pytest.mark.parametrize(
    ("answer", "digits", "right"), [(1.382, 3, True), (1.38235, 3, True), (1.38, 3, False), (1.3829, 3, False)]
)
def test_typed_numbers_are_rounded_to_the_digits_asked_for(answer, digits, right):
    assert (difference(answer, 188 / 136, TOLERANCE, digits) is None) is right


def test_the_tolerance_is_of_the_largest_entry():
    assert difference([1e6, 1e-4], np.array([1e6, 0.0]), TOLERANCE) is None
    assert difference([1e6, 1e-2], np.array([1e6, 0.0]), TOLERANCE).kind == "value"


def test_a_twin_is_met_also_in_nan_and_in_errors():
    assert same(math.nan, math.nan, TOLERANCE)
    assert same([1.0, math.nan], np.array([1.0, math.nan]), TOLERANCE)
    assert same(Raised("KeyError"), Raised("KeyError"), TOLERANCE)
    assert not same(Raised("KeyError"), 1.0, TOLERANCE)
    assert not same(1.0, math.nan, TOLERANCE)
    assert not same(None, 1.0, TOLERANCE)


def test_tuples_of_lists_of_pairs_of_arrays_compare_in_any_form():
    """What a sharded optimizer returns: weights, and (m, v) for each device; a wire makes lists of all tuples."""
    right = (np.ones(3), [(np.ones(2), np.zeros(2)), (np.ones(2), np.full(2, math.nan))])
    wired = [np.ones(3), [[np.ones(2), np.zeros(2)], [np.ones(2), np.full(2, math.nan)]]]
    assert same(right, right, TOLERANCE) and same(wired, right, TOLERANCE)
    other = (np.ones(3), [(np.ones(2), np.zeros(2)), (np.ones(2), np.zeros(2))])
    assert not same(other, right, TOLERANCE) and not same(wired, other, TOLERANCE)
    stacked = [[1.0, 1.0, 1.0], np.array([[[1.0, 1.0], [0.0, 0.0]], [[1.0, 1.0], [0.0, 0.0]]])]
    for answer in (other, stacked):
        assert difference(answer, other, TOLERANCE) is None
    assert difference((np.ones(3), other[1][:1]), other, TOLERANCE).kind == "shape"
    assert difference((np.ones(4), other[1]), other, TOLERANCE).kind == "shape"
