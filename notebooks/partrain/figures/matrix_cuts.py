"""The two matrices of an MLP in their pieces, where the devices swap, and whether the pieces give the whole result."""

import numpy as np

from partrain import style
from partrain.figures import svg
from partrain.figures.mlp_in_pieces import HIDDEN, INNER, TOKENS, differences, swaps_needed, whole_result

HEIGHT = 578  # pixels; always the same, so that nothing below the picture moves while a slider does
CELL = 13  # pixels of one entry
SHEET = 3  # pixels from one partial sum to the next in their stack
FIRST, SECOND = 110, 342  # pixels: the middles of the two products
FILLS = ("#cfe4f3", "#fbe5b6", "#cdebdf", "#efd9e6")  # light twins of style.SERIES
WHOLE = "#eeeeee"  # what every device has whole
AGREE = 1e-9  # largest difference up to which two results count as the same
STATES = {"whole": "whole on each device", "columns": "by columns", "rows": "by rows", "partial": "partial sums"}


def matrix_cuts(devices, up, down, yours=None, *, unfinished=None):
    """Draw gelu(X @ W_up) @ W_down over `devices`, with W_up cut by `up` and W_down by `down` ("columns" or "rows").

    devices divide 8. yours, if given, is the reader's result for these matrices; unfinished, if given, is a sentence
    that says why there is none.
    """
    swaps = swaps_needed(devices, up, down)
    off, late = differences(devices, up, down)
    sentence = unfinished or _sentence(devices, up, down, late)
    rows = _results(swaps, off, late)
    if yours is not None:
        gap = float(np.abs(yours - whole_result()).max())
        same = "equals" if gap <= AGREE else f"is off by up to {_plain(gap)} from"
        sentence = f"Your tensor_parallel_mlp {same} the whole MLP on {style.count(devices, 'device')}. {sentence}"
        rows.append(("your function", "equal to the whole MLP" if gap <= AGREE else f"off by up to {_plain(gap)}"))
    return svg.picture(
        sentence,
        HEIGHT,
        *_first_product(devices, up, swaps),
        *_second_product(devices, up, down, swaps),
        svg.line(24, 464, 736, 464, style.RULE),
        *(piece for row, words in enumerate(rows) for piece in _row(489 + 22 * row, *words)),
    )


# ---- the words ----------------------------------------------------------------------------------------------------


def _sentence(devices, up, down, late):
    if devices == 1:
        return "On one device nothing is cut, and nothing is sent."
    start = f"{up.capitalize()}, then {down}, on {style.count(devices, 'device')}:"
    if (up, down) == ("columns", "rows"):
        return f"{start} the GeLU needs no swap before it, and one all-reduce at the end gives the whole MLP."
    if up == "columns":
        return (
            f"{start} the GeLU needs no swap before it, but two all-gathers are needed, one before the second product."
        )
    second = "one all-gather" if down == "columns" else "another"
    return (
        f"{start} one all-reduce is needed before the GeLU and {second} at the end; if the first came after the "
        f"GeLU, the result would be off by up to {_plain(late)}."
    )


def _results(swaps, off, late):
    names = [name for name in swaps if name]
    kinds = {name: names.count(name) for name in names}
    words = " and ".join(f"{style.in_words(n)} {style.plural(n, name)}" for name, n in kinds.items())
    same = "equal to the whole MLP" if off <= AGREE else f"off by up to {_plain(off)} from the whole MLP"
    rows = [("swaps, forward", words or "none"), ("numpy, as drawn", same)]
    if late is not None and names:
        reach = _plain(float(np.abs(whole_result()).max()))
        rows.append(("all-reduce after the GeLU", f"off by up to {_plain(late)}, where the results reach {reach}"))
    return rows


def _plain(value):
    return style.significant(value) if value < 1e6 else f"{value:.1e}"


# ---- the drawing --------------------------------------------------------------------------------------------------


