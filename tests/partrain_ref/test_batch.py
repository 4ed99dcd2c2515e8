"""Part 1's reference against facts, other software's numbers and its own refusals."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from partrain_ref import batch

CLOSE = {"rtol": 0, "atol": 1e-12}


def drawn(row):
    """The data of one oracle row, drawn in the order that its block states."""
    rng = np.random.default_rng(row["seed"])
    rows = row.get("N") or sum(row["counts"])
    X = rng.standard_normal((rows, row["d"]))
    w = rng.standard_normal(row["d"])
    return X, w, rng.standard_normal(rows)


def mse_grad(X, w, y):
    return 2 / len(X) * X.T @ (X @ w - y)


@pytest.mark.parametrize(
    ("arguments", "tokens"),
    [
        ((4, 4096, 8, 8), 1_048_576),
        ((2, 4096, 16, 64), 8_388_608),
        ((4, 8, 2, 4), 256),
        ((32, 8192, 1, 64), 16_777_216),  # Llama 3 405B, 8,192 GPUs: "16M"
        ((16, 8192, 1, 128), 16_777_216),  # and 16,384 GPUs
    ],
)
def test_published_token_counts(arguments, tokens):
    assert batch.global_tokens(*arguments) == tokens


def test_seed_lessons(oracles):
    for row in oracles["seed_lessons"]:
        if "tokens" in row:
            devices = row.get("gpus", row.get("devices"))
            assert batch.global_tokens(row["micro"], row["seq"], row["accum"], devices) == row["tokens"]


def test_dp_gradient_mse(oracles):
    for row in oracles["dp_gradient_mse"]["rows"]:
        X, w, y = drawn(row)
        grad = batch.data_parallel_grad(w, X, y, row["world"])
        np.testing.assert_allclose(grad, row["ddp_grad"], **CLOSE)
        np.testing.assert_allclose(grad, row["single_grad"], **CLOSE)


def test_dp_uneven_tokens(oracles):
    block = oracles["dp_uneven_tokens"]
    lesson = block["seed_lesson"]
    assert batch.per_token_loss(lesson["losses"], lesson["counts"]) == lesson["per_token"] == 1.25
    for row in block["rows"]:
        X, w, y = drawn(row)
        cuts = np.cumsum(row["counts"])[:-1]
        grads = [
            [mse_grad(rows, w, targets)] for rows, targets in zip(np.split(X, cuts), np.split(y, cuts), strict=True)
        ]
        weighted = batch.token_weighted_grad(grads, [[n] for n in row["counts"]])
        np.testing.assert_allclose(weighted, row["ddp_grad_token_weighted"], **CLOSE)
        np.testing.assert_allclose(np.mean(grads, axis=0)[0], row["ddp_grad_mean_of_means"], **CLOSE)
        loss = batch.per_token_loss(row["local_mean_losses"], row["counts"])
        assert loss == pytest.approx(row["per_token_loss"], abs=1e-12)


def test_dp_accumulation_no_sync(oracles):
    """The mean over equal micro-batches, then over devices, is the gradient of the whole batch: one all-reduce."""
    for row in oracles["dp_accumulation_no_sync"]["rows"]:
        X, w, y = drawn(row)
        per_device = []
        for rows, targets in zip(np.split(X, row["world"]), np.split(y, row["world"]), strict=True):
            pieces = zip(np.split(rows, row["accum"]), np.split(targets, row["accum"]), strict=True)
            per_device.append(sum(mse_grad(a, w, b) / row["accum"] for a, b in pieces))
        np.testing.assert_allclose(batch.allreduce_mean(per_device), row["grad_no_sync"], **CLOSE)
        np.testing.assert_allclose(batch.data_parallel_grad(w, X, y, row["world"]), row["single_grad"], **CLOSE)
        assert row["allreduces_no_sync"] == 1


def test_the_loss_of_two_devices():
    assert batch.per_token_loss([2.0, 1.0], [52, 84]) == pytest.approx(188 / 136)


def test_a_zero_count_is_ignored_even_with_a_nan():
    assert batch.per_token_loss([2.0, math.nan, 0.0], [100, 0, 300]) == 0.5
    grad = batch.token_weighted_grad([[np.ones(2), np.full(2, math.nan)], [np.zeros(2)]], [[1, 0], [3]])
    np.testing.assert_allclose(grad, [0.25, 0.25])


@given(
    st.lists(st.tuples(st.floats(0, 10), st.integers(0, 400)), min_size=1, max_size=6).filter(
        lambda r: any(n for _, n in r)
    )
)
def test_the_per_token_loss_is_the_mean_over_all_tokens(rows):
    tokens = [loss for loss, n in rows for _ in range(n)]
    losses, counts = zip(*rows, strict=True)
    assert batch.per_token_loss(losses, counts) == pytest.approx(np.mean(tokens), rel=1e-9, abs=1e-12)


@given(st.integers(1, 6), st.integers(1, 4), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_equal_slices_give_the_single_device_gradient(devices, per_device, features, seed):
    rng = np.random.default_rng(seed)
    X, w, y = (
        rng.normal(size=(devices * per_device, features)),
        rng.normal(size=features),
        rng.normal(size=devices * per_device),
    )
    before = X.copy(), w.copy(), y.copy()
    np.testing.assert_allclose(batch.data_parallel_grad(w, X, y, devices), mse_grad(X, w, y), rtol=1e-9, atol=1e-12)
    assert all(np.array_equal(a, b) for a, b in zip(before, (X, w, y), strict=True))


def test_refusals_name_the_argument_and_its_value():
    with pytest.raises(ValueError, match=r"devices must be a whole number of at least 1, not 0"):
        batch.global_tokens(4, 4096, 8, 0)
    with pytest.raises(ValueError, match=r"accum .* not 2.5"):
        batch.global_tokens(4, 4096, 2.5, 8)
    with pytest.raises(ValueError, match=r"devices = 2 does not divide the 13 rows"):
        batch.data_parallel_grad(np.ones(1), np.ones((13, 1)), np.ones(13), 2)
    assert batch.global_tokens(4.0, 4096, 8, 8) == 1_048_576


def test_weighted_mean_of_13_rows_on_2_devices_equals_the_full_batch():
    rng = np.random.default_rng(7)
    X, w, y = rng.normal(size=(13, 2)), rng.normal(size=2), rng.normal(size=13)
    grads = [[mse_grad(X[:7], w, y[:7])], [mse_grad(X[7:], w, y[7:])]]
    np.testing.assert_allclose(batch.token_weighted_grad(grads, [[7], [6]]), mse_grad(X, w, y), rtol=1e-12)
