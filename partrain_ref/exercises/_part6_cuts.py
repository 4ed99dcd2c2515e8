"""Part 6, cutting matrices and the MLP on several devices: exercises."""

from __future__ import annotations

import math

import numpy as np

from autograder.exercise import Exercise, Mistake, call, refuse
from partrain_ref import tensor
from partrain_ref.tensor import gelu

NAN = math.nan


def matrix(rng, rows, columns):
    return rng.normal(size=(rows, columns)).round(4)


# ---- cutting a matrix ---------------------------------------------------------------------------------------------

WHOLE_COPIES = "Every device has the whole matrix there. Each one holds its piece only."
FIRST_PIECE = "That is the piece of the first device. Return the pieces of all devices, in a list."
LYING = (
    "The pieces lie on their side: rows have become columns. A piece keeps the order in which it stands in the matrix."
)


def _slices(W, devices, size, axis):
    pieces = [slice(d * size, (d + 1) * size) for d in range(int(devices))]
    return [W[piece] if axis == 0 else W[:, piece] for piece in pieces]


def _other_axis(axis, name, sentence):
    """Cut the wrong way: by np.split, by slices, or by slices as wide as the right pieces."""
    ways = (
        lambda W, devices: np.split(W, int(devices), axis=axis),
        lambda W, devices: np.array_split(W, int(devices), axis=axis),
        lambda W, devices: _slices(W, devices, W.shape[axis] // int(devices), axis),
        lambda W, devices: _slices(W, devices, W.shape[1 - axis] // int(devices), axis),
    )
    return tuple(Mistake(name, way, sentence) for way in ways)


def _draw_split_columns(rng):
    for rows, columns, devices in ((4, 8, 2), (6, 3, 3), (5, 4, 2), (int(rng.integers(2, 5)), 8, 4), (3, 4, 1)):
        yield call(matrix(rng, rows, columns), devices)
    yield call(rng.integers(1, 50, size=(4, 4)), 4)  # whole numbers are numbers too


def _draw_split_rows(rng):
    for one in _draw_split_columns(rng):
        yield call(np.ascontiguousarray(one.args[0].T), one.args[1])


_W = np.array([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]])
_TALL = np.arange(1.0, 9.0).reshape(4, 2)
_SQUARE = np.arange(1.0, 17.0).reshape(4, 4)

_COUNTS_AND_ENTRIES = (
    refuse("devices is 0", _SQUARE, 0),
    refuse("devices is 2.5", _SQUARE, 2.5),
    refuse("devices is True", _SQUARE, True),
    refuse("W has one dimension", np.ones(4), 2),
    refuse("W has no entries", np.ones((0, 0)), 1),
    refuse("an entry is NaN", np.array([[1.0, NAN], [1.0, 1.0]]), 2),
    refuse("an entry is infinite", np.array([[1.0, math.inf], [1.0, 1.0]]), 2),
)

split_columns = Exercise(
    "split_columns",
    reference=tensor.split_columns,
    points=4,
    examples=(call(_W, 2), call(_SQUARE, 4), call(_SQUARE, 2)),
    draw=_draw_split_columns,
    refusals=(refuse("devices does not divide the columns", np.ones((3, 4)), 3), *_COUNTS_AND_ENTRIES),
    mistakes=(
        *_other_axis(
            0,
            "rows_instead",
            "Those are pieces of the rows. A piece of the columns has all rows of the matrix.",
        ),
        Mistake(
            "dealt_out",
            lambda W, devices: [W[:, d :: int(devices)] for d in range(int(devices))],
            "The columns are dealt out in turn, like cards. Each device gets a run of neighbours.",
        ),
        Mistake(
            "reshaped",
            lambda W, devices: list(W.reshape(int(devices), len(W), -1)),
            "The pieces have the right shape, but not the right entries: `reshape` takes the entries row by row, so "
            "what stood under each other is torn apart.",
        ),
        Mistake("lying_pieces", lambda W, devices: np.split(W.T, int(devices)), LYING),
        Mistake("whole_copies", lambda W, devices: [W.copy() for _ in range(int(devices))], WHOLE_COPIES),
        Mistake("first_piece_only", lambda W, devices: W[:, : W.shape[1] // int(devices)].copy(), FIRST_PIECE),
        Mistake("first_piece_only", lambda W, devices: [W[:, : W.shape[1] // int(devices)].copy()], FIRST_PIECE),
    ),
)

split_rows = Exercise(
    "split_rows",
    reference=tensor.split_rows,
    points=4,
    examples=(call(_TALL, 2), call(_SQUARE, 4), call(_SQUARE, 2)),
    draw=_draw_split_rows,
    refusals=(refuse("devices does not divide the rows", np.ones((4, 3)), 3), *_COUNTS_AND_ENTRIES),
    mistakes=(
        *_other_axis(
            1,
            "columns_instead",
            "Those are pieces of the columns. A piece of the rows has all columns of the matrix.",
        ),
        Mistake(
            "dealt_out",
            lambda W, devices: [W[d :: int(devices)] for d in range(int(devices))],
            "The rows are dealt out in turn, like cards. Each device gets a run of neighbours.",
        ),
        Mistake("lying_pieces", lambda W, devices: np.split(W.T, int(devices), axis=1), LYING),
        Mistake("lying_pieces", lambda W, devices: [piece.T for piece in np.split(W, int(devices))], LYING),
        Mistake("whole_copies", lambda W, devices: [W.copy() for _ in range(int(devices))], WHOLE_COPIES),
        Mistake("first_piece_only", lambda W, devices: W[: len(W) // int(devices)].copy(), FIRST_PIECE),
        Mistake("first_piece_only", lambda W, devices: [W[: len(W) // int(devices)].copy()], FIRST_PIECE),
    ),
)

# ---- the MLP ------------------------------------------------------------------------------------------------------

GELU_FORGOTTEN = "The GeLU is missing: without it the two matrices are one long product."
TANH = (
    "That is the approximation of the GeLU by tanh. It is off by up to about 5e-4. The kit's `gelu` is the exact one, "
    "with erf."
)
GELU_TWICE = "A GeLU stands between the two matrices, and a second one behind them. There is only the one between."


def tanh_gelu(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def _draw_mlp_partial(rng):
    for tokens, hidden, inner in ((2, 4, 4), (3, 2, 6), (1, 4, 2), (int(rng.integers(3, 6)), 3, 3), (2, 1, 1)):
        yield call(matrix(rng, tokens, hidden), matrix(rng, hidden, inner), matrix(rng, inner, hidden))


_X = np.array([[1.0, 2.0], [0.0, -1.0]])
_UP = np.array([[1.0, 0.0], [0.0, -1.0]])
_DOWN = np.array([[2.0, 0.0], [1.0, 1.0]])
_X3 = np.array([[0.5, -1.0, 2.0]])
_UP3 = np.array([[1.0, 0.5], [-1.0, 1.0], [0.5, -1.0]])
_DOWN3 = np.array([[1.0, 0.0, -2.0], [0.5, 1.0, 1.0]])

mlp_partial = Exercise(
    "mlp_partial",
    reference=tensor.mlp_partial,
    points=4,
    examples=(call(_X, _UP, _DOWN), call(_X3, _UP3, _DOWN3)),
    draw=_draw_mlp_partial,
    refusals=(
        refuse("W_down_piece has a row too many", _X, _UP, np.ones((3, 2))),
        refuse("W_up_piece has a row too many", _X, np.ones((3, 2)), _DOWN),
        refuse("X has one dimension", np.ones(2), _UP, _DOWN),
        refuse("X has no rows", np.ones((0, 2)), _UP, _DOWN),
        refuse("an entry of X is NaN", np.array([[1.0, NAN]]), _UP, _DOWN),
        refuse("an entry of W_down_piece is infinite", _X, _UP, np.array([[1.0, math.inf], [1.0, 1.0]])),
    ),
    mistakes=(
        Mistake("gelu_forgotten", lambda X, up, down: X @ up @ down, GELU_FORGOTTEN),
        Mistake(
            "gelu_after",
            lambda X, up, down: gelu(X @ up @ down),
            "The GeLU was applied to the result. It belongs between the two matrices.",
        ),
        Mistake(
            "gelu_before",
            lambda X, up, down: gelu(X) @ up @ down,
            "The GeLU was applied to X. It belongs between the two matrices.",
        ),
        Mistake("gelu_twice", lambda X, up, down: gelu(gelu(X @ up) @ down), GELU_TWICE),
        Mistake("tanh_gelu", lambda X, up, down: tanh_gelu(X @ up) @ down, TANH),
        Mistake(
            "another_function",
            lambda X, up, down: np.maximum(X @ up, 0) @ down,
            "Negative numbers were set to zero: that is the ReLU. The GeLU lets a part of them through.",
        ),
        Mistake(
            "another_function",
            lambda X, up, down: X @ up / (1 + np.exp(-1.702 * (X @ up))) @ down,
            "That is the approximation of the GeLU by a sigmoid. The kit's `gelu` is the exact one, with erf.",
        ),
        Mistake(
            "another_function",
            lambda X, up, down: X @ up / (1 + np.exp(-(X @ up))) @ down,
            "That is the SiLU, x times the sigmoid of x. The kit's `gelu` is the exact GeLU, with erf.",
        ),
        Mistake(
            "second_matrix_forgotten",
            lambda X, up, down: gelu(X @ up),
            "That stops after the GeLU. The device also multiplies with its piece of the second matrix.",
        ),
    ),
)


def _draw_tensor_parallel_mlp(rng):
    for tokens, hidden, inner, devices in (
        (2, 4, 8, 2),
        (3, 4, 4, 4),
        (2, 6, 6, 3),
        (int(rng.integers(1, 4)), 2, 8, 2),
    ):
        yield call(matrix(rng, tokens, hidden), matrix(rng, hidden, inner), matrix(rng, inner, hidden), devices)
    yield call(matrix(rng, 2, 3), matrix(rng, 3, 4), matrix(rng, 4, 3), 2)  # the hidden size need not be divisible
    yield call(matrix(rng, 2, 2), matrix(rng, 2, 3), matrix(rng, 3, 2), 1)


def _partials(X, W_up, W_down, devices, function=gelu):
    pieces = zip(np.split(W_up, int(devices), axis=1), np.split(W_down, int(devices)), strict=True)
    return [function(X @ up) @ down for up, down in pieces]


def _row_sums(X, W_up, devices):
    """The partial sums of X·W_up that devices with pieces of its rows find; uneven where devices do not divide."""
    cut = zip(np.array_split(X, int(devices), axis=1), np.array_split(W_up, int(devices)), strict=True)
    return [x @ up for x, up in cut]


def _rows_first_columns(X, W_up, W_down, devices):
    cut = zip(_row_sums(X, W_up, devices), np.array_split(W_down, int(devices), axis=1), strict=True)
    return np.hstack([gelu(z) @ down for z, down in cut])


def _rows_first_evenly(X, W_up, W_down, devices):
    """As np.split or split_rows cuts: an error where devices do not divide the hidden size."""
    cut = zip(np.split(X, int(devices), axis=1), np.split(W_up, int(devices)), strict=True)
    return sum(gelu(x @ up) for x, up in cut) @ W_down


ROWS_FIRST = (
    "The first matrix was cut by rows: each device took the GeLU of its partial sum. The GeLU of a sum is not the sum "
    "of the GeLUs."
)
CONCATENATED = "The partial results were put beside or below each other. Each has the shape of the result: add them."

_MLP = (_X, np.array([[1.0, 0.0, 2.0, -1.0], [0.0, -1.0, 1.0, 1.0]]), np.array([[2, 0], [1, 1], [0, -1], [1, 2.0]]))

tensor_parallel_mlp = Exercise(
    "tensor_parallel_mlp",
    reference=tensor.tensor_parallel_mlp,
    points=4,
    examples=(call(*_MLP, 2), call(*_MLP, 4)),
    draw=_draw_tensor_parallel_mlp,
    refusals=(
        refuse("devices does not divide the inner size", *_MLP, 3),
        refuse("devices is 0", *_MLP, 0),
        refuse("devices is 1.5", *_MLP, 1.5),
        refuse("W_down has too few rows", _MLP[0], _MLP[1], np.ones((2, 2)), 2),
        refuse("W_up has a row too many", _MLP[0], np.ones((3, 4)), _MLP[2], 2),
        refuse("an entry of W_up is NaN", _MLP[0], np.array([[1.0, NAN], [1.0, 1.0]]), np.ones((2, 2)), 2),
        refuse("X has no rows", np.ones((0, 2)), _MLP[1], _MLP[2], 2),
    ),
    mistakes=(
        Mistake("rows_first", lambda X, U, D, t: sum(gelu(z) for z in _row_sums(X, U, t)) @ D, ROWS_FIRST),
        Mistake("rows_first", _rows_first_evenly, ROWS_FIRST),
        Mistake("rows_first", _rows_first_columns, ROWS_FIRST),
        Mistake(
            "first_device_only",
            lambda X, U, D, t: _partials(X, U, D, t)[0],
            "That is what the first device has before the all-reduce. Its terms are a part of the sum only.",
        ),
        Mistake(
            "mean",
            lambda X, U, D, t: np.mean(_partials(X, U, D, t), axis=0),
            "The partial results were averaged. They are terms of one sum, and not each a result of its own.",
        ),
        Mistake("concatenated", lambda X, U, D, t: np.hstack(_partials(X, U, D, t)), CONCATENATED),
        Mistake("concatenated", lambda X, U, D, t: np.vstack(_partials(X, U, D, t)), CONCATENATED),
        Mistake("concatenated", lambda X, U, D, t: np.stack(_partials(X, U, D, t)), CONCATENATED),
        Mistake("concatenated", lambda X, U, D, t: _partials(X, U, D, t), CONCATENATED),
        Mistake("gelu_forgotten", lambda X, U, D, t: X @ U @ D, GELU_FORGOTTEN),
        Mistake(
            "gelu_after_sum",
            lambda X, U, D, t: gelu(X @ U @ D),
            "The GeLU was taken from the sum, after the all-reduce. It belongs between the two matrices.",
        ),
        Mistake("gelu_twice", lambda X, U, D, t: gelu(sum(_partials(X, U, D, t))), GELU_TWICE),
        Mistake("gelu_twice", lambda X, U, D, t: sum(gelu(p) for p in _partials(X, U, D, t)), GELU_TWICE),
        Mistake("tanh_gelu", lambda X, U, D, t: sum(_partials(X, U, D, t, tanh_gelu)), TANH),
        Mistake(
            "whole_on_every_device",
            lambda X, U, D, t: t * (gelu(X @ U) @ D),
            "Every device computed the whole MLP, and then the results were added: the sum grows with the devices. "
            "Each device works with its pieces only.",
        ),
    ),
)
