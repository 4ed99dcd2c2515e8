"""Values and calls as a reader would write them."""

import textwrap
import traceback

from partrain.plain import RECORDS, pack, unpack
from partrain.typed import typed
from partrain.unfinished import COLUMNS

MOST = 120
MOST_OF_A_CALL = 400  # shared out among its arguments
MOST_OF_A_RECORD = 400  # a Cluster can be read, and copied, in full


def value_words(value, most=MOST):
    """A value without numpy's own wrapping; long ones are cut."""
    record = isinstance(value, tuple(RECORDS.values()))
    most = MOST_OF_A_RECORD if record else most
    text = " ".join(repr(value if record else _plain(value)).split())
    return text if len(text) <= most else text[: most - 1] + "…"


def call_words(name, args, kwargs):
    """`name(2.0, [100, 300], accum=8)` in backquotes; a call with records has lines of its own."""
    most = min(MOST, MOST_OF_A_CALL // max(1, len(args) + len(kwargs)))
    listed = [value_words(value, most) for value in args]
    listed += [f"{key}={value_words(value, most)}" for key, value in kwargs.items()]
    if any(isinstance(value, tuple(RECORDS.values())) for value in args):
        return f"`{name}(\n" + ",\n".join(map(in_rows, listed)) + "\n)`"
    return f"`{name}({', '.join(listed)})`"


def in_rows(text):
    """A long text in lines of its own, set in."""
    return textwrap.fill(text, COLUMNS, initial_indent="  ", subsequent_indent="    ")


def arose_in(functions, error):
    """The name of that one of several functions in which an error arose, or None."""
    names = {f.__code__: f.__name__ for f in functions if hasattr(f, "__code__")}
    codes = (frame.f_code for frame, _ in traceback.walk_tb(error.__traceback__))
    return next((names[code] for code in codes if code in names), None)


class _Named:
    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return self.text


def _plain(value):
    try:
        value = unpack(pack(value))
    except ValueError:
        return _Named(f"an object of type {type(value).__name__}")
    return _lists(value)


def _lists(value):
    if hasattr(value, "tolist"):
        return _lists(value.tolist())
    if isinstance(value, list):
        return [_lists(item) for item in value]
    if isinstance(value, dict):
        return {key: _lists(item) for key, item in value.items()}
    return _Named(typed(value)) if isinstance(value, float) else value
