"""The exercise `rows_for_step`: any shuffle is right that keeps three promises, so it is judged by them.

A call is a list of steps to ask for one by one; the answer is a dict, see `partrain_ref.drives.ask_steps`.
"""

from __future__ import annotations

from itertools import count, pairwise

import numpy as np

from autograder.exercise import Exercise, Mistake, call, refuse
from partrain_ref import checkpoint, drives


class Asked:
    """The answer of one call, read for judging; `sound` says whether it is lists of whole numbers at all."""

    def __init__(self, one, answer):
        self.steps, self.batch, self.rows, _ = one.args
        got = answer if isinstance(answer, dict) and answer.keys() == {"rows", "next_seed"} else {"rows": []}
        self.got, self.next_seed = ([_whole(row) for row in _list(got.get(key))] for key in ("rows", "next_seed"))
        self.sound = len(self.got) == len(self.steps) and all(row is not None for row in self.got + self.next_seed)
        self.first = dict(reversed(list(zip(self.steps, self.got, strict=False))))

    def stable(self) -> bool:
        """The same step always gave the same rows."""
        return all(self.first[step] == got for step, got in zip(self.steps, self.got, strict=True))

    def epochs(self) -> list[list[tuple]]:
        """The rows of each epoch of which every step was asked, as one tuple a step."""
        length = self.rows // self.batch
        wanted = [range(start, start + length) for start in range(0, max(self.steps) + 1, length)]
        return [[self.first[step] for step in epoch] for epoch in wanted if all(step in self.first for step in epoch)]

    def complete(self, lowest: int = 0) -> bool:
        """Every step has `batch` rows, and every row comes once an epoch; rows are counted from `lowest`."""
        whole = list(range(lowest, lowest + self.rows))
        in_order = all(sorted(row for step in epoch for row in step) == whole for epoch in self.epochs())
        return in_order and all(len(row) == self.batch and set(row) <= set(whole) for row in self.got)

    def new_orders(self) -> bool:
        """No epoch has the order of the one before."""
        epochs = self.epochs()
        return all(a != b for a, b in pairwise(epochs))

    def other_seed(self) -> bool:
        """The next seed gives another first epoch."""
        return self.epochs()[0] != self.next_seed


def _list(value) -> list:
    value = value.tolist() if isinstance(value, np.ndarray) else value
    return list(value) if isinstance(value, list | tuple) else []


