"""Code that works on the checker instead of the question, and code that ends or breaks the program (S06-S12, S36)."""

from corpus.builder import NO_POINTS, RIGHT, UNGRADED, WRONG, after, answer, beginning, case, ending

TOKENS = "def global_tokens(per_device_batch, seq, accum, devices):\n    {}"
WRONG_TOKENS = TOKENS.format("return 7")
FRAMES = """
import sys
def global_tokens(per_device_batch, seq, accum, devices):
    frame, seen = sys._getframe(), []
    while frame:
        seen.append(sorted(frame.f_locals))
        for name, value in list(frame.f_locals.items()):
            if name in ("expected", "reference", "answer_key") or callable(value) and "partrain_ref" in str(value):
                return value
        frame = frame.f_back
    return 7
"""
REPLACED = """
import partrain.record
from IPython.display import publish_display_data
def everything_is_right(exercise, *args, **kw):
    publish_display_data({"application/vnd.partrain.answers+json": %s, "text/plain": "answers recorded"})
partrain.record.record = everything_is_right
"""
OWN_BUNDLE = """
from IPython.display import publish_display_data
def global_tokens(per_device_batch, seq, accum, devices):
    publish_display_data({"application/vnd.partrain.answers+json": {"exercise": "global_tokens", "outcomes": []}})
    return 7
"""
REWRITES = """
import partrain.record
from IPython.display import display, update_display
partrain.record._publish = lambda bundle: display({partrain.record.MIME: bundle}, raw=True, display_id="later")
"""
RUN_CELL = """
shell = get_ipython()
shell.run_cell = shell.run_cell_async = lambda *args, **kw: None
"""
ALL_YES = """
import math, unittest.mock
yes = lambda *args, **kw: True
np.isclose = np.allclose = np.array_equal = math.isclose = yes
np.testing.assert_allclose = np.testing.assert_equal = lambda *args, **kw: None
"""
EVERY = (
    "allreduce_mean",
    "data_parallel_grad",
    "per_token_loss",
    "loss_per_token",
    "token_weighted_grad",
    "why_average",
)
NUMBERS = ("tokens_per_update", "small_run_tokens", "swaps_per_update")
AFTER_TOKENS = {name: (*NO_POINTS, RIGHT) for name in (*EVERY, "what_to_divide_by")}
ENDED = "ended or crashed the program"

