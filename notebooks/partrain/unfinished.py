"""What a check says when an answer is not right yet."""


class Unfinished(Exception):
    """Shown as its few lines of text, without a traceback."""

    def _render_traceback_(self):
        return str(self).splitlines()


class NotStarted(Unfinished):
    """Nothing is written yet. A notebook says so without an error; only Validate counts it as a failure."""
