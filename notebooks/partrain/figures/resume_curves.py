"""The losses of a run that was never stopped and of one that was resumed, and the difference between them."""

import functools

import numpy as np

from partrain import style
from partrain.adam_run import AdamRun
from partrain.figures import svg
from partrain.figures.axes import Axis

STEPS = 30  # of the whole run
SEED = 0
ITEMS = {
    "weights": "weights",
    "moments": "moments",
    "step_count": "step count",
    "schedule": "schedule",
    "random_state": "random state",
    "data_position": "data position",
}

HEIGHT = 532  # pixels
STEP = Axis(0, STEPS - 1, 74, 726)
LOSS = Axis(0, 20, 224, 60)
GAP = Axis(1e-3, 1e2, 372, 276, log=True)  # the difference; below it stands the row of the losses that are equal
EQUAL = 396  # pixels: that row
TABLE = (24, 290, 298)  # pixels: left of the name, right of the result, left of the explanation


def resume_curves(cut, **kept):
    """Draw both runs. cut: steps before the stop; the six switches of ITEMS say what the checkpoint holds."""
    forgotten = [f"the {words}" for name, words in ITEMS.items() if not kept[name]]
    whole, resumed, weights_off = _runs(cut, kept)
    gaps = [abs(a - b) for a, b in zip(resumed, whole[cut:])]
    sentence = _sentence(forgotten, gaps, weights_off)
    return svg.picture(
        sentence,
        HEIGHT,
        *_scales(cut),
        *_losses(cut, whole, resumed),
        *_gaps(cut, gaps),
        *_table(gaps, weights_off),
    )


def _runs(cut, kept):
    """Losses of the whole run, losses of the resumed one, and by how much their last weights differ at most."""
    whole, states = _whole_run()
    fresh = AdamRun(SEED)  # nothing in memory: what is not in the checkpoint starts anew
    fresh.restore({name: item for name, item in states[cut].items() if kept[name]})
    resumed = [fresh.step() for _ in range(STEPS - cut)]
    return whole, resumed, float(np.abs(fresh.weights - states[-1]["weights"]).max())


@functools.cache
def _whole_run():
    """Its losses, and its state before each step and after the last."""
    run = AdamRun(SEED)
    states, losses = [run.state()], []
    for _ in range(STEPS):
        losses.append(run.step())
        states.append(run.state())
    return losses, states


def _sentence(forgotten, gaps, weights_off):
    count, differ = len(gaps), sum(gap > 0 for gap in gaps)
    if not forgotten:
        return (
            f"With all six in the checkpoint, all {count} losses after the resume equal those of the whole run to the "
            "last bit, and so do the final weights."
        )
    names = forgotten[0] if len(forgotten) == 1 else f"{', '.join(forgotten[:-1])} and {forgotten[-1]}"
    names = "any of the six" if len(forgotten) == len(ITEMS) else names
    first = f"differs by {_gap(gaps[0])}" if gaps[0] > 0 else "is equal to the last bit"
    return (
        f"Without {names}, the first loss after the resume {first}; {differ} of {count} losses differ, and the final "
        f"weights by up to {_gap(weights_off)}."
    )


def _gap(value):
    """A difference as text: small ones in powers of ten, and 0 only for what is equal to the last bit."""
    return style.number(value) if value >= 0.005 else f"{value:.1e}" if value > 0 else "0"


def _scales(cut):
    yield svg.text(14, 24, "loss", style.SMALL, style.QUIET)
    for loss in (0, 5, 10, 15, 20):
        yield svg.line(STEP.start, LOSS.at(loss), STEP.end, LOSS.at(loss), style.RULE)
        yield svg.text(STEP.start - 10, LOSS.at(loss) + 4, str(loss), style.SMALL, style.QUIET, "right")
    yield svg.text(14, 256, "difference of the two losses (logarithmic)", style.SMALL, style.QUIET)
    for power in (-3, -1, 1):
        y = GAP.at(10.0**power)
        yield svg.line(STEP.start, y, STEP.end, y, style.RULE)
        yield svg.text(STEP.start - 10, y + 4, f"{10.0**power:g}", style.SMALL, style.QUIET, "right")
    yield svg.line(STEP.start, EQUAL, STEP.end, EQUAL, style.QUIET)
    yield svg.text(STEP.start - 10, EQUAL + 4, "equal", style.SMALL, style.QUIET, "right")
    for step in range(0, STEPS, 5):
        yield svg.text(STEP.at(step), EQUAL + 22, str(step), style.SMALL, style.QUIET, "middle")
    yield svg.text(STEP.end, EQUAL + 22, "step", style.SMALL, style.QUIET, "right")
    x = STEP.at(cut - 0.5)
    yield svg.lines([(x, 50, x, LOSS.start), (x, 266, x, EQUAL + 6)], style.INK, stroke_dasharray="2 4")
    yield svg.text(x, 46, "stopped and resumed here", style.SMALL, anchor=_side(x))


def _side(x):
    return "left" if x < 200 else "right" if x > 560 else "middle"


def _losses(cut, whole, resumed):
    points = [(STEP.at(step), LOSS.at(loss, 6)) for step, loss in enumerate(whole)]
    yield svg.curve(points, style.BLUE, stroke_width=2)
    yield from (svg.dot(x, y, 4.5, style.PAPER, stroke=style.BLUE, stroke_width=1.5) for x, y in points)
    points = [(STEP.at(cut + step), LOSS.at(loss, 6)) for step, loss in enumerate(resumed)]
    yield svg.curve(points, style.VERMILION, stroke_width=2, stroke_dasharray="5 4")
    yield from (svg.shape(_diamond(x, y), style.VERMILION) for x, y in points)
    yield svg.dot(96, 20, 4.5, style.PAPER, stroke=style.BLUE, stroke_width=1.5)
    yield svg.text(106, 24, "whole run", style.SMALL, style.BLUE)
    yield svg.shape(_diamond(196, 20), style.VERMILION)
    yield svg.text(206, 24, "resumed run", style.SMALL, style.VERMILION)


def _diamond(x, y, reach=3.5):
    return [(x - reach, y), (x, y - reach), (x + reach, y), (x, y + reach)]


def _gaps(cut, gaps):
    for step, gap in enumerate(gaps):
        x = STEP.at(cut + step)
        if gap > 0:
            y = GAP.at(gap, 8)
            yield svg.line(x, EQUAL, x, y, style.VERMILION, stroke_width=2)
            yield svg.shape(_diamond(x, y, 5), style.VERMILION)
        else:
            yield svg.dot(x, EQUAL, 5, style.PAPER, stroke=style.GREEN, stroke_width=2)


def _table(gaps, weights_off):
    name_x, result_x, words_x = TABLE
    differ = sum(gap > 0 for gap in gaps)
    rows = (
        ("first loss differs by", gaps[0], "taken before the weights change"),
        ("losses differ by up to", max(gaps), f"{differ} of {style.count(len(gaps), 'loss')} differ"),
        ("final weights differ by", weights_off, "the largest of the four"),
    )
    yield svg.line(24, EQUAL + 36, 736, EQUAL + 36, style.RULE)
    for row, (name, value, words) in enumerate(rows):
        y = EQUAL + 60 + 26 * row
        yield svg.text(name_x, y, name)
        yield svg.text(result_x, y, _gap(value), 15, anchor="right", bold=True)
        yield svg.text(words_x, y, words, fill=style.QUIET)
