"""One update on many devices: computing that shrinks, communication that does not, and the speed-up that is left."""

import math

from partrain import style
from partrain.figures import svg
from partrain.figures.axes import Axis
from partrain.figures.update_times import Run

MOST = 4096  # devices on the axes
GRID = [2 ** (power / 4) for power in range(49)]  # devices at which the curves are worked out
AGREE = 1e-6  # relative difference up to which two times are the same

HEIGHT = 514  # pixels
YOURS = 28  # pixels: the line of the reader's own time, at the bottom
TOP, BASE = 84, 296  # pixels: both plots
LEFT, RIGHT = (82, 368), (458, 736)  # pixels: from where to where each plot goes
TABLE = (24, 196)  # pixels: left of the name, left of the sum
LOOKS = {
    "computing": (style.BLUE, {"stroke_width": 2, "stroke_dasharray": "8 4"}),
    "communication": (style.VERMILION, {"stroke_width": 2, "stroke_dasharray": "2 3"}),
    "one update": (style.INK, {"stroke_width": 3}),
}


def scaling_curve(seconds, devices, nbytes, bandwidth, latency, overlap, yours=None, *, unfinished=None):
    """Draw time and speed-up against the number of devices, the batch of an update staying the same.

    seconds: one update on one device; nbytes of gradients, in a ring; bandwidth in bytes a second; latency of one step
    in seconds; overlap: the share of the shorter of computing and communication that is hidden behind the longer.
    yours, if given, is the reader's communication time on `devices`; unfinished says why there is none.
    """
    run = Run(seconds, nbytes, bandwidth, latency, overlap)
    sentence = unfinished or _sentence(run, devices)
    if yours is not None:
        same = math.isclose(yours, run.communication(devices), rel_tol=AGREE, abs_tol=1e-12)
        said = "as drawn" if same else "and the panel draws another time"
        sentence = f"Your allreduce_seconds gives {_seconds(yours)}, {said}. {sentence}"
    time = _time_axis(run)
    return svg.picture(
        sentence,
        HEIGHT if yours is not None or unfinished else HEIGHT - YOURS,
        *_legend(),
        *_scales(time),
        *_curves(run, time),
        *_marks(run, devices, time, yours),
        *_table(run, devices, yours),
    )


def _sentence(run, n):
    if n == 1:
        return f"One device alone computes for {_seconds(run.seconds)} and has nobody to wait for."
    return (
        f"On {n:,} devices an update takes {_seconds(run.update(n))}, {_seconds(run.computing(n))} of it computing: "
        f"{_factor(run.speedup(n))} times as fast as one device, where {n:,} times would be ideal."
    )


def _seconds(value):
    """A time in seconds, or in thousandths of a second where it is short."""
    return f"{style.significant(1000 * value)} ms" if 0 < abs(value) < 0.01 else f"{style.significant(value)} s"


def _factor(value):
    return style.significant(value)


def _time_axis(run):
    ends = [run.seconds, run.update(MOST), run.computing(MOST), run.communication(2), run.communication(MOST)]
    high = math.ceil(math.log10(max(ends)) + 0.05)
    low = max(math.floor(math.log10(min(ends))), high - 5)
    return Axis(10.0**low, 10.0**high, BASE, TOP, log=True)


X_LEFT, X_RIGHT = (Axis(1, MOST, *ends, log=True) for ends in (LEFT, RIGHT))
SPEED = Axis(1, MOST, BASE, TOP, log=True)


def _legend():
    for place, (name, (colour, look)) in enumerate(LOOKS.items()):
        x = 24 + (0, 128, 282)[place]
        yield svg.line(x, 24, x + 32, 24, colour, **look)
        yield svg.text(x + 40, 28, name, style.SMALL, colour)
    yield svg.text(TABLE[0], 64, "seconds for one update", style.SMALL, style.QUIET)
    yield svg.text(RIGHT[0] - 50, 64, "speed-up: times as fast as one device", style.SMALL, style.QUIET)


