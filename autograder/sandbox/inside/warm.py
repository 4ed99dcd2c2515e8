"""Warming, once per zygote: what the first import, figure and error cost is paid before the fork."""

import gc
import importlib
import sys

from .kernel import Kernel

CELLS = (
    "import matplotlib.pyplot as plt",
    "fig, ax = plt.subplots()\nax.plot([1, 10], [1, 2], 'o-', label='$a$')\nax.set(title='t', xlabel='x', ylabel='y')\n"
    "ax.set_xscale('log')\nax.legend()\nplt.show()",
    "def f(x):\n    return 1 / x\nf(0)",
    "from IPython.display import HTML, SVG, Markdown, display\ndisplay(HTML('<b>a</b>'))\n{'a': [1, 2]}",
    "import asyncio\nawait asyncio.sleep(0)",
    "%timeit -n1 -r1 pass",
)


def warm_kernel(modules):
    """A kernel ready to be forked: nothing of the warming is left in it. modules: what to import ahead."""
    for name in modules:
        try:
            importlib.import_module(name)
        except Exception:  # not installed here: the student will be told so, if it matters
            continue
    sys.modules["debugpy"] = None  # a debugger that nobody uses here
    _show_things()
    kernel = Kernel.instance()
    del sys.modules["debugpy"]
    _hook_figures(kernel.shell)
    for name in ("pexpect", "ipywidgets"):  # the second registers itself with the shell that is there
        try:
            importlib.import_module(name)
        except Exception:
            continue
    gc.collect()
    gc.freeze()
    return kernel


def _show_things():
    kernel = Kernel.instance()
    kernel.open()
    try:
        for cell in CELLS:
            kernel.run(cell)
    finally:
        kernel.close()
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
    type(kernel.shell).clear_instance()
    Kernel.clear_instance()
    kernel.comm_manager.comms.clear()


def _hook_figures(shell):
    """Figures are shown by this shell too, and with its own settings."""
    if "matplotlib_inline.backend_inline" not in sys.modules:
        return
    import matplotlib
    from IPython.core.pylabtools import activate_matplotlib
    from matplotlib_inline import backend_inline
    from matplotlib_inline.config import InlineBackend

    InlineBackend.clear_instance()
    vars(backend_inline.configure_inline_support).pop("current_backend", None)
    backend_inline.show._to_draw, backend_inline.show._draw_called = [], False
    name = dict.__getitem__(matplotlib.rcParams, "backend")
    activate_matplotlib("inline")
    dict.__setitem__(matplotlib.rcParams, "backend", name)  # the same backend under its short name
    backend_inline.configure_inline_support(shell, "inline")
