"""Bytes of model state on each GPU at the four stages of sharding, against the memory of the GPU."""

import math

from partrain import style
from partrain.figures import svg

HEIGHT = 476  # pixels
TOP, BASE = 60, 250  # pixels: the plot
COLUMNS = tuple(176 + 142 * stage for stage in range(4))  # pixels: left edges, one column a stage
COLUMN, BAR = 134, 84  # pixels: widths
TABLE = 332  # pixels: the first row of the table under the bars
HIGHEST = 3  # times the GPU's memory; what is higher is drawn cut off
BAND = "#eeeeee"  # behind the chosen stage
UNITS = {"GB": 1e9, "GiB": 2**30}
PARTS = ("weights", "gradients", "optimizer state")
SHARDED = ("nothing", "optimizer state", "and gradients", "and weights")
AGREE = 1e-6  # relative difference up to which two amounts count as the same


def memory_bars(params, gpus, stage, recipe, gpu_bytes, unit="GB", yours=None, *, unfinished=None):
    """Draw one bar a stage, its three parts, and the GPU's memory as a dashed line.

    params; gpus that share the state; stage 0 to 3, the one spoken of; recipe: bytes of weight, gradient and optimizer
    state for one parameter; gpu_bytes of memory; unit: "GB" or "GiB". yours, if given, are the bytes that the reader's
    function finds for the stage; unfinished, if given, is a sentence that says why there are none.
    """
    size = UNITS[unit]
    bars = [_parts(params, gpus, at, recipe) for at in range(4)]
    total, room = sum(bars[stage]), gpu_bytes / size
    sentence = unfinished or _sentence(params, gpus, stage, recipe, total / size, room, unit)
    if yours is not None:
        said = "as high as the bar" if math.isclose(yours, total, rel_tol=AGREE) else "but its bar has another height"
        sentence = f"Your zero_bytes_per_device gives {style.significant(yours / size)} {unit}, {said}. {sentence}"
    bars = [[part / size for part in bar] for bar in bars]
    top = min(max(room, *map(sum, bars)), HIGHEST * room)
    return svg.picture(
        sentence,
        HEIGHT,
        svg.rect(COLUMNS[stage], 14, COLUMN, 392, BAND, rx=4),
        svg.text(24, 32, f"{unit} on each GPU", fill=style.QUIET),
        svg.text(24, BASE + 36, "sharded:", style.SMALL, style.QUIET),
        *(piece for at, bar in enumerate(bars) for piece in _bar(at, bar, top)),
        *_line(room, top, unit),
        *(piece for at, bar in enumerate(bars) for piece in _label(at, sum(bar), top, unit, at == stage, room)),
        *_table(bars, gpus, stage),
        *_yours(None if yours is None else yours / size, stage, top, unit),
        *_formula(params, gpus, stage, recipe, total / size, unit),
    )


def _parts(params, gpus, stage, recipe):
    """Bytes of weights, gradients and optimizer state on one GPU; the last is sharded first."""
    return [params * each / (gpus if stage >= at else 1) for each, at in zip(recipe, (3, 2, 1), strict=True)]


def _sentence(params, gpus, stage, recipe, total, room, unit):
    weight, gradient, optimizer = recipe
    fits = "which fits into" if total <= room else "which is more than"
    return (
        f"Stage {stage} on {style.count(gpus, 'GPU')}: {_amount(params)} parameters at {weight} + {gradient} + "
        f"{optimizer} bytes take {style.significant(total)} {unit} on each GPU, {fits} its "
        f"{_plain(room)} {unit}."
    )


def _amount(params):
    """7.5 billion, 125 million."""
    name, size = ("billion", 1e9) if params >= 1e9 else ("million", 1e6)
    return f"{params / size:,g} {name}"


def _plain(value):
    """A whole number without decimals, another one to three digits."""
    return f"{value:,.0f}" if value == int(value) else style.significant(value)


def _y(value, top):
    """The y of an amount; what is off the scale stays at the edge."""
    return BASE - (BASE - TOP) * min(max(value / top, 0), 1)


