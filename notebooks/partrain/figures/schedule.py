"""A learning-rate schedule, one dot a step: warm-up, then half a cosine, then flat."""

import math

from partrain import style
from partrain.figures import svg
from partrain.figures.axes import Axis

LATER = 8  # steps shown after the last one
MOST_STEPS = 60

HEIGHT = 410  # pixels
STEP, RATE = Axis(0, MOST_STEPS + LATER, 66, 732), Axis(0, 1, 300, 70)
AGREE = 1e-6  # relative difference up to which two rates count as the same


def schedule(peak, warm_up, total, final, rates=None, *, unfinished=None):
    """Draw the rate of every step from 0 to total + LATER.

    peak and final are rates up to 1; warm_up and total count steps. rates, if given, are drawn instead: one for each of
    these steps; unfinished, if given, is a sentence that says why there is no curve.
    """
    if total <= warm_up:
        raise ValueError(
            f"{total} steps in total leave no room after {warm_up} steps of warm-up: make the total larger."
        )
    right = [_rate(step, peak, warm_up, total, final) for step in range(total + LATER + 1)]
    shown = right if rates is None else rates
    off = next((step for step, pair in enumerate(zip(shown, right)) if not _same(*pair)), None)
    sentence = unfinished or _sentence(right, warm_up, total, off)
    return svg.picture(
        sentence,
        HEIGHT,
        *_scales(),
        *_marks(warm_up, total),
        *([] if unfinished else _curve(shown, off)),
        *([] if unfinished else _table(shown, warm_up, total)),
    )


def _rate(step, peak, warm_up, total, final):
    if step < warm_up:
        return peak * (step + 1) / warm_up
    turn = math.pi * min(step - warm_up, total - warm_up) / (total - warm_up)
    return final + (peak - final) * (1 + math.cos(turn)) / 2


def _same(one, two):
    return math.isclose(one, two, rel_tol=AGREE, abs_tol=AGREE)


def _sentence(right, warm_up, total, off):
    if off is not None:
        return (
            f"Your rates follow the schedule up to step {off - 1} and leave it at step {off}."
            if off
            else ("Your rates leave the schedule at step 0 already.")
        )
    peak = f"is at its peak of {right[warm_up]:.3f}"
    start = f"starts at {right[0]:.3f} at step 0, {peak} from step {warm_up - 1} to {warm_up}"
    if warm_up < 2:
        start = f"{peak} from step 0 to 1" if warm_up else f"{peak} at step 0"
    return f"The rate {start}, then falls along half a cosine and stays at {right[total]:.3f} from step {total} on."


def _scales():
    yield svg.text(14, 26, "learning rate", style.SMALL, style.QUIET)
    for tick in (0, 0.2, 0.4, 0.6, 0.8, 1):
        yield svg.line(STEP.start - 8, RATE.at(tick), STEP.end, RATE.at(tick), style.RULE)
        yield svg.text(STEP.start - 14, RATE.at(tick) + 4, f"{tick:.1f}", style.SMALL, style.QUIET, "right")
    for tick in range(0, MOST_STEPS + LATER, 10):
        yield svg.line(STEP.at(tick), RATE.start, STEP.at(tick), RATE.start + 5, style.QUIET)
        yield svg.text(STEP.at(tick), RATE.start + 18, str(tick), style.SMALL, style.QUIET, "middle")
    yield svg.text(STEP.end, RATE.start + 34, "step, counted from 0", style.SMALL, style.QUIET, "right")


def _marks(warm_up, total):
    """Where the warm-up is over and where the decay is; neither line crosses the other's name."""
    for step, words, y in ((warm_up, "warmup_steps", 42), (total, "total_steps", 62)):
        x = STEP.at(step)
        yield svg.line(x, y - 8, x, RATE.start, style.QUIET, stroke_dasharray="3 4")
        left = x > STEP.end - 110  # no room on the right of the line
        yield svg.text(
            x - 6 if left else x + 6, y, f"{words} = {step}", style.SMALL, style.QUIET, "right" if left else "left"
        )


def _curve(rates, off):
    points = [(STEP.at(step), RATE.at(rate, 12)) for step, rate in enumerate(rates)]
    yield svg.curve(points, style.BLUE, stroke_width=1.5)
    right = points if off is None else points[:off]
    yield svg.dots(right, 3.5, style.BLUE)
    yield from (svg.rect(x - 3.5, y - 3.5, 7, 7, style.VERMILION) for x, y in points[len(right) :])


def _table(rates, warm_up, total):
    """The rates of four steps, side by side."""
    yield svg.line(24, 346, 736, 346, style.RULE)
    steps = sorted({0, warm_up, (warm_up + total) // 2, total})
    for column, step in enumerate(steps):
        x = 24 + 182 * column
        later = " and later" if step == total else ""
        yield svg.text(x, 370, f"at step {step}{later}", fill=style.QUIET)
        yield svg.text(x, 392, _short(rates[step]), 15, bold=True)


def _short(rate):
    return f"{rate:.3f}" if 0 <= rate < 1e4 else f"{rate:.2e}"
