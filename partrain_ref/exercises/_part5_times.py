"""The exercises `pipeline_time` and `peak_in_flight`: what an order costs in time and in memory."""

from __future__ import annotations

import math
from itertools import groupby

import numpy as np

from autograder.exercise import Exercise, Mistake, call, refuse
from partrain_ref import pipeline

# ---- orders to ask about ------------------------------------------------------------------------------------------


def _any_order(rng, stages, microbatches):
    """An order that runs, with no system in it: at every turn some stage takes an item that is ready."""
    order = [[] for _ in range(stages)]
    while any(len(items) < 2 * microbatches for items in order):
        ready = [(s, item) for s in range(stages) for item in _ready(order, s, microbatches)]
        s, item = ready[int(rng.integers(len(ready)))]
        order[s].append(item)
    return order


def _ready(order, s, microbatches):
    """The items that stage s could run now; forwards in their order, backwards in any."""
    own, last = order[s], s == len(order) - 1
    i = sum(letter == "F" for letter, _ in own)
    if i < microbatches and (s == 0 or ("F", i) in order[s - 1]):
        yield ("F", i)
    for i in range(microbatches):
        if ("F", i) in own and ("B", i) not in own and (last or ("B", i) in order[s + 1]):
            yield ("B", i)


GPIPE, ONE = pipeline.gpipe_order, pipeline.one_f_one_b_order
TWO = [[("F", 0), ("F", 1), ("B", 0), ("B", 1)], [("F", 0), ("B", 0), ("F", 1), ("B", 1)]]
UNEVEN = [
    [("F", 0), ("B", 0), ("F", 1), ("F", 2), ("F", 3), ("B", 3), ("B", 1), ("B", 2)],
    [("F", 0), ("B", 0), ("F", 1), ("F", 2), ("F", 3), ("B", 3), ("B", 1), ("B", 2)],
    [("F", 0), ("B", 0), ("F", 1), ("F", 2), ("F", 3), ("B", 3), ("B", 1), ("B", 2)],
]
LATER_PEAK = [  # the most in flight comes late on stage 0
    [("F", 0), ("B", 0), ("F", 1), ("F", 2), ("B", 1), ("F", 3), ("F", 4), ("F", 5), *(("B", i) for i in range(2, 6))],
    [(letter, i) for i in range(6) for letter in "FB"],
]
MISSES = [[("F", 0), ("F", 1), ("B", 0)], TWO[1]]
DOUBLES = [[*TWO[0], ("B", 1)], TWO[1]]
FROM_ONE = [[("F", 1), ("B", 1)]]
LATE_BACKWARD = [[("B", 0), ("F", 0)]]

# ---- time ---------------------------------------------------------------------------------------------------------


def _one_a_stage(times, stages):
    return [times] * stages if np.ndim(times) == 0 else list(times)


def _needs(letter, i, s, p):
    if letter == "F":
        return [(s - 1, "F", i)] if s else []
    return [(s, "F", i)] + ([(s + 1, "B", i)] if s < p - 1 else [])


def _no_chain_back(letter, i, s, p):
    return _needs(letter, i, s, p)[:1]


def _chain_back_from_the_front(letter, i, s, p):
    return _needs(letter, i, s, p)[:1] + ([(s - 1, "B", i)] if letter == "B" and s else [])


def _run(order, times, needs=_needs, busy=True):
    """The end of every item; with busy=False a stage may run several items at a time."""
    p, ends, clock = len(order), {}, [0.0] * len(order)
    left = [list(items) for items in order]
    while any(left):
        before = len(ends)
        for s, items in enumerate(left):
            for letter, i in [items[0]] if busy and items else list(items):
                waits = needs(letter, i, s, p)
                if all(need in ends for need in waits):
                    start = max([clock[s] if busy else 0.0, *(ends[need] for need in waits)])
                    ends[s, letter, i] = clock[s] = start + times[letter][s]
                    items.remove((letter, i))
        if len(ends) == before:
            raise ValueError("the order halts")
    return ends


def _twin(answer):
    """A twin that gets order and times as one list a stage."""

    def twin(order, forward_time, backward_time):
        p = len(order)
        return answer(order, {"F": _one_a_stage(forward_time, p), "B": _one_a_stage(backward_time, p)})

    return twin


