"""Part 6's reference against other software's numbers, published traffic, properties and its own refusals."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from partrain_ref import tensor
from partrain_ref.exercises import part6

CLOSE = {"rtol": 1e-10, "atol": 1e-12}
SEEDS = st.integers(0, 2**32 - 1)


def test_tensor_parallel_mlp(oracles):
    block = oracles["tensor_parallel_mlp"]
    for row in block["rows"]:
        rng = np.random.default_rng(row["seed"])
        W_up = rng.standard_normal((row["f"], row["h"])).T  # torch keeps (out, in)
        W_down = rng.standard_normal((row["h"], row["f"])).T
        x = np.random.default_rng(row["seed"] + 1000).standard_normal((row["batch"], row["h"]))
        result = tensor.tensor_parallel_mlp(x, W_up, W_down, row["world"])
        assert result.sum() == pytest.approx(row["out_sum"], abs=1e-12)
        np.testing.assert_allclose(result[0], row["out0"], rtol=0, atol=1e-12)
        pieces = tensor.split_columns(W_up, row["world"]) + tensor.split_rows(W_down, row["world"])
        local = [list(piece.T.shape) for piece in pieces]
        assert local == [row["local_up"]] * row["world"] + [row["local_down"]] * row["world"]
        assert row["fwd_collectives"] == row["bwd_collectives"] == {"c10d_functional.all_reduce": 1}
    blocks = 2
    assert part6.allreduces_per_layer.reference == blocks and 2 * blocks == tensor.ALLREDUCES


def test_collective_factors(oracles):
    for row in oracles["collective_factors"]["evaluated"]:
        sent = tensor.tensor_parallel_traffic(2, 3, 5, row["n"], 4)
        assert sent == pytest.approx(4 * row["all_reduce"] * 2 * 3 * 5 * 4, rel=1e-12)
        assert sent == pytest.approx(4 * 2 * row["all_gather"] * 2 * 3 * 5 * 4, rel=1e-12)  # with sequence parallel


def test_the_traffic_of_a_gpt_3_layer():
    assert tensor.tensor_parallel_traffic(1, 2048, 12288, 8, 1) / 1e6 == pytest.approx(176.2, abs=0.05)
    assert tensor.tensor_parallel_traffic(1, 2048, 12288, 8, 2) / 1e6 == pytest.approx(352, abs=0.5)
    assert round(part6.tp_traffic_mb.reference) == 352
    assert tensor.tensor_parallel_traffic(1, 2048, 12288, 1, 2) == 0


def test_the_exact_gelu():
    x = np.array([[-2.0, -1.0, 0.0], [1.0, 2.0, 40.0]])
    np.testing.assert_allclose(tensor.gelu(x), [[-0.0455002639, -0.1586552539, 0], [0.8413447461, 1.9544997361, 40]])
    from partrain import gelu

    np.testing.assert_array_equal(gelu(x), tensor.gelu(x))
    assert gelu(1.0) == tensor.gelu(1.0) and gelu(np.zeros((0, 2))).shape == (0, 2)


def whole_attention(X, Wq, Wk, Wv, Wo, heads):
    """Attention on one device, written with einsum over (token, head, column)."""
    Q, K, V = ((X @ W).reshape(len(X), heads, -1) for W in (Wq, Wk, Wv))
    powers = np.exp(np.einsum("ihc,jhc->hij", Q, K) / math.sqrt(Q.shape[2]))
    output = np.einsum("hij,jhc->ihc", powers / powers.sum(axis=2, keepdims=True), V)
    return output.reshape(X.shape) @ Wo


@given(st.integers(1, 5), st.integers(1, 5), st.integers(1, 4), st.integers(1, 4), SEEDS)
def test_the_mlp_in_pieces_is_the_whole_mlp(tokens, hidden, per_device, devices, seed):
    rng = np.random.default_rng(seed)
    inner = per_device * devices
    X, W_up, W_down = (rng.normal(size=s) for s in ((tokens, hidden), (hidden, inner), (inner, hidden)))
    before = X.copy(), W_up.copy(), W_down.copy()
    whole = tensor.gelu(X @ W_up) @ W_down
    np.testing.assert_allclose(tensor.tensor_parallel_mlp(X, W_up, W_down, devices), whole, **CLOSE)
    assert all(np.array_equal(a, b) for a, b in zip(before, (X, W_up, W_down), strict=True))


@given(st.integers(1, 5), st.integers(1, 3), st.integers(1, 3), st.integers(1, 3), SEEDS)
def test_attention_in_pieces_is_the_whole_attention(tokens, head_size, per_device, devices, seed):
    rng = np.random.default_rng(seed)
    heads = per_device * devices
    hidden = heads * head_size
    X, *weights = rng.normal(size=(tokens, hidden)), *(rng.normal(size=(hidden, hidden)) for _ in range(4))
    found = tensor.tensor_parallel_attention(X, *weights, heads, devices)
    np.testing.assert_allclose(found, whole_attention(X, *weights, heads), rtol=1e-8, atol=1e-10)


@given(st.integers(1, 4), st.integers(1, 4), st.integers(1, 4), SEEDS)
def test_the_pieces_are_the_matrix(rows, columns, devices, seed):
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(rows, columns * devices))
    pieces = tensor.split_columns(W, devices)
    assert len(pieces) == devices and {piece.shape for piece in pieces} == {(rows, columns)}
    np.testing.assert_array_equal(np.hstack(pieces), W)
    np.testing.assert_array_equal(np.vstack(tensor.split_rows(W.T, devices)), W.T)


@given(st.integers(2, 8), SEEDS)
def test_rows_first_add_up_before_the_gelu_and_not_after_it(devices, seed):
    rng = np.random.default_rng(seed)
    X, W = rng.normal(size=(3, devices)), rng.normal(size=(devices, 4))
    sums = [x @ w for x, w in zip(np.split(X, devices, axis=1), tensor.split_rows(W, devices), strict=True)]
    np.testing.assert_allclose(np.sum(sums, axis=0), X @ W, **CLOSE)
    assert not np.allclose(np.sum([tensor.gelu(each) for each in sums], axis=0), tensor.gelu(X @ W), **CLOSE)


def test_a_whole_float_is_a_count():
    W = np.arange(8.0).reshape(2, 4)
    assert [piece.tolist() for piece in tensor.split_columns(W, 2.0)] == [[[0, 1], [4, 5]], [[2, 3], [6, 7]]]


EYE = np.eye(4)


@pytest.mark.parametrize(
    ("refused", "said"),
    [
        (lambda: tensor.split_columns(np.ones((2, 4)), 3), r"devices = 3 does not divide the 4 columns of W"),
        (lambda: tensor.split_rows(np.ones((4, 2)), 3), r"devices = 3 does not divide the 4 rows of W"),
        (lambda: tensor.split_columns(EYE, 0), r"devices must be a whole number of at least 1, not 0"),
        (lambda: tensor.split_columns(np.ones(4), 2), r"W must be a matrix of two dimensions; its shape is \(4,\)"),
        (lambda: tensor.mlp_partial(EYE, EYE, np.ones((3, 4))), r"do not go together: their shapes are \(\(4, 4\), "),
        (lambda: tensor.tensor_parallel_mlp(EYE, EYE, np.ones((8, 4)), 2), r"W_down_piece do not go together"),
        (lambda: tensor.tensor_parallel_attention(*[EYE] * 5, 2, 4), r"devices = 4 does not divide heads = 2"),
        (lambda: tensor.tensor_parallel_attention(*[EYE] * 5, 3, 1), r"heads = 3 does not divide the hidden size 4"),
        (
            lambda: tensor.tensor_parallel_attention(*[EYE] * 4, np.ones((4, 2)), 2, 1),
            r"Wo must have the shape \(4, 4\)",
        ),
        (lambda: tensor.tensor_parallel_traffic(1, 2.5, 8, 2, 2), r"seq must be a whole number .* not 2.5"),
        (lambda: tensor.tensor_parallel_traffic(1, 2, 8, 2, 0), r"bytes_per_element must be .* above 0, not 0"),
    ],
)
def test_refusals_name_the_argument_and_its_value(refused, said):
    with pytest.raises(ValueError, match=said):
        refused()
