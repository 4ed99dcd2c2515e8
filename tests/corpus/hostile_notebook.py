"""What is done to the notebook and its surroundings (S05, S15-S20, S35, S37, S38)."""

import base64
import pickle

from corpus.builder import WRONG, after, answer, at_the_end, beginning, case, cells, content, delete, file

TOKENS = "def global_tokens(per_device_batch, seq, accum, devices):\n    {}"
PICKLED = base64.b64encode(pickle.dumps({"points": 4})).decode()


def pasted(cell_id, below=1):
    """The same cell, metadata and all, a second time."""

    def change(hand_in):
        twin = {**hand_in.cell(cell_id), "id": "pasted"}
        hand_in.cells.insert(hand_in.at(cell_id) + below, twin)

    return change


def split(cell_id, line, with_metadata=True):
    def change(hand_in):
        cell, at = hand_in.cell(cell_id), hand_in.at(cell_id)
        lines = cell["source"].split("\n")
        half = {**cell, "source": "\n".join(lines[line:]), "id": "half"}
        if not with_metadata:
            half["metadata"] = {}
        cell["source"] = "\n".join(lines[:line])
        hand_in.cells.insert(at + 1, half)

    return change


def turned(cell_id, kind):
    def change(hand_in):
        cell = hand_in.cell(cell_id)
        cell["cell_type"] = kind
        for key in ("outputs", "execution_count"):
            cell.pop(key, None)

    return change


def tagged(cell):
    cell["metadata"].setdefault("tags", []).append("skip-execution")


HTML = """
from IPython.display import HTML, Javascript, Markdown, SVG, display
display(HTML("<script>window.stolen=1</script><img src='https://evil.example/x.png' onerror='steal()'>"
             "<iframe src='https://evil.example'></iframe><a href='javascript:steal()'>more</a>"))
display(Javascript("window.stolen = 2"))
display(Markdown("<script>stolen()</script> ![x](https://evil.example/y.png)"))
picture = "<svg xmlns='http://www.w3.org/2000/svg' onload='steal()'><script>steal()</script></svg>"
display({"image/svg+xml": picture}, raw=True)
"""
MARKDOWN = (
    "<script>window.stolen = 3</script> <img src=x onerror=steal()> [link](javascript:steal()) "
    "![remote](https://evil.example/z.png) <style>body {display: none}</style>"
)
TERMINAL = r"""
print("\x1b[2J\x1b[31mred\x1b]0;owned\x07 \x9b2J \x1b(0 done\x00")
print("x" * 1_500_000)
"""

