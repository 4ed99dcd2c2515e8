"""For cells that use the reader's own functions: they wait calmly until the function above works."""

from contextlib import contextmanager

from partrain.unfinished import in_lines


@contextmanager
def once_written():
    """Run the lines of a `with` block; where the reader's function is not ready yet, say so in one line."""
    try:
        yield
    except NotImplementedError:
        _say("This cell waits for your function above. Write it, then run this cell again.")
    except NameError as error:
        _say(f"This cell waits for a cell above: {error}.")
    except Exception as error:
        reason = " ".join(str(error).split())[:120]
        _say(f"This cell waits for your function above; it stopped with {type(error).__name__}: {reason}")


def _say(words):
    print(*in_lines(words), sep="\n")
