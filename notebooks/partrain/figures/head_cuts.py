"""Which attention heads each device holds, and whether a cut falls into the middle of one."""

from partrain import style
from partrain.figures import svg

HEIGHT = 300  # pixels
LEFT, RIGHT, TOP, HIGH = 24, 736, 84, 56  # pixels: the band of columns
HEAD_SIZE = 128  # columns of one head, as in GPT-3
FILLS = (style.SKY, "#fbe5b6")  # of neighbouring heads


def head_cuts(heads, devices):
    """Draw the columns of Wq, Wk and Wv head by head, and the pieces of the devices under them.

    heads and devices are whole numbers of at least 1.
    """
    hidden = heads * HEAD_SIZE
    torn = _torn(heads, devices)
    return svg.picture(
        _sentence(heads, devices, hidden, torn),
        HEIGHT,
        svg.text(LEFT, 30, f"the {hidden:,} columns of Wq, Wk and Wv, head by head", bold=True),
        svg.text(LEFT, 48, f"{style.count(heads, 'head')} of {HEAD_SIZE} columns", style.SMALL, style.QUIET),
        *(_legend() if devices > 1 else ()),
        *_heads(heads),
        *_devices(devices),
        *_cuts(heads, devices),
        svg.line(24, 236, 736, 236, style.RULE),
        *_words(heads, devices, hidden, torn),
    )


def _torn(heads, devices):
    """The heads that a cut between two devices runs through."""
    return [heads * d // devices for d in range(1, devices) if heads * d % devices]


def _sentence(heads, devices, hidden, torn):
    start = f"{style.count(heads, 'head')} on {style.count(devices, 'device')}:"
    if not torn:
        each = heads // devices
        return f"{start} {style.count(each, 'whole head')} on each, {hidden // devices:,} of {hidden:,} columns."
    first = f"a cut runs through head {torn[0]}" if len(torn) == 1 else f"cuts run through {len(set(torn))} heads"
    return f"{start} {first}, so the scores of such a head would be partial sums before the softmax."


def _legend():
    """What the two kinds of cut look like."""
    for x, words, dash in ((446, "cut between heads", "5 3"), (592, "cut through a head", "")):
        cut = {"stroke_dasharray": dash} if dash else {}
        yield svg.line(x, 36, x, 52, style.BLUE if dash else style.VERMILION, stroke_width=2, **cut)
        yield svg.text(x + 6, 48, words if dash else f"✗ {words}", style.SMALL, style.QUIET)


def _heads(heads):
    """Neighbouring heads in two colours; drawn in few elements, so that a slider stays quick."""
    width, middle = (RIGHT - LEFT) / heads, TOP + HIGH / 2
    yield svg.rect(LEFT, TOP, RIGHT - LEFT, HIGH, FILLS[1])
    dash = f"{width:.4f} {width:.4f}"
    yield svg.line(LEFT, middle, RIGHT, middle, FILLS[0], stroke_width=HIGH, stroke_dasharray=dash)
    edges = [LEFT + width * head for head in range(heads + 1)]
    sides = [(x, TOP, x, TOP + HIGH) for x in edges] + [(LEFT, y, RIGHT, y) for y in (TOP, TOP + HIGH)]
    yield svg.lines(sides, style.QUIET)
    for head in range(heads if width >= 20 else 0):
        yield svg.text(edges[head] + width / 2, TOP - 7, str(head), style.SMALL, anchor="middle")


def _devices(devices):
    width = (RIGHT - LEFT) / devices
    y = TOP + HIGH + 22
    for d in range(devices):
        x = LEFT + d * width
        yield svg.line(x + 3, y, x + width - 3, y, style.BLUE, stroke_width=4)
        words = f"device {d}" if width >= 62 else str(d)
        yield svg.text(x + width / 2, y + 20, words, style.SMALL, anchor="middle", bold=True)


def _cuts(heads, devices):
    """Dashed where a cut falls between two heads, solid with a cross under it where it runs through one."""
    for d in range(1, devices):
        x = LEFT + (RIGHT - LEFT) * d / devices
        bad = heads * d % devices
        dash = {} if bad else {"stroke_dasharray": "5 3"}
        yield svg.line(x, TOP, x, TOP + HIGH + 28, style.VERMILION if bad else style.BLUE, stroke_width=2, **dash)
        if bad:
            yield svg.text(x, TOP + HIGH + 42, "✗", style.SMALL, style.VERMILION, "middle", True)


def _words(heads, devices, hidden, torn):
    rows = (
        (
            "heads on each device",
            f"{heads} ÷ {devices} = {_plain(heads / devices)}" + ("" if not torn else ": not whole"),
        ),
        ("columns of Wq, Wk, Wv and rows of Wo", f"{hidden:,} ÷ {devices} = {_plain(hidden / devices)}"),
    )
    for row, (name, words) in enumerate(rows):
        yield svg.text(24, 262 + 22 * row, name)
        yield svg.text(304, 262 + 22 * row, words, bold=True)


def _plain(value):
    """A whole number without decimals, another one with up to three."""
    return f"{value:,.3f}".rstrip("0").rstrip(".")
