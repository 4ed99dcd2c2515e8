"""An MLP in pieces: its numbers, the swaps between its devices, and how far it is from the whole one."""

import functools

import numpy as np

from partrain.layers import gelu

TOKENS, HIDDEN, INNER = 4, 8, 16  # entries; the inner size is usually 4 times the hidden size


@functools.cache
def example():
    """X, W_up and W_down of the picture: always the same numbers."""
    rng = np.random.default_rng(0)
    sizes = ((TOKENS, HIDDEN), (HIDDEN, INNER), (INNER, HIDDEN))
    return tuple(rng.standard_normal(size).round(2) / 2 for size in sizes)


@functools.cache
def whole_result():
    """The result on one device."""
    X, W_up, W_down = example()
    return gelu(X @ W_up) @ W_down


def swaps_needed(devices, up, down):
    """(the swap before the GeLU, the one after it, the one after the second product), each a name or ""."""
    if devices == 1:
        return "", "", ""
    before = "all-reduce" if up == "rows" else ""
    after = "all-gather" if up == down == "columns" else ""
    return before, after, "all-reduce" if down == "rows" else "all-gather"


@functools.cache
def differences(devices, up, down):
    """Largest differences from the whole MLP: of the pieces as drawn, and with the sum one step late (or None)."""
    X, W_up, W_down = example()
    if up == "columns":
        inner = np.hstack([gelu(X @ piece) for piece in np.split(W_up, devices, axis=1)])
        late = None
    else:
        cut = zip(np.split(X, devices, axis=1), np.split(W_up, devices), strict=True)
        sums = [x @ piece for x, piece in cut]
        inner = gelu(np.sum(sums, axis=0))
        late = float(np.abs(np.sum([gelu(each) for each in sums], axis=0) @ W_down - whole_result()).max())
    if down == "rows":
        cut = zip(np.split(inner, devices, axis=1), np.split(W_down, devices), strict=True)
        result = np.sum([part @ piece for part, piece in cut], axis=0)
    else:
        result = np.hstack([inner @ piece for piece in np.split(W_down, devices, axis=1)])
    return float(np.abs(result - whole_result()).max()), late
