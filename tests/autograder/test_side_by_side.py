"""What a hand-in sees in the warm kernel is what it sees in JupyterLab: the same cells in both, output by output."""

# ruff: noqa: E501  a cell in one line is easier to compare

import json
import re

import nbformat
import pytest
from box_kinds import opened

from autograder.sandbox import Limits

PARTS = range(1, 9)
LIMITS = Limits(cell_seconds=20)

CELLS = {
    "print": "print('a')\nprint('b', end='')",
    "value": "1 + 1",
    "nothing": "None",
    "semicolon": "3;",
    "last-of-many": "1\n2\n'three'",
    "underscore": "40 + 2",
    "underscore-again": "_ + 1, __",
    "in-and-out": "In[1], Out, _i",
    "counts": "get_ipython().execution_count",
    "who-am-i": "__name__, '__file__' in globals()",
    "main-module": "import __main__\nvalue_of_main = 5\n__main__.value_of_main",
    "source-of-a-function": "import inspect\ndef f(x):\n    return x + 1\nprint(inspect.getsource(f))",
    "error": "1 / 0",
    "error-in-a-function": "def g(y):\n    z = y\n    return z / 0\ng(3)",
    "error-chain": "try:\n    {}['k']\nexcept KeyError as e:\n    raise ValueError('second') from e",
    "error-long": "def deep(n):\n    return deep(n - 1) if n else 1 / 0\ndeep(5)",
    "syntax-error": "def (:",
    "indentation-error": "if True:\nprint(1)",
    "name-error": "not_defined_here",
    "assertion": "assert 1 == 2, 'they differ'",
    "own-exception": "class Odd(Exception):\n    def _render_traceback_(self):\n        return ['only this']\nraise Odd()",
    "sys-exit": "import sys\nsys.exit(3)",
    "keyboard-interrupt": "raise KeyboardInterrupt",
    "stderr": "import sys\nprint('e', file=sys.stderr)\nprint('o')",
    "interleaved": "import sys\nprint('1')\nprint('2', file=sys.stderr)\nsys.stdout.flush()\nprint('3')",
    "warning": "import warnings\nwarnings.warn('careful')",
    "logging": "import logging\nlogging.getLogger('x').warning('logged')",
    "numpy": "import numpy as np\nnp.arange(6).reshape(2, 3) / 7",
    "numpy-warning": "np.float64(1) / 0",
    "numpy-error": "np.ones(3) + np.ones(4)",
    "rich": "from IPython.display import HTML, display, Markdown, SVG, JSON\ndisplay(HTML('<b>x</b>'), Markdown('*y*'))",
    "rich-value": "HTML('<i>v</i>')",
    "json": "JSON({'a': [1, 2]})",
    "own-repr": "class R:\n    def _repr_html_(self):\n        return '<u>r</u>'\n    def __repr__(self):\n        return 'r'\nR()",
    "bad-repr": "class B:\n    def __repr__(self):\n        raise RuntimeError('no repr')\nB()",
    "metadata": "display({'text/plain': 'p'}, raw=True, metadata={'text/plain': {'k': 1}})",
    "display-id": "h = display('first', display_id='one')\nh.update('second')",
    "clear": "from IPython.display import clear_output\nprint('gone')\nclear_output()\nprint('stays')",
    "clear-wait": "print('gone too')\nclear_output(wait=True)\nprint('stays too')",
    "figure": "import matplotlib.pyplot as plt\nplt.plot([1, 3, 2])\nplt.title('t')\nplt.show()",
    "figure-without-show": "fig, ax = plt.subplots(figsize=(2, 2))\n_ = ax.plot([1, 2])",
    "figure-closed": "len(plt.get_fignums())",
    "figure-settings": "plt.rcParams['figure.figsize'], plt.rcParams['figure.dpi'], plt.get_backend()",
    "figure-formats": "%config InlineBackend.figure_formats = ['svg']\nplt.rcParams['svg.hashsalt'] = 'x'",
    "matplotlib-inline": "%matplotlib inline\nplt.figure(figsize=(1, 1))\nplt.close()",
    "widget": "import ipywidgets as w\ns = w.IntSlider(value=3, description='GPUs')\ns",
    "widget-observe": "seen = []\ns.observe(lambda c: seen.append(c['new']), 'value')\ns.value = 5\nseen",
    "widget-html": "w.HTML('<b>1</b>')",
    "widget-button": "b = w.Button(description='go')\nb.on_click(lambda _: print('clicked'))\nb.click()",
    "time-magic": "%%capture timed\n%time 1 + 1",
    "capture": "type(timed).__name__, 'Wall time' in timed.stdout",
    "line-magic": "%pwd\n%who_ls str",
    "cell-magic": "%%writefile made.txt\nhello",
    "read-it": "open('made.txt').read()",
    "bash": "%%bash\necho from bash\necho to stderr >&2",
    "shell": "!echo one; echo two",
    "shell-to-variable": "lines = !printf 'x\\ny\\n'\nlines",
    "shell-fails": "!false\n_exit_code",
    "unknown-magic": "%no_such_magic",
    "help": "import math\nmath.sqrt?",
    "await": "import asyncio\nawait asyncio.sleep(0.01)\n'slept'",
    "await-error": "async def fails():\n    raise ValueError('in async')\nawait fails()",
    "async-for": "async def gen():\n    for i in range(2):\n        yield i\n[i async for i in gen()]",
    "gather": "await asyncio.gather(asyncio.sleep(0, 1), asyncio.sleep(0, 2))",
    "run-in-loop": "asyncio.get_event_loop().is_running()",
    "input": "input('? ')",
    "getpass": "import getpass\ngetpass.getpass()",
    "thread": "import threading\nt = threading.Thread(target=lambda: print('in a thread'))\nt.start()\nt.join()",
    "subprocess": "import subprocess\nsubprocess.run(['echo', 'hi'], capture_output=True, text=True).stdout",
    "multiprocessing": "import multiprocessing as mp\nwith mp.get_context('fork').Pool(1) as p:\n    r = p.map(abs, [-1, 2])\nr",
    "fork": "import os\npid = os.fork()\nif pid == 0:\n    os._exit(0)\nos.waitpid(pid, 0)[1]",
    "file-beside": "import pathlib\npathlib.Path('mod.py').write_text('v = 9')\nimport mod\nmod.v",
    "dataclass": "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\nP(1)",
    "pickle": "import pickle\npickle.loads(pickle.dumps(P(2)))",
    "big-integer": "10 ** 60",
    "unicode": "'naïve – 数 \\U0001F600'",
    "long-print": "print('x' * 5000)",
    "recursion": "def r(n):\n    return r(n + 1)\ntry:\n    r(0)\nexcept RecursionError as e:\n    print(type(e).__name__)",
    "hook": "get_ipython().events.register('post_run_cell', lambda r: None)",
    "reset": "%reset -f\n'f' in globals()",
}


