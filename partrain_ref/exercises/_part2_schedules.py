"""The exercises `warmup_lr` and `cosine_lr`: ramps that are off by one, cosines that are not half a wave."""

from __future__ import annotations

import math

from autograder.exercise import Exercise, Mistake, call, refuse
from partrain_ref import learning_rate as lr

NAN, INF = math.nan, math.inf


def _each(name, sentence, *twins):
    """One mistake, written in several ways."""
    return tuple(Mistake(name, twin, sentence) for twin in twins)


# ---- warming up ---------------------------------------------------------------------------------------------------

ZERO_AT_STEP_0 = (
    "At step 0 that is a rate of 0: the first update would change nothing. Steps are counted from 0, and step 0 is the "
    "first step of the ramp, so it already moves."
)
LATE = (
    "The peak comes one step too late: the ramp is cut into one piece too many. Its last step, number warmup_steps − "
    "1, has the full rate."
)
EARLY = "The peak comes one step too early: the ramp has one piece too few. It has as many steps as warmup_steps says."
OVERSHOOTS = "At step number warmup_steps the rate shoots above the peak. Counted from 0, the warm-up is over by then."
ROUNDED_DOWN = (
    "The fraction was rounded down: // gives whole numbers only, so the rate stays 0 until the last step of the ramp."
)
NO_CLIMB = "The rate stays 0 until the ramp is over, as it does where // rounds down. It should climb at every step."
ZERO_REFUSED = "A legal 0 is refused. Steps are counted from 0, so step = 0 is the first; warmup_steps = 0 is fine too."


def _ramp(fraction, beyond=lambda s, w: 1):
    """A ramp written with an if: peak times a fraction before step number warmup_steps, full after it."""
    return lambda s, peak, w: peak * (fraction(s, w) if s < w else beyond(s, w))


def _capped(fraction, careful=False):
    """A ramp written with min: careful of warmup_steps = 0 or not."""
    return lambda s, peak, w: peak if careful and w == 0 else peak * min(1, fraction(s, w))


def _refusing(function, refused):
    """The function of someone who lets need_counts look at an argument that may be 0."""

    def twin(*args):
        if any(args[at] == 0 for at in refused):
            raise ValueError
        return function(*args)

    return twin


def _overshoots(careful):
    return lambda s, peak, w: peak if s > w or (careful and w == 0) else peak * (s + 1) / w


def _draw_warmup_lr(rng):
    w, peak = int(rng.integers(5, 40)), round(float(rng.uniform(1e-4, 0.9)), 6)
    for step in (0, int(rng.integers(1, w - 2)), w - 1, w, w + int(rng.integers(2, 50))):
        yield call(step, peak, w)
    w, peak = int(rng.integers(50, 3000)), round(float(rng.uniform(1e-4, 0.9)), 6)
    yield call(int(rng.integers(1, w - 2)), peak, w)
    yield call(0, peak, 0)


