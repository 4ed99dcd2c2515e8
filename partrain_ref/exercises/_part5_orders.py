"""The exercises `gpipe_order` and `one_f_one_b_order`: judged by what an order means, not against one list.

An order is right when every stage has every item once, no stage waits for ever or longer than it must, and no stage
has more micro-batches in flight than its schedule lets it. Mistakes are told by the same reading of the answer.
"""

from __future__ import annotations

import math
from numbers import Real

from autograder.exercise import Exercise, Mistake, call, refuse
from partrain_ref import pipeline

COSTS = ((1, 1), (1, 2), (2, 1))  # of a forward and of a backward


class Read:
    """One answer, read for judging; `sound` says whether it is lists of pairs at all, one list a stage."""

    def __init__(self, one, answer):
        self.stages, self.microbatches = (int(value) for value in one.args)
        self.order = [_items(items) for items in answer] if isinstance(answer, list | tuple) else []
        self.sound = len(self.order) == self.stages and all(items is not None for items in self.order)

    def complete(self, lowest: int = 0) -> bool:
        """Every stage has every item once; micro-batches counted from `lowest`."""
        wanted = sorted((letter, lowest + i) for letter in "FB" for i in range(self.microbatches))
        return all(sorted(items) == wanted for items in self.order)

    def backward_first(self) -> bool:
        """Some stage runs a backward before its forward."""
        return any(
            letter == "B" and ("F", i) not in items[:at] for items in self.order for at, (letter, i) in enumerate(items)
        )

    def ahead(self) -> list[int]:
        """For each stage the forwards before its first backward."""
        return [[letter for letter, _ in items].index("B") for items in self.order]

    def in_flight(self) -> list[int]:
        return pipeline.peak_in_flight(self.order)

    def within_1f1b(self) -> bool:
        """No stage has more in flight than 1F1B lets it."""
        allowed = self.capped(lambda s: self.stages - s)
        return all(flying <= most for flying, most in zip(self.in_flight(), allowed, strict=True))

    def halts(self) -> bool:
        return _time(self.order, 1, 1) is None

    def quick(self) -> bool:
        """No stage waits longer than it must: the time of the closed form, at several costs."""
        rounds = self.microbatches + self.stages - 1
        return all(_time(self.order, f, b) == rounds * (f + b) for f, b in COSTS)

    def whole(self) -> bool:
        """Sound, complete, no backward before its forward: only the order of the items is left to judge."""
        return self.sound and self.complete() and not self.backward_first()

    def capped(self, room) -> list[int]:
        """room(stage) for each stage, but never more than there are micro-batches."""
        return [min(max(room(s), 1), self.microbatches) for s in range(self.stages)]


def _items(items) -> list[tuple[str, int]] | None:
    """One stage's items as pairs, or None."""
    if not isinstance(items, list | tuple) or not all(isinstance(one, list | tuple) and len(one) == 2 for one in items):
        return None
    fine = all(
        isinstance(letter, str) and isinstance(i, Real) and not isinstance(i, bool) and i == i // 1
        for letter, i in items
    )
    return [(letter.strip(), int(i)) for letter, i in items] if fine else None


def _time(order, forward, backward) -> float | None:
    try:
        return pipeline.pipeline_time(order, forward, backward)
    except ValueError:
        return None


def accepts_gpipe(one, answer, reference) -> bool:
    """All forwards first on every stage; no stage waits longer than it must. The backwards may come in either order."""
    read = Read(one, answer)
    return read.whole() and read.in_flight() == [read.microbatches] * read.stages and read.quick()


def accepts_1f1b(one, answer, reference) -> bool:
    """As quick as GPipe, with at most min(stages - s, micro-batches) in flight on stage s."""
    read = Read(one, answer)
    return read.whole() and read.within_1f1b() and read.quick()


def _when(accepts, holds, whole=True):
    """A `made` that is false for what cannot be read, and lets pass the calls on which the mistake does not show."""

    def made(one, answer) -> bool:
        read = Read(one, answer)
        sound = read.whole() if whole else read.sound
        return sound and (accepts(one, answer, None) or bool(holds(read)))

    return made


# ---- twins --------------------------------------------------------------------------------------------------------


def _ahead_by(room):
    """1F1B whose stage s runs room(p, s) forwards before its first backward."""

    def twin(stages, microbatches):
        p, m = int(stages), int(microbatches)
        order = []
        for s in range(p):
            ahead = min(max(room(p, s), 1), m) - 1
            items = [("F", i) for i in range(ahead)]
            for i in range(ahead, m):
                items += [("F", i), ("B", i - ahead)]
            order.append(items + [("B", i) for i in range(m - ahead, m)])
        return order

    return twin


