"""Values and calls as a reader would write them."""

from partrain.plain import pack, unpack

MOST = 120


def value_words(value):
    """A value without numpy's own wrapping; long ones are cut."""
    text = " ".join(repr(_plain(value)).split())
    return text if len(text) <= MOST else text[: MOST - 1] + "…"


def call_words(name, args, kwargs):
    """`name(2.0, [100, 300], accum=8)` in backquotes."""
    listed = [value_words(value) for value in args] + [f"{key}={value_words(value)}" for key, value in kwargs.items()]
    return f"`{name}({', '.join(listed)})`"


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
        return value.tolist()
    if isinstance(value, list):
        return [_lists(item) for item in value]
    return {key: _lists(item) for key, item in value.items()} if isinstance(value, dict) else value
