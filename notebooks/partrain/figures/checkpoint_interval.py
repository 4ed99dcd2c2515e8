"""The share of the time that checkpoints and failures waste, against the time between two checkpoints."""

import math

from partrain import style
from partrain.figures import svg
from partrain.figures.axes import Axis

AGREE = 1e-6  # relative difference up to which two intervals are the same
HOUR, MINUTE = 3600, 60  # seconds
TOPS = (0.05, 0.1, 0.2, 0.5, 1.0)  # where the scale of the waste may end
TICKS = {0.5: "30 s", 1: "1 min", 5: "5 min", 20: "20 min", 60: "1 h", 300: "5 h", 1200: "20 h"}  # minutes -> words

HEIGHT = 512  # pixels
MINUTES = Axis(0.5, 1500, 74, 726, log=True)
TOP, BASE = 78, 330  # pixels: the plot
TABLE = (24, 290, 298)  # pixels: left of the name, right of the result, left of the formula


def checkpoint_interval(save_seconds, restart_seconds, gpus, gpu_hours, answer=None, *, unfinished=None):
    """Draw the waste and the interval at which it is least.

    gpu_hours: mean time between failures of one GPU. answer, if given, is the interval in seconds to mark instead of
    the best one; unfinished, if given, is a sentence that says why none is marked.
    """
    mean = gpu_hours * HOUR / gpus  # seconds between failures of the job
    best = math.sqrt(2 * save_seconds * mean)
    marked = best if answer is None else answer
    parts = _Waste(save_seconds, restart_seconds, mean)
    agrees = math.isclose(marked, best, rel_tol=AGREE)
    top = next((top for top in TOPS if top >= 2.2 * parts.total(best)), TOPS[-1])
    sentence = unfinished or _sentence(mean, marked, parts, agrees)
    return svg.picture(
        sentence,
        HEIGHT,
        *_scales(top),
        *_curves(parts, top),
        *([] if unfinished else _mark(marked, parts, top, agrees)),
        *_table(gpus, gpu_hours, parts, None if unfinished else (marked, agrees)),
    )


class _Waste:
    """The parts of the waste at an interval, all in seconds, each as a share of the computing time."""

    def __init__(self, save, restart, mean):
        self.save_seconds, self.restart_seconds, self.mean = save, restart, mean

    def saves(self, interval):
        return self.save_seconds / interval

    def lost(self, interval):
        return interval / 2 / self.mean

    def restarts(self, interval):
        return self.restart_seconds / self.mean

    def total(self, interval):
        return self.saves(interval) + self.lost(interval) + self.restarts(interval)


def _sentence(mean, marked, parts, agrees):
    if marked <= 0:
        return f"Your interval is {style.number(marked)} seconds; it must be above 0."
    every = f"A failure every {_hours(mean)}: "
    if agrees and parts.total(marked) >= 1:
        return f"{every}more time would be wasted than computed, and a formula for rare failures no longer holds."
    if not agrees:
        return (
            f"{every}your interval of {_minutes(marked)} wastes {_percent(parts.total(marked))}, and that is not the "
            "bottom of the curve."
        )
    return (
        f"{every}with a checkpoint every {_minutes(marked)} the waste is least, {_percent(parts.total(marked))} of the "
        "computing time."
    )


def _hours(seconds):
    hours = seconds / HOUR
    return f"{hours:.3f} hours" if hours >= 1 else f"{hours * 60:.2f} minutes"


def _minutes(seconds):
    minutes = seconds / MINUTE
    if minutes > 1e6:
        return f"{minutes:.2e} minutes"
    return f"{minutes:,.2f} minutes" if minutes >= 1 else f"{seconds:.1f} seconds"


def _percent(share):
    return f"{100 * share:.1f}%" if share < 10 else f"{100 * share:,.0f}%" if share < 1e4 else f"{100 * share:.1e}%"


def _height(share, top):
    """The y of a share; off the scale it stands at the edge."""
    return BASE - (BASE - TOP) * min(share / top, 1.02)


