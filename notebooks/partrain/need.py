"""Refuse bad input early, with a sentence."""

import math
from numbers import Real

import numpy as np


def need_counts(**named):
    """Raise ValueError, naming the argument and its value, unless each one is a whole number of at least 1.

    2.0 counts as whole; True, NaN and infinity do not. Returns nothing: `need_counts(devices=devices, seq=seq)`.
    """
    for name, value in named.items():
        number = isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
        if not number or value != int(value) or value < 1:
            raise ValueError(f"{name} must be a whole number of at least 1, not {value!r}")


def need_positive(**named):
    """Raise ValueError, naming the argument and its value, unless each one is a finite number above 0.

    1.5 is fine; 0, True, NaN and infinity are not. Returns nothing: `need_positive(params=params)`.
    """
    for name, value in named.items():
        number = isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
        if not number or value <= 0:
            raise ValueError(f"{name} must be a finite number above 0, not {value!r}")


def need_counts_or_zero(**named):
    """Like `need_counts`, but 0 is fine too: `need_counts_or_zero(step=step)`."""
    for name, value in named.items():
        number = isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
        if not number or value != int(value) or value < 0:
            raise ValueError(f"{name} must be a whole number of at least 0, not {value!r}")


def need_positive_or_zero(**named):
    """Like `need_positive`, but 0 is fine too: `need_positive_or_zero(final_lr=final_lr)`."""
    for name, value in named.items():
        number = isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
        if not number or value < 0:
            raise ValueError(f"{name} must be a finite number of at least 0, not {value!r}")


def need_matrices(**named):
    """Raise ValueError, naming the argument, unless each one is an array of two dimensions full of finite numbers.

    An array without entries is refused too. Returns nothing: `need_matrices(X=X, W=W)`.
    """
    for name, value in named.items():
        try:
            array = np.asarray(value, dtype=float)
        except (TypeError, ValueError):
            raise ValueError(f"{name} must be an array of numbers with equal rows") from None
        if array.ndim != 2 or array.size == 0:
            raise ValueError(f"{name} must have two dimensions and at least one entry; its shape is {array.shape}")
        if not np.isfinite(array).all():
            raise ValueError(f"{name} holds an entry that is not a finite number")


def need_order(order):
    """Raise ValueError unless `order` lists, for each stage, every micro-batch exactly once as "F" and once as "B".

    An item is a pair such as ("F", 0); micro-batches count from 0. Whether the pipeline can run it is not looked at.
    """
    try:
        stages = [[(letter, microbatch) for letter, microbatch in items] for items in order]
    except (TypeError, ValueError):
        raise ValueError('order must be a list of stages, each a list of pairs such as ("F", 0)') from None
    if not stages or not all(stages):
        raise ValueError(f"order must not be empty, and no stage of it either: {order!r}")
    for letter, microbatch in (item for items in stages for item in items):
        need_counts_or_zero(**{f"order: the micro-batch of {letter!r}": microbatch})
    count = 1 + int(max(microbatch for items in stages for _, microbatch in items))
    for stage, items in enumerate(stages):
        for item in [(letter, microbatch) for letter in "FB" for microbatch in range(count)]:
            if items.count(item) != 1:
                raise ValueError(f"order must have {item} once on stage {stage}, not {items.count(item)} times")
        if len(items) != 2 * count:
            raise ValueError(f"order must have only items of F and B, not these on stage {stage}: {items}")
