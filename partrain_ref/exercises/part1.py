"""Part 1, split the batch: exercises, with the mistakes of the field as wrong twins.

Wrong numbers and their causes: the fields' tables of misconceptions (mean of means, one GPU's share, ...); the half fix
is the state of several libraries between October 2024 and July 2025 (transformers issue 34242, PR 34373).
"""

from __future__ import annotations

import math

import numpy as np

from autograder.exercise import Exercise, Mistake, call, refuse
from partrain_ref import batch

NAN = math.nan

# ---- how many tokens in an update ---------------------------------------------------------------------------------

FORGOT_ACCUMULATION = "That counts one micro-batch on each device. A device adds up several before one update."
ONE_GPU = "That is one GPU's share. Every device works on sequences of its own in the same update."
SEQUENCES = "Those are sequences. The question asks for tokens: each sequence holds many."
ONE_MICRO_BATCH = "That is one micro-batch on one GPU. Count all micro-batches of an update, on all devices."


def _draw_global_tokens(rng):
    for _ in range(3):
        yield call(
            int(rng.integers(2, 33)),
            int(2 ** rng.integers(7, 13) + rng.integers(0, 2) * 96),
            int(rng.integers(2, 33)),
            int(rng.integers(2, 129)),
        )
    yield call(float(rng.integers(2, 9)), 512, 3, int(rng.integers(2, 9)))  # 4.0 counts as whole
    yield call(int(rng.integers(2, 9)), 1024, 1, 1)  # no accumulation, one device


tokens_per_update = Exercise(
    "tokens_per_update",
    kind="number",
    reference=64 * 2 * 16 * 4096,
    unit="tokens",
    points=1,
    mistakes=(
        Mistake("accumulation_forgotten", 64 * 2 * 4096, FORGOT_ACCUMULATION),
        Mistake("one_gpu_share", 2 * 16 * 4096, ONE_GPU),
        Mistake("sequences", 64 * 2 * 16, SEQUENCES, unit=True),
        Mistake("one_micro_batch", 2 * 4096, ONE_MICRO_BATCH),
    ),
)

small_run_tokens = Exercise(
    "small_run_tokens",
    kind="number",
    reference=4 * 4 * 8 * 2,
    unit="tokens",
    points=1,
    mistakes=(
        Mistake("accumulation_forgotten", 4 * 4 * 8, FORGOT_ACCUMULATION),
        Mistake("one_gpu_share", 4 * 8 * 2, ONE_GPU),
        Mistake(
            "too_few_factors",
            4 * 8,
            "Two of the four numbers are missing: 4 × 8 is one micro-batch on one device, in tokens, and 4 × 4 × 2 "
            "is the "
            "whole update, in sequences. The question asks for the tokens of the whole update.",
        ),
        Mistake(
            "padding_subtracted",
            4 * (4 * 8 * 2 - 10),
            "That leaves out the padding. When this part counts a batch, padding is not subtracted.",
        ),
    ),
)

swaps_per_update = Exercise(
    "swaps_per_update",
    kind="number",
    reference=1,
    unit="all-reduces",
    points=1,
    mistakes=(
        Mistake(
            "one_per_micro_batch",
            8,
            "That is one all-reduce after every micro-batch. The gradients of the micro-batches are first added up on "
            "each device; nothing needs to be sent until the sum is complete.",
        ),
        Mistake(
            "one_more",
            9,
            "That is one all-reduce after every micro-batch and one more for the update. The devices need nothing from "
            "each other before they have added up all their micro-batches.",
        ),
        Mistake("one_per_device", 4, "That is one for each device. One all-reduce involves all of them at once."),
        Mistake("one_per_device_and_micro_batch", 32, "That counts every micro-batch on every device."),
        Mistake(
            "none",
            0,
            "Without any all-reduce each device would step with its own gradient, and the copies would drift apart.",
        ),
    ),
)

