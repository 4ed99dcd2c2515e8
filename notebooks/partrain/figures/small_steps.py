"""Many small steps, or few big ones, down the same noisy valley: the two paths and their losses."""

import math
from functools import cache

import numpy as np

from partrain import style
from partrain.figures import svg
from partrain.figures.axes import Axis

SMALL_STEPS = 256  # steps of the small batch; a batch k times as big makes 256 / k steps of the same examples
SMALL_RATE = 0.05
FLAT, STEEP = 0.15, 1.0  # curvature of the valley: loss = (FLAT x² + STEEP y²) / 2
START = (6.0, 2.5)
RULES = {"none": lambda k: 1, "linear": lambda k: k, "square root": math.sqrt}  # what the rate is multiplied by

HEIGHT = 456  # pixels
X, Y = Axis(-2.5, 7, 24, 424), Axis(-3.2, 3.2, 334, 64)  # the map
SEEN, LOSS = Axis(0, SMALL_STEPS, 508, 732), Axis(0.01, 100, 334, 64, log=True)  # the plot beside it
RINGS = (0.1, 0.5, 1.5, 3, 5, 8)  # losses at which the map has a ring


def small_steps(batch_factor, rule, warm_up, noise):
    """Draw both paths.

    batch_factor: how many small batches make the big one (a divisor of 256); rule: a key of RULES; warm_up: big steps
    until the full rate; noise: standard deviation of a small batch's gradient, in each of the two directions.
    """
    rate = SMALL_RATE * RULES[rule](batch_factor)
    small = descend(1, SMALL_RATE, 0, noise)
    big = descend(batch_factor, rate, warm_up, noise)
    end_small, end_big = loss(*small[-1]), loss(*big[-1])
    sentence = _sentence(batch_factor, rule, warm_up, end_small, end_big)
    return svg.picture(
        sentence,
        HEIGHT,
        *_map(small, big),
        *_losses(small, big, batch_factor),
        *_table(batch_factor, rate, warm_up, end_small, end_big),
    )


def loss(x, y):
    return (FLAT * x * x + STEEP * y * y) / 2


