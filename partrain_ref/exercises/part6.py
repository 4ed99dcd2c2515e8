"""Part 6, split the matrices: exercises, with the mistakes of the field as wrong twins.

Wrong numbers and their causes: elements read as bytes, one block for the whole layer, rows before columns (Megatron-LM,
arXiv 2104.04473, sections 2.3 and 3.2, says why they are wrong). The cuts stand in `_part6_cuts.py` and
`_part6_attention.py`.
"""

from __future__ import annotations

import math

from autograder.exercise import Exercise, Mistake, call, refuse
from partrain_ref import tensor
from partrain_ref.exercises._part6_attention import tensor_parallel_attention
from partrain_ref.exercises._part6_cuts import mlp_partial, split_columns, split_rows, tensor_parallel_mlp

NAN = math.nan

# ---- what crosses the wire ----------------------------------------------------------------------------------------

allreduces_per_layer = Exercise(
    "allreduces_per_layer",
    kind="number",
    reference=2,
    unit="all-reduces in the forward pass of one layer",
    points=1,
    mistakes=(
        Mistake("one_block", 1, "That is one block. A layer has two, attention and the MLP, one after the other."),
        Mistake(
            "backward_too",
            4,
            "That counts the backward pass as well. The question asks for the forward pass.",
        ),
        Mistake(
            "every_matrix",
            6,
            "That is one for each of the six matrices. What a cut by columns yields is needed just where it is.",
        ),
        Mistake(
            "every_product",
            3,
            "That counts a swap inside one of the blocks too. With columns first, nothing is swapped there.",
        ),
        Mistake(
            "none",
            0,
            "Without an all-reduce each device would go on with its own part of a sum. The next block needs the sum.",
        ),
    ),
)

ARRAY = 1 * 2048 * 12288  # elements of one array
ELEMENTS = ARRAY * 7 / 8 / 1e6  # millions of elements that one pass of a ring sends from each device

tp_traffic_mb = Exercise(
    "tp_traffic_mb",
    kind="number",
    reference=8 * ELEMENTS * 2,
    unit="MB (1e6 bytes), whole",
    points=1,
    mistakes=(
        Mistake(
            "elements",
            8 * ELEMENTS,
            "That is the number of elements in millions, or the bytes of the forward pass alone. In bf16 an element "
            "takes 2 bytes, and the backward pass sends as much as the forward pass.",
            unit=True,
        ),
        Mistake("mebibytes", 8 * ELEMENTS * 2 * 1e6 / 2**20, "Those are MiB, of 2^20 bytes. A MB is 1e6.", unit=True),
        Mistake("bytes", 8 * ELEMENTS * 2e6, "Those are bytes. The question asks for MB, of 1e6 bytes.", unit=True),
        Mistake(
            "gigabytes",
            0,
            "To a whole number of MB that is nothing at all. Is it in GB? A MB is 1e6 bytes.",
            unit=True,
        ),
        Mistake(
            "ring_factor_forgotten",
            8 * ARRAY * 2 / 1e6,
            "The factor (t − 1)/t is missing: a device does not send itself its own piece.",
        ),
        Mistake(
            "one_all_reduce",
            2 * ELEMENTS * 2,
            "That is one all-reduce. Count them for both blocks, forward and backward.",
        ),
        Mistake(
            "array_once",
            4 * ARRAY * 2 / 1e6,
            "That counts the array once for each all-reduce. In a ring each device sends more than that: two passes.",
        ),
        Mistake(
            "all_devices",
            8 * ELEMENTS * 2 * 8,
            "That is what all eight devices send together. The question asks for one device.",
        ),
        Mistake(
            "fp32",
            8 * ELEMENTS * 4,
            "That takes 4 bytes for an element, or counts the backward pass twice. In bf16 it takes 2 bytes.",
        ),
        Mistake(
            "one_piece",
            8 * ARRAY / 8 * 2 / 1e6,
            "That is one piece for each pass. A ring sends a piece in every one of its t − 1 rounds.",
        ),
    ),
)


def _draw_traffic(rng):
    for devices, width in ((4, 4), (int(rng.integers(5, 17)), 2), (2, 2), (8, 1), (1, 2)):
        yield call(
            int(rng.integers(1, 9)), int(128 * rng.integers(1, 33)), int(256 * rng.integers(2, 49)), devices, width
        )
    yield call(2, int(rng.integers(3, 500)), 96.0, 3, 2.5)  # 96.0 counts as whole; bytes need not be whole


