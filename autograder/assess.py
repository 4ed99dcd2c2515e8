"""From recorded answers to a verdict: a pure function of the exercise, its calls and what came back.

One message, in this order: nothing returned, an error, type, shape, not finite, unit slip, known mistake, right on the
examples only, changed its input, wrong. No message holds an expected value or a hidden input.
"""

from __future__ import annotations

from dataclasses import replace

from autograder import compare, verdict
from autograder.compare import NotData, Off, Raised
from autograder.exercise import Call, Exercise
from autograder.rounding import rounded
from autograder.verdict import Verdict
from autograder.wire import Bundle, Outcome
from autograder.words import TIME_LIMIT, call_words, known_error, limit_words, value_words

SAME_INPUT = "The same input gave different answers on different calls."
ROUNDED = "It looks rounded. Return the number as it comes out."
STUB_REACHED = (
    "Not started yet: the line `raise NotImplementedError` is still reached. Remove it when the rest is written."
)
HIDDEN_WORDS = {  # a type's name or a shape could spell the input out
    "type": "another type than asked for",
    "shape": "another shape than asked for",
    "not finite": "something that is not a finite number",
}
ORDER = ("nothing", "raised", "type", "shape", "not finite", "value")


def assess(exercise: Exercise, calls: tuple[Call, ...], bundle: Bundle, answer_error: str = "") -> Verdict:
    """The verdict on one bundle. calls: the value calls; the exercise's refusals come after them in the bundle.

    answer_error: how the answer cell itself stopped, if it did ("NameError: name 'x' is not defined"), or a sentence.
    """
    points = exercise.points
    if bundle.missing:
        names = " and ".join(exercise.functions)
        why = answer_error or "Was its name changed?"
        why = why if why[-1] in ".?" else f"The answer cell stopped with {why}."
        return verdict.wrong(points, f"{names} is not there when its check runs. {why}", reason="missing")
    values = [_tidy(exercise, outcome) for outcome in bundle.outcomes[: len(calls)]]
    if _untouched(exercise, values):
        return verdict.not_started(points, STUB_REACHED if exercise.kind == "function" else verdict.AS_HANDED_OUT)
    offs = [_off(exercise, one, value) for one, value in zip(calls, values, strict=True)]
    if any(offs):
        return _wrong_values(exercise, calls, bundle.outcomes, values, offs)
    return _right_values(exercise, calls, bundle.outcomes, values)


def _tidy(exercise: Exercise, outcome: Outcome):
    if outcome.raised:
        return Raised(outcome.raised)
    if exercise.kind == "choice" and isinstance(outcome.value, str):
        return outcome.value.strip().lower()
    return outcome.value


def _untouched(exercise: Exercise, values: list) -> bool:
    """Still the released stub: every call says so, or the number is still three dots."""
    if exercise.kind == "function":
        return all(value == Raised("NotImplementedError") for value in values if isinstance(value, Raised)) and all(
            isinstance(value, Raised) for value in values
        )
    return isinstance(values[0], NotData) and values[0].type_name == "ellipsis"


def _off(exercise: Exercise, one: Call, value) -> Off | None:
    if isinstance(value, Raised):
        return Off("raised")
    reference = exercise.run(exercise.reference, one)
    if exercise.right(value, reference, one):
        return None
    return compare.difference(value, reference, exercise.tolerance, exercise.digits_asked) or Off("value")


def _wrong_values(exercise: Exercise, calls, outcomes, values, offs) -> Verdict:
    if not any(off for i, off in enumerate(offs) if _first(calls, i)):
        return verdict.wrong(exercise.points, SAME_INPUT, reason="state")
    mistake = exercise.mistake(values, calls)
    offs = [off if _first(calls, i) else None for i, off in enumerate(offs)]
    worst = min((off.kind for off in offs if off), key=ORDER.index)
    told = [i for i, off in enumerate(offs) if off and off.kind == worst]
    if mistake:  # its sentence explains more than the form does: show it on an example, with a value if there is one
        told = [i for i, off in enumerate(offs) if off and off.kind == "value" and exercise.shows(calls[i])] or told
    at = told[0]
    lines = [_what_happened(exercise, calls[at], outcomes[at], values[at], offs[at])]
    reason = worst
    if mistake:
        lines.append(mistake.sentence)
        reason = "mistake"
    elif worst == "value" and _wavers(exercise, calls, values):
        lines, reason = [SAME_INPUT], "state"
    elif worst == "value":
        shown = [off for one, off in zip(calls, offs, strict=True) if exercise.shows(one)]
        if shown and not any(shown):
            lines = ["It is right on the visible examples, but not on other inputs."]
            reason = "examples only"
        elif any(outcome.changed for outcome in outcomes[: len(calls)]):
            lines.append("It also changed its input. Work on a copy: others still need the original.")
            reason = "changed"
        elif _rounded(exercise, calls, values, offs):
            lines.append(ROUNDED)
            reason = "rounded"
        elif exercise.kind == "number":
            lines = [f"{lines[0]} {_asked_for(exercise, values[at])}".strip()]
    message = "\n".join(filter(None, lines))
    return verdict.wrong(exercise.points, message, mistake.name if mistake else None, reason=reason)


