"""What each device of a pipeline does when, what an update costs in idle time, and what the closed form says.

A forward is a tall light block, a backward a lower dark one, and idle time is hatched, so that they are told apart
without colour; where there is room, letters and the number of the micro-batch stand in them.
"""

import math

from partrain import style
from partrain.figures import svg
from partrain.figures.pipeline_rows import timeline
from partrain.schedules import plan, run

HEIGHT, WITH_TIME = 512, 540  # pixels; the second where the reader's own time has a line
TABLE = (24, 310, 330, 736)  # pixels: left of the name, right of the result, left and right of the formula
AGREE = 1e-6  # relative difference up to which two numbers count as the same


def pipeline_timeline(
    stages,
    microbatches,
    schedule,
    chunks=1,
    ratio=2,
    slow_stage=0,
    slow=1,
    own=None,
    time=None,
    *,
    timed=False,
    unfinished=None,
):
    """Draw one update. The unit of time is one forward of one micro-batch on one stage.

    schedule: a name of partrain.schedules; chunks a device holds, looked at by "interleaved" only; ratio: a backward's
    time over a forward's; slow: how many times as long slow_stage takes. own, if given, is the reader's (function name,
    plan), drawn in the place of the schedule's; time, if given, is the reader's time for the update; with
    timed=True it has its place in the picture even when it is not there; unfinished, if given, is a sentence that says
    why there is none of them.
    """
    chunks = chunks if schedule == "interleaved" else 1
    pace = [slow if slow > 1 and s == min(slow_stage, stages - 1) else 1 for s in range(stages)]
    items = own[1] if own else plan(schedule, stages, microbatches, chunks)
    ran = run(items, [each / chunks for each in pace], [ratio * each / chunks for each in pace])
    facts = _Facts(stages, microbatches, schedule, chunks, ratio, pace, ran)
    sentence = unfinished or _own_sentence(own, facts, ran, items) or facts.sentence()
    if time is not None:
        agrees = math.isclose(time, ran.total, rel_tol=AGREE)
        said = "where the picture ends" if agrees else "but the picture ends elsewhere"
        sentence = f"Your pipeline_time gives {style.short(time)}, {said}. {sentence}"
    return svg.picture(
        sentence,
        HEIGHT if time is None and not timed else WITH_TIME,
        *timeline(facts, ran, own and own[0], time),
        *_table(facts, time, bool(ran.stuck)),
    )


class _Facts:
    """The numbers under the picture: what was measured, and what the closed form says."""

    def __init__(self, stages, microbatches, schedule, chunks, ratio, pace, ran):
        self.stages, self.microbatches, self.schedule, self.chunks = stages, microbatches, schedule, chunks
        self.ratio, self.pace, self.total = ratio, pace, ran.total
        self.ideal = ran.working / stages if ran.working else microbatches * (1 + ratio)  # work shared out evenly
        self.of_total = 1 - self.ideal / max(self.total, self.ideal)
        self.over_ideal = self.total / self.ideal - 1
        self.in_flight = [count / chunks for count in ran.in_flight]
        rounds = 1 if schedule == "naive" else microbatches * chunks
        self.formula = (stages - 1) / (rounds + stages - 1), (stages - 1) / rounds
        self.holds = math.isclose(self.over_ideal, self.formula[1], abs_tol=AGREE)

    @property
    def slow_stage(self):
        """The slow one and by how much, or None."""
        return next(((s, each) for s, each in enumerate(self.pace) if each > 1), None)

    def formula_words(self):
        """Both closed forms with the current numbers."""
        p, idle = self.stages, f"({self.stages} − 1)"
        if self.schedule == "naive":
            return f"{idle} ÷ {p}", f"{p} − 1"
        work = f"{self.chunks} × {self.microbatches}" if self.chunks > 1 else f"{self.microbatches}"
        over = f"({work})" if self.chunks > 1 else work
        return f"{idle} ÷ ({work} + {p} − 1)", f"{idle} ÷ {over}"

    def name(self):
        in_chunks = f"interleaved in {style.count(self.chunks, 'chunk')}"
        return in_chunks if self.schedule == "interleaved" else self.schedule

    def sentence(self, name=None):
        of_total, over_ideal = _percent(self.of_total), _percent(self.over_ideal)
        measured = f"{of_total} of the total time is idle, and idle time is {over_ideal} of ideal time"
        sizes = style.count(self.stages, "stage"), style.count(self.microbatches, "micro-batch")
        who = ", ".join([*sizes, name or self.name()])
        if self.slow_stage and not self.holds:
            s, factor = self.slow_stage
            unit = "device" if self.chunks > 1 else "stage"
            return (
                f"{who}, {unit} {s} taking {factor:g} times as long: {measured}; the formula for equal stages says "
                f"{_percent(self.formula[0])} of the total."
            )
        first = "device 0" if self.chunks > 1 else "stage 0"
        flying = f"{style.short(self.in_flight[0])} {style.plural(self.in_flight[0], 'micro-batch')}"
        return f"{who}: {measured}; {first} has {flying} in flight at most."


def _own_sentence(own, facts, ran, items):
    """What is to be said of a reader's own order before the numbers, or None for the course's."""
    if own is None:
        return None
    count = sum(map(len, items))
    if ran.stuck:
        s, (letter, _, i) = next(iter(ran.stuck.items()))
        done = count - sum(len(row) - len(blocks) for row, blocks in zip(items, ran.blocks))
        return (
            f"Your {own[0]} comes to a halt after {done} of {style.count(count, 'item')}: "
            f"stage {s} waits to run {letter}{i}."
        )
    if count != 2 * facts.stages * facts.microbatches:
        return f"Your {own[0]} has {style.count(count, 'item')}, not two for each stage and micro-batch."
    return facts.sentence(f"your {own[0]}")


def _percent(share):
    return f"{100 * share:,.1f}%"


def _table(facts, time, stuck):
    name_x, result_x, formula_x, end = TABLE
    rows = zip(
        ("idle share of total time", "idle time over ideal time"),
        (facts.of_total, facts.over_ideal),
        facts.formula_words(),
        facts.formula,
    )
    yield svg.line(name_x, 412, end, 412, style.RULE)
    for row, (name, value, words, said) in enumerate(rows):
        y = 438 + 26 * row
        yield svg.text(name_x, y, name)
        yield svg.text(result_x, y, "–" if stuck else _percent(value), 15, anchor="right", bold=True)
        fine = facts.holds or stuck
        words = "the order does not come to its end" if stuck else f"= {words}"
        words = words if fine else f"≠{words[1:]} = {_percent(said)}, the formula"
        yield svg.text(formula_x, y, words, fill=style.QUIET if fine else style.VERMILION)
    yield svg.text(name_x, 490, "time of one update")
    yield svg.text(result_x, 490, "–" if stuck else style.short(facts.total), 15, anchor="right", bold=True)
    if not stuck:
        words = f"= {style.short(facts.ideal)} of work + {style.short(facts.total - facts.ideal)} idle"
        average = ", for each stage" if facts.slow_stage is None else ", for a stage on average"
        yield svg.text(formula_x, 490, words + average, fill=style.QUIET)
    if time is not None:
        yield svg.text(name_x, 520, f"◆ your pipeline_time: {style.short(time)}", fill=style.VERMILION, bold=True)
