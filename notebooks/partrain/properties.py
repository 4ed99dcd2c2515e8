"""What `check` tries where an exercise has more than one right answer: what all right answers have in common.

PROPERTIES: exercise -> function of (the student's functions, then the inputs of a visible example) that returns None
where all is well, else one sentence or two on what is not. It holds no answers, only rules that the notebook states.
"""

import itertools

import numpy as np

from partrain.order_rules import gpipe_order, one_f_one_b_order
from partrain.plan_rules import plan_run
from partrain.ring_rules import ring_allreduce
from partrain.scenarios import ask_steps, save_and_resume

SHOWN = {
    "weights": "the weights",
    "moments": "Adam's moments",
    "step_count": "Adam's step count",
    "schedule": "the position in the schedule",
    "random_state": "the random state",
    "half_word": "the unused half of a random number (has_uint32 and uinteger)",
    "data_position": "the data position",
}


def rows_for_step(functions, steps, batch, rows, seed):
    """Every row once an epoch, a new order every epoch and for every seed, the same rows when asked again."""
    answer = ask_steps(functions, steps, batch, rows, seed)
    first = {}
    for step, got in zip(steps, answer["rows"]):
        if got is None:
            return "It returned nothing (None). Did you print instead of return?"
        if np.shape(got) != (batch,):
            late = np.shape(got) == (0,) and step >= rows // batch
            why = f" An epoch has {rows // batch} steps, so this one is in a later epoch." if late else ""
            return f"Step {step} gave {got!r}: a list of {batch} rows is asked for.{why}"
        if not all(row in range(rows) for row in got):
            return f"Step {step} gave {got!r}: rows are counted from 0 to {rows - 1}."
        if list(first.setdefault(step, got)) != list(got):
            return f"Step {step} gave {list(first[step])}, and {list(got)} when asked again."
    epochs = [[first[step] for step in epoch] for epoch in _whole_epochs(first, rows // batch)]
    for number, epoch in enumerate(epochs):
        seen = sorted(itertools.chain.from_iterable(epoch))
        twice = sorted({row for row in seen if seen.count(row) > 1})
        if twice:
            return f"Epoch {number} holds rows {twice} more than once, and others not at all."
    if any(list(map(list, a)) == list(map(list, b)) for a, b in itertools.pairwise(epochs)):
        return "Two epochs in a row have the same order."
    if list(map(list, epochs[0])) == [list(got) for got in answer["next_seed"]]:
        return f"Seed {seed} and seed {seed + 1} give the same order."
    return None


def _whole_epochs(known, length):
    """The steps of each epoch, counted from 0, of which all are known."""
    epochs = range(max(known) // length + 1)
    whole = [range(epoch * length, (epoch + 1) * length) for epoch in epochs]
    return [steps for steps in whole if all(step in known for step in steps)]


def save_checkpoint(functions, seed, cut, steps):
    """A resumed run equals the uninterrupted one, and a power cut never costs the last whole checkpoint."""
    got = save_and_resume(functions, seed, cut, steps)
    differs = [] if got["differs"] == "nothing" else got["differs"].split(", ")
    if got["read_from"] == "the running object":
        return "What came back is the state of the run as it is now, not as it was saved: that is a reference, no copy."
    if got["read_from"] == "no file":
        return "save_checkpoint wrote no file at `path`. When the program ends, its memory is gone."
    if got["read_from"] == "another path":
        return "What came back was saved under another path, after this one. Use the `path` that is given."
    if len(differs) == len(SHOWN):
        return "After loading, nothing is as it was saved. Did load_checkpoint put it into the `run` it was given?"
    if differs and 0 < got["weights_off"] < 1e-2:
        return "The weights came back close to what they were, but not equal: digits were lost on the way to the file."
    if differs:
        told = [SHOWN[name] for name in differs if name != "half_word" or "random_state" not in differs]
        return f"Not as it was saved: {', '.join(told)}."
    if got["steps_that_differ"]:
        return f"{got['steps_that_differ']} of {steps} steps differ from those of the uninterrupted run."
    if not got["new_one_loads"]:
        return (
            "The first save loads. But after a second save to the same `path` the newer state does not load: the older "
            "checkpoint has to be replaced."
        )
    if got["old_one_lost"]:
        return (
            "The resumed run is exact. But when the power went in the middle of the next save, no whole checkpoint was "
            "left: neither the old nor the new one loads."
        )
    return None


PROPERTIES = {
    "gpipe_order": gpipe_order,
    "one_f_one_b_order": one_f_one_b_order,
    "plan_run": plan_run,
    "ring_allreduce": ring_allreduce,
    "rows_for_step": rows_for_step,
    "save_checkpoint": save_checkpoint,
}
