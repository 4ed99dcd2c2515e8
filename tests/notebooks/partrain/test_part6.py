"""Part 6's figures, panels and helpers: their numbers are the reference's, at every end they stay readable and calm."""

import itertools
import math

import numpy as np
import pytest
from pictures import is_calm, is_sound, texts

from partrain import need_matrices, panels
from partrain.figures.head_cuts import head_cuts
from partrain.figures.matrix_cuts import matrix_cuts
from partrain.figures.mlp_in_pieces import example, whole_result
from partrain_ref import tensor

DEVICES = (1, 2, 4, 8)
STATES = list(itertools.product(DEVICES, ("columns", "rows"), ("columns", "rows")))
SWAPS = {
    ("columns", "rows"): "one all-reduce",
    ("rows", "columns"): "one all-reduce and one all-gather",
    ("rows", "rows"): "two all-reduces",
    ("columns", "columns"): "two all-gathers",
}


@pytest.mark.parametrize("state", STATES)
def test_matrix_cuts_is_sound(state):
    for yours in (None, whole_result(), -whole_result(), np.full_like(whole_result(), 1e30)):
        picture = matrix_cuts(*state, yours)
        is_sound(picture)
        assert picture == matrix_cuts(*state, yours)


def test_the_whole_result_is_the_reference_s():
    X, W_up, W_down = example()
    for devices in DEVICES:
        np.testing.assert_allclose(tensor.tensor_parallel_mlp(X, W_up, W_down, devices), whole_result(), atol=1e-12)


@pytest.mark.parametrize(("devices", "up", "down"), STATES)
def test_matrix_cuts_counts_the_swaps_and_says_what_numpy_finds(devices, up, down):
    picture = matrix_cuts(devices, up, down)
    words = texts(picture)
    assert "equal to the whole MLP" in words
    assert ("none" if devices == 1 else SWAPS[up, down]) in words
    X, W_up, W_down = example()
    cut = zip(np.split(X, devices, axis=1), tensor.split_rows(W_up, devices), strict=True)
    late = sum(tensor.gelu(x @ piece) for x, piece in cut) @ W_down
    off = f"{np.abs(late - whole_result()).max():.3f}"
    rows_first = up == "rows" and devices > 1
    assert picture.sentence.endswith(f"off by up to {off}.") == rows_first
    assert any(text.startswith(f"off by up to {off}, where") for text in words) == rows_first


@pytest.mark.parametrize("devices", DEVICES[1:])
def test_every_piece_has_its_device_on_it(devices):
    words = texts(matrix_cuts(devices, "columns", "rows"))
    assert [words.count(str(d)) for d in range(devices)] == [4] * devices  # W_up, X @ W_up, GeLU, W_down
    assert words.count(f"{devices} sums") == 1
    assert texts(matrix_cuts(devices, "rows", "rows")).count(f"{devices} sums") == 2


def unwritten(*arguments):
    raise NotImplementedError


def test_the_panel_asks_the_readers_own_function():
    assert is_calm(panels.matrix_cuts(unwritten)) == (
        "Finish the cell above first: tensor_parallel_mlp is not written yet."
    )
    right = panels.matrix_cuts(tensor.tensor_parallel_mlp)
    for devices in DEVICES:
        right.controls["devices"].value = devices
        assert is_calm(right).startswith("Your tensor_parallel_mlp equals the whole MLP on ")
    first = panels.matrix_cuts(lambda X, up, down, n: tensor.mlp_partial(X, up[:, : 16 // n], down[: 16 // n]))
    assert is_calm(first).startswith("Your tensor_parallel_mlp is off by up to ")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (None, "returned nothing."),
        ([[1.0], [2.0, 3.0]], "returned a value of type list, not an array of numbers."),
        ("text", "returned a value of type str, not an array of numbers."),
        (np.ones((4, 32)), "returned shape (4, 32), not (4, 8)."),
        (1.0, "returned shape (), not (4, 8)."),
        (np.full((4, 8), math.nan), "returned an array in which not every number is finite."),
    ],
)
def test_what_is_no_result_is_said(answer, said):
    panel = panels.matrix_cuts(lambda *arguments: answer)
    assert is_calm(panel) == f"Finish the cell above first: tensor_parallel_mlp {said}"


def test_a_function_that_changes_its_input_spoils_nothing():
    before = whole_result().copy()

    def spoils(X, W_up, W_down, devices):
        X[:], W_up[:], W_down[:] = 0, 0, 0
        return np.zeros((4, 8))

    panels.matrix_cuts(spoils)
    X, W_up, W_down = example()
    np.testing.assert_array_equal(tensor.gelu(X @ W_up) @ W_down, before)


@pytest.mark.parametrize("devices", [1, 2, 3, 4, 6, 8, 12, 16])
@pytest.mark.parametrize("heads", [2, 4, 6, 8, 12, 16, 32, 40, 64, 96])
def test_head_cuts(heads, devices):
    picture = head_cuts(heads, devices)
    is_sound(picture)
    head = np.repeat(np.arange(heads), 128 // 8 * 3)  # 48 columns a head, which every number of devices divides
    pieces = np.split(head, devices)
    torn = {int(a[-1]) for a, b in itertools.pairwise(pieces) if a[-1] == b[0]}
    assert bool(torn) == bool(heads % devices)
    if torn:
        assert f"through {len(torn)} heads" in picture.sentence or f"through head {min(torn)}," in picture.sentence
        assert "not whole" in picture.svg and texts(picture).count("✗") >= len(torn)
    else:
        assert f"{heads // devices} whole head" in picture.sentence and "✗" not in texts(picture)


def test_a_layer_of_gpt_3():
    assert head_cuts(96, 8).sentence == "96 heads on 8 devices: 12 whole heads on each, 1,536 of 12,288 columns."
    assert "1,536" in head_cuts(12, 8).svg and "12 ÷ 8 = 1.5: not whole" in texts(head_cuts(12, 8))


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (np.ones(3), r"W must have two dimensions and at least one entry; its shape is \(3,\)"),
        (np.ones((0, 2)), r"its shape is \(0, 2\)"),
        ([[1.0], [1.0, 2.0]], "W must be an array of numbers with equal rows"),
        (np.array([[1.0, math.inf]]), "W holds an entry that is not a finite number"),
    ],
)
def test_need_matrices(value, said):
    with pytest.raises(ValueError, match=said):
        need_matrices(X=np.ones((2, 2)), W=value)
    need_matrices(W=[[1, 2], [3, 4]])