def _own_work(order, times):
    return [sum(times[letter][s] for letter, _ in items) for s, items in enumerate(order)]


def _formula(order, times, pick):
    return (len(order[0]) / 2 + len(order) - 1) * (pick(times["F"]) + pick(times["B"]))


def _lock_step(order, times):
    """Rounds: each stage runs one item, if it can, and all wait for the slowest."""
    done, left, total = set(), [list(items) for items in order], 0.0
    while any(left):
        heads = [(s, *items[0]) for s, items in enumerate(left) if items]
        now = [(s, x, i) for s, x, i in heads if all(need in done for need in _needs(x, i, s, len(order)))]
        total += max(times[letter][s] for s, letter, _ in now)
        done.update(now)
        for s, *_ in now:
            left[s].pop(0)
    return total


def _end_of_stage(order, times, stage):
    ends = _run(order, times)
    return max(end for (s, *_), end in ends.items() if s == stage % len(order))


TIMES = {
    "dependencies_ignored": (
        lambda o, t: max(_own_work(o, t)),
        "That is the work of the busiest stage. It leaves out that a stage has to wait for its neighbours.",
    ),
    "one_after_another": (
        lambda o, t: sum(_own_work(o, t)),
        "That is the work of all stages, one item after another. Stages work at the same time.",
    ),
    "backwards_do_not_wait": (
        lambda o, t: max(_run(o, t, _no_chain_back).values()),
        "There a backward waits for its own forward only. It also needs the gradient from the backward on the stage "
        "after.",
    ),
    "stages_run_several_at_once": (
        lambda o, t: max(_run(o, t, busy=False).values()),
        "There a stage runs several items at the same time. It runs one at a time, in the order of its list.",
    ),
    "lock_step": (
        _lock_step,
        "There all stages go on together, each time when the slowest is done. A stage starts its next item as soon as "
        "what it needs is there.",
    ),
    "last_stage_only": (
        lambda o, t: _end_of_stage(o, t, -1),
        "That is when the last stage ends. The update is done when every stage has ended.",
    ),
    "backward_as_long_as_forward": (
        lambda o, t: max(_run(o, {"F": t["F"], "B": t["F"]}).values()),
        "There a backward takes as long as a forward. Use backward_time for the items with a B.",
    ),
    "one_stage_for_all": (
        lambda o, t: max(_run(o, {letter: [times[0]] * len(o) for letter, times in t.items()}).values()),
        "There every stage takes as long as stage 0. Where the times are a list, stage s has entry s.",
    ),
}
FORMULA = (
    "That is the closed form, (micro-batches + stages - 1) times one forward and one backward. It holds for equal "
    "stages and for some orders only; run the order item by item."
)


def _draw_pipeline_time(rng):
    def times(stages):
        return [float(time) for time in rng.choice(np.arange(2, 40), size=stages, replace=False) / 4]

    yield call(ONE(4, int(rng.integers(5, 8))), times(4), times(4))
    yield call(GPIPE(3, int(rng.integers(3, 6))), 1.25, float(rng.integers(9, 16)) / 4)
    yield call(_any_order(rng, 3, int(rng.integers(3, 6))), times(3), float(rng.integers(3, 9)) / 2)
    yield call(_any_order(rng, 4, 3), float(rng.integers(1, 9)), times(4))
    yield call(ONE(1, int(rng.integers(2, 5))), 1.5, times(1))


