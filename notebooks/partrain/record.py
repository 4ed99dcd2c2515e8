"""Runs the graded calls inside the kernel and publishes the answers. It knows inputs, never expected values."""

import contextlib
import io
import json
import signal

from IPython import get_ipython
from IPython.display import publish_display_data

from partrain.plain import pack, unpack
from partrain.scenarios import SCENARIOS

MIME = "application/vnd.partrain.answers+json"
MAX_TEXT = 300
CALL_SECONDS = 3  # what one call may take
MAX_SLOW = 2  # calls that took longer; those after them are not made any more


class TimeLimit(BaseException):
    """Raised in a call that takes too long. Not an Exception, so that `except Exception` does not catch it."""


class _Printed(io.TextIOBase):
    """Takes what a function prints, keeps none of it, and remembers that there was something."""

    seen = False

    def writable(self):
        return True

    def write(self, text):
        self.seen = self.seen or bool(text.strip())
        return len(text)


def record(exercise, names, calls, scenario="", kind="function"):
    """Call the student's function with each of `calls` (JSON text) and publish one bundle of plain answers.

    names: what the student defined, one name or, for a scenario, several. For a number or choice the value itself is
    the answer. A name that is not there makes a bundle that says so.
    """
    space = get_ipython().user_ns
    if any(name not in space for name in names):
        return _publish({"exercise": exercise, "missing": True})
    found = [space[name] for name in names]
    if kind != "function":
        return _publish({"exercise": exercise, "outcomes": [_outcome(lambda: found[0])]})
    driver = SCENARIOS.get(scenario)
    outcomes, slow = [], 0
    for one in json.loads(calls):
        if slow == MAX_SLOW:
            outcomes.append({"raised": TimeLimit.__name__, "text": "", "changed": False, "printed": False})
            continue
        inputs = unpack(one["args"]), {key: unpack(value) for key, value in one["kwargs"].items()}
        before = _packed(inputs)
        if driver:
            outcome = _outcome(lambda inputs=inputs: driver(found, *inputs[0], **inputs[1]))
        else:
            outcome = _outcome(lambda inputs=inputs: found[0](*inputs[0], **inputs[1]))
        outcome["changed"] = _packed(inputs) != before
        outcomes.append(outcome)
        slow += outcome.get("raised") == TimeLimit.__name__
    return _publish({"exercise": exercise, "outcomes": outcomes})


def _packed(inputs):
    """Positional and named inputs as plain data, to be compared before and after a call."""
    return pack(inputs[0]), pack(inputs[1])


def _outcome(ask):
    printed = _Printed()
    try:
        with contextlib.redirect_stdout(printed), _time_limit():
            answer = {"value": pack(ask())}
    except (Exception, SystemExit, TimeLimit) as error:
        answer = {"raised": type(error).__name__, "text": _text(error)}
    return {**answer, "changed": False, "printed": printed.seen}


@contextlib.contextmanager
def _time_limit():
    """Stop what runs longer than CALL_SECONDS, again and again until it ends, where the system has such alarms."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def stop(number, frame):
        raise TimeLimit

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, CALL_SECONDS, 0.5)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _text(error):
    try:
        return str(error)[:MAX_TEXT]
    except Exception:
        return ""


def _publish(bundle):
    publish_display_data({MIME: bundle, "text/plain": "answers recorded"})
