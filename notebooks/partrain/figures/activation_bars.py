"""Activation bytes of one transformer layer on each device: six ways to keep less, one of them looked at closely."""

import math

from partrain import style
from partrain.figures import svg

HEIGHT = 488  # pixels
LEFT, WIDEST = 224, 410  # pixels: where the bars begin, and the longest
TOP, PITCH, BAR = 52, 34, 22  # pixels: the rows
TABLE = 308  # pixels: the first row of the table
BAND = "#eeeeee"  # behind the chosen row
GB = 1e9
OUTSIDE, INSIDE, SCORES, INPUT = range(4)
NAMES = ("norms, dropouts, block inputs", "inside attention and MLP", "attention scores", "input of the layer")
AGREE = 1e-6  # relative difference up to which two amounts count as the same


def activation_bars(
    seq, batch, hidden, heads, tensor_parallel, sequence_parallel, recompute, yours=None, *, unfinished=None
):
    """Draw one bar a way of keeping activations, in GB on each device, and the parts of the chosen one.

    seq (tokens), batch (sequences), hidden, heads and tensor_parallel (devices) are whole numbers; recompute is "none",
    "selective" or "full". yours, if given, are the bytes that the reader's function finds for one layer; unfinished, if
    given, is a sentence that says why there are none.
    """
    t = tensor_parallel
    if heads % t:
        raise ValueError(f"{heads} heads cannot be shared out over {t} devices: {t} does not divide {heads}.")
    if sequence_parallel and seq % t:
        raise ValueError(f"{seq:,} tokens cannot be shared out over {t} devices: {t} does not divide {seq:,}.")
    sbh, scores = seq * batch * hidden, 5 * heads * seq / hidden
    rows = _rows(scores, t)
    chosen = _chosen(sequence_parallel, recompute)
    parts = rows[chosen][1]
    total = sbh * sum(each / by for _, each, by in parts)
    sentence = unfinished or _sentence(t, total, sum(sbh * each / by for part, each, by in parts if part == SCORES))
    if yours is not None:
        said = "as long as the bar" if math.isclose(yours, total, rel_tol=AGREE) else "but its bar has another length"
        sentence = f"Your activation_bytes gives {style.significant(yours / GB)} GB, {said}. {sentence}"
    longest = sbh * (34 + scores)
    return svg.picture(
        sentence,
        HEIGHT,
        svg.text(24, 30, "GB that one layer keeps on each device", fill=style.QUIET),
        svg.rect(14, TOP + PITCH * chosen - 6, 732, PITCH, BAND, rx=4),
        *(piece for at, row in enumerate(rows) for piece in _row(at, row, sbh, longest, at == chosen)),
        *_yours(yours, chosen, longest),
        *_table(parts, seq, batch, hidden, total),
        *_crossing(hidden, heads),
    )


def _rows(scores, t):
    """(name, parts) of each way; a part is (what, bytes for each of the s·b·h numbers, devices that share it)."""
    devices = style.count(t, "device")
    one = [(OUTSIDE, 10, 1), (INSIDE, 24, 1), (SCORES, scores, 1)]
    split = [(OUTSIDE, 10, 1), (INSIDE, 24, t), (SCORES, scores, t)]
    both = [(OUTSIDE, 10, t), (INSIDE, 24, t), (SCORES, scores, t)]
    return [
        ("1 device, everything kept", one),
        (f"{devices}", split),
        (f"{devices}, sequence parallel", both),
        (f"{devices}, selective", split[:2]),
        (f"{devices}, both", both[:2]),
        ("full recomputation", [(INPUT, 2, 1)]),
    ]


def _chosen(sequence_parallel, recompute):
    if recompute == "full":
        return 5
    return (3 if recompute == "selective" else 1) + bool(sequence_parallel)