@cache
def _noise(factor):
    """What a standard normal noise leaves in the gradient of each step: the mean over the step's small batches."""
    drawn = np.random.default_rng(1).standard_normal((SMALL_STEPS // factor, factor, 2))
    return drawn.mean(axis=1).tolist()


def descend(factor, rate, warm_up, noise):
    """The points on the way of 256 / factor steps, the start included."""
    x, y = START
    points = [START]
    for step, (noise_x, noise_y) in enumerate(_noise(factor)):
        now = rate * (step + 1) / warm_up if step < warm_up else rate
        x, y = x - now * (FLAT * x + noise * noise_x), y - now * (STEEP * y + noise * noise_y)
        points.append((x, y))
    return points


def _sentence(factor, rule, warm_up, end_small, end_big):
    if factor == 1 and not warm_up:
        return f"With the small batch, {SMALL_STEPS} steps end at a loss of {_loss(end_small)}: the two paths are one."
    named = {"none": "at the old rate", "linear": "with the linear rule", "square root": "with the square-root rule"}
    steps = SMALL_STEPS // factor
    ramp = f" and {style.count(warm_up, 'step')} of warm-up" if warm_up else ""
    said = f"Batch × {factor} {named[rule]}{ramp}: {steps} big steps end at a loss of {_loss(end_big)}"
    if end_big > loss(*START):
        return f"{said}, above the {_loss(loss(*START))} of the start. Each step overshoots the valley's floor."
    return f"{said}; {SMALL_STEPS} small steps through the same examples end at {_loss(end_small)}."


def _loss(value):
    return f"{value:.2f}" if value < 1000 else f"{value:.1e}"


def _map(small, big):
    yield svg.text(24, 26, "the valley from above: flat along, steep across", style.SMALL, style.QUIET)
    yield svg.text(24, 46, "rings: equal loss; cross: the lowest point", style.SMALL, style.QUIET)
    rings = [_ring(height) for height in RINGS]
    bottom = [(X.at(0) - 5, Y.at(0), X.at(0) + 5, Y.at(0)), (X.at(0), Y.at(0) - 5, X.at(0), Y.at(0) + 5)]
    yield svg.window(
        X.start,
        Y.end,
        X.end - X.start,
        Y.start - Y.end,
        *(svg.curve(ring, style.RULE) for ring in rings),
        svg.lines(bottom, style.QUIET, stroke_width=1.5),
        *_path([(X.at(x, 4000), Y.at(y, 4000)) for x, y in small], [(X.at(x, 4000), Y.at(y, 4000)) for x, y in big]),
    )
    yield svg.rect(X.start, Y.end, X.end - X.start, Y.start - Y.end, "none", stroke=style.RULE)
    if not _inside(*big[-1]):
        yield svg.text(
            X.start + 8, Y.start - 10, "the big steps end outside the map", style.SMALL, style.BLUE, bold=True
        )


def _ring(height):
    wide, tall = math.sqrt(2 * height / FLAT), math.sqrt(2 * height / STEEP)
    angles = [2 * math.pi * turn / 48 for turn in range(49)]
    unbounded_x = (X.end - X.start) / (X.high - X.low)
    unbounded_y = (Y.end - Y.start) / (Y.high - Y.low)
    return [(X.at(0) + wide * math.cos(a) * unbounded_x, Y.at(0) + tall * math.sin(a) * unbounded_y) for a in angles]


def _inside(x, y):
    return X.low <= x <= X.high and Y.low <= y <= Y.high


def _path(small, big):
    """Small steps as a thin line, big ones as a thick line with a dot at every step."""
    yield svg.curve(small, style.VERMILION, stroke_width=1.5)
    yield svg.curve(big, style.BLUE, stroke_width=2.5)
    yield svg.dots(big, 3.5, style.BLUE)


def _losses(small, big, factor):
    yield svg.text(SEEN.start - 40, 26, "loss, against the steps of the small batch", style.SMALL, style.QUIET)
    yield svg.text(SEEN.start - 40, 46, "that the same examples would make", style.SMALL, style.QUIET)
    for tick in LOSS.ticks():
        y = LOSS.at(tick)
        yield svg.line(SEEN.start, y, SEEN.end, y, style.RULE)
        yield svg.text(SEEN.start - 8, y + 4, f"{tick:g}", style.SMALL, style.QUIET, "right")
    for tick in (0, 64, 128, 192, 256):
        yield svg.text(SEEN.at(tick), LOSS.start + 18, str(tick), style.SMALL, style.QUIET, "middle")
    yield svg.window(
        SEEN.start - 5,
        LOSS.end - 5,
        SEEN.end - SEEN.start + 10,
        LOSS.start - LOSS.end + 10,
        *_path(_seen(small, 1)[::2], _seen(big, factor)),
    )


def _seen(points, factor):
    return [(SEEN.at(step * factor), LOSS.at(loss(*point), 4)) for step, point in enumerate(points)]


def _table(factor, rate, warm_up, end_small, end_big):
    steps = SMALL_STEPS // factor
    ramp = f", full after {style.count(warm_up, 'step')}" if warm_up else ""
    if warm_up > steps:
        ramp = f", not reached in {style.count(steps, 'step')}"
    rows = (
        ("small steps", style.VERMILION, f"{SMALL_STEPS} × batch 1, rate {SMALL_RATE:g}", end_small),
        ("big steps", style.BLUE, f"{steps} × batch {factor}, rate {rate:.3g}{ramp}", end_big),
    )
    yield svg.line(24, 376, 736, 376, style.RULE)
    for row, (name, colour, formula, end) in enumerate(rows):
        y = 404 + 30 * row
        yield svg.line(24, y - 4.5, 54, y - 4.5, colour, stroke_width=1.5 + row)
        if row:
            yield svg.dot(39, y - 4.5, 3.5, colour)
        yield svg.text(64, y, name, bold=True, fill=colour)
        yield svg.text(170, y, formula, fill=style.QUIET)
        yield svg.text(640, y, "loss at the end", fill=style.QUIET, anchor="right")
        yield svg.text(736, y, _loss(end), 15, anchor="right", bold=True)