def _scales(top):
    yield svg.text(14, 24, "wasted share of the computing time", style.SMALL, style.QUIET)
    for tick in range(5):
        share = top * tick / 4
        y = _height(share, top)
        yield svg.line(MINUTES.start, y, MINUTES.end, y, style.RULE if tick else style.QUIET)
        yield svg.text(MINUTES.start - 10, y + 4, f"{100 * share:g}%", style.SMALL, style.QUIET, "right")
    for minutes, words in TICKS.items():
        x = MINUTES.at(minutes)
        yield svg.line(x, BASE, x, BASE + 5, style.QUIET)
        yield svg.text(x, BASE + 20, words, style.SMALL, style.QUIET, "middle")
    yield svg.text(MINUTES.end, BASE + 40, "computing time between two checkpoints", style.SMALL, style.QUIET, "right")


def _curves(parts, top):
    grid = [MINUTES.low * (MINUTES.high / MINUTES.low) ** (place / 72) for place in range(73)]
    looks = (
        ("saves", parts.saves, style.BLUE, {"stroke_dasharray": "8 4"}),
        ("lost work", parts.lost, style.VERMILION, {"stroke_dasharray": "2 3"}),
        ("restarts", parts.restarts, style.GREEN, {"stroke_dasharray": "10 3 2 3"}),
        ("together", parts.total, style.INK, {}),
    )
    for place, (name, part, colour, dash) in enumerate(looks):
        points = [(MINUTES.at(m), BASE - (BASE - TOP) * min(part(m * MINUTE) / top, 3)) for m in grid]
        line = svg.curve(points, colour, stroke_width=2 if dash else 3, **dash)
        yield svg.window(MINUTES.start, TOP - 4, MINUTES.end - MINUTES.start, BASE - TOP + 6, line)
        x = 300 + 112 * place
        yield svg.line(x, 20, x + 30, 20, colour, stroke_width=2 if dash else 3, **dash)
        yield svg.text(x + 36, 24, name, style.SMALL, colour)


def _mark(marked, parts, top, agrees):
    if marked <= 0:
        return
    x, y = MINUTES.at(marked / MINUTE), _height(parts.total(marked), top)
    colour = style.INK if agrees else style.VERMILION
    yield svg.line(x, y, x, BASE, colour, stroke_dasharray="2 4")
    yield svg.shape([(x - 7, y), (x, y - 7), (x + 7, y), (x, y + 7)], colour)
    words = ("best: " if agrees else "yours: ") + f"{_minutes(marked)}, {_percent(parts.total(marked))} wasted"
    half = svg.text_width(words, style.TEXT, True) / 2
    yield svg.text(min(max(x, 80 + half), 740 - half), 56, words, fill=colour, anchor="middle", bold=True)
    yield svg.line(x, 62, x, y - 8, colour, stroke_width=1)


def _table(gpus, gpu_hours, parts, marked):
    name_x, result_x, words_x = TABLE
    mean = parts.mean
    rows = [("between failures", _hours(mean), f"= {gpu_hours:,} hours of one GPU ÷ {style.count(gpus, 'GPU')}")]
    if marked:
        interval, agrees = marked
        root = f"= √(2 × {parts.save_seconds} s × {mean:,.0f} s)" if agrees else "your number"
        rows.append(("interval", _minutes(interval), root))
        if interval > 0:
            shares = [_percent(part(interval)) for part in (parts.saves, parts.lost, parts.restarts)]
            names = "saves {} + lost work {} + restarts {}".format(*shares)
            rows.append(("wasted", _percent(parts.total(interval)), f"= {names}"))
    yield svg.line(24, BASE + 60, 736, BASE + 60, style.RULE)
    for row, (name, value, words) in enumerate(rows):
        y = BASE + 90 + 28 * row
        yield svg.text(name_x, y, name)
        yield svg.text(result_x, y, value, 15, anchor="right", bold=True)
        yield svg.text(words_x, y, words, fill=style.QUIET)