def _changed(function, change):
    """The twin whose stage s runs change(items, s) of what `function` lists."""

    def twin(stages, microbatches):
        return [change(items, s) for s, items in enumerate(function(stages, microbatches))]

    return twin


def _from_one(items, s):
    return [(letter, i + 1) for letter, i in items]


def _backwards_first(items, s):
    return [one for one in items if one[0] == "B"] + [one for one in items if one[0] == "F"]


def _swapped(items, s):
    return [("B" if letter == "F" else "F", i) for letter, i in items]


def _odd_stages_turn(items, s):
    """Every other stage takes the backwards the other way round."""
    half = len(items) // 2
    return items[:half] + items[half:][::-1] if s % 2 else items


def _groups(stages, microbatches):
    """GPipe in groups of as many micro-batches as stages, drained after each."""
    p, m = int(stages), int(microbatches)
    starts = range(0, m, p)
    one = [(letter, i) for start in starts for letter in "FB" for i in range(start, min(start + p, m))]
    return [list(one) for _ in range(p)]


def _first_stage_alone(stages, microbatches):
    """Stage 0 waits for each backward before its next forward; the others wait for all forwards."""
    order = pipeline.gpipe_order(stages, microbatches)
    return order if len(order) == 1 else [_ahead_by(lambda p, s: 1)(1, microbatches)[0], *order[1:]]


def _last_stage_hoards(stages, microbatches):
    """The last stage waits for all forwards, the others for backwards; with few micro-batches that halts nothing."""
    order = pipeline.one_f_one_b_order(stages, microbatches)
    return order if len(order) == 1 else [*order[:-1], pipeline.gpipe_order(1, microbatches)[0]]


FROM_ONE = "The micro-batches are counted from 1 there. Count from 0, so that the last one is microbatches - 1."
BACKWARD_FIRST = (
    "A stage runs a backward before the forward of the same micro-batch. The backward needs what that forward has kept."
)
MISSING = (
    'An item is missing, or comes twice. Each stage needs every micro-batch once as "F" and once as "B"; the last '
    "backwards remain to be done when there are no forwards left."
)
HALT = (
    "Run in that order the pipeline comes to a halt: stages wait for each other for ever. Neighbouring stages must "
    "take the micro-batches in the same order."
)
SLOW = "It works, but stages wait longer for each other than they must, so the update takes longer."


def _common(accepts, function):
    """The mistakes that both orders share, named before all others."""
    forwards_only = _changed(function, lambda items, s: [one for one in items if one[0] == "F"])
    last_lost = _changed(function, lambda items, s: items[:-1])
    from_one = _changed(function, _from_one)
    return (
        Mistake(
            "micro_batches_from_one", from_one, FROM_ONE, made=_when(accepts, lambda r: r.complete(1), whole=False)
        ),
        *(
            Mistake(
                "items_missing",
                twin,
                MISSING,
                made=_when(accepts, lambda r: not r.complete() and not r.complete(1), whole=False),
            )
            for twin in (forwards_only, last_lost)
        ),
        *(
            Mistake(
                "backward_before_forward",
                _changed(function, change),
                BACKWARD_FIRST,
                made=_when(accepts, lambda r: r.complete() and r.backward_first(), whole=False),
            )
            for change in (_backwards_first, _swapped)
        ),
    )


# ---- the two exercises --------------------------------------------------------------------------------------------


def _draw(rng):
    yield call(int(rng.integers(4, 7)), int(rng.integers(8, 12)))  # more micro-batches than stages
    yield call(int(rng.integers(4, 7)), int(rng.integers(2, 4)))  # fewer
    yield call(3, int(rng.integers(4, 8)))
    yield call(float(rng.integers(2, 4)), 1)  # 2.0 counts as whole
    yield call(1, int(rng.integers(2, 5)))


REFUSALS = (
    refuse("stages is 0", 0, 8),
    refuse("microbatches is 2.5", 4, 2.5),
    refuse("microbatches is negative", 4, -8),
    refuse("stages is True", True, 8),
    refuse("microbatches is NaN", 4, math.nan),
    refuse("stages is infinite", math.inf, 8),
)