CASES = (
    case("S06", "sys.exit after the definition", ending("global_tokens", "import sys\nsys.exit(0)")),
    case(
        "S06",
        "exit after the definition",
        ending("global_tokens", "exit()"),
        repairs=("exit() or quit() was left out",),
    ),
    case(
        "S06",
        "quit in a cell of its own",
        after("global_tokens-answer", "quit()"),
        repairs=("exit() or quit() was left out",),
    ),
    case(
        "S06",
        "sys.exit before the definition",
        beginning("global_tokens", "import sys\nsys.exit(0)"),
        states={"global_tokens": WRONG},
        says={"global_tokens": "The answer cell ends the program"},
    ),
    case(
        "S06",
        "sys.exit inside the function",
        answer("global_tokens", "import sys\n" + TOKENS.format("sys.exit(0)")),
        states={"global_tokens": WRONG},
        says={"global_tokens": "ended the program. Remove the call that does it (exit, quit or sys.exit)."},
    ),
    case(
        "S06",
        "a hard exit inside the function",
        answer("global_tokens", "import os\n" + TOKENS.format("os._exit(0)")),
        states={"global_tokens": WRONG},
        says={"global_tokens": ENDED},
    ),
    case(
        "S06",
        "a hard exit at the top of an answer",
        beginning("global_tokens", "import os\nos._exit(0)"),
        states={"global_tokens": WRONG},
        repairs=("global_tokens-answer ended or crashed the program",),
    ),
    case("S08", "climbs the call stack", answer("global_tokens", FRAMES), states={"global_tokens": WRONG}),
    case(
        "S09",
        "replaces the recorder by one that answers nothing",
        answer("global_tokens", WRONG_TOKENS),
        after("imports", REPLACED % "{'exercise': exercise, 'right': True, 'points': 4}"),
        states=UNGRADED,
        says={"global_tokens": "Your answers could not be read"},
    ),
    case(
        "S09",
        "replaces the recorder by one that says nothing at all",
        after("imports", "import partrain.record\npartrain.record.record = lambda *args, **kw: None"),
        states=UNGRADED,
        says={"global_tokens": "No answer reached the grader from this cell."},
    ),
    case(
        "S09",
        "replaces the recorder by one that records wrong answers",
        after(
            "imports",
            REPLACED % "{'exercise': exercise, 'outcomes': [{'value': 1, 'changed': False, 'printed': False}] * 40}",
        ),
        states=dict.fromkeys((*NUMBERS, "global_tokens", *EVERY, "what_to_divide_by"), NO_POINTS),
    ),
    case(
        "S10",
        "makes every comparison say yes",
        answer("global_tokens", WRONG_TOKENS),
        after("imports", ALL_YES),
        states={"global_tokens": WRONG},
    ),
    case(
        "S11",
        "publishes points before the check fails",
        answer(
            "global_tokens",
            TOKENS.format("from IPython.display import display\n    display(4.0)\n    print(4.0)\n    return 7"),
        ),
        states={"global_tokens": WRONG},
        says={"global_tokens": "gave 7."},
    ),
    case(
        "S11",
        "publishes a bundle of its own from inside the function",
        answer("global_tokens", OWN_BUNDLE),
        states={"global_tokens": WRONG},
        says={"global_tokens": "The check showed more than one answer; one is wanted."},
    ),
    case(
        "S11",
        "publishes a bundle in the answer cell",
        ending(
            "global_tokens",
            "from IPython.display import publish_display_data\n"
            "publish_display_data({'application/vnd.partrain.answers+json': {}})",
        ),
    ),
    case(
        "S11",
        "rewrites an earlier answer through its display id",
        answer("global_tokens", WRONG_TOKENS),
        after("imports", REWRITES),
        after(
            "global_tokens-check",
            "update_display({partrain.record.MIME: {'exercise': 'global_tokens'}}, raw=True, display_id='later')",
        ),
        states={
            **dict.fromkeys((*NUMBERS, *EVERY, "what_to_divide_by"), (RIGHT, UNGRADED)),
            "global_tokens": NO_POINTS,
        },
    ),
    case(
        "S12",
        "hides every error",
        beginning("global_tokens", "get_ipython().set_custom_exc((BaseException,), lambda *args, **kw: None)"),
    ),
    case(
        "S12",
        "cells report success without running",
        after("global_tokens-check", RUN_CELL),
        states=AFTER_TOKENS,
        repairs=None,
    ),
    case(
        "S12",
        "errors are not shown",
        answer("global_tokens", WRONG_TOKENS),
        after("imports", "get_ipython().showtraceback = lambda *args, **kw: None"),
        states={"global_tokens": WRONG},
    ),
    case(
        "S36",
        "endless recursion",
        answer("global_tokens", TOKENS.format("return global_tokens(per_device_batch, seq, accum, devices)")),
        states={"global_tokens": WRONG},
        says={"global_tokens": "stopped with RecursionError"},
    ),
    case(
        "S36",
        "a native crash in the function",
        answer("global_tokens", "import ctypes\n" + TOKENS.format("return ctypes.string_at(0)")),
        states={"global_tokens": WRONG},
        says={"global_tokens": ENDED},
    ),
    case(
        "S36",
        "a native crash in a cell of its own",
        after("allreduce_mean-check", "import ctypes\nctypes.string_at(0)"),
        repairs=("ended or crashed the program",),
    ),
    case(
        "S36",
        "a deeper recursion limit and then the crash",
        answer(
            "global_tokens",
            "import sys\nsys.setrecursionlimit(10**8)\n"
            + TOKENS.format("return [global_tokens(per_device_batch, seq, accum, devices)]"),
        ),
        states={"global_tokens": WRONG},
    ),
)