def _first_product(devices, up, swaps):
    x_state, z_state = ("whole", "columns") if up == "columns" else ("columns", "partial")
    yield from _matrix(24, FIRST, (TOKENS, HIDDEN), "X", x_state, devices)
    yield from _sign(143, FIRST, "@")
    yield from _matrix(158, FIRST, (HIDDEN, INNER), "W_up", up, devices)
    yield from _sign(381, FIRST, "=")
    yield from _matrix(396, FIRST, (TOKENS, INNER), "X @ W_up", z_state, devices)
    before, after, _ = swaps
    box = 680 if before else 636  # left edge of the GeLU
    yield svg.rect(box, FIRST - 26, 54, 52, style.PAPER, stroke=style.INK, rx=8)
    yield svg.text(box + 27, FIRST + 4.5, "GeLU", anchor="middle", bold=True)
    if before or after:
        yield from _swap(640 if before else 707, FIRST, before or after)


def _second_product(devices, up, down, swaps):
    h_state, y_state = ("columns", "partial") if down == "rows" else ("whole", "columns")
    yield from _matrix(24, SECOND, (TOKENS, INNER), "GeLU(X @ W_up)", h_state, devices)
    yield from _sign(247, SECOND, "@")
    yield from _matrix(262, SECOND, (INNER, HIDDEN), "W_down", down, devices)
    yield from _sign(381, SECOND, "=")
    if devices > 1:
        yield from _matrix(396, SECOND, (TOKENS, HIDDEN), "result", y_state, devices)
        yield from _swap(548, SECOND, swaps[2])
        yield from _matrix(612, SECOND, (TOKENS, HIDDEN), "result", "whole", devices)
        yield svg.text(396, 226, "The number on a piece is the device that holds it.", style.SMALL, style.QUIET)
    else:
        yield from _matrix(396, SECOND, (TOKENS, HIDDEN), "result", "whole", devices)


def _sign(x, y, words):
    yield svg.text(x, y + 5, words, 16, anchor="middle", bold=True)


def _matrix(x, middle, shape, name, state, devices):
    """A matrix with its name and state over it: whole, in pieces with their devices on them, or a stack of sums."""
    height, width = CELL * shape[0], CELL * shape[1]
    y = middle - height / 2
    if devices == 1:
        state = "whole"
    yield svg.text(x, y - 23, name, bold=True)
    said = "whole" if devices == 1 or (state == "whole" and name == "X") else STATES[state]
    yield svg.text(x, y - 7, said, style.SMALL, style.QUIET)
    if state == "whole":
        yield svg.rect(x, y, width, height, WHOLE, stroke=style.QUIET)
    elif state == "partial":
        yield from _stack(x, y, width, height, devices)
    else:
        yield from _pieces(x, y, width, height, state, devices)


def _pieces(x, y, width, height, state, devices):
    for d in range(devices):
        if state == "columns":
            left, top, wide, high = x + width * d / devices, y, width / devices, height
        else:
            left, top, wide, high = x, y + height * d / devices, width, height / devices
        yield svg.rect(left, top, wide, high, FILLS[d % 4], stroke=style.QUIET)
        yield svg.text(left + wide / 2, top + high / 2 + 4.5, str(d), style.SMALL, anchor="middle")


def _stack(x, y, width, height, devices):
    """One sheet a device, each as large as the whole."""
    for d in reversed(range(devices)):
        yield svg.rect(x + SHEET * d, y + SHEET * d, width, height, FILLS[d % 4], stroke=style.QUIET)
    yield svg.text(x + width / 2, y + height / 2 + 4.5, f"{devices} sums", style.SMALL, anchor="middle", bold=True)


def _swap(x, middle, name):
    """The hatched bar of a swap between all devices, with its name under it."""
    top, high = middle - 34, 76
    yield svg.rect(x, top, 18, high, "#fbe5b6", stroke=style.ORANGE, stroke_width=1.5)
    yield svg.hatch(x, top, 18, high, 9, style.VERMILION, stroke_width=1.5)
    yield svg.text(x + 9, top + high + 16, name, style.SMALL, style.VERMILION, "middle", True)


def _row(y, name, words):
    yield svg.text(24, y, name)
    yield svg.text(216, y, words, bold=True)
