"""Mean losses of micro-batches with different numbers of tokens, and two ways to average them."""

import math

from partrain import style
from partrain.figures import svg

HEIGHT = 430  # pixels
LEFT, RIGHT, TOP, BASE = 56, 540, 42, 258  # pixels: the plot
LABEL_X = 566  # pixels: where the names of the needles begin
LABEL_ROOM = 118  # pixels between the labels of two bars
FILLS = ("#cfe4f3", "#fbe5b6", "#cdebdf", "#efd9e6")  # light twins of style.SERIES
AGREE = 1e-6  # relative difference up to which two losses count as the same


def token_weighting(token_counts, mean_losses, per_token=None, *, unfinished=None):
    """Draw one bar a micro-batch (width = tokens, height = mean loss) and the two needles on the loss scale.

    token_counts (tokens; zero allowed, but not all) and mean_losses (per token) have one to four entries.
    per_token, if given, is where the per-token needle stands; unfinished, if given, is a sentence that says
    why there is no such needle.
    """
    counts, losses = list(token_counts), list(mean_losses)
    _refuse(counts, losses)
    total = sum(counts)
    right = sum(n * loss for n, loss in zip(counts, losses, strict=True) if n) / total
    votes = [loss for loss in losses if math.isfinite(loss)]
    of_means = sum(votes) / len(votes)
    shown = right if per_token is None else float(per_token)
    weighed = math.isclose(shown, right, rel_tol=AGREE, abs_tol=AGREE)
    sentence = unfinished or _sentence(shown, of_means, len(votes), weighed)
    top = max(4, math.ceil(max(votes)))  # of the loss scale
    needles = [("mean of means", of_means, False)] + ([] if unfinished else [("per token", shown, True)])
    return svg.picture(
        sentence,
        HEIGHT,
        *_scale(top),
        *_bars(counts, losses, top),
        *_needles(needles, top),
        *_formulas(counts, losses, votes, of_means, None if unfinished else (shown, weighed)),
    )


def _refuse(counts, losses):
    if not 1 <= len(counts) <= 4 or len(counts) != len(losses):
        raise ValueError(f"token_counts has {len(counts)} and mean_losses {len(losses)} entries: one to four of each.")
    if not any(counts):
        raise ValueError("There are no tokens at all, so there is no loss to average: give a micro-batch some tokens.")
    if not all(n >= 0 for n in counts):
        raise ValueError(f"token_counts are {counts}: none may be below 0.")
    if not all(0 <= loss < math.inf for n, loss in zip(counts, losses, strict=True) if n):
        raise ValueError(f"mean_losses are {losses}: each must be a finite number of at least 0.")


def _sentence(shown, of_means, means, weighed):
    per_token, mean = _loss(shown), _loss(of_means)
    the_mean = f"The mean of the {style.in_words(means)} {style.plural(means, 'mean')} is {mean}"
    if not weighed:
        return f"Your loss per token is {per_token}, but then the tokens do not all weigh the same. {the_mean}."
    if math.isclose(shown, of_means, rel_tol=AGREE, abs_tol=AGREE):
        return f"Per token the loss is {per_token}. {the_mean} too: here both agree."
    gap = abs(round(of_means, 2) - round(shown, 2))  # of the numbers as printed, so that a reader can follow
    size = style.number(gap) if gap > 0.005 else "less than 0.01"
    side = "high" if of_means > shown else "low"
    return f"Per token the loss is {per_token}. {the_mean}, which is {size} too {side}."


def _loss(value):
    """A loss as text; what a student's function may give without bound stays short."""
    return style.number(float(value)) if abs(value) < 1e6 else f"{value:.2e}"


def _height(loss, top):
    """The y of a loss; off the scale it stays at the edge."""
    return BASE - (BASE - TOP) * min(max(loss / top, 0), 1)


