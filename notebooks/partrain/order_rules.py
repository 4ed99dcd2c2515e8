"""What `check` tries on a reader's order: rules that the notebook states, and no order of its own to compare with."""

from partrain import style
from partrain.schedules import read_order, run

COSTS = ((1, 1), (1, 2), (2, 1))  # time of a forward, time of a backward


def gpipe_order(functions, stages, microbatches):
    """All forwards, then all backwards, on every stage; no stage waits longer than it must."""
    plan, wrong = _read(functions, stages, microbatches)
    if wrong:
        return wrong
    for s, items in enumerate(plan):
        first = next(at for at, (letter, *_) in enumerate(items) if letter == "B")
        if first < microbatches:
            done = style.count(first, "forward")
            return f"Stage {s} runs a backward after {done}; in GPipe all {microbatches} forwards come first."
    slow = _waits(plan, stages, microbatches)
    return f"{slow} Let neighbouring stages take the micro-batches in the same order." if slow else None


def one_f_one_b_order(functions, stages, microbatches):
    """As quick as GPipe, and stage s has at most stages - s micro-batches in flight."""
    plan, wrong = _read(functions, stages, microbatches)
    if wrong:
        return wrong
    flying = run(plan, [1] * stages, [1] * stages).in_flight
    for s in range(stages):
        if flying[s] > min(stages - s, microbatches):
            return (
                f"With {stages} stages and {microbatches} micro-batches, stage {s} has {flying[s]} in flight at once. "
                "In 1F1B stage s has stages - s at most: start its backwards earlier."
            )
        if flying[s] < min(stages - s, microbatches):
            return (
                f"With {stages} stages and {microbatches} micro-batches, stage {s} has {flying[s]} in flight at most, "
                "too few to stay busy: let it run more forwards before its first backward."
            )
    return _waits(plan, stages, microbatches)


def _read(functions, stages, microbatches):
    """The plan of a reader's order and None, or None and what is wrong with it."""
    (function,) = functions
    answer = function(stages, microbatches)
    if answer is None:
        return None, "It returned nothing (None). Did you print instead of return?"
    try:
        plan = read_order(answer, stages)
    except ValueError as error:
        return None, str(error)
    return plan, _incomplete(plan, microbatches) or _halts(plan, stages)


def _incomplete(plan, microbatches):
    if {i for items in plan for *_, i in items} == set(range(1, microbatches + 1)):
        return "The micro-batches are counted from 1. Count from 0."
    for s, items in enumerate(plan):
        seen = [(letter, i) for letter, _, i in items]
        for item in [(letter, i) for letter in "FB" for i in range(microbatches)]:
            if seen.count(item) != 1:
                times = "is missing" if item not in seen else f"comes {seen.count(item)} times"
                return f"On stage {s} of {style.count(len(plan), 'stage')}, {item} {times}."
        if len(seen) > 2 * microbatches:
            return f"Stage {s} has micro-batches beyond the {microbatches} there are."
        for i in range(microbatches):
            if seen.index(("B", i)) < seen.index(("F", i)):
                return f"Stage {s} has {('B', i)} before {('F', i)}: a backward needs what its forward has kept."
    return None


def _halts(plan, stages):
    stuck = run(plan, [1] * stages, [1] * stages).stuck
    if not stuck:
        return None
    waits = [f"stage {s} waits to run {(letter, i)}" for s, (letter, _, i) in list(stuck.items())[:2]]
    return f"Run in this order the pipeline comes to a halt: {' and '.join(waits)}."


def _waits(plan, stages, microbatches):
    for forward, backward in COSTS:
        total = run(plan, [forward] * stages, [backward] * stages).total
        if total > (microbatches + stages - 1) * (forward + backward):
            return (
                f"With {stages} stages and {microbatches} micro-batches, a forward of {forward} and a backward of "
                f"{backward}, it takes {total:g}: stages wait longer for each other than they must."
            )
    return None
