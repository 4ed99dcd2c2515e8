"""A ring all-reduce, step by step: who holds which sums, and how many bytes each device has sent."""

import itertools

from partrain import style
from partrain.figures import svg

ELEMENT = 8  # bytes of a float64
MOST_DEVICES = 8

GRID = (98, 632)  # pixels: left and right of the chunks
TOP, BASE = 118, 470  # pixels: the rows of devices
ROW = 112  # pixels: the tallest row
SENT = 736  # pixels: right of the bytes
HEIGHT = 560  # pixels


def ring_steps(devices, step, elements):
    """Draw what each device holds after `step` steps of a ring of `devices`; the arrows are what that step has sent.

    Device d starts with an array of `elements` numbers, each d + 1. Steps after the last one change nothing.
    """
    last = 2 * (devices - 1)
    step = min(step, last)
    ring = _Ring(devices, elements)
    moved = []
    for number in range(step):
        moved = ring.do(number)
    sentence = _sentence(ring, step, last)
    return svg.picture(
        sentence,
        HEIGHT,
        *_headings(ring, step, last),
        *(piece for d in range(devices) for c in range(devices) for piece in _cell(ring, d, c, moved)),
        *_rows(ring),
        *_squares(ring),
        *(piece for d, c in moved for piece in _arrow(ring, d, c)),
        *_totals(ring),
    )


class _Ring:
    """held[d][c]: the devices whose numbers are in chunk c on device d."""

    def __init__(self, n, elements):
        self.n, self.elements = n, elements
        each, more = divmod(elements, n)
        self.sizes = [each + (c < more) for c in range(n)]  # elements of each chunk
        self.held = [[frozenset([d])] * n for d in range(n)]
        self.sent = [0] * n  # bytes

    def do(self, step):
        """One step: device d sends one chunk to device d + 1. Gives the (sender, chunk) pairs."""
        n = self.n
        first = step < n - 1
        moved = [(d, (d - step) % n) for d in range(n)]
        arriving = [((d + 1) % n, c, self.held[d][c]) for d, c in moved]
        for d, c, devices in arriving:
            self.held[d][c] = self.held[d][c] | devices if first else devices
        for d, c in moved:
            self.sent[d] += ELEMENT * self.sizes[c]
        return [(d, c) for d, c in moved if self.sizes[c]]

    def value(self, d, c):
        """What each element of that chunk is: device d brought d + 1."""
        return sum(device + 1 for device in self.held[d][c])

    def complete(self, d, c):
        return len(self.held[d][c]) == self.n

    def row(self):
        return min(ROW, (BASE - TOP) / self.n)

    def column(self):
        return (GRID[1] - GRID[0]) / self.n


def _phase(step, n):
    if step == 0:
        return "nothing sent yet"
    return "reduce-scatter" if step < n else "all-gather"


def _sentence(ring, step, last):
    kept = [(d, c) for d in range(ring.n) for c in range(ring.n) if ring.sizes[c]]
    done = sum(ring.complete(d, c) for d, c in kept)
    low, high = min(ring.sent), max(ring.sent)
    sent = style.count(low, "byte") if low == high else f"{low:,} to {high:,} bytes"
    start = f"After {step} of {last} steps ({_phase(step, ring.n)})" if step else f"Before the first of {last} steps"
    return f"{start}: each device has sent {sent}. Complete sums: {done} of {len(kept)} chunks."


def _headings(ring, step, last):
    yield svg.text(24, 32, f"after {step} of {last} steps: {_phase(step, ring.n)}", 16, bold=True)
    words = "In each cell: the value of its elements, and a dark square for each device whose numbers are in it."
    yield svg.text(24, 56, words, style.SMALL, style.QUIET)
    for c, size in enumerate(ring.sizes):
        middle = GRID[0] + (c + 0.5) * ring.column()
        yield svg.text(middle, 82, f"chunk {c}", style.SMALL, anchor="middle")
        words = f"{size * ELEMENT} bytes" if size else "empty"
        yield svg.text(middle, 98, words, style.SMALL, style.QUIET, "middle")
    yield svg.text(SENT, 82, "sent so far", style.SMALL, anchor="right")
    yield svg.text(SENT, 98, "(bytes)", style.SMALL, style.QUIET, "right")


def _cell(ring, d, c, moved):
    x, y = GRID[0] + c * ring.column() + 2, TOP + d * ring.row() + 2
    width, height = ring.column() - 4, ring.row() - 4
    if not ring.sizes[c]:
        yield svg.rect(x, y, width, height, style.PAPER, stroke=style.RULE, stroke_dasharray="3 3")
        return
    arrived = ((d - 1) % ring.n, c) in moved
    whole = ring.complete(d, c)
    edge = {"stroke": style.VERMILION, "stroke_width": 2.5} if arrived else {"stroke": style.RULE}
    yield svg.rect(x, y, width, height, style.SKY if whole else style.PAPER, **edge)
    words = f"{ring.value(d, c)} ✓" if whole else str(ring.value(d, c))
    yield svg.text(x + width / 2 - 5, y + height / 2 - 1, words, 15, anchor="middle", bold=whole)


def _squares(ring):
    """One square for each device in each cell, dark where its numbers are in; two elements in all, which is quick."""
    inside, outside = [], []
    gap = min(9, (ring.column() - 18) / ring.n)
    for d, c in itertools.product(range(ring.n), range(ring.n)):
        if ring.sizes[c]:
            middle, y = GRID[0] + (c + 0.5) * ring.column() - 5, TOP + (d + 0.5) * ring.row() + 9
            for device in range(ring.n):
                x = middle + gap * (device - ring.n / 2)
                (inside if device in ring.held[d][c] else outside).append((x, y, x + gap - 1.5, y))
    yield svg.lines(outside, "#cccccc", stroke_width=6)
    yield svg.lines(inside, style.INK, stroke_width=6)


def _rows(ring):
    for d in range(ring.n):
        y = TOP + (d + 0.5) * ring.row() + 5
        yield svg.text(24, y, f"device {d}")
        yield svg.text(SENT, y, f"{ring.sent[d]:,}", 15, anchor="right", bold=True)


def _arrow(ring, d, c):
    """From the middle of the sender's cell to that of the receiver; from the last device on to the first."""
    x = GRID[0] + (c + 1) * ring.column() - 10
    start, end = TOP + (d + 0.5) * ring.row(), TOP + (d + 1.5) * ring.row()
    stretches = [(start, end)]
    if d == ring.n - 1:
        stretches = [(start, TOP + ring.n * ring.row() + 8), (TOP - 10, TOP + 0.5 * ring.row())]
    for low, high in stretches:
        yield svg.line(x, low, x, high - 6, style.VERMILION, stroke_width=2)
    yield svg.shape([(x - 5, high - 8), (x + 5, high - 8), (x, high + 1)], style.VERMILION)


def _totals(ring):
    n, whole = ring.n, ring.elements * ELEMENT
    share = style.number(2 * (n - 1) * whole / n, 1).removesuffix(".0")
    about = ", give or take two chunks" if ring.elements % n else ""
    words = f"each device, after the last step: 2 × {n - 1} ÷ {n} × {whole} bytes = {share} bytes{about}"
    yield svg.line(24, BASE + 28, 736, BASE + 28, style.RULE)
    yield svg.text(24, BASE + 54, words, fill=style.QUIET)
    yield svg.text(24, BASE + 76, f"together so far: {sum(ring.sent):,} of 2 × {n - 1} × {whole} = "
                   f"{2 * (n - 1) * whole:,} bytes")  # fmt: skip