warmup_lr = Exercise(
    "warmup_lr",
    reference=lr.warmup_lr,
    points=4,
    examples=tuple(call(step, 0.8, warmup) for step, warmup in ((0, 4), (1, 4), (3, 4), (4, 4), (10, 4), (0, 0))),
    draw=_draw_warmup_lr,
    refusals=(
        refuse("step is negative", -1, 0.8, 4),
        refuse("warmup_steps is 2.5", 1, 0.8, 2.5),
        refuse("peak_lr is 0", 1, 0.0, 4),
        refuse("peak_lr is NaN", 1, NAN, 4),
        refuse("step is 0.5", 0.5, 0.8, 4),
        refuse("warmup_steps is negative", 1, 0.8, -4),
        refuse("step is True", True, 0.8, 4),
        refuse("peak_lr is infinite", 1, INF, 4),
    ),
    mistakes=(
        Mistake("zero_at_step_0", _ramp(lambda s, w: s / w), ZERO_AT_STEP_0),
        Mistake("zero_at_step_0", _capped(lambda s, w: s / w), ZERO_AT_STEP_0),
        Mistake("zero_at_step_0", _capped(lambda s, w: s / (w - 1), careful=True), ZERO_AT_STEP_0),
        Mistake("zero_at_step_0", _capped(lambda s, w: s / max(1, w)), ZERO_AT_STEP_0),
        Mistake("zero_at_step_0", _ramp(lambda s, w: s / (w + 1)), ZERO_AT_STEP_0),
        Mistake("peak_late", _ramp(lambda s, w: (s + 1) / (w + 1)), LATE),
        Mistake("peak_early", _ramp(lambda s, w: (s + 1) / (w - 1)), EARLY),
        Mistake("peak_early", _capped(lambda s, w: (s + 1) / (w - 1)), EARLY),
        Mistake("peak_early", _capped(lambda s, w: (s + 1) / (w - 1), careful=True), EARLY),
        Mistake("peak_early", _ramp(lambda s, w: min(1, (s + 2) / w)), EARLY),
        Mistake("overshoots", _overshoots(careful=False), OVERSHOOTS),
        Mistake("overshoots", _overshoots(careful=True), OVERSHOOTS),
        *(
            Mistake(
                "keeps_rising",
                twin,
                "The rate rises for ever. After warmup_steps steps the warm-up is over and the rate stays at its peak.",
            )
            for more in (0, 1)
            for twin in (
                lambda s, peak, w, more=more: peak * (s + more) / w,
                lambda s, peak, w, more=more: peak * (s + more) / w if w else peak,
            )
        ),
        Mistake(
            "share_only",
            lambda s, peak, w: lr.warmup_lr(s, 1, w),
            "That is a share of the peak, between 0 and 1. The question asks for the rate itself.",
        ),
        Mistake("no_warm_up", lambda s, peak, w: peak, "That is the full rate at every step: there is no warm-up."),
        Mistake(
            "constant_warm_up",
            _ramp(lambda s, w: 1 / w),
            "During the warm-up the rate stays where it began and then jumps to the peak. It should grow at every "
            "step.",
        ),
        Mistake("rounded_down", _ramp(lambda s, w: (s + 1) // w), ROUNDED_DOWN),
        Mistake("rounded_down", _capped(lambda s, w: (s + 1) // w), ROUNDED_DOWN),
        Mistake("zero_during_ramp", _ramp(lambda s, w: s // w), NO_CLIMB),
        *(
            Mistake("zero_warm_up", twin, "warmup_steps = 0 means that there is no warm-up: the full rate at once.")
            for twin in (
                _capped(lambda s, w: (s + 1) / w),
                lambda s, peak, w: 0.0 if w == 0 else lr.warmup_lr(s, peak, w),
                _refusing(lr.warmup_lr, (2,)),
            )
        ),
        Mistake("zero_step_refused", _refusing(lr.warmup_lr, (0,)), ZERO_REFUSED),
    ),
)

# ---- warming up, then a cosine ------------------------------------------------------------------------------------

OFFSET_FORGOTTEN = (
    "The cosine forgets the warm-up. It should be at its top at step number warmup_steps, and reach the bottom after "
    "the steps that remain from there."
)
RISES_AGAIN = "After step number total_steps the rate rises again, because a cosine does. It should stay at final_lr."
FLOOR_FORGOTTEN = "final_lr is forgotten: the rate falls to 0. It should end at final_lr, and stay there."
END_OFF = (
    "The cosine is off by one step. It is at the peak at step number warmup_steps and at the end at step total_steps."
)
WRONG_WAVE = "That is not half a cosine. Over the decay the angle goes from 0 to π once, so that both ends are level: "


def _wave(angle, height=lambda peak, final, c: final + (peak - final) * (1 + c) / 2):
    """A decay: the angle as a function of the progress, the rate as a function of its cosine."""
    return lambda p, peak, final: height(peak, final, math.cos(angle(p)))


def _half(p):
    return math.pi * p


_COSINE = _wave(_half)


def _decayed(progress, decay=_COSINE, ramp=lr.warmup_lr, end="hold", least=0):
    """A schedule: ramp, then decay(progress). end: "hold" final_lr, "hold 0", "cap" the progress, or "run" on."""

    def twin(s, peak, w, total, final):
        if s < w and ramp:
            return ramp(s, peak, w)
        if s >= total - least and end.startswith("hold"):
            return final if end == "hold" else 0.0
        p = progress(s, w, total)
        return decay(min(1, p) if end == "cap" else p, peak, final)

    return twin


def _on_course(s, w, total):
    return (s - w) / (total - w)


def _not_half(what, *decays):
    twins = (twin for decay in decays for twin in _held_or_not(decay=decay, ends=("hold", "cap", "run")))
    return _each("not_half_a_cosine", WRONG_WAVE + what, *twins)


def _quarter(p):
    return math.pi * p / 2


def _all_of_it(peak, final, c):
    return final + (peak - final) * c


def _of_the_peak(peak, final, c):
    return peak * c


def _held_or_not(progress=_on_course, decay=_COSINE, ends=("hold", "run"), **more):
    return tuple(_decayed(progress, decay, end=end, **more) for end in ends)


def _ramp_times_cosine(s, peak, w, total, final):
    return lr.warmup_lr(s, 1, w) * _COSINE(min(1, s / total), peak, final)


def _draw_cosine_lr(rng):
    w, peak, final = int(rng.integers(5, 20)), round(rng.uniform(0.1, 0.9), 4), round(rng.uniform(0.01, 0.09), 4)
    total = w + int(rng.integers(12, 60))
    for step in (0, int(rng.integers(1, w - 2)), w - 1, w, w + (total - w) // 3, total - 1, total):
        yield call(step, peak, w, total, final)
    yield call(total + int(rng.integers(4, 11)), peak, w, total, final)
    w = int(rng.integers(30, 200))
    yield call(float(w + int(rng.integers(100, 400))), peak, w, float(w + 500), 0.0)
    yield call(0, peak, 0, total, final)
    yield call(int(rng.integers(2, 9)), peak, 0, total, final)


_P = (0.8, 4, 20, 0.08)

cosine_lr = Exercise(
    "cosine_lr",
    reference=lr.cosine_lr,
    points=4,
    examples=(
        *(call(step, *_P) for step in (0, 3, 4, 8, 12, 19, 20, 30)),
        call(4, 0.8, 0, 16, 0.08),
        call(16, 0.8, 0, 16, 0.0),
    ),
    draw=_draw_cosine_lr,
    refusals=(
        refuse("total_steps is not above warmup_steps", 1, 0.8, 4, 4, 0.08),
        refuse("final_lr is negative", 8, 0.8, 4, 20, -0.08),
        refuse("step is negative", -1, *_P),
        refuse("peak_lr is 0", 8, 0.0, 4, 20, 0.0),
        refuse("total_steps is 20.5", 8, 0.8, 4, 20.5, 0.08),
        refuse("warmup_steps is negative", 8, 0.8, -4, 20, 0.08),
        refuse("final_lr is NaN", 8, 0.8, 4, 20, NAN),
        refuse("peak_lr is infinite", 8, INF, 4, 20, 0.08),
        refuse("step is 2.5", 2.5, *_P),
    ),
    mistakes=(
        *_each("zero_at_step_0", ZERO_AT_STEP_0, _decayed(_on_course, ramp=_ramp(lambda s, w: s / w))),
        *_each("zero_during_ramp", NO_CLIMB, _decayed(_on_course, ramp=_ramp(lambda s, w: s // w))),
        *_each("peak_late", LATE, _decayed(_on_course, ramp=_ramp(lambda s, w: (s + 1) / (w + 1)))),
        *_each(
            "peak_early",
            EARLY,
            _decayed(_on_course, ramp=_ramp(lambda s, w: (s + 1) / (w - 1))),
            _decayed(_on_course, ramp=_capped(lambda s, w: (s + 1) / (w - 1), careful=True)),
        ),
        *_each(
            "warm_up_forgotten",
            "There is no warm-up: the cosine starts at step 0. It should start at step number warmup_steps.",
            *_held_or_not(lambda s, w, total: s / total, ramp=None),
            *_held_or_not(ramp=None),
            *_held_or_not(ramp=lambda s, peak, w: peak),
        ),
        *_each(
            "offset_forgotten",
            OFFSET_FORGOTTEN,
            *_held_or_not(lambda s, w, total: s / total),
            *_held_or_not(lambda s, w, total: s / (total - w), ends=("hold", "cap", "run")),
            *_held_or_not(lambda s, w, total: (s - w) / total, ends=("hold", "cap", "run")),
            _ramp_times_cosine,
        ),
        *_each("rises_again", RISES_AGAIN, _decayed(_on_course, end="run")),
        *_each(
            "floor_forgotten",
            FLOOR_FORGOTTEN,
            *_held_or_not(
                decay=_wave(_half, lambda peak, final, c: peak * (1 + c) / 2), ends=("hold", "hold 0", "run")
            ),
            *_held_or_not(decay=_wave(_half, lambda peak, final, c: (peak - final) * (1 + c) / 2)),
            _decayed(_on_course, end="hold 0"),
            _decayed(_on_course, end="hold 0", least=-1),
        ),
        *_each(
            "floor_misplaced",
            "final_lr cuts the curve off, as a lower limit. The cosine itself should end at final_lr, so that it fits "
            "in between the peak and final_lr.",
            *_held_or_not(
                decay=_wave(_half, lambda peak, final, c: max(final, peak * (1 + c) / 2)), ends=("hold", "run")
            ),
        ),
        *_each(
            "floor_misplaced",
            "final_lr is added on top of a cosine of full height, so the curve starts above the peak.",
            *_held_or_not(decay=_wave(_half, lambda peak, final, c: final + peak * (1 + c) / 2)),
        ),
        *_not_half("yours is a quarter of a wave.", _wave(_quarter, _all_of_it), _wave(_quarter, _of_the_peak)),
        *_not_half(
            "yours is a quarter of a wave, cut off at final_lr.",
            _wave(_quarter, lambda peak, final, c: max(final, peak * c)),
        ),
        *_not_half("yours is a whole wave, which comes back up.", _wave(lambda p: 2 * math.pi * p)),
        *_not_half(
            "yours has another angle. Angles are counted in radians, where half a turn is π.",
            _wave(lambda p: p),
            _wave(lambda p: 180 * p),
        ),
        *_not_half(
            "yours is moved or stretched. A cosine runs from 1 to −1; add and divide until it runs from 1 to 0.",
            _wave(_half, _all_of_it),
            _wave(_half, _of_the_peak),
            _wave(_half, lambda peak, final, c: final + (peak - final) * c / 2),
            _wave(_half, lambda peak, final, c: final + (peak - final) * (1 + c)),
            _wave(_half, lambda peak, final, c: final + (peak + final) * (1 + c) / 2),
        ),
        *_not_half(
            "yours is upside down and rises from final_lr to the peak.",
            _wave(_half, lambda peak, final, c: final + (peak - final) * (1 - c) / 2),
        ),
        *_not_half("yours is a straight line.", lambda p, peak, final: peak + (final - peak) * p),
        *_not_half("yours does not fall at all.", lambda p, peak, final: peak),
        *_each(
            "end_off_by_one",
            END_OFF,
            *_held_or_not(lambda s, w, total: (s - w) / (total - 1 - w), ends=("cap", "run")),
            _decayed(lambda s, w, total: (s - w) / (total - 1 - w), least=1),
            *_held_or_not(lambda s, w, total: (s + 1 - w) / (total - w)),
            *_held_or_not(lambda s, w, total: (s - w) / (total + 1 - w)),
        ),
        *_each(
            "zero_refused",
            "A legal 0 is refused. step, warmup_steps and final_lr may each be 0.",
            *(_refusing(lr.cosine_lr, refused) for refused in ((0,), (2,), (4,), (0, 2), (0, 4), (2, 4), (0, 2, 4))),
        ),
    ),
)
