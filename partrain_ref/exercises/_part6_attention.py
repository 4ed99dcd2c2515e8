"""Part 6, attention with whole heads on each device: the exercise."""

from __future__ import annotations

import math

import numpy as np

from autograder.exercise import Exercise, Mistake, call, refuse
from partrain_ref import tensor
from partrain_ref.exercises._part6_cuts import NAN, matrix


def _attention_inputs(rng, tokens, hidden):
    return matrix(rng, tokens, hidden), *(matrix(rng, hidden, hidden) for _ in range(4))


def _draw(rng):
    sizes = ((3, 4, 2, 2), (3, 8, 4, 2), (2, 12, 4, 2), (int(rng.integers(4, 6)), 6, 2, 2), (3, 8, 4, 4), (2, 6, 3, 1))
    for tokens, hidden, heads, devices in sizes:
        yield call(*_attention_inputs(rng, tokens, hidden), heads, devices)


# ---- attention, with one thing or another done in another way -----------------------------------------------------


def _head_size(hidden, heads, devices):
    return math.sqrt(hidden / heads)


def _by_row(scores):
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    return shares / shares.sum(axis=1, keepdims=True)


def _by_column(scores):
    return _by_row(scores.T).T


def _over_all(scores):
    shares = np.exp(scores - scores.max())
    return shares / shares.sum()


def _causal(scores):
    later = np.triu(np.ones(scores.shape, dtype=bool), 1)
    return _by_row(np.where(later, -np.inf, scores))


def _neighbours(array, heads):
    return np.split(array, heads, axis=1)


def _interleaved(array, heads):
    return [array[:, head::heads] for head in range(heads)]


def _heads(X, Wq, Wk, Wv, heads, devices, divide_by=_head_size, share=_by_row, cut=_neighbours):
    """The outputs of all heads, before Wo."""
    scale = divide_by(X.shape[1], heads, devices)
    by_head = zip(*(cut(X @ W, int(heads)) for W in (Wq, Wk, Wv)), strict=True)
    return [share(q @ k.T / scale) @ v for q, k, v in by_head]


def _way(**ways):
    """The whole attention, with something done another way."""
    return lambda X, Wq, Wk, Wv, Wo, heads, devices: np.hstack(_heads(X, Wq, Wk, Wv, heads, devices, **ways)) @ Wo


def _partials(X, Wq, Wk, Wv, Wo, heads, devices):
    outputs = np.split(np.hstack(_heads(X, Wq, Wk, Wv, heads, devices)), int(devices), axis=1)
    return [output @ out for output, out in zip(outputs, np.split(Wo, int(devices)), strict=True)]


def _put_back(X, Wq, Wk, Wv, Wo, heads, devices):
    outputs = _heads(X, Wq, Wk, Wv, heads, devices, cut=_interleaved)
    return np.stack(outputs, axis=2).reshape(X.shape) @ Wo


def _one_head(divide_by):
    """Each device's columns taken for one head."""
    return lambda X, Wq, Wk, Wv, Wo, heads, devices: (
        np.hstack(_heads(X, Wq, Wk, Wv, devices, devices, lambda *_: divide_by(X.shape[1], heads, devices))) @ Wo
    )


INTERLEAVED = "The columns of a head were taken at intervals. A head is a run of neighbouring columns."
ONE_HEAD = (
    "Each device took its columns for one single head. It may hold several heads, and each has scores of its own."
)
CONCATENATED = "The devices' results were put beside or below each other. Each has the shape of the result: add them."
WRONG_AXIS = "The shares of a token do not add up to 1: the softmax is taken for each row of the scores by itself."

_SCALES = (
    (
        lambda hidden, heads, devices: math.sqrt(hidden),
        "The scores were divided by the root of the hidden size. A head works with a part of it.",
    ),
    (
        lambda hidden, heads, devices: math.sqrt(hidden / devices),
        "The scores were divided by the root of the columns on a device. A device may hold several heads.",
    ),
    (
        lambda hidden, heads, devices: math.sqrt(heads),
        "The scores were divided by the root of the number of heads. It is the size of a head that counts.",
    ),
    (
        lambda hidden, heads, devices: hidden / heads,
        "The scores were divided by the size of a head. Its root is meant.",
    ),
    (
        lambda hidden, heads, devices: 1 / math.sqrt(hidden / heads),
        "The scores were multiplied where they should be divided.",
    ),
)