def _scales(time):
    for axis, (start, end), ticks in ((time, LEFT, time.ticks()), (SPEED, RIGHT, [4.0**p for p in range(7)])):
        for tick in ticks:
            yield svg.line(start, axis.at(tick), end, axis.at(tick), style.RULE)
            yield svg.text(start - 8, axis.at(tick) + 4, f"{tick:,g}", style.SMALL, style.QUIET, "right")
    for x in (X_LEFT, X_RIGHT):
        for tick in (1, 4, 16, 64, 256, 1024, 4096):
            yield svg.line(x.at(tick), BASE, x.at(tick), BASE + 5, style.QUIET)
            yield svg.text(x.at(tick), BASE + 19, f"{tick:,}", style.SMALL, style.QUIET, "middle")
        yield svg.text(x.end, BASE + 37, "devices", style.SMALL, style.QUIET, "right")


def _curves(run, time):
    parts = {"computing": run.computing, "communication": run.communication, "one update": run.update}
    for name, part in parts.items():
        colour, look = LOOKS[name]
        grid = GRID[1:] if name == "communication" else GRID
        yield _cut(LEFT, [(X_LEFT.at(n), time.at(part(n), 400)) for n in grid], colour, look)
    ideal = [(X_RIGHT.at(n), SPEED.at(n)) for n in (1, MOST)]
    yield svg.curve(ideal, style.QUIET, stroke_width=1.5, stroke_dasharray="3 4")
    yield svg.text(X_RIGHT.at(512) - 12, SPEED.at(512) + 2, "ideal", style.SMALL, style.QUIET, "right")
    colour, look = LOOKS["one update"]
    yield _cut(RIGHT, [(X_RIGHT.at(n), SPEED.at(run.speedup(n), 400)) for n in GRID], colour, look)


def _cut(ends, points, colour, look):
    return svg.window(ends[0], TOP - 2, ends[1] - ends[0], BASE - TOP + 4, svg.curve(points, colour, **look))


def _marks(run, n, time, yours):
    equal = run.crossing()
    if equal <= MOST:
        x, y = X_LEFT.at(equal), time.at(run.computing(equal), 0)
        yield svg.dot(x, y, 7, "none", stroke=style.PURPLE, stroke_width=2.5)
    for x, axis, value in ((X_LEFT.at(n), time, run.update(n)), (X_RIGHT.at(n), SPEED, run.speedup(n))):
        yield svg.line(x, TOP, x, BASE, style.QUIET, stroke_dasharray="2 4")
        yield svg.dot(x, axis.at(value, 0), 5, style.INK, stroke=style.PAPER)
    if yours is not None:
        yield _diamond(X_LEFT.at(n), time.at(yours, 0))


def _diamond(x, y):
    return svg.shape([(x - 7, y), (x, y - 7), (x + 7, y), (x, y + 7)], style.VERMILION, stroke=style.PAPER)


def _table(run, n, yours):
    equal = run.crossing()
    where = f"from {equal:,} devices on" if equal <= MOST else f"on more than {MOST:,} devices"
    hidden = f" − {_seconds(run.hidden(n))} hidden" if run.hidden(n) else ""
    rows = [
        (
            "one update",
            f"{_seconds(run.computing(n))} computing + {_seconds(run.communication(n))} communication{hidden} "
            f"= {_seconds(run.update(n))}",
        ),
        (
            "speed-up",
            f"{_seconds(run.seconds)} ÷ {_seconds(run.update(n))} = {_factor(run.speedup(n))}, "
            f"which is {100 * run.speedup(n) / n:.1f}% of the ideal {n:,}",
        ),
        (
            "communication",
            f"{_seconds(run.sending(n))} for the bytes + {_seconds(run.waiting(n))} latency of {2 * (n - 1):,} steps",
        ),
        ("", f"takes as long as computing, or longer, {where}"),
    ]
    yield svg.line(24, BASE + 54, 736, BASE + 54, style.RULE)
    for row, (name, words) in enumerate(rows):
        y = BASE + 82 + 28 * row
        if name:
            yield svg.text(TABLE[0], y, name, fill=style.QUIET)
        yield svg.text(TABLE[1] - 34, y, words)
    yield svg.dot(TABLE[0] + 112, BASE + 82 + 84 - 4, 6, "none", stroke=style.PURPLE, stroke_width=2.5)
    if yours is not None:
        words = f"◆ your allreduce_seconds: {_seconds(yours)}"
        yield svg.text(TABLE[0], BASE + 82 + 84 + YOURS, words, fill=style.VERMILION, bold=True)
