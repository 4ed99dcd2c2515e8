"""Losses of several runs against the examples they have seen, on a logarithmic scale."""

from partrain import style
from partrain.figures import svg
from partrain.figures.axes import Axis

HEIGHT = 400  # pixels
LOSS = Axis(0.0003, 10, 330, 50, log=True)
LEFT, RIGHT, LABEL_X = 66, 540, 562  # pixels: the plot, and where the names of the curves begin
DASHES = ("", "9 4", "3 3", "12 4 3 4", "6 6")
COLOURS = (style.INK, style.VERMILION, style.PURPLE, style.BLUE, style.GREEN)
MOST_POINTS = 64  # of one curve


def loss_curves(runs, batches, examples):
    """Draw up to five runs.

    runs: name -> the loss before the first update and after each one; batches: the batch of each run, in this order;
    examples: how many a whole run sees. A run that stops before is called diverged.
    """
    curves = {
        name: (losses, (len(losses) - 1) * batch / examples) for (name, losses), batch in zip(runs.items(), batches)
    }
    seen = Axis(0, examples, LEFT, RIGHT)
    ends = "; ".join(f"{name}: {_end(*curve)}" for name, curve in curves.items())
    sentence = f"Loss above the best possible, after {examples:,} examples. {ends}."
    return svg.picture(sentence, HEIGHT, *_scales(seen, examples), *_curves(curves, seen, examples))


def _end(losses, share):
    return f"{losses[-1]:.3f}" if share == 1 else "diverged"


def _scales(seen, examples):
    yield svg.text(14, 26, "loss above the best possible", style.SMALL, style.QUIET)
    for tick in LOSS.ticks():
        yield svg.line(LEFT, LOSS.at(tick), RIGHT, LOSS.at(tick), style.RULE)
        yield svg.text(LEFT - 8, LOSS.at(tick) + 4, f"{tick:g}", style.SMALL, style.QUIET, "right")
    for quarter in range(5):
        x = seen.at(examples * quarter / 4)
        yield svg.text(x, LOSS.start + 18, f"{examples * quarter // 4:,}", style.SMALL, style.QUIET, "middle")
    yield svg.text(RIGHT, LOSS.start + 38, "examples seen", style.SMALL, style.QUIET, "right")


def _curves(curves, seen, examples):
    last = {name: LOSS.at(losses[-1], 14) for name, (losses, _) in curves.items()}
    order = sorted(curves, key=last.get)
    places = dict(zip(order, svg.spread([last[name] for name in order], 20, LOSS.end - 12, LOSS.start + 14)))
    for name, colour, dash in zip(curves, COLOURS, DASHES):
        losses, share = curves[name]
        every = max(1, len(losses) // MOST_POINTS)
        kept = [*range(0, len(losses) - 1, every), len(losses) - 1]
        points = [(seen.at(examples * share * at / (len(losses) - 1)), LOSS.at(losses[at], 14)) for at in kept]
        dashes = {"stroke_dasharray": dash} if dash else {}
        yield svg.curve(points, colour, stroke_width=2.5, **dashes)
        x, y = points[-1]
        if share == 1:
            yield svg.lines([(x + 2, y, LABEL_X - 6, places[name])], colour)
        else:
            yield svg.lines([(x + 2, y, x + 24, y)], colour)
        at = (LABEL_X, places[name] + 4.5) if share == 1 else (x + 30, y + 4.5)
        yield svg.text(*at, f"{name}: {_end(losses, share)}", style.SMALL, colour, bold=True)
