"""What a training costs: its operations, the days they take, and the hours of GPUs."""

import math

from partrain import style
from partrain.figures import svg
from partrain.figures.axes import Axis

SECONDS_PER_DAY = 86_400
AGREE = 1e-6  # relative difference up to which two numbers of days are the same
PARTS = (("forward", 2), ("backward", 4), ("forward again", 2))  # operations for each parameter and token

HEIGHT = 458  # pixels
UNIT = 88  # pixels: one operation for each parameter and token
BAR = (48, 40)  # pixels: top and height
RULER = 206  # pixels
TICKS = {1 / 1440: "1 minute", 1 / 24: "1 hour", 1: "1 day", 30: "30 days", 365: "1 year", 3650: "10 years",
         36500: "100 years"}  # fmt: skip
DAYS = Axis(1 / 1440, 73_000, 48, 722, log=True)
TABLE = (24, 320, 334)  # pixels: left of the name, right of the result, left of how it came about


def compute_budget(params, tokens, gpus, peak, share, recompute, yours=None, *, unfinished=None):
    """Draw 6ND (8ND with recomputation) and the days it takes.

    params; tokens; gpus; peak: FLOP/s of one GPU; share: of that peak, what each GPU reaches, recomputation included.
    yours, if given, are the days that the reader's function finds; unfinished says why there are none.
    """
    each = 8 if recompute else 6
    flops = each * params * tokens
    days = flops / (gpus * peak * share) / SECONDS_PER_DAY
    sentence = unfinished or _sentence(each, params, tokens, gpus, peak, share, flops, days)
    if yours is not None:
        same = math.isclose(yours, days, rel_tol=AGREE)
        said = "where the mark is" if same else "and the mark is elsewhere"
        sentence = f"Your training_days gives {_long(yours)}, {said}. {sentence}"
    return svg.picture(
        sentence,
        HEIGHT,
        *_operations(recompute, each, flops),
        *_ruler(days, days * share, yours),
        *_table(each, params, tokens, gpus, peak, share, flops, days),
        *_yours(yours),
    )


def _sentence(each, params, tokens, gpus, peak, share, flops, days):
    return (
        f"{each} × {_amount(params)} parameters × {_amount(tokens)} tokens are {_power(flops)} FLOPs: {_long(days)} on "
        f"{style.count(gpus, 'GPU')} at {100 * share:.0f}% of {_tera(peak)}."
    )


def _power(value):
    """3.79e25, without a plus."""
    return f"{value:.2e}".replace("e+", "e")


def _amount(value):
    for name, size in (("trillion", 1e12), ("billion", 1e9), ("million", 1e6)):
        if value >= size:
            return f"{value / size:,g} {name}"
    return f"{value:,g}"


def _tera(peak):
    return f"{peak / 1e12:,.0f} TFLOP/s"


def _long(days):
    """A time in the unit that suits it; a number that is no time is shown as it is."""
    if not 0 < days < 1e9:
        return f"{days:.3g} days"
    if days >= 730:
        return f"{style.significant(days / 365)} years"
    if days >= 2:
        return f"{style.significant(days)} days"
    for unit, size in (("hours", 24), ("minutes", 1440)):
        if days * size >= 2:
            return f"{style.significant(days * size)} {unit}"
    return f"{style.significant(days * SECONDS_PER_DAY)} seconds"


def _operations(recompute, each, flops):
    yield svg.text(24, 32, "operations for each parameter and token", style.SMALL, style.QUIET)
    x, (top, height) = 24, BAR
    for place, (name, amount) in enumerate(PARTS[: 3 if recompute else 2]):
        width = amount * UNIT
        yield svg.rect(x, top, width, height, ("#cfe4f3", "#fbe5b6", "#cdebdf")[place], stroke=style.QUIET)
        for line in range(1, amount):
            yield svg.line(x + line * UNIT, top, x + line * UNIT, top + 8, style.QUIET)
        yield svg.text(x + width / 2, top + 26, f"{name}: {amount}", anchor="middle")
        x += width
    yield svg.text(24, top + height + 24, f"{each} × parameters × tokens = {_power(flops)} FLOPs", 15, bold=True)


def _ruler(days, fastest, yours):
    yield svg.line(DAYS.start, RULER, DAYS.end, RULER, style.INK, stroke_width=1.5)
    for tick, words in TICKS.items():
        yield svg.line(DAYS.at(tick), RULER, DAYS.at(tick), RULER + 6, style.INK)
        yield svg.text(DAYS.at(tick), RULER + 22, words, style.SMALL, style.QUIET, "middle")
    x, low = DAYS.at(days, 6), DAYS.at(fastest, 6)
    yield svg.line(low, RULER, x, RULER, style.BLUE, stroke_width=7)
    yield svg.dot(x, RULER, 8, style.BLUE)
    yield svg.line(low, RULER - 38, low, RULER, style.BLUE, stroke_width=2)
    yield _words(low, RULER - 44, f"at the full peak: {_long(fastest)}", style.BLUE, False)
    width = svg.text_width(_long(days), style.TEXT, True)
    start = x + 12 if x + 12 + width < 744 else low - 8 - width  # clear of the line on either side
    yield svg.text(start, RULER - 14, _long(days), bold=True)
    if yours is not None:
        at = DAYS.at(yours, 14)
        yield svg.shape([(at - 7, RULER), (at, RULER - 7), (at + 7, RULER), (at, RULER + 7)], style.VERMILION,
                        stroke=style.PAPER)  # fmt: skip


def _words(x, y, words, colour, bold):
    """Centred where there is room."""
    half = svg.text_width(words, style.TEXT, bold) / 2
    return svg.text(min(max(x, 16 + half), 744 - half), y, words, fill=colour, anchor="middle", bold=bold)


def _table(each, params, tokens, gpus, peak, share, flops, days):
    rows = [
        ("rate of all GPUs", f"{_power(gpus * peak * share)} FLOP/s",
         f"= {gpus:,} × {_tera(peak)} × {100 * share:.0f}%"),
        ("time", _long(days), f"= {_power(flops)} FLOPs ÷ that rate"),
        ("GPU-hours", _hours(gpus * days * 24), f"= {style.count(gpus, 'GPU')} × the time in hours"),
        ("model utilisation", f"{style.significant(100 * share * 6 / each)}%", f"= 6 ÷ {each} × {100 * share:.0f}%"),
        ("tokens for each parameter", style.significant(tokens / params), f"= {_amount(tokens)} ÷ {_amount(params)}"),
    ]  # fmt: skip
    yield svg.line(24, RULER + 48, 736, RULER + 48, style.RULE)
    for row, (name, value, words) in enumerate(rows):
        y = RULER + 76 + 28 * row
        yield svg.text(TABLE[0], y, name)
        yield svg.text(TABLE[1], y, value, 15, anchor="right", bold=True)
        yield svg.text(TABLE[2], y, words, fill=style.QUIET)


def _hours(hours):
    for name, size in (("billion", 1e9), ("million", 1e6)):
        if hours >= size:
            return f"{style.significant(hours / size)} {name}"
    return style.significant(hours)


def _yours(yours):
    if yours is not None:
        words = f"◆ your training_days: {style.significant(yours)} days"
        yield svg.text(TABLE[0], RULER + 76 + 28 * 5 + 8, words, fill=style.VERMILION, bold=True)