global_tokens = Exercise(
    "global_tokens",
    reference=batch.global_tokens,
    points=4,
    examples=(call(4, 4096, 8, 8), call(4, 8, 2, 4)),
    draw=_draw_global_tokens,
    refusals=(
        refuse("devices is 0", 4, 4096, 8, 0),
        refuse("accum is 2.5", 4, 4096, 2.5, 8),
        refuse("seq is negative", 4, -8, 8, 8),
        refuse("per_device_batch is True", True, 4096, 8, 8),
        refuse("seq is NaN", 4, NAN, 8, 8),
        refuse("devices is infinite", 4, 4096, 8, math.inf),
    ),
    mistakes=(
        Mistake("sequences", lambda b, seq, accum, devices: b * accum * devices, SEQUENCES, unit=True),
        Mistake("accumulation_forgotten", lambda b, seq, accum, devices: b * seq * devices, FORGOT_ACCUMULATION),
        Mistake("one_gpu_share", lambda b, seq, accum, devices: b * seq * accum, ONE_GPU),
        Mistake("one_micro_batch", lambda b, seq, accum, devices: b * seq, ONE_MICRO_BATCH),
    ),
)

# ---- averaging gradients ------------------------------------------------------------------------------------------


def _draw_allreduce_mean(rng):
    for devices, shape in ((3, (4,)), (5, (2, 3)), (int(rng.integers(6, 9)), (3,)), (1, (2, 2))):
        yield call([rng.normal(size=shape).round(6) for _ in range(devices)])


allreduce_mean = Exercise(
    "allreduce_mean",
    reference=batch.allreduce_mean,
    points=4,
    examples=(
        call([np.array([1.0, 2.0]), np.array([5.0, 2.0])]),
        call(
            [np.array([[3.0, 0.0], [1.0, 1.0]]), np.array([[0.0, 3.0], [1.0, 1.0]]), np.array([[0.0, 0.0], [1.0, 4.0]])]
        ),
    ),
    draw=_draw_allreduce_mean,
    refusals=(
        refuse("grads is empty", []),
        refuse("the shapes are unequal", [np.ones(3), np.ones(2)]),
        refuse("a shape of one entry meets a shape of three", [np.ones(3), np.ones(1)]),
        refuse("an entry is NaN", [np.array([1.0, NAN]), np.ones(2)]),
        refuse("an entry is infinite", [np.ones(2), np.array([1.0, math.inf])]),
        refuse("the arrays have no entries", [np.ones(0), np.ones(0)]),
    ),
    mistakes=(
        Mistake(
            "sum",
            lambda grads: np.sum(grads, axis=0),
            "That is the sum over the devices. It grows with the number of devices; the mean does not.",
        ),
        Mistake(
            "one_mean_over_all",
            lambda grads: float(np.mean(grads)),
            "That is one mean over all elements of all arrays. Average over the devices only: each element of the "
            "gradient keeps its own value.",
        ),
        Mistake(
            "one_mean_over_all",
            lambda grads: np.full_like(grads[0], np.mean(grads)),
            "That is one mean over all elements of all arrays. Average over the devices only: each element of the "
            "gradient keeps its own value.",
        ),
        Mistake(
            "mean_of_each_device",
            lambda grads: np.array([np.mean(grad) for grad in grads]),
            "That is the mean of each device's own array. The mean is taken across devices, element by element.",
        ),
        Mistake(
            "first_device_only",
            lambda grads: np.array(grads[0]),
            "That is the first device's array. After an all-reduce each device holds the mean over all devices.",
        ),
    ),
)


def _rows(rng, rows, features):
    return (
        rng.normal(size=features).round(6),
        rng.normal(size=(rows, features)).round(6),
        rng.normal(size=rows).round(6),
    )


def _draw_data_parallel_grad(rng):
    for devices, per_device, features in ((2, 3, 2), (3, int(rng.integers(2, 5)), 3), (4, 2, 4), (1, 5, 2)):
        yield call(*_rows(rng, devices * per_device, features), devices)
    yield call(*_rows(rng, 5, 2), 5)  # one row a device


def _local_grads(w, X, y, devices):
    slices = zip(np.split(X, int(devices)), np.split(y, int(devices)), strict=True)
    return [2 / len(rows) * rows.T @ (rows @ w - targets) for rows, targets in slices]


_X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 1.0]])
_Y = np.array([0.0, 0.0, 4.0, 1.0])
_W = np.array([1.0, 2.0])

