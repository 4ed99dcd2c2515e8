"""What a check says when an answer is not right yet."""

import textwrap

COLUMNS = 72  # as many as a notebook in a narrow window shows; longer lines it would break inside a word


def in_lines(words):
    """The words, with no line longer than COLUMNS unless a single word is."""
    wrapped = (
        textwrap.wrap(line, COLUMNS, break_long_words=False, break_on_hyphens=False) for line in words.splitlines()
    )
    return [part for parts in wrapped for part in parts]


class Unfinished(Exception):
    """Shown as its few lines of text, without a traceback."""

    def _render_traceback_(self):
        return in_lines(str(self))


class NotStarted(Unfinished):
    """Nothing is written yet. A notebook says so without an error; only Validate counts it as a failure."""
