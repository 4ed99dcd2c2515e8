"""The two bars of a plan: memory of a GPU, and where the time of an update goes."""

from partrain import style
from partrain.figures import svg

BAR = (24, 712)  # pixels: left and width of a bar
MEMORY, TIME = 196, 286  # pixels: tops of the two bars
FULL = 1.25  # times the memory of a GPU that its bar goes to
GB = 1e9
PARTS = ("computing", "tensor", "handing_on", "bubble", "gradients")
WORDS = ("computing", "tensor-parallel all-reduces", "handing on", "bubble", "gradients")


def gigabytes(value):
    """Bytes in GB, to three digits."""
    return style.significant(value / GB)


def percent(share):
    """A share in percent."""
    return f"{100 * share:.1f}%"


def seconds(value):
    """A time in seconds, or in thousandths of a second where it is short."""
    return f"{style.significant(1000 * value)} ms" if 0 < abs(value) < 0.01 else f"{style.significant(value)} s"


def memory(outlook):
    """State and kept inputs as one bar, and the GPU's memory as a line."""
    left, width = BAR
    scale = width / (FULL * outlook.room)
    yield svg.text(24, MEMORY - 16, "memory of a GPU of the first stage", style.SMALL, style.QUIET)
    state = min(outlook.state * scale, width)
    kept = min(outlook.kept * scale, width - state)
    yield svg.rect(left, MEMORY, state, 24, style.BLUE)
    yield svg.rect(left + state, MEMORY, kept, 24, "#fbe5b6", stroke=style.ORANGE)
    yield svg.hatch(left + state, MEMORY, kept, 24, 9, style.ORANGE, stroke_width=1.5)
    if outlook.need > FULL * outlook.room:  # a tear: the bar goes on
        yield svg.shape([(736, MEMORY - 3), (728, MEMORY + 5), (736, MEMORY + 12), (728, MEMORY + 19),
                         (736, MEMORY + 27), (744, MEMORY + 27), (744, MEMORY - 3)], style.PAPER)  # fmt: skip
    edge = left + outlook.room * scale
    yield svg.line(edge, MEMORY - 10, edge, MEMORY + 32, style.INK, stroke_width=2, stroke_dasharray="6 3")
    yield svg.text(edge - 6, MEMORY - 16, f"the GPU: {gigabytes(outlook.room)} GB", bold=True, anchor="right")
    yield svg.rect(24, MEMORY + 35, 16, 12, style.BLUE)
    yield svg.text(46, MEMORY + 46, f"model state {gigabytes(outlook.state)} GB")
    yield svg.rect(264, MEMORY + 35, 16, 12, "#fbe5b6", stroke=style.ORANGE)
    yield svg.hatch(264, MEMORY + 35, 16, 12, 7, style.ORANGE, stroke_width=1.5)
    yield svg.text(286, MEMORY + 46, f"kept inputs of layers {gigabytes(outlook.kept)} GB")


def _fill(part, x, y, width, height):
    """Each part in a pattern of its own: plain, stripes, hatching, empty, dark."""
    if width <= 0:
        return
    colour = (style.BLUE, style.GREEN, style.ORANGE, style.QUIET, style.PURPLE)[part]
    paper = (style.BLUE, "#cdebdf", "#fbe5b6", style.PAPER, style.PURPLE)[part]
    yield svg.rect(x, y, width, height, paper, stroke=colour)
    if part == 1:
        yield svg.lines([(x, y + at, x + width, y + at) for at in range(5, int(height), 5)], colour)
    if part == 2:
        yield svg.hatch(x, y, width, height, 7, colour, stroke_width=1.5)
    if part == 4:
        yield svg.lines([(x + at, y, x + at, y + height) for at in range(4, int(width), 6)], style.PAPER)


def time(outlook):
    """Where an update goes: a bar cut by seconds, and a legend with seconds and shares."""
    left, width = BAR
    yield svg.text(24, TIME - 8, "one update, nothing overlapped", style.SMALL, style.QUIET)
    x = left
    for part, name in enumerate(PARTS):
        long = width * getattr(outlook, name) / outlook.update
        yield from _fill(part, x, TIME, long, 28)
        x += long
    for part, (name, words) in enumerate(zip(PARTS, WORDS)):
        took = getattr(outlook, name)
        x, y = ((24, 390)[part // 3], TIME + 52 + 24 * (part % 3))
        yield from _fill(part, x, y - 11, 16, 12)
        yield svg.text(x + 22, y, words)
        yield svg.text(x + 290, y, seconds(took), anchor="right", bold=True)
        yield svg.text(x + 346, y, percent(took / outlook.update), anchor="right", fill=style.QUIET)