data_parallel_grad = Exercise(
    "data_parallel_grad",
    reference=batch.data_parallel_grad,
    points=4,
    examples=(call(_W, _X, _Y, 2), call(_W, _X, _Y, 4)),
    draw=_draw_data_parallel_grad,
    refusals=(
        refuse("devices does not divide the rows", _W, _X, _Y, 3),
        refuse("devices is 0", _W, _X, _Y, 0),
        refuse("devices is 1.5", _W, _X, _Y, 1.5),
        refuse("devices is True", _W, _X, _Y, True),
        refuse("y has one row more than X", _W, _X, np.ones(5), 1),
        refuse("w has one feature more than X", np.ones(3), _X, _Y, 2),
        refuse("there are no rows", _W, np.ones((0, 2)), np.ones(0), 1),
        refuse("an entry of y is NaN", _W, _X, np.array([1.0, NAN, 0.0, 1.0]), 2),
    ),
    mistakes=(
        Mistake(
            "sum_over_devices",
            lambda w, X, y, devices: np.sum(_local_grads(w, X, y, devices), axis=0),
            "That is the sum of the devices' gradients. Each of them is already a mean over its own rows; average "
            "them.",
        ),
        Mistake(
            "factor_2_forgotten",
            lambda w, X, y, devices: np.mean(_local_grads(w, X, y, devices), axis=0) / 2,
            "The factor 2 is missing. It comes from the square in the mean squared error.",
        ),
        Mistake(
            "divided_twice",
            lambda w, X, y, devices: np.mean(_local_grads(w, X, y, devices), axis=0) / devices,
            "That is divided by the number of devices twice: each device divided by all rows, and then the devices "
            "were "
            "averaged as well. Divide by the device's own rows, or add the devices up.",
        ),
        Mistake(
            "sign_flipped",
            lambda w, X, y, devices: -np.mean(_local_grads(w, X, y, devices), axis=0),
            "The gradient points the other way. The error is X @ w − y, prediction minus target.",
        ),
        Mistake(
            "first_device_only",
            lambda w, X, y, devices: _local_grads(w, X, y, devices)[0],
            "That is the gradient of the first device's rows. The other devices' rows count as much.",
        ),
    ),
)

# ---- every token weighs the same ----------------------------------------------------------------------------------

MEAN_OF_MEANS = (
    "That is the mean of the means: each micro-batch gets one vote, so the tokens of a short micro-batch weigh more "
    "than "
    "those of a long one."
)
MEANS_NOT_WEIGHED = "The means were added as they are and divided by the tokens. Each mean counts once per token first."
ZERO_COUNT = (
    "A micro-batch without tokens has a mean that means nothing, and here it is not a number. It still took part in "
    "the "
    "sum and spoiled it. Leave out what belongs to a count of 0."
)


def _draw_per_token_loss(rng):
    for size in (2, 4, int(rng.integers(5, 8))):
        counts = [int(n) for n in rng.choice(np.arange(1, 500), size=size, replace=False)]
        yield call([float(x) for x in rng.uniform(0.2, 6.0, size).round(4)], counts)
    yield call([1.5, 0.0, round(rng.uniform(2, 4), 3)], [int(rng.integers(5, 50)), int(rng.integers(51, 99)), 0])
    yield call([NAN, 2.5, round(rng.uniform(0, 2), 3)], [0, int(rng.integers(5, 50)), int(rng.integers(51, 99))])


def _weighted(losses, counts):
    return sum(loss * n for loss, n in zip(losses, counts, strict=True))


def _present(losses, counts):
    return [loss for loss, n in zip(losses, counts, strict=True) if n]


def _tokens_sum(losses, counts):
    return sum(loss * n for loss, n in zip(losses, counts, strict=True) if n)


loss_per_token = Exercise(
    "loss_per_token",
    kind="number",
    reference=(52 * 2.0 + 84 * 1.0) / (52 + 84),
    digits=3,
    points=1,
    mistakes=(
        Mistake("mean_of_means", 1.5, "That is the mean of the two means: each device gets one vote, not each token."),
        Mistake(
            "weights_swapped", (84 * 2.0 + 52 * 1.0) / 136, "Each loss was weighed with the other device's tokens."
        ),
        Mistake("sum", 188.0, "That is the sum of all token losses. Divide it once, by the number of tokens."),
        Mistake("sum_over_micro_batches", 94.0, "The sum was divided by the number of devices. Divide by the tokens."),
    ),
)