def _whole(row) -> tuple[int, ...] | None:
    """A row of whole numbers as a tuple, or None."""
    numbers = _list(row)
    if not numbers and not isinstance(row, list | tuple | np.ndarray):
        return None
    fine = all(isinstance(n, int | float) and not isinstance(n, bool) and n == n // 1 for n in numbers)
    return tuple(int(n) for n in numbers) if fine else None


def accepts(one, answer, reference) -> bool:
    """Every row once an epoch, a new order every epoch and for every seed, the same rows when asked again."""
    asked = Asked(one, answer)
    return asked.sound and asked.stable() and asked.complete() and asked.new_orders() and asked.other_seed()


def _when(holds):
    """A `made` that is false for what cannot be read."""

    def made(one, answer) -> bool:
        asked = Asked(one, answer)
        return asked.sound and bool(holds(asked))

    return made


def _epoch(step, batch, rows):
    return divmod(int(step), int(rows) // int(batch))


def _slice(order, place, batch):
    return order[place * batch : (place + 1) * batch].tolist()


def _ordered(step, batch, rows, order):
    return _slice(order, _epoch(step, batch, rows)[1], batch)


def _shuffled(*key):
    return np.random.default_rng([int(part) for part in key])


_NEXT = count(1)
REPEATED = (
    "Within one epoch some rows come more than once, and others not at all. Shuffle all rows once an epoch, with a "
    "generator that depends on the epoch and not on the step, and give each step its own slice of that order."
)

MISTAKES = (
    Mistake(
        "other_rows_when_asked_again",
        lambda step, batch, rows, seed: _shuffled(seed, step, next(_NEXT)).permutation(rows)[:batch].tolist(),
        "Asked twice for the same step, it gave different rows. A generator that lives on between the calls remembers "
        "what it has drawn; the rows must follow from the arguments alone.",
        made=_when(lambda asked: not asked.stable()),
    ),
    Mistake(
        "rows_from_one",
        lambda step, batch, rows, seed: [row + 1 for row in checkpoint.rows_for_step(step, batch, rows, seed)],
        "The rows are counted from 1 there. Count from 0, so that the last one is rows - 1.",
        made=_when(lambda asked: asked.complete(lowest=1)),
    ),
    Mistake(
        "not_shuffled",
        lambda step, batch, rows, seed: _ordered(step, batch, rows, np.arange(rows)),
        "The rows come in the order of the table, in every epoch. Shuffle them, anew in every epoch.",
        made=_when(lambda asked: asked.complete() and _in_table_order(asked)),
    ),
    Mistake(
        "same_order_every_epoch",
        lambda step, batch, rows, seed: _ordered(step, batch, rows, _shuffled(seed).permutation(rows)),
        "The rows are shuffled once, and then every epoch has that same order. The generator must depend on the epoch "
        "as well as on the seed.",
        made=_when(lambda asked: asked.complete() and not asked.new_orders() and not _in_table_order(asked)),
    ),
    Mistake(
        "slice_beyond_the_epoch",
        lambda step, batch, rows, seed: _slice(
            _shuffled(seed, _epoch(step, batch, rows)[0]).permutation(rows), int(step), batch
        ),
        "From the second epoch on there are no rows: the slice begins behind the end of the order. Count the place "
        "from the beginning of the epoch, not from the beginning of the run.",
        made=_when(lambda asked: asked.stable() and any(not row for row in asked.got)),
    ),
    Mistake(
        "same_rows_all_epoch",
        lambda step, batch, rows, seed: (
            _shuffled(seed, _epoch(step, batch, rows)[0]).permutation(rows)[:batch].tolist()
        ),
        "Every step of an epoch gets the same rows: the beginning of the shuffled order. Step on through that order.",
        made=_when(lambda asked: all(len(set(epoch)) == 1 for epoch in asked.epochs())),
    ),
    Mistake(
        "seed_ignored",
        lambda step, batch, rows, seed: checkpoint.rows_for_step(step, batch, rows, 0),
        "Two different seeds give the same order. Let the generator depend on the seed as well as on the epoch.",
        made=_when(lambda asked: asked.complete() and asked.new_orders() and not asked.other_seed()),
    ),
    Mistake(
        "rows_come_twice",
        lambda step, batch, rows, seed: _shuffled(seed, step).permutation(rows)[:batch].tolist(),
        REPEATED,
        made=_when(lambda asked: asked.stable() and not asked.complete() and _right_form(asked)),
    ),
    Mistake(
        "rows_come_twice",  # the epoch is counted with the batch, not with the steps of an epoch
        lambda step, batch, rows, seed: _ordered(
            step, batch, rows, _shuffled(seed, int(step) // batch).permutation(rows)
        ),
        REPEATED,
        made=_when(lambda asked: asked.stable() and not asked.complete() and _right_form(asked)),
    ),
)


def _in_table_order(asked: Asked) -> bool:
    return all([row for step in epoch for row in step] == list(range(asked.rows)) for epoch in asked.epochs())


def _right_form(asked: Asked) -> bool:
    return all(len(row) == asked.batch and set(row) <= set(range(asked.rows)) for row in asked.got)


def _draw(rng):
    for batch, length in ((int(rng.integers(3, 6)), int(rng.integers(4, 7))), (int(rng.integers(6, 9)), 3)):
        steps = [int(step) for step in rng.permutation(3 * length)]
        far = length * int(rng.integers(50, 90))  # an epoch that nobody worked up to
        again = [int(step) for step in rng.choice(steps, size=3, replace=False)]
        yield call(steps + list(range(far, far + length)) + again, batch, batch * length, int(rng.integers(0, 10_000)))


rows_for_step = Exercise(
    "rows_for_step",
    reference=checkpoint.rows_for_step,
    points=4,
    examples=(call([4, 0, 1, 2, 3, 5, 6, 7, 8, 4, 0], 4, 12, 7),),
    draw=_draw,
    accepts=accepts,
    scenario="ask_steps",
    drive=lambda function, one: drives.ask_steps(function, *one.args, **one.kwargs),
    refusals=(
        refuse("batch does not divide the rows", 0, 5, 12, 7),
        refuse("step is negative", -1, 4, 12, 7),
        refuse("step is 1.5", 1.5, 4, 12, 7),
        refuse("batch is 0", 0, 0, 12, 7),
        refuse("rows is infinite", 0, 4, float("inf"), 7),
        refuse("step is True", True, 4, 12, 7),
    ),
    mistakes=MISTAKES,
)
