"""A plan for a run: the rules it keeps or breaks, memory, where the time of an update goes, and the days."""

import math

from partrain import style
from partrain.figures import svg
from partrain.outlook import Outlook, divides

HEIGHT = 504  # pixels
NAMES = (24, 54, 164)  # pixels: left of the sign, of the rule, of its numbers
RULE = 28  # pixels from one rule to the next
BAR = (24, 712)  # pixels: left and width of a bar
MEMORY, TIME, RESULT = 196, 286, 448  # pixels: tops of the two bars, line of the results
FULL = 1.25  # times the memory of a GPU that the bar goes to
GB = 1e9
AGREE = 1e-6  # relative difference up to which two times are the same
RULES = ("divisible", "node", "micro-batches", "memory")
PARTS = ("computing", "tensor", "handing_on", "bubble", "gradients")
WORDS = ("computing", "tensor-parallel all-reduces", "handing on", "bubble", "gradients")


def planner(plan, model, cluster, yours=None, *, unfinished=None):
    """Draw what becomes of a plan on a cluster. yours, if given, are the seconds of an update by the reader's function.

    unfinished, if given, is a sentence that says why there are none.
    """
    if not divides(plan, model):
        return undivided(_cuts(plan, model), model, cluster)
    outlook = Outlook(plan, model, cluster)
    sentence = unfinished or _sentence(outlook)
    if yours is not None:
        same = math.isclose(yours, outlook.update, rel_tol=AGREE)
        said = "as drawn" if same else "and the panel draws another time"
        sentence = f"Your step_seconds gives {_seconds(yours)}, {said}. {sentence}"
    return svg.picture(
        sentence,
        HEIGHT,
        *_rules(_cuts(plan, model), plan, cluster, outlook),
        *_memory(outlook),
        *_time(outlook),
        *_results(outlook, cluster, yours),
    )


def undivided(cuts, model, cluster):
    """Draw a plan that does not divide. cuts: (what is cut, by what, into how many; None where that is not whole)."""
    whole, by, _ = next(cut for cut in cuts if cut[2] is None)
    sentence = f"It does not run, first reason divisible: {whole} cannot be divided by {by}."
    rules = list(_rules(cuts, None, cluster, None))
    return svg.picture(sentence, HEIGHT, *rules, *_blank())