CASES = (
    case(
        "S15",
        "ships files named like the grader and its reference",
        file("partrain_ref.py", b"def global_tokens(*args): return 7\n"),
        file("autograder/__init__.py", b"raise SystemExit('ours now')\n"),
        file("numpy.py", b"raise ImportError\n"),
        repairs=("autograder/__init__.py", "numpy.py", "partrain_ref.py"),
    ),
    case(
        "S15",
        "changes the kit beside the notebook",
        file("partrain/record.py", b"def record(*args, **kw): pass\n"),
        repairs=("partrain/record.py",),
    ),
    case(
        "S16",
        "serialised objects in the metadata",
        content(lambda nb: nb["metadata"].update({"grader": PICKLED, "autograder": {"repairs": [1], "refusal": "x"}})),
        cells(lambda cell: cell["metadata"].update({"payload": PICKLED})),
        repairs=("autograder", "grader", "payload"),
    ),
    case(
        "S17",
        "a check pasted twice",
        pasted("allreduce_mean-check"),
        repairs=("The cell allreduce_mean-check appears 2 times",),
    ),
    case(
        "S17",
        "an answer pasted twice",
        pasted("allreduce_mean-answer"),
        repairs=("The answer allreduce_mean-answer is in 2 cells",),
    ),
    case(
        "S17",
        "an answer split in two",
        split("data_parallel_grad-answer", 14),
        repairs=("The answer data_parallel_grad-answer is in 2 cells",),
    ),
    case(
        "S18",
        "a check deleted",
        delete("allreduce_mean-check"),
        repairs=("The cell allreduce_mean-check was missing; it was put back",),
    ),
    case(
        "F005",
        "a check deleted from the middle",
        delete("per_token_loss-check"),
        repairs=("The cell per_token_loss-check was missing",),
    ),
    case(
        "S18",
        "a check turned into text",
        turned("allreduce_mean-check", "markdown"),
        repairs=("The cell allreduce_mean-check had been changed",),
    ),
    case(
        "S18",
        "an answer deleted",
        delete("allreduce_mean-answer"),
        states={"allreduce_mean": "not started"},
        says={"allreduce_mean": "The answer cell is missing. Put it back from the notebook as handed out."},
        repairs=("The answer cell allreduce_mean-answer is missing",),
    ),
    case(
        "S18",
        "an answer turned into text",
        turned("allreduce_mean-answer", "markdown"),
        repairs=("The answer allreduce_mean-answer had been turned into another kind of cell",),
    ),
    case(
        "S18",
        "an answer turned into a raw cell",
        turned("allreduce_mean-answer", "raw"),
        repairs=("The answer allreduce_mean-answer had been turned into another kind of cell",),
    ),
    case(
        "S18",
        "a tag that keeps checks from running",
        answer("global_tokens", TOKENS.format("return 7")),
        cells(tagged),
        states={"global_tokens": WRONG},
    ),
    case(
        "S19",
        "an endless loop",
        answer("global_tokens", TOKENS.format("while True: pass")),
        states={"global_tokens": WRONG},
    ),
    case(
        "S19",
        "an endless loop in a cell of its own",
        after("imports", "while True: pass"),
        repairs=("ran for too long and was stopped",),
    ),
    case(
        "S20",
        "a loop that swallows every interrupt",
        answer(
            "global_tokens",
            TOKENS.format(
                "while True:\n        try:\n            while True: pass\n        except BaseException: pass"
            ),
        ),
        states={"global_tokens": WRONG},
    ),
    case(
        "S35",
        "asks for input before the definition",
        beginning("global_tokens", "n = input('n? ')"),
        states={"global_tokens": WRONG},
        says={"global_tokens": "input() does not work"},
    ),
    case("S35", "asks for input after the definition", after("global_tokens-answer", "n = input('n? ')")),
    case(
        "S35",
        "widgets, plots, magics, shell, top-level await",
        after("imports", "%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()"),
        after("imports", "from ipywidgets import IntSlider, interact\ninteract(lambda n: n, n=IntSlider(3))"),
        after("imports", "!echo hello\n%timeit -n1 -r1 1 + 1"),
        after("imports", "%%bash\nls"),
        after("imports", "import asyncio\nawait asyncio.sleep(0)"),
        after("imports", "%no_such_magic"),
    ),
    case(
        "S37",
        "script in outputs and in text",
        after("imports", HTML),
        at_the_end(MARKDOWN, kind="markdown"),
        at_the_end(MARKDOWN, kind="raw"),
        file("<img src=x onerror=steal()>.txt", b"x"),
        repairs=("steal()",),
        shown=("window.stolen",),
    ),
    case(
        "S37",
        "a name that is markup",
        answer(
            "global_tokens",
            "class Name(Exception): pass\nName.__name__ = '<script>steal()</script>'\n"
            + TOKENS.format("raise Name('<b>bold</b>')"),
        ),
        states={"global_tokens": WRONG},
        student="<img src=x onerror=steal()>",
    ),
    case(
        "S38",
        "terminal codes and a line of a megabyte",
        after("imports", TERMINAL),
        answer("global_tokens", TOKENS.format(r"raise ValueError('\x1b[2J\x1b]0;owned\x07bad' + 'y' * 10**6)")),
        repairs=("Code cell 2 showed more than is kept",),
        states={"global_tokens": WRONG},
    ),
)
