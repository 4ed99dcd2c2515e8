"""check(name, answer): visible examples, known wrong values and hints. The hidden cases stay with the teacher."""

import hashlib
import json
import os
import warnings
from pathlib import Path

import numpy as np
from IPython import get_ipython

from partrain.alike import alike, off
from partrain.plain import pack, unpack
from partrain.properties import PROPERTIES
from partrain.scenarios import NotWritten
from partrain.unfinished import NotStarted, Unfinished, in_lines
from partrain.words import arose_in, call_words, value_words

EXAMPLES = json.loads((Path(__file__).parent / "examples.json").read_text(encoding="utf-8"))

NOT_GRADED_HERE = (
    "No points were given: the grading steps of this course are not active. The nbgrader_config.py in use must call "
    "autograder.nbgrader_config.configure, as the one that `autograder init` writes does."
)


class _Stopped:
    """Stands for the answer of a call that ended in an error."""

    def __init__(self, error):
        self.kind, self.words = type(error).__name__, f"{type(error).__name__}: {error}"


def check(name, answer):
    """Try `answer` (a function, several functions, a number or a letter) on the visible examples of exercise `name`.

    Prints one line where all is right; otherwise raises `Unfinished`, which says what to look at next. Where nothing
    is written yet, a notebook prints that instead.
    """
    if os.environ.get("NBGRADER_EXECUTION") == "autograde":
        raise Unfinished(NOT_GRADED_HERE)
    if name not in EXAMPLES:
        raise Unfinished(f"There is no exercise called {name!r} in this part.")
    exercise = EXAMPLES[name]
    checks = {"function": _check_function, "number": _check_number, "choice": _check_choice}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # numpy's remarks on an unfinished answer would bury the message
        try:
            said = f"{name}: {checks[exercise['kind']](name, answer, exercise)}"
        except NotStarted as error:
            if "NBGRADER_EXECUTION" in os.environ or not hasattr(get_ipython(), "kernel"):
                raise
            said = str(error)
    print(*in_lines(said), sep="\n")


# ---- functions ----------------------------------------------------------------------------------------------------


def _check_function(name, answer, exercise):
    functions = answer if isinstance(answer, tuple) else (answer,)
    if any(function is ... for function in functions):
        raise NotStarted(f"{name}: not started yet. Write the function in the cell above.")
    if not all(callable(function) for function in functions):
        raise Unfinished(
            f"{name} is no longer a function. Run the cell above again; did you give its name to a number?"
        )
    if exercise.get("by_properties"):
        return _check_properties(name, functions, exercise)
    answers = [_ask(name, answer, one) for one in exercise["examples"]]
    hint = next((m["sentence"] for m in exercise["mistakes"] if _alike(answers, m["answers"], exercise)), "")
    for one, got in zip(exercise["examples"], answers):
        if isinstance(got, _Stopped):
            legal = "This input is legal: it should get an answer." if got.kind == "ValueError" else ""
            said = f"{_words(name, one)} stopped with {got.words}"
            raise Unfinished("\n".join(filter(None, [said, hint or legal])))
        wrong = off(got, unpack(one["answer"]), exercise["tolerance"])
        if wrong is not None:
            raise Unfinished("\n".join(filter(None, [f"{_words(name, one)} gave {value_words(got)}.", wrong, hint])))
    for one in exercise["refusals"]:
        _check_refusal(name, answer, one)
    return f"right on the visible example{'s' if len(answers) > 1 else ''}{_refused(exercise)}."


def _check_properties(name, functions, exercise):
    """For exercises with more than one right answer: the kit tries what every right one has in common."""
    for one in exercise["examples"]:
        inputs = _inputs(one)
        try:
            wrong = PROPERTIES[name](functions, *inputs[0], **inputs[1])
        except NotImplementedError:
            raise NotStarted(f"{name}: not started yet. Replace the line `raise NotImplementedError`.") from None
        except NotWritten as error:
            raise Unfinished(f"{name}: {error}.") from None
        except Exception as error:
            where = arose_in(functions, error) or name
            raise Unfinished(f"{where} stopped with {type(error).__name__}: {error}") from None
        if wrong:
            raise Unfinished(f"{name}: not right yet.\n{wrong}")
    for one in exercise["refusals"]:
        _check_refusal(name, functions[0], one)
    return f"right in all that is tried here{_refused(exercise)}."


def _refused(exercise):
    count = len(exercise["refusals"])
    kinds = f"the {count} kinds of bad input" if count > 1 else "the one kind of bad input"
    return f", and it refuses {kinds} tried here; the grader tries all that Raises lists" if count else ""


def _ask(name, function, one):
    inputs = _inputs(one)
    try:
        got = function(*inputs[0], **inputs[1])
    except NotImplementedError:
        raise NotStarted(f"{name}: not started yet. Replace the line `raise NotImplementedError`.") from None
    except Exception as error:
        return _Stopped(error)
    if pack(list(inputs)) != pack(list(_inputs(one))):
        raise Unfinished(f"{_words(name, one)} changed its input. Work on a copy: others still need the original.")
    return got


def _check_refusal(name, function, one):
    inputs = _inputs(one)
    try:
        got = function(*inputs[0], **inputs[1])
    except ValueError:
        return
    except Exception as error:
        what = f"stopped with {type(error).__name__}"
    else:
        what = f"gave {value_words(got)}"
    raise Unfinished(
        f"The values are right. {_words(name, one)} {what}; it should raise ValueError, because {one['why']}.\n"
        "Refusing bad input earns the last quarter of the points."
    )


def _inputs(one):
    return unpack(one["args"]), {key: unpack(value) for key, value in one["kwargs"].items()}


def _alike(answers, wrong, exercise):
    return all(_same(got, raw, exercise["tolerance"]) for got, raw in zip(answers, wrong))


def _same(got, raw, tolerance):
    """Whether an answer is what a known mistake gives; raw is {"raised": type} where that ends in an error."""
    raised = raw["raised"] if isinstance(raw, dict) and "raised" in raw else None
    if raised or isinstance(got, _Stopped):
        return isinstance(got, _Stopped) and got.kind == raised
    return alike(got, unpack(raw), tolerance)


def _words(name, one):
    return call_words(name, *_inputs(one))


# ---- typed numbers and choices ------------------------------------------------------------------------------------


def _check_number(name, answer, exercise):
    if answer is ... or answer is None:
        raise NotStarted(f"{name}: not answered yet. Put a number in the place of the three dots.")
    value = pack(answer)
    if isinstance(value, dict) and "array" in value and value["array"]["shape"] == []:
        value = unpack(value).item()
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Unfinished(f"{name} must be one number, not {value_words(answer)}.")
    digits = exercise["digits"]
    if _digest(exercise, f"{round(float(value), digits) + 0.0:.{digits}f}") == exercise["digest"]:
        return "right."
    for mistake in exercise["mistakes"]:
        if round(float(value), digits) == round(mistake["answer"], digits):
            raise Unfinished(f"{name} = {value_words(value)} is not it.\n{mistake['sentence']}")
    places = f", to {digits} decimal{'s' if digits > 1 else ''}" if digits else ""
    raise Unfinished(
        f"{name} = {value_words(value)} is not it yet. Asked for: {exercise['unit'] or 'a number'}{places}."
    )


def _check_choice(name, answer, exercise):
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
