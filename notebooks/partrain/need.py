"""Refuse bad input early, with a sentence."""

import math
from numbers import Real


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