def _sentence(t, total, scores):
    where = f"on each of {t} devices" if t > 1 else "on its one device"
    share = f"attention scores are {scores / total:.0%} of it" if scores else "attention scores are not kept"
    return f"One layer keeps {style.significant(total / GB)} GB {where}; {share}."


def _plain(value):
    """A whole number without decimals, another one to three digits."""
    return f"{value:,.0f}" if value == int(value) else style.significant(value)


def _pattern(part, x, y, width, height):
    """The fill of a part: solid, hatched, striped; the input of a layer is solid like the other inputs."""
    colour, fill = ((style.BLUE, style.BLUE), (style.ORANGE, "#fbe5b6"), (style.GREEN, "#cdebdf"), (style.BLUE,) * 2)[
        part
    ]
    yield svg.rect(x, y, width, height, fill, stroke=colour)
    if part == INSIDE:
        yield svg.hatch(x, y, width, height, 9, colour, stroke_width=1.5)
    if part == SCORES:
        yield svg.lines([(x + at, y, x + at, y + height) for at in range(5, math.ceil(width), 5)], colour)


def _row(at, row, sbh, longest, chosen):
    name, parts = row
    y, x, total = TOP + PITCH * at, LEFT, 0
    for part, each, by in parts:
        width = WIDEST * sbh * each / by / longest
        yield from _pattern(part, x, y, width, BAR)
        x, total = x + width, total + sbh * each / by
    yield svg.text(24, y + 15, name, style.SMALL, bold=chosen)
    yield svg.text(x + 10, y + 16, f"{style.significant(total / GB)} GB", bold=True)


def _yours(yours, chosen, longest):
    """The reader's own number: a diamond over the end of the chosen bar, and its words in the last line."""
    if yours is None:
        return
    x, y = LEFT + WIDEST * min(max(yours / longest, 0), 1), TOP + PITCH * chosen
    yield svg.line(x, y - 4, x, y + BAR + 4, style.VERMILION, stroke_width=2, stroke_dasharray="4 3")
    yield svg.shape([(x - 6, y - 2), (x, y - 8), (x + 6, y - 2), (x, y + 4)], style.VERMILION, stroke=style.PAPER)
    words = f"◆ your function: {style.significant(yours / GB)} GB"
    yield svg.text(736, 474, words, fill=style.VERMILION, bold=True, anchor="right")


def _table(parts, seq, batch, hidden, total):
    """The parts of the chosen way, each with the bytes it keeps for one of the s·b·h numbers."""
    product = (
        f"s b h = {seq:,} tokens × {style.count(batch, 'sequence')} × {hidden:,} = {seq * batch * hidden:,} numbers"
    )
    yield svg.line(24, TABLE - 42, 736, TABLE - 42, style.RULE)
    yield svg.text(24, TABLE - 18, product, fill=style.QUIET)
    for row, (part, each, by) in enumerate(parts):
        y = TABLE + 10 + 26 * row
        yield from _pattern(part, 24, y - 12, 22, 15)
        yield svg.text(54, y, NAMES[part])
        shared = f" ÷ {by} devices" if by > 1 else ""
        yield svg.text(270, y, f"s b h × {_plain(each)} bytes{shared}", fill=style.QUIET)
        yield svg.text(640, y, f"{style.significant(seq * batch * hidden * each / by / GB)} GB", anchor="right")
    y = TABLE + 10 + 26 * len(parts)
    yield svg.line(560, y - 17, 640, y - 17, style.RULE)
    yield svg.text(54, y, "one layer, one device")
    yield svg.text(640, y, f"{style.significant(total / GB)} GB", 15, anchor="right", bold=True)


def _crossing(hidden, heads):
    tokens = 6.8 * hidden / heads
    words = (
        f"On one device the scores outgrow the other 34 above s = 6.8 × {hidden:,} ÷ {heads} ≈ {tokens:,.0f} tokens."
    )
    yield svg.line(24, 426, 736, 426, style.RULE)
    yield svg.text(24, 450, words, style.SMALL, style.QUIET)