def _sent(elements_factor, of_devices=lambda t: (t - 1) / t):
    return lambda b, s, h, t, width: elements_factor * b * s * h * of_devices(t) * width


tensor_parallel_traffic = Exercise(
    "tensor_parallel_traffic",
    reference=tensor.tensor_parallel_traffic,
    points=4,
    examples=(call(2, 1024, 4096, 4, 2), call(1, 512, 1024, 8, 4)),
    draw=_draw_traffic,
    refusals=(
        refuse("devices is 0", 2, 1024, 4096, 0, 2),
        refuse("bytes_per_element is 0", 2, 1024, 4096, 4, 0),
        refuse("batch is 1.5", 1.5, 1024, 4096, 4, 2),
        refuse("seq is negative", 2, -1024, 4096, 4, 2),
        refuse("hidden is True", 2, 1024, True, 4, 2),
        refuse("devices is NaN", 2, 1024, 4096, NAN, 2),
        refuse("bytes_per_element is NaN", 2, 1024, 4096, 4, NAN),
        refuse("bytes_per_element is infinite", 2, 1024, 4096, 4, math.inf),
    ),
    mistakes=(
        Mistake(
            "elements",
            lambda b, s, h, t, width: 8 * b * s * h * (t - 1) / t,
            "Those are elements. The question asks for bytes.",
            unit=True,
        ),
        Mistake("megabytes", _sent(8e-6), "Those are MB, of 1e6 bytes. The function returns bytes.", unit=True),
        Mistake(
            "half",
            _sent(4),
            "Those are two all-reduces of two passes each, or four of one pass. A layer has two blocks, each "
            "with an all-reduce forward and one backward, and an all-reduce is two passes around the ring.",
        ),
        Mistake(
            "one_all_reduce",
            _sent(2),
            "That is one all-reduce. Count them for both blocks, forward and backward.",
        ),
        Mistake(
            "ring_factor_forgotten",
            _sent(8, lambda t: 1),
            "The factor (t − 1)/t is missing: a device does not send itself its own piece.",
        ),
        Mistake(
            "array_once",
            _sent(4, lambda t: 1),
            "That counts the array once for each all-reduce. In a ring each device sends 2(t − 1)/t times the array.",
        ),
        Mistake(
            "all_devices",
            _sent(8, lambda t: t - 1),
            "That is what all devices send together. The question asks for one device.",
        ),
        Mistake(
            "one_piece",
            _sent(8, lambda t: 1 / t),
            "That is one piece for each pass. A ring sends a piece in every one of its t − 1 rounds.",
        ),
    ),
)

# ---- choices ------------------------------------------------------------------------------------------------------

which_cut_first = Exercise(
    "which_cut_first",
    kind="choice",
    reference="c",
    points=1,
    mistakes=(
        Mistake(
            "rows_first",
            "a",
            "That leaves each device with a partial sum before the GeLU: a swap is needed there, and another later.",
        ),
        Mistake(
            "columns_twice",
            "b",
            "That keeps the GeLU local, but a column of the second matrix needs the whole inner array: it has to be "
            "gathered first, and the result as well.",
        ),
        Mistake(
            "rows_twice",
            "d",
            "That needs two sums over all devices: one before the GeLU, and one at the end.",
        ),
    ),
)

where_it_breaks = Exercise(
    "where_it_breaks",
    kind="choice",
    reference="b",
    points=1,
    mistakes=(
        Mistake(
            "first_product",
            "a",
            "The partial sums do add up to the whole product: it is a sum over the rows of W_up.",
        ),
        Mistake(
            "second_product",
            "c",
            "The shapes do fit. Each device has an array of the full inner size there, and W_down has as many rows.",
        ),
        Mistake(
            "rounding",
            "d",
            "Rounding is not the cause. Another order of addition changes the last digits only, and here the first "
            "ones differ.",
        ),
    ),
)

EXERCISES = (
    split_columns,
    split_rows,
    mlp_partial,
    tensor_parallel_mlp,
    tensor_parallel_attention,
    allreduces_per_layer,
    tp_traffic_mb,
    tensor_parallel_traffic,
    which_cut_first,
    where_it_breaks,
)