def _scale(top):
    yield svg.text(14, 24, "mean loss per token", style.SMALL, style.QUIET)
    step = -(-top // 5) if top > 5 else 1
    for tick in range(0, top + 1, step):
        y = _height(tick, top)
        yield svg.line(LEFT, y, RIGHT, y, style.RULE if tick else style.QUIET)
        yield svg.text(LEFT - 8, y + 4.5, style.number(tick), style.SMALL, style.QUIET, "right")


def _bars(counts, losses, top):
    """Bars side by side, a token as wide in each, and their labels pushed apart underneath."""
    total, edge, middles = sum(counts), LEFT, []
    for index, (tokens, loss) in enumerate(zip(counts, losses, strict=True)):
        width = (RIGHT - LEFT) * tokens / total
        y = _height(loss, top) if tokens else BASE
        yield svg.rect(edge, y, width, BASE - y, FILLS[index], stroke=style.SERIES[index], stroke_width=1.5)
        middles.append(edge + width / 2)
        edge += width
    for index, x in enumerate(svg.spread(middles, LABEL_ROOM, LEFT + 44, RIGHT - 20)):
        yield svg.lines([(middles[index], BASE + 2, x, BASE + 18)], style.QUIET)
        share = f"{style.count(counts[index], 'token')} ({counts[index] / total:.0%})"
        mean = f"mean loss {_loss(losses[index])}" if math.isfinite(losses[index]) else "no mean loss"
        for row, words in enumerate((f"micro-batch {index}", share, mean)):
            yield svg.text(x, BASE + 32 + 16 * row, words, style.SMALL, anchor="middle", bold=row == 0)


def _needles(needles, top):
    """Lines across the plot: solid with a triangle per token, dashed with a diamond for the mean of means."""
    needles = sorted(needles, key=lambda needle: -needle[1])
    places = svg.spread([_height(value, top) for _, value, _ in needles], 22, TOP - 14, BASE)
    both = sorted(zip(needles, places, strict=True), key=lambda pair: not pair[0][2])  # the dashed one lies on top
    for (name, value, solid), place in both:
        y = _height(value, top)
        colour, dash = (style.INK, {}) if solid else (style.VERMILION, {"stroke_dasharray": "9 5"})
        yield svg.line(LEFT, y, RIGHT + 4, y, colour, stroke_width=2.5, **dash)
        yield svg.lines([(RIGHT + 4, y, LABEL_X - 16, place)], colour)
        left, mid, end = LABEL_X - 16, LABEL_X - 10, LABEL_X - 4
        points = [(left, place), (end, place - 6), (end, place + 6)]
        if not solid:
            points = [(left, place), (mid, place - 6), (end, place), (mid, place + 6)]
        yield svg.shape(points, colour)
        beyond = " ↑" if value > top else " ↓" if value < 0 else ""  # off the scale
        yield svg.text(LABEL_X + 4, place + 4.5, f"{name} {_loss(value)}{beyond}", fill=colour, bold=True)


def _formulas(counts, losses, votes, of_means, per_token):
    """Both averages with the current numbers; per_token is (value, whether every token weighs the same)."""
    total = sum(counts)
    products = " + ".join(f"{n:,} × {style.number(loss)}" for n, loss in zip(counts, losses, strict=True) if n)
    means = " + ".join(style.number(loss) for loss in votes)
    rows = [("mean of means", f"({means}) ÷ {style.count(len(votes), 'micro-batch')}", of_means)]
    if per_token:
        value, weighed = per_token
        rows.append(("per token", f"({products}) ÷ {style.count(total, 'token')}" if weighed else "your number", value))
    yield svg.line(24, 346, 736, 346, style.RULE)
    for row, (name, formula, value) in enumerate(rows):
        y = 374 + 28 * row
        yield svg.text(24, y, name)
        yield svg.text(224, y, f"= {formula}", style.SMALL, style.QUIET)
        yield svg.text(216, y, _loss(value), 15, anchor="right", bold=True)