_RNG = np.random.default_rng(6)
_TINY = (
    np.array([[1.0, 0.0, 2.0, 0.0], [0.0, 1.0, 0.0, 1.0]]),
    np.eye(4),
    np.eye(4),
    np.array([[1.0, 0, 0, 0], [0, 2, 0, 0], [0, 0, 1, 0], [0, 0, 1, 3]]),
    np.array([[1.0, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 2], [0, 0, 1, 1]]),
)
_SMALL = tuple(array.round(1) for array in _attention_inputs(_RNG, 3, 8))
_WIDE = tuple(array.round(1) for array in _attention_inputs(_RNG, 2, 6))


def _with_entry(position, value):
    arrays = [array.copy() for array in _TINY]
    arrays[position][0, 0] = value
    return arrays


tensor_parallel_attention = Exercise(
    "tensor_parallel_attention",
    reference=tensor.tensor_parallel_attention,
    points=6,
    examples=(call(*_TINY, 2, 2), call(*_SMALL, 4, 2), call(*_WIDE, 2, 2)),
    draw=_draw,
    refusals=(
        refuse("devices does not divide the heads", *_TINY, 2, 4),
        refuse("heads does not divide the hidden size", *_TINY, 3, 1),
        refuse("heads is 0", *_TINY, 0, 1),
        refuse("devices is 0", *_TINY, 2, 0),
        refuse("devices is 1.5", *_TINY, 2, 1.5),
        refuse("heads is True", *_TINY, True, 1),
        refuse("Wk has other columns than X", *_TINY[:2], np.ones((4, 2)), *_TINY[3:], 2, 2),
        refuse("Wo is not square", *_TINY[:4], np.ones((4, 2)), 2, 2),
        refuse("X has no rows", np.ones((0, 4)), *_TINY[1:], 2, 2),
        refuse("an entry of X is NaN", *_with_entry(0, NAN), 2, 2),
        refuse("an entry of Wo is infinite", *_with_entry(4, math.inf), 2, 2),
    ),
    mistakes=(
        Mistake(
            "scale_forgotten",
            _way(divide_by=lambda *_: 1.0),
            "The scores were not scaled. They grow with the size of a head, until one token takes nearly all.",
        ),
        *(Mistake("another_scale", _way(divide_by=divide_by), sentence) for divide_by, sentence in _SCALES),
        Mistake("softmax_axis", _way(share=_by_column), WRONG_AXIS),
        Mistake("softmax_axis", _way(share=_over_all), WRONG_AXIS),
        Mistake(
            "softmax_forgotten",
            _way(share=lambda scores: scores),
            "The values were weighed with the scores themselves. The softmax first turns them into shares.",
        ),
        Mistake("heads_interleaved", _way(cut=_interleaved), INTERLEAVED),
        Mistake("heads_interleaved", _put_back, INTERLEAVED),
        Mistake("one_head_on_each_device", _one_head(_head_size), ONE_HEAD),
        Mistake("one_head_on_each_device", _one_head(lambda hidden, heads, t: math.sqrt(hidden / t)), ONE_HEAD),
        Mistake("one_head_on_each_device", _one_head(lambda hidden, heads, t: math.sqrt(hidden)), ONE_HEAD),
        Mistake(
            "first_device_only",
            lambda *inputs: _partials(*inputs)[0],
            "That is what the first device has before the all-reduce. The heads of the others are missing.",
        ),
        Mistake(
            "mean",
            lambda *inputs: np.mean(_partials(*inputs), axis=0),
            "The devices' results were averaged. They are terms of one sum, and not each a result of its own.",
        ),
        Mistake("concatenated", lambda *inputs: np.hstack(_partials(*inputs)), CONCATENATED),
        Mistake("concatenated", lambda *inputs: np.vstack(_partials(*inputs)), CONCATENATED),
        Mistake("concatenated", lambda *inputs: np.stack(_partials(*inputs)), CONCATENATED),
        Mistake("concatenated", lambda *inputs: _partials(*inputs), CONCATENATED),
        Mistake(
            "output_forgotten",
            lambda X, Wq, Wk, Wv, Wo, heads, devices: np.hstack(_heads(X, Wq, Wk, Wv, heads, devices)),
            "Those are the outputs of the heads side by side. The output matrix Wo was not used.",
        ),
        Mistake(
            "causal_mask",
            _way(share=_causal),
            "Each token looked only at itself and at those before it. Here every token looks at all of them: no mask.",
        ),
        Mistake(
            "queries_and_keys_swapped",
            lambda X, Wq, Wk, Wv, Wo, heads, devices: _way()(X, Wk, Wq, Wv, Wo, heads, devices),
            "Queries and keys have changed places: row i of the scores belongs to the query of token i.",
        ),
    ),
)