CHANCE = (  # addresses, ids of widgets, process numbers, and where the two kernels have their folders
    r"0x[0-9a-f]+",
    r"\b[0-9a-f]{32}\b",
    r"/[-\w/.]*ipykernel_\d+/\d+\.py",
    r"/[-\w/.]*/site-packages|/opt/packages",
    r"/tmp/box-\w+/work|/home/student/work",
)


def plain(ran):
    """Outputs without what differs by chance, streams of one name joined."""
    joined = []
    for output in ran.outputs:
        if output.output_type == "stream" and joined and joined[-1].get("name") == output.name:
            joined[-1]["text"] += output.text
        else:
            joined.append(json.loads(json.dumps(output)))
    text = json.dumps(joined, sort_keys=True)
    for pattern in CHANCE:
        text = re.sub(pattern, "*", text)
    return text


@pytest.mark.parametrize("part", PARTS)
def test_every_part_gives_the_same_outputs(part, repository):
    folder = repository / "notebooks"
    (path,) = folder.glob(f"part{part}_*.ipynb")
    kit = [p for p in (folder / "partrain").rglob("*") if p.is_file() and "__pycache__" not in p.parts]
    files = [(p, str(p.relative_to(folder))) for p in sorted(kit)]
    cells = [cell for cell in nbformat.read(path, 4).cells if cell.cell_type == "code" and cell.source.strip()]
    rows = {}
    for kind in ("warm", "cold"):
        with opened(kind, files, LIMITS) as box:
            rows[kind] = [box.run(cell.source) for cell in cells]
    for cell, warm, cold in zip(cells, rows["warm"], rows["cold"], strict=True):
        assert (warm.status, warm.execution_count) == (cold.status, cold.execution_count), cell.id
        assert plain(warm) == plain(cold), cell.id


@pytest.fixture(scope="module")
def both():
    found = {}
    for kind in ("warm", "cold"):
        with opened(kind, [], LIMITS) as box:
            found[kind] = {name: box.run(source) for name, source in CELLS.items()}
    return found


@pytest.mark.parametrize("name", CELLS)
def test_a_cell_gives_the_same_outputs(both, name):
    warm, cold = both["warm"][name], both["cold"][name]
    assert (warm.status, warm.execution_count) == (cold.status, cold.execution_count)
    assert plain(warm) == plain(cold)


def test_half_a_character_does_not_lose_a_cell():
    """A real kernel fails to send it; here it arrives as a question mark."""
    with opened("warm", [], LIMITS) as box:
        assert box.run("print('\\ud800')").outputs[0].text == "?\n"
