"""What a box finds around it: its environment, its import path, its fonts, and the code it starts with."""

from __future__ import annotations

import glob
import os
import sys
from pathlib import Path

BOOTSTRAP = (Path(__file__).parent / "bootstrap.py").read_text(encoding="utf-8")
PASSED_ON = ("LANG", "LC_ALL", "LC_CTYPE", "TZ", "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")


def import_path() -> list[str]:
    """Where installed packages lie; never the folder of an editable install."""
    found = (path for path in sys.path if Path(path).name in ("site-packages", "dist-packages"))
    return [path for path in dict.fromkeys(found) if os.path.isdir(path)]


def passed_on() -> dict[str, str]:
    """What every kernel gets: the little of the teacher's environment that says how numbers and texts are written."""
    passed = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    return {
        **passed,
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONIOENCODING": "utf-8",
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    }


def clean_environment(home: Path) -> dict[str, str]:
    """The environment of a box: a short list, nothing that names the teacher's folders."""
    return {
        **passed_on(),
        "PATH": os.defpath.lstrip(":"),
        "HOME": str(home),
        "TMPDIR": str(home),
        "MPLCONFIGDIR": str(home / ".config" / "matplotlib"),
    }


def font_caches() -> list[str]:
    """matplotlib's list of fonts, made once in the teacher's process: making it anew costs a box many seconds."""
    import matplotlib
    from matplotlib import font_manager  # noqa: F401  importing it writes the cache

    return glob.glob(os.path.join(matplotlib.get_cachedir(), "fontlist-*.json"))
