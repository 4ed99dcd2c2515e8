"""Ask a student's own function for a number, calmly: a panel never answers with a traceback."""

import contextlib
import io
import math

import numpy as np


def ask_student(function, name, *arguments, **named):
    """Call a student's function quietly: (its number, None), or (None, the sentence that says what is missing)."""
    answer, unfinished = _call(function, name, arguments, named)
    return (None, unfinished) if unfinished else _number(answer, name)


def ask_student_several(function, name, count, *arguments, **named):
    """The same for a function that returns `count` numbers: (list of them, None) or (None, sentence)."""
    answer, unfinished = _call(function, name, arguments, named)
    if unfinished:
        return None, unfinished
    try:
        items = None if isinstance(answer, (str, bytes, dict)) else list(answer)
    except TypeError:
        items = None
    if items is None or len(items) != count:
        got = f"{len(items)} values" if items is not None else f"a value of type {type(answer).__name__}"
        return None, _finish(name, f"returned {got}, not {count} numbers")
    numbers = [_number(item, name) for item in items]
    return next(((None, missing) for _, missing in numbers if missing), ([number for number, _ in numbers], None))


def ask_student_array(function, name, shape, *arguments, **named):
    """The same for a function that returns an array of a known shape: (a float array, None) or (None, sentence)."""
    answer, unfinished = _call(function, name, arguments, named)
    if unfinished:
        return None, unfinished
    try:
        array = np.array(answer, dtype=float)
    except (TypeError, ValueError):
        return None, _finish(name, f"returned a value of type {type(answer).__name__}, not an array of numbers")
    if array.shape != shape:
        return None, _finish(name, f"returned shape {array.shape}, not {shape}")
    if not np.isfinite(array).all():
        return None, _finish(name, "returned an array in which not every number is finite")
    return array, None


def ask_student_as(read, function, name, *arguments, **named):
    """The same for another form: read(answer) gives it as it is wanted, or raises ValueError with what is wrong."""
    answer, unfinished = _call(function, name, arguments, named)
    if unfinished:
        return None, unfinished
    try:
        return read(answer), None
    except ValueError as error:
        return None, f"Look at {name} again, in the cell above. {error}"


def _call(function, name, arguments, named):
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            answer = function(*arguments, **named)
    except NotImplementedError:
        return None, _finish(name, "is not written yet")
    except Exception as error:
        reason = " ".join(str(error).split())[:80]
        return None, _finish(name, f"stopped with {type(error).__name__}" + (f": {reason}" if reason else ""))
    return (None, _finish(name, "returned nothing")) if answer is None or answer is ... else (answer, None)


def _number(answer, name):
    try:
        if isinstance(answer, (bool, str, bytes)) or getattr(answer, "shape", ()) != ():
            raise TypeError
        value = float(answer)
    except OverflowError:
        value = math.inf
    except Exception:
        return None, _finish(name, f"returned a value of type {type(answer).__name__}, not a number")
    return (value, None) if math.isfinite(value) else (None, _finish(name, f"returned {value}, not a finite number"))


def _finish(name, what):
    return f"Finish the cell above first: {name} {what}."