pipeline_time = Exercise(
    "pipeline_time",
    reference=pipeline.pipeline_time,
    points=6,
    examples=(call(TWO, 1.0, 2.0), call(TWO, [1.0, 3.0], [2.0, 4.0]), call(UNEVEN, [2.0, 1.0, 4.0], 3.0)),
    draw=_draw_pipeline_time,
    refusals=(
        refuse("an item is missing on stage 0", MISSES, 1.0, 2.0),
        refuse("stages wait for each other for ever", [TWO[1], [("F", 1), ("B", 1), ("F", 0), ("B", 0)]], 1.0, 2.0),
        refuse("an item comes twice on stage 0", DOUBLES, 1.0, 2.0),
        refuse("a backward comes before its forward", LATE_BACKWARD, 1.0, 2.0),
        refuse("micro-batch 0 is missing", FROM_ONE, 1.0, 2.0),
        refuse("the order is empty", [], 1.0, 2.0),
        refuse("forward_time is 0", TWO, 0, 2.0),
        refuse("one of the backward times is negative", TWO, 1.0, [2.0, -1.0]),
        refuse("there are three forward times for two stages", TWO, [1.0, 1.0, 1.0], 2.0),
        refuse("backward_time is NaN", TWO, 1.0, math.nan),
        refuse("a forward time is infinite", TWO, [1.0, math.inf], 2.0),
    ),
    mistakes=(
        *(Mistake(name, _twin(answer), sentence) for name, (answer, sentence) in TIMES.items()),
        Mistake("closed_form", _twin(lambda o, t: _formula(o, t, max)), FORMULA),
        Mistake("closed_form", _twin(lambda o, t: _formula(o, t, np.mean)), FORMULA),
        Mistake("closed_form", _twin(lambda o, t: _formula(o, t, lambda times: times[0])), FORMULA),
    ),
)

# ---- memory -------------------------------------------------------------------------------------------------------


def _peaks(items):
    flying, rows = 0, []
    for letter, _ in items:
        flying += 1 if letter == "F" else -1
        rows.append(flying)
    return rows


def _draw_peak_in_flight(rng):
    yield call(ONE(int(rng.integers(4, 6)), int(rng.integers(7, 10))))
    yield call(GPIPE(3, int(rng.integers(4, 7))))
    for _ in range(3):
        yield call(_any_order(rng, 3, int(rng.integers(5, 9))))
    yield call(ONE(4, 2))


IN_FLIGHT = {
    "all_micro_batches": (
        lambda order: [len(items) // 2 for items in order],
        "That is the number of micro-batches, for every stage. It is so in GPipe; a stage that runs backwards in "
        "between frees what it has kept.",
    ),
    "formula_of_1f1b": (
        lambda order: [min(len(order) - s, len(items) // 2) for s, items in enumerate(order)],
        "That is the number for a 1F1B order, whatever the order is. Follow the items of each list.",
    ),
    "one_number": (
        lambda order: max(pipeline.peak_in_flight(order)),
        "That is one number for the whole pipeline. Return one for each stage.",
    ),
    "up_to_the_first_backward": (
        lambda order: [[letter for letter, _ in items].index("B") for items in order],
        "That counts the forwards before the first backward. Later in the list there may be more in flight.",
    ),
    "longest_row_of_forwards": (
        lambda order: [
            max(len(list(row)) for letter, row in groupby(letter for letter, _ in items) if letter == "F")
            for items in order
        ],
        "That is the longest row of forwards without a backward. What was in flight before the row counts too.",
    ),
    "at_the_end": (
        lambda order: [_peaks(items)[-1] for items in order],
        "That is what is left at the end: nothing, for each stage. Remember the most on the way.",
    ),
    "one_too_few": (
        lambda order: [peak - 1 for peak in pipeline.peak_in_flight(order)],
        "The micro-batch that the stage is working on is not counted there. It is in flight from the start of its "
        "forward to the end of its backward.",
    ),
    "stages_reversed": (
        lambda order: pipeline.peak_in_flight(order)[::-1],
        "The stages are turned round there. The first number belongs to stage 0.",
    ),
}

peak_in_flight = Exercise(
    "peak_in_flight",
    reference=pipeline.peak_in_flight,
    points=4,
    examples=(call(TWO), call(LATER_PEAK)),
    draw=_draw_peak_in_flight,
    refusals=(
        refuse("an item is missing on stage 0", MISSES),
        refuse("a backward comes before its forward", LATE_BACKWARD),
        refuse("an item comes twice on stage 0", DOUBLES),
        refuse("micro-batch 0 is missing", FROM_ONE),
        refuse("the order is empty", []),
        refuse("a stage is empty", [TWO[0], []]),
        refuse("an item has another letter", [[("F", 0), ("X", 0)]]),
    ),
    mistakes=tuple(Mistake(name, twin, sentence) for name, (twin, sentence) in IN_FLIGHT.items()),
)