def _pattern(part, x, y, width, height):
    """The fill of a part: solid weights, hatched gradients, striped optimizer state."""
    if height <= 0:
        return
    colour, fill = ((style.BLUE, style.BLUE), (style.ORANGE, "#fbe5b6"), (style.GREEN, "#cdebdf"))[part]
    yield svg.rect(x, y, width, height, fill, stroke=colour)
    if part == 1:
        yield svg.hatch(x, y, width, height, 9, colour, stroke_width=1.5)
    if part == 2:
        stripes = [(x, y + height - at, x + width, y + height - at) for at in range(6, math.ceil(height), 6)]
        yield svg.lines(stripes, colour)


def _bar(stage, bar, top):
    x, low = COLUMNS[stage] + (COLUMN - BAR) / 2, 0.0
    for part, amount in enumerate(bar):
        y = _y(low + amount, top)
        yield from _pattern(part, x, y, BAR, _y(low, top) - y)
        low += amount
    if low > top:  # a tear: the bar goes on above
        teeth = [(x - 4 + (BAR + 8) * tooth / 8, TOP + (6 if tooth % 2 else 14)) for tooth in range(9)]
        yield svg.shape([*teeth, *((at, y + 6) for at, y in reversed(teeth))], style.PAPER)
    yield svg.line(COLUMNS[stage], BASE, COLUMNS[stage] + COLUMN, BASE, style.INK)


def _label(stage, total, top, unit, chosen, room):
    """The total over a bar, on a ground of its own in case the GPU's line runs there, and what stands under it."""
    middle, words = COLUMNS[stage] + COLUMN / 2, f"{style.significant(total)} {unit}"
    y, width = _y(total, top) - 8, svg.text_width(words, 14, True)
    yield svg.rect(middle - width / 2, y - 13, width, 17, BAND if chosen else style.PAPER)
    yield svg.text(middle, y, words, 14, anchor="middle", bold=True)
    yield svg.text(middle, BASE + 20, f"stage {stage}", anchor="middle", bold=chosen)
    yield svg.text(middle, BASE + 36, SHARDED[stage], style.SMALL, style.QUIET, "middle")
    fits = "✓ fits" if total <= room else "✗ does not fit"
    colour = style.GREEN if total <= room else style.VERMILION
    yield svg.text(middle, BASE + 54, fits, style.SMALL, colour, "middle", True)


def _line(room, top, unit):
    y = _y(room, top)
    yield svg.line(24, y, COLUMNS[3] + COLUMN, y, style.INK, stroke_width=2, stroke_dasharray="7 4")
    below = y + 18 if y < BASE - 20 else y - 8
    yield svg.text(24, below, f"the GPU: {_plain(room)} {unit}", bold=True)


def _table(bars, gpus, stage):
    """The parts under their bars; a part that is sharded says by how many."""
    for part, name in enumerate(PARTS):
        y = TABLE + 26 * part
        yield svg.line(24, y - 17, 736, y - 17, style.RULE)
        yield from _pattern(part, 24, y - 11, 22, 14)
        yield svg.text(54, y, name)
        for at, bar in enumerate(bars):
            shared = f" (÷ {gpus:,})" if at >= 3 - part and gpus > 1 else ""
            yield svg.text(
                COLUMNS[at] + COLUMN / 2,
                y,
                f"{style.significant(bar[part])}{shared}",
                anchor="middle",
                bold=at == stage,
            )


def _yours(yours, stage, top, unit):
    """The reader's own number: a diamond on the edge of the chosen bar, and its words in the last line."""
    if yours is None:
        return
    x, y = COLUMNS[stage] + (COLUMN + BAR) / 2, _y(yours, top)
    yield svg.line(x - BAR, y, x, y, style.VERMILION, stroke_width=2, stroke_dasharray="4 3")
    yield svg.shape([(x - 7, y), (x, y - 7), (x + 7, y), (x, y + 7)], style.VERMILION, stroke=style.PAPER)
    yield svg.text(24, 462, f"◆ your function: {style.significant(yours)} {unit}", fill=style.VERMILION, bold=True)


def _formula(params, gpus, stage, recipe, total, unit):
    by = [
        f"{each} ÷ {gpus:,}" if stage >= at and gpus > 1 else str(each)
        for each, at in zip(recipe, (3, 2, 1), strict=True)
    ]
    words = f"stage {stage}: {_amount(params)} parameters × ({' + '.join(by)}) bytes = "
    yield svg.line(24, 412, 736, 412, style.RULE)
    yield svg.text(24, 438, f"{words}{style.significant(total)} {unit}")
