"""Typed numbers and choices. Their right answers ship as digests, which spares honest readers the sight of them."""

import hashlib

from partrain.plain import pack, unpack
from partrain.unfinished import NotStarted, Unfinished
from partrain.words import value_words


def check_number(name, answer, exercise):
    """What to say of a typed number; raises where it is not right."""
    if answer is ... or answer is None:
        raise NotStarted(f"{name}: not answered yet. Put a number in the place of the three dots.")
    value = pack(answer)
    if isinstance(value, dict) and "array" in value and value["array"]["shape"] == []:
        value = unpack(value).item()
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Unfinished(f"{name} must be one number, not {value_words(answer)}.")
    digits, fraction = exercise["digits"], exercise["whole"] and value % 1 != 0
    if not fraction and _digest(exercise, f"{round(float(value), digits) + 0.0:.{digits}f}") == exercise["digest"]:
        return "right."
    for mistake in exercise["mistakes"]:
        if round(float(value), digits) == round(mistake["answer"], digits):
            raise Unfinished(f"{name} = {value_words(value)} is not it.\n{mistake['sentence']}")
    places = f", to {digits} decimal{'s' if digits > 1 else ''}" if digits else ", a whole number" * fraction
    raise Unfinished(
        f"{name} = {value_words(value)} is not it yet. Asked for: {exercise['unit'] or 'a number'}{places}."
    )


def check_choice(name, answer, exercise):
    """What to say of a letter; raises where it is not right."""
    if answer is ... or answer is None:
        raise NotStarted(
            f'{name}: not answered yet. Put a letter in quotes in the place of the three dots, such as "a".'
        )
    letter = answer.strip().lower() if isinstance(answer, str) else answer
    if letter not in exercise["letters"]:
        raise Unfinished(
            f"{name} must be one of the letters {', '.join(exercise['letters'])}, not {value_words(answer)}."
        )
    if _digest(exercise, letter) == exercise["digest"]:
        return "right."
    hint = next((m["sentence"] for m in exercise["mistakes"] if m["answer"] == letter), "")
    raise Unfinished(f"{name} = {letter!r} is not it.\n{hint}".rstrip())


def _digest(exercise, text):
    return hashlib.sha256(f"{exercise['salt']}:{text}".encode()).hexdigest()