def _rounded(exercise: Exercise, calls, values, offs) -> bool:
    """Whether every function value that is off is the right one, rounded."""
    rows = [row for row in zip(calls, values, offs, strict=True) if row[2]]
    return exercise.kind == "function" and all(
        rounded(value, exercise.run(exercise.reference, one)) for one, value, _ in rows
    )


def _wavers(exercise: Exercise, calls, values) -> bool:
    """Whether a call that was made twice was answered in two ways."""
    again = ((i, j) for i, one in enumerate(calls) for j, other in enumerate(calls[:i]) if other is one)
    return any(not compare.same(values[i], values[j], exercise.tolerance) for i, j in again)


def _first(calls, i: int) -> bool:
    """Whether a call is made for the first time; what comes the second time may hold what was kept in between."""
    return all(other is not calls[i] for other in calls[:i])


def _what_happened(exercise: Exercise, one: Call, outcome: Outcome, value, off: Off) -> str:
    shown = exercise.shows(one)
    if exercise.kind != "function":
        if off.kind == "value":
            return f"{exercise.name} = {value_words(value)} is not it."
        return f"{exercise.name}: {off.sentence.replace('it returned', 'the answer is')}."
    where = _called(exercise, one) if shown else "On an input that is not among the examples, it"
    if off.kind == "raised":
        text = f": {outcome.text}" if shown and outcome.text else ""
        if outcome.raised == "SystemExit":
            return f"{where} ended the program. Remove the call that does it (exit, quit or sys.exit)."
        if limit := limit_words(outcome.raised, outcome.text):
            return f"{where} {limit}"
        legal = " This input is legal: it should get an answer." if outcome.raised == "ValueError" else ""
        return f"{where} stopped with {outcome.raised if shown else known_error(outcome.raised)}{text}.{legal}"
    if off.kind == "nothing":
        hint = "It printed something: return it instead." if outcome.printed else "Did you print instead of return?"
        return f"{where} returned nothing (None). {hint}"
    if off.kind == "value":
        if shown and exercise.scenario:
            return f"{where} is not right yet."  # the value is the driver's notes
        return f"{where} gave {value_words(value)}." if shown else f"{where} gave a wrong value."
    return f"{where.removesuffix(',')}: {off.sentence}." if shown else f"{where} returned {HIDDEN_WORDS[off.kind]}."


def _called(exercise: Exercise, one: Call) -> str:
    """A visible call in words; the calls of a scenario are the driver's, and no student would know them again."""
    return f"{exercise.name}, tried as a whole," if exercise.scenario else call_words(exercise.name, one)


def _asked_for(exercise: Exercise, value) -> str:
    places = f"to {exercise.digits} decimal{'s' if exercise.digits > 1 else ''}" if exercise.digits else ""
    asked = ", ".join(filter(None, [exercise.unit, places or "a whole number" * exercise.fraction(value)]))
    return f"Asked for: {asked}." if asked else ""


def _right_values(exercise: Exercise, calls, outcomes, values) -> Verdict:
    points = exercise.points
    for i, one in enumerate(calls):
        if outcomes[i].changed:
            where = _called(exercise, one) if exercise.shows(one) else exercise.name
            message = f"The values are right, but {where} changed its input. Work on a copy: others need the original."
            return verdict.wrong(points, message, reason="changed")
    if not exercise.accepts and _wavers(exercise, calls, values):
        return verdict.wrong(points, SAME_INPUT, reason="state")
    missing = [
        (one, outcome)
        for one, outcome in zip(exercise.refusals, outcomes[len(calls) :], strict=True)
        if outcome.raised != "ValueError"
    ]
    if not missing:
        return verdict.right(points)
    one, outcome = missing[0]
    did = f"it stopped with {known_error(outcome.raised)}" if outcome.raised else "it gave an answer"
    if outcome.raised == TIME_LIMIT:
        did = "it did not come to an end in time"
    more = f" ({len(missing)} of {len(exercise.refusals)} kinds of bad input get through.)" if len(missing) > 1 else ""
    message = f"The values are right. Still missing: ValueError for bad input. Where {one.why}, {did}.{more}"
    return replace(verdict.partly(points, message), reason="refusals")