gpipe_order = Exercise(
    "gpipe_order",
    reference=pipeline.gpipe_order,
    points=4,
    examples=(call(4, 8), call(3, 2)),
    draw=_draw,
    accepts=accepts_gpipe,
    refusals=REFUSALS,
    mistakes=(
        *_common(accepts_gpipe, pipeline.gpipe_order),
        Mistake(
            "one_at_a_time",
            _ahead_by(lambda p, s: 1),
            "Each stage runs the backward of a micro-batch right after its forward. So only one stage is at work at a "
            "time, and the micro-batches gain nothing. GPipe runs all forwards first.",
            made=_when(accepts_gpipe, lambda r: r.ahead() == [1] * r.stages),
        ),
        Mistake(
            "one_f_one_b",
            pipeline.one_f_one_b_order,
            "That is the order called 1F1B, which starts backwards before the forwards are done. GPipe runs all "
            "forwards first.",
            made=_when(accepts_gpipe, lambda r: r.ahead() == r.capped(lambda s: r.stages - s)),
        ),
        Mistake(
            "in_groups",
            _groups,
            "Backwards start before all forwards are done. GPipe runs all forwards of the update first, then all "
            "backwards.",
            made=_when(accepts_gpipe, lambda r: max(r.in_flight()) < r.microbatches),
        ),
        Mistake(
            "stages_wait_for_ever",
            _first_stage_alone,
            HALT,
            made=_when(accepts_gpipe, lambda r: r.halts()),
        ),
        Mistake(
            "too_slow",
            _changed(pipeline.gpipe_order, _odd_stages_turn),
            SLOW + " Let neighbouring stages take the micro-batches in the same order.",
            made=_when(accepts_gpipe, lambda r: not r.halts() and not r.quick()),
        ),
    ),
)

one_f_one_b_order = Exercise(
    "one_f_one_b_order",
    reference=pipeline.one_f_one_b_order,
    points=4,
    examples=(call(4, 8), call(5, 2)),  # in the second stages run out of forwards before their first backward
    draw=_draw,
    accepts=accepts_1f1b,
    refusals=REFUSALS,
    mistakes=(
        *_common(accepts_1f1b, pipeline.one_f_one_b_order),
        Mistake(
            "all_forwards_first",
            pipeline.gpipe_order,
            "That is GPipe: all forwards first. It takes as long as 1F1B, but every stage has all micro-batches in "
            "flight. Start a stage's first backward as soon as it can run.",
            made=_when(accepts_1f1b, lambda r: r.ahead() == [r.microbatches] * r.stages),
        ),
        *(
            Mistake(
                "every_stage_identical",
                _ahead_by(room),
                "Every stage has the same list. The last stage can start a backward right after its first forward; the "
                "earlier a stage, the longer it waits for its first backward, and the more forwards it runs before.",
                made=_when(accepts_1f1b, lambda r: all(items == r.order[0] for items in r.order)),
            )
            for room in (lambda p, s: p, lambda p, s: 1)
        ),
        Mistake(
            "stages_reversed",
            _ahead_by(lambda p, s: s + 1),
            "The stages are turned round: the last one runs the most forwards first. It is stage 0 that waits "
            "longest for its first backward.",
            made=_when(accepts_1f1b, lambda r: r.ahead() == r.capped(lambda s: s + 1)),
        ),
        Mistake(
            "last_stage_waits",
            _ahead_by(lambda p, s: max(p - s, 2)),
            "The last stage runs two forwards before its first backward. Nothing comes after it: it can start the "
            "backward of a micro-batch right after its forward.",
            made=_when(accepts_1f1b, lambda r: r.ahead() == r.capped(lambda s: max(r.stages - s, 2))),
        ),
        Mistake(
            "warm_up_one_too_long",
            _ahead_by(lambda p, s: p - s + 1),
            "Each stage runs one forward too many before its first backward, and has one micro-batch more in flight "
            "than it needs.",
            made=_when(accepts_1f1b, lambda r: r.ahead() == r.capped(lambda s: r.stages - s + 1)),
        ),
        Mistake(
            "warm_up_one_too_short",
            _ahead_by(lambda p, s: p - s - 1),
            "Each stage runs one forward too few before its first backward, and then waits.",
            made=_when(accepts_1f1b, lambda r: r.ahead() == r.capped(lambda s: r.stages - s - 1)),
        ),
        Mistake(
            "stages_wait_for_ever",
            _last_stage_hoards,
            HALT,
            made=_when(accepts_1f1b, lambda r: r.halts() or (r.microbatches <= r.stages and not r.within_1f1b())),
        ),
        Mistake(
            "too_many_in_flight",
            _ahead_by(lambda p, s: 2 * (p - s)),
            "Stages have more micro-batches in flight than 1F1B lets them. After its first backward a stage runs one "
            "forward and one backward in turn, and it starts that backward as soon as it can.",
            made=_when(accepts_1f1b, lambda r: not r.within_1f1b()),
        ),
        Mistake(
            "too_slow",
            _ahead_by(lambda p, s: (p - s + 1) // 2),
            SLOW + " Near the start of the pipeline, more forwards have to come before the first backward.",
            made=_when(accepts_1f1b, lambda r: not r.halts() and not r.quick()),
        ),
    ),
)