per_token_loss = Exercise(
    "per_token_loss",
    reference=batch.per_token_loss,
    points=4,
    examples=(call([2.0, 1.0], [100, 300]), call([2.0, 1.0, NAN], [100, 300, 0])),
    draw=_draw_per_token_loss,
    refusals=(
        refuse("the lists are not equally long", [2.0, 1.0], [100]),
        refuse("the lists are empty", [], []),
        refuse("all counts are 0", [2.0, 1.0], [0, 0]),
        refuse("a count is negative", [2.0, 1.0], [100, -1]),
        refuse("a count is 1.5", [2.0, 1.0], [1.5, 3]),
        refuse("a loss with tokens is NaN", [NAN, 1.0], [100, 300]),
        refuse("a loss with tokens is infinite", [2.0, math.inf], [100, 300]),
    ),
    mistakes=(
        Mistake("mean_of_means", lambda m, n: sum(m) / len(m), MEAN_OF_MEANS),
        Mistake("mean_of_means", lambda m, n: sum(_present(m, n)) / len(_present(m, n)), MEAN_OF_MEANS),
        Mistake("mean_of_means", lambda m, n: float(np.nanmean(m)), MEAN_OF_MEANS),
        Mistake("sum", _weighted, "That is the sum of all token losses. Divide it once, by the number of tokens."),
        Mistake("sum", _tokens_sum, "That is the sum of all token losses. Divide it once, by the number of tokens."),
        Mistake(
            "sum_over_micro_batches",
            lambda m, n: _weighted(m, n) / len(m),
            "The sum of the token losses was divided by the number of micro-batches. Divide by the number of tokens.",
        ),
        Mistake(
            "sum_over_micro_batches",
            lambda m, n: _tokens_sum(m, n) / len(m),
            "The sum of the token losses was divided by the number of micro-batches. Divide by the number of tokens.",
        ),
        Mistake("means_not_weighed", lambda m, n: sum(m) / sum(n), MEANS_NOT_WEIGHED),
        Mistake("means_not_weighed", lambda m, n: sum(_present(m, n)) / sum(n), MEANS_NOT_WEIGHED),
        Mistake("zero_count_not_ignored", lambda m, n: _weighted(m, n) / sum(n), ZERO_COUNT),
    ),
)


def _draw_token_weighted_grad(rng):
    def grads(*sizes, shape=(3,)):
        return [[rng.normal(size=shape).round(5) for _ in range(size)] for size in sizes]

    def counts(*sizes):
        picked = iter(rng.choice(np.arange(1, 300), size=sum(sizes), replace=False))
        return [[int(next(picked)) for _ in range(size)] for size in sizes]

    yield call(grads(2, 2), counts(2, 2))
    yield call(grads(3, 1, 2, shape=(2, 2)), counts(3, 1, 2))  # devices need not hold equally many
    yield call(grads(2, 2, 2, 2), counts(2, 2, 2, 2))
    empty = grads(2, 2)
    empty[1][0] = np.full(3, NAN)
    yield call(empty, [[int(rng.integers(5, 40)), int(rng.integers(41, 90))], [0, int(rng.integers(91, 150))]])


def _flat(grads, counts, skip=False):
    pairs = [(np.asarray(g), n) for gs, ns in zip(grads, counts, strict=True) for g, n in zip(gs, ns, strict=True)]
    return [(g, n) for g, n in pairs if n or not skip]


def _mean_of_means(grads, counts, skip):
    return np.mean([g for g, _ in _flat(grads, counts, skip)], axis=0)


def _mean_of_device_means(grads, counts, skip):
    rows = zip(grads, counts, strict=True)
    return np.mean([_mean_of_means([gs], [ns], skip) for gs, ns in rows], axis=0)


def _weighted_mean(grads, counts, skip):
    pairs = _flat(grads, counts, skip)
    return sum(g * n for g, n in pairs) / sum(n for _, n in pairs)


