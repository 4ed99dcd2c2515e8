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
