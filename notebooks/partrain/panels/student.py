"""Ask a student's own function for a number, calmly: a panel never answers with a traceback."""

import contextlib
import io
import math


def ask_student(function, name, *arguments):
    """Call a student's function quietly: (its number, None), or (None, the sentence that says what is missing)."""
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            answer = function(*arguments)
    except NotImplementedError:
        return None, _finish(name, "is not written yet")
    except Exception as error:
        reason = " ".join(str(error).split())[:80]
        return None, _finish(name, f"stopped with {type(error).__name__}" + (f": {reason}" if reason else ""))
    if answer is None or answer is ...:
        return None, _finish(name, "returned nothing")
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