def _half_fix(grads, counts, skip):
    return np.mean([_weighted_mean([gs], [ns], skip) for gs, ns in zip(grads, counts, strict=True)], axis=0)


def _both_ways(name, twin, sentence):
    """The same mistake with and without the care for counts of 0."""
    return tuple(Mistake(name, lambda g, n, skip=skip: twin(g, n, skip), sentence) for skip in (False, True))


_G = [[np.array([8.0, 0.0]), np.array([4.0, 4.0])], [np.array([1.0, 3.0]), np.array([1.0, 0.0])]]
_N = [[1, 3], [8, 4]]

token_weighted_grad = Exercise(
    "token_weighted_grad",
    reference=batch.token_weighted_grad,
    points=4,
    examples=(call(_G, _N), call([[_G[0][0], _G[0][1]], [np.array([NAN, NAN]), _G[1][1]]], [[1, 3], [0, 4]])),
    draw=_draw_token_weighted_grad,
    refusals=(
        refuse("a device has fewer counts than gradients", _G, [[10, 30], [20]]),
        refuse("there are fewer devices in the counts", _G, [[10, 30]]),
        refuse("there are no devices", [], []),
        refuse("all counts are 0", _G, [[0, 0], [0, 0]]),
        refuse("a count is negative", _G, [[10, 30], [20, -1]]),
        refuse("a count is 0.5", _G, [[10, 30], [20, 0.5]]),
        refuse("the gradients have unequal shapes", [[np.ones(2)], [np.ones(3)]], [[1], [2]]),
        refuse("a gradient with tokens holds NaN", [[np.ones(2)], [np.array([NAN, 1.0])]], [[1], [2]]),
    ),
    mistakes=(
        *_both_ways("mean_of_means", _mean_of_means, MEAN_OF_MEANS),
        *_both_ways("mean_of_means", _mean_of_device_means, MEAN_OF_MEANS),
        *_both_ways(
            "half_fix",
            _half_fix,
            "The tokens are weighed inside each device, but the devices are averaged afterwards: that is the half "
            "fix. A "
            "device with few tokens still gets as loud a voice as one with many.",
        ),
        *_both_ways(
            "sum",
            lambda g, n, skip: sum(grad * count for grad, count in _flat(g, n, skip)),
            "That is the sum over all tokens. Divide it once, by the number of tokens on all devices.",
        ),
        *_both_ways(
            "divided_twice",
            lambda g, n, skip: _weighted_mean(g, n, skip) / len(g),
            "That is divided twice: by all tokens, and by the number of devices as well.",
        ),
        Mistake("zero_count_not_ignored", lambda g, n: _weighted_mean(g, n, False), ZERO_COUNT),
    ),
)

# ---- choices ------------------------------------------------------------------------------------------------------

why_average = Exercise(
    "why_average",
    kind="choice",
    reference="c",
    points=1,
    mistakes=(
        Mistake(
            "another_direction",
            "a",
            "The sum over equal slices points the same way as the gradient of the batch; only its length differs.",
        ),
        Mistake(
            "removes_differences",
            "b",
            "Dividing by the number of devices shrinks every part of the sum alike, so it removes nothing.",
        ),
        Mistake(
            "cheaper_to_send",
            "d",
            "A number takes the same bytes whatever its size, so a mean and a sum cost the same traffic.",
        ),
    ),
)

what_to_divide_by = Exercise(
    "what_to_divide_by",
    kind="choice",
    reference="a",
    points=1,
    mistakes=(
        Mistake(
            "half_fix",
            "b",
            "That is the half fix: tokens weigh the same inside one device, but a device with few tokens gets as "
            "much say "
            "as one with many.",
        ),
        Mistake(
            "number_of_micro_batches",
            "c",
            "That gives a loss per micro-batch, not per token, and it grows with the length of the micro-batches.",
        ),
        Mistake(
            "padding_counted",
            "d",
            "That counts padding too. Positions without a loss would make the result too small.",
        ),
    ),
)

EXERCISES = (
    tokens_per_update,
    small_run_tokens,
    swaps_per_update,
    global_tokens,
    allreduce_mean,
    data_parallel_grad,
    per_token_loss,
    loss_per_token,
    token_weighted_grad,
    why_average,
    what_to_divide_by,
)
