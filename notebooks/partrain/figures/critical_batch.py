"""Steps against examples for one and the same loss: what a bigger batch saves, and what it costs."""

import math

from partrain import style
from partrain.figures import svg
from partrain.figures.axes import Axis

MIN_STEPS = 1_000  # steps that an endless batch would take, in this figure
AGREE = 1e-6  # relative difference up to which two counts are the same

HEIGHT = 456  # pixels
TIMES_EXAMPLES, TIMES_STEPS = Axis(0.8, 1000, 96, 720, log=True), Axis(0.8, 1000, 320, 66, log=True)  # of the least


def critical_batch(batch, critical, answer=None, *, unfinished=None):
    """Draw the curve of all batches and the dot of this one.

    batch and critical count examples. answer, if given, is (steps, examples) to draw instead; unfinished, if given,
    is a sentence that says why there is no dot.
    """
    min_examples = MIN_STEPS * critical
    right = MIN_STEPS * (1 + critical / batch), min_examples * (1 + batch / critical)
    steps, examples = right if answer is None else answer
    agrees = all(math.isclose(a, b, rel_tol=AGREE) for a, b in zip((steps, examples), right))
    sentence = unfinished or _sentence(batch, critical, steps, examples, min_examples, agrees)
    return svg.picture(
        sentence,
        HEIGHT,
        *_scales(min_examples),
        *_curve(),
        *([] if unfinished else _dot(steps / MIN_STEPS, examples / min_examples, agrees)),
        *_table(batch, critical, None if unfinished else (steps, examples), min_examples, agrees),
    )


def _sentence(batch, critical, steps, examples, min_examples, agrees):
    if not agrees:
        return f"Your {_count(steps)} steps and {_count(examples)} examples are not those of batch {batch:,}."
    where = "at" if batch == critical else f"{_ratio(batch / critical)} times"
    return (
        f"Batch {batch:,} is {where} the critical batch: {_count(steps)} steps, {_times(steps / MIN_STEPS)} the "
        f"fewest, and {_count(examples)} examples, {_times(examples / min_examples)} the fewest."
    )


def _ratio(value):
    return f"{value:g}" if value >= 1 else f"1/{1 / value:g}"


def _times(value):
    return f"{value:.2f} ×" if value < 100 else f"{value:,.0f} ×"


def _count(value):
    return f"{value:,.0f}" if abs(value) < 1e12 else f"{value:.2e}"


def _scales(min_examples):
    yield svg.text(14, 26, "steps (training time)", style.SMALL, style.QUIET)
    for times in TIMES_STEPS.ticks():
        y = TIMES_STEPS.at(times)
        yield svg.line(TIMES_EXAMPLES.start, y, TIMES_EXAMPLES.end, y, style.RULE)
        yield svg.text(TIMES_EXAMPLES.start - 8, y + 4, f"{MIN_STEPS * times:,.0f}", style.SMALL, style.QUIET, "right")
    for times in TIMES_EXAMPLES.ticks():
        x = TIMES_EXAMPLES.at(times)
        yield svg.line(x, TIMES_STEPS.start, x, TIMES_STEPS.end, style.RULE)
        side = "right" if times == 1000 else "middle"  # the last one would stick out
        yield svg.text(x, TIMES_STEPS.start + 18, _count(min_examples * times), style.SMALL, style.QUIET, side)
    yield svg.text(TIMES_EXAMPLES.end, TIMES_STEPS.start + 36, "examples (cost)", style.SMALL, style.QUIET, "right")


def _curve():
    ratios = [10 ** (power / 20) for power in range(-62, 63)]
    points = [(TIMES_EXAMPLES.at(1 + ratio, 8), TIMES_STEPS.at(1 + 1 / ratio, 8)) for ratio in ratios]
    yield svg.curve(points, style.QUIET, stroke_width=2)
    yield svg.text(TIMES_EXAMPLES.at(1) + 14, 60, "small batches", style.SMALL, style.QUIET)
    yield svg.text(TIMES_EXAMPLES.end, TIMES_STEPS.at(1) - 16, "big batches", style.SMALL, style.QUIET, "right")
    x, y = TIMES_EXAMPLES.at(2), TIMES_STEPS.at(2)
    yield svg.shape(
        [(x - 7, y), (x, y - 7), (x + 7, y), (x, y + 7)], style.PAPER, stroke=style.VERMILION, stroke_width=2
    )
    yield svg.line(x + 8, y - 8, x + 40, y - 40, style.VERMILION)
    yield svg.text(x + 46, y - 42, "critical batch: twice the steps, twice the examples", fill=style.VERMILION)


def _dot(times_steps, times_examples, agrees):
    x, y = TIMES_EXAMPLES.at(times_examples, 8), TIMES_STEPS.at(times_steps, 8)
    yield svg.dot(x, y, 6, style.BLUE) if agrees else svg.rect(x - 6, y - 6, 12, 12, style.BLUE)


def _table(batch, critical, answer, min_examples, agrees):
    rows = (
        ("steps", MIN_STEPS, f"critical {critical:,} ÷ batch {batch:,}"),
        ("examples", min_examples, f"batch {batch:,} ÷ critical {critical:,}"),
    )
    yield svg.line(24, 376, 736, 376, style.RULE)
    for row, (name, least, ratio) in enumerate(rows):
        y = 406 + 32 * row
        yield svg.text(24, y, name)
        if not answer:
            yield svg.text(210, y, f"{_count(least)} × (1 + {ratio})", style.SMALL, style.QUIET)
        else:
            yield svg.text(
                210, y, f"= {_count(least)} × (1 + {ratio})" if agrees else "your number", style.SMALL, style.QUIET
            )
            yield svg.text(200, y, _count(answer[row]), 15, anchor="right", bold=True)