def _cuts(plan, model):
    """heads, layers and batch, and what the plan makes of them."""
    heads, layers = model.heads, model.layers
    t, p, d, b = plan.tensor_parallel, plan.pipeline_parallel, plan.data_parallel, plan.micro_batch
    return [
        (style.count(heads, "head"), t, None if heads % t else heads // t),
        (style.count(layers, "layer"), p, None if layers % p else layers // p),
        (style.count(model.batch, "sequence"), f"({d:,} × {b:,})", plan.accumulation
         if d * b * plan.accumulation == model.batch else None),
    ]  # fmt: skip


def _sentence(outlook):
    memory = f"{_gb(outlook.need)} of {_gb(outlook.room)} GB on each GPU"
    if outlook.against:
        return (
            f"It does not run, first reason {outlook.against[0]}: {_whys(outlook)[outlook.against[0]]}. Otherwise an "
            f"update would take {_seconds(outlook.update)}."
        )
    return (
        f"It fits, with {memory}. An update takes {_seconds(outlook.update)}, and the run {_days(outlook.days)} days; "
        f"the bubble is {_percent(outlook.idle)} of the pipeline's time, and goodput {_percent(outlook.useful)}."
    )


def _whys(outlook):
    return {
        "node": "its tensor-parallel group does not lie inside one node",
        "micro-batches": "it has fewer micro-batches than stages",
        "memory": f"it needs {_gb(outlook.need)} GB on each GPU, which has {_gb(outlook.room)}",
    }


def _gb(value):
    return style.significant(value / GB)


def _days(value):
    return style.significant(value)


def _percent(share):
    return f"{100 * share:.1f}%"


def _seconds(value):
    """A time in seconds, or in thousandths of a second where it is short."""
    return f"{style.significant(1000 * value)} ms" if 0 < abs(value) < 0.01 else f"{style.significant(value)} s"


def _rules(cuts, plan, cluster, outlook):
    """One line a rule: kept, the first that is broken, broken too, or not looked at."""
    node = cluster.gpus_per_node
    off = [cut for cut in cuts if cut[2] is None]
    words = {"divisible": " · ".join(_cut_words(*cut) for cut in off[:1] or cuts)}
    broken = list(outlook.against) if outlook else ["divisible"]
    if outlook:
        t, p, m = plan.tensor_parallel, plan.pipeline_parallel, plan.accumulation
        words["node"] = f"groups of {t} {'do not lie' if 'node' in broken else 'lie'} inside nodes of {node}"
        words["micro-batches"] = f"{style.count(m, 'micro-batch')} for {style.count(p, 'stage')}"
        words["memory"] = f"{_gb(outlook.need)} of {_gb(outlook.room)} GB"
    for row, rule in enumerate(RULES):
        y = 34 + RULE * row
        sign, colour, bold = "✓", style.GREEN, False
        if rule in broken:
            sign, colour, bold = "✗", style.VERMILION, rule == broken[0]
        elif rule not in words:
            sign, colour = "–", style.QUIET
        first = "  (first reason)" if bold else ""
        yield svg.text(NAMES[0], y, sign, 15, colour, bold=True)
        yield svg.text(NAMES[1], y, rule, bold=bold)
        yield svg.text(NAMES[2], y, words.get(rule, "not looked at") + first, fill=colour if bold else style.INK)
    yield svg.line(24, 34 + RULE * 4 - 14, 736, 34 + RULE * 4 - 14, style.RULE)


def _cut_words(whole, by, each):
    return f"{whole} ÷ {by} is not whole" if each is None else f"{whole} ÷ {by} = {each:,}"


def _blank():
    yield svg.text(24, MEMORY - 16, "No memory, time or days for a plan that does not divide.", fill=style.QUIET)


def _memory(outlook):
    """State and kept inputs as one bar, and the GPU's memory as a line."""
    left, width = BAR
    scale = width / (FULL * outlook.room)
    yield svg.text(24, MEMORY - 16, "memory of a GPU of the first stage", style.SMALL, style.QUIET)
    state = min(outlook.state * scale, width)
    kept = min(outlook.kept * scale, width - state)
    yield svg.rect(left, MEMORY, state, 24, style.BLUE)
    yield svg.rect(left + state, MEMORY, kept, 24, "#fbe5b6", stroke=style.ORANGE)
    yield svg.hatch(left + state, MEMORY, kept, 24, 9, style.ORANGE, stroke_width=1.5)
    if outlook.need > FULL * outlook.room:  # a tear: the bar goes on
        yield svg.shape([(736, MEMORY - 3), (728, MEMORY + 5), (736, MEMORY + 12), (728, MEMORY + 19),
                         (736, MEMORY + 27), (744, MEMORY + 27), (744, MEMORY - 3)], style.PAPER)  # fmt: skip
    edge = left + outlook.room * scale
    yield svg.line(edge, MEMORY - 10, edge, MEMORY + 32, style.INK, stroke_width=2, stroke_dasharray="6 3")
    yield svg.text(edge - 6, MEMORY - 16, f"the GPU: {_gb(outlook.room)} GB", bold=True, anchor="right")
    yield svg.rect(24, MEMORY + 35, 16, 12, style.BLUE)
    yield svg.text(46, MEMORY + 46, f"model state {_gb(outlook.state)} GB")
    yield svg.rect(264, MEMORY + 35, 16, 12, "#fbe5b6", stroke=style.ORANGE)
    yield svg.hatch(264, MEMORY + 35, 16, 12, 7, style.ORANGE, stroke_width=1.5)
    yield svg.text(286, MEMORY + 46, f"kept inputs of layers {_gb(outlook.kept)} GB")


def _fill(part, x, y, width, height):
    """Each part in a pattern of its own: plain, stripes, hatching, empty, dark."""
    if width <= 0:
        return
    colour = (style.BLUE, style.GREEN, style.ORANGE, style.QUIET, style.PURPLE)[part]
    paper = (style.BLUE, "#cdebdf", "#fbe5b6", style.PAPER, style.PURPLE)[part]
    yield svg.rect(x, y, width, height, paper, stroke=colour)
    if part == 1:
        yield svg.lines([(x, y + at, x + width, y + at) for at in range(5, int(height), 5)], colour)
    if part == 2:
        yield svg.hatch(x, y, width, height, 7, colour, stroke_width=1.5)
    if part == 4:
        yield svg.lines([(x + at, y, x + at, y + height) for at in range(4, int(width), 6)], style.PAPER)


def _time(outlook):
    """Where an update goes: a bar cut by seconds, and a legend with seconds and shares."""
    left, width = BAR
    yield svg.text(24, TIME - 8, "one update, nothing overlapped", style.SMALL, style.QUIET)
    x = left
    for part, name in enumerate(PARTS):
        long = width * getattr(outlook, name) / outlook.update
        yield from _fill(part, x, TIME, long, 28)
        x += long
    for part, (name, words) in enumerate(zip(PARTS, WORDS)):
        seconds = getattr(outlook, name)
        x, y = ((24, 396)[part // 3], TIME + 52 + 24 * (part % 3))
        yield from _fill(part, x, y - 11, 16, 12)
        yield svg.text(x + 22, y, words)
        yield svg.text(x + 290, y, _seconds(seconds), anchor="right", bold=True)
        yield svg.text(x + 346, y, _percent(seconds / outlook.update), anchor="right", fill=style.QUIET)


def _results(outlook, cluster, yours):
    yield svg.line(24, RESULT - 24, 736, RESULT - 24, style.RULE)
    colour = style.QUIET if outlook.against else style.INK
    row = (
        (24, f"update {_seconds(outlook.update)}"),
        (190, f"bubble {_percent(outlook.idle)} of the pipeline"),
        (436, f"goodput {_percent(outlook.useful)}"),
        (594, f"run {_days(outlook.days)} days"),
    )
    for x, words in row:
        yield svg.text(x, RESULT, words, 14, colour, bold=True)
    if outlook.against:
        yield svg.text(24, RESULT + 22, "This plan does not run; that is what it would take.", style.SMALL, style.QUIET)
    if yours is not None:
        yield svg.text(24, RESULT + 42, f"◆ your step_seconds: {_seconds(yours)}", fill=style.VERMILION, bold=True)
