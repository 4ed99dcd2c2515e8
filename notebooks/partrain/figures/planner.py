"""A plan for a run: the rules it keeps or breaks, memory, where the time of an update goes, and the days."""

import math

from partrain import style
from partrain.figures import svg
from partrain.figures.planner_bars import MEMORY, gigabytes, memory, percent, seconds, time
from partrain.outlook import Outlook, divides

HEIGHT = 504  # pixels
NAMES = (24, 54, 164)  # pixels: left of the sign, of the rule, of its numbers
RULE = 28  # pixels from one rule to the next
RESULT = 448  # pixels: the line of the results
AGREE = 1e-6  # relative difference up to which two times are the same
RULES = ("divisible", "node", "micro-batches", "memory")


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
        sentence = f"Your step_seconds gives {seconds(yours)}, {said}. {sentence}"
    return svg.picture(
        sentence,
        HEIGHT,
        *_rules(_cuts(plan, model), plan, cluster, outlook),
        *memory(outlook),
        *time(outlook),
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
    held = f"{gigabytes(outlook.need)} of {gigabytes(outlook.room)} GB on each GPU"
    if outlook.against:
        return (
            f"It does not run, first reason {outlook.against[0]}: {_whys(outlook)[outlook.against[0]]}. Otherwise an "
            f"update would take {seconds(outlook.update)}."
        )
    return (
        f"It fits, with {held}. An update takes {seconds(outlook.update)}, and the run {_days(outlook.days)} days; "
        f"the bubble is {percent(outlook.idle)} of the pipeline's time, and goodput {percent(outlook.useful)}."
    )


def _whys(outlook):
    return {
        "node": "its tensor-parallel group does not lie inside one node",
        "micro-batches": "it has fewer micro-batches than stages",
        "memory": f"it needs {gigabytes(outlook.need)} GB on each GPU, which has {gigabytes(outlook.room)}",
    }


def _days(value):
    return style.significant(value)


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
        words["memory"] = f"{gigabytes(outlook.need)} of {gigabytes(outlook.room)} GB"
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


def _results(outlook, cluster, yours):
    yield svg.line(24, RESULT - 24, 736, RESULT - 24, style.RULE)
    colour = style.QUIET if outlook.against else style.INK
    row = (
        (24, f"update {seconds(outlook.update)}"),
        (190, f"bubble {percent(outlook.idle)} of the pipeline"),
        (436, f"goodput {percent(outlook.useful)}"),
        (594, f"run {_days(outlook.days)} days"),
    )
    for x, words in row:
        yield svg.text(x, RESULT, words, 14, colour, bold=True)
    if outlook.against:
        yield svg.text(24, RESULT + 22, "This plan does not run; that is what it would take.", style.SMALL, style.QUIET)
    if yours is not None:
        yield svg.text(24, RESULT + 42, f"◆ your step_seconds: {seconds(yours)}", fill=style.VERMILION, bold=True)
