"""One more sentence where an answer failed for a reason outside of it: a name comes later, was taken, or is gone."""

from __future__ import annotations

import ast
import builtins
import re

from autograder.match import DEFINES
from autograder.words import known_error

NOT_DEFINED = re.compile(r"name '(\w+)' is not defined")
GONE = "What it had defined is gone: "
LIBRARIES = ("np",)


def names_bound(source: str) -> set[str]:
    """Names that a cell defines at its margin; where it does not parse, what looks like it."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set(DEFINES.findall(source[:20_000]))
    found: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        else:
            inside = (n for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
            found |= {name.id for name in inside}
    return found


def names_used(source: str) -> set[str]:
    """Names that a cell reads anywhere."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    return {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def hint(message: str, sources: list[str], answer: int | None, repairs: list[str]) -> str:
    """A sentence that explains a failure, or "".

    message: what the verdict says so far. sources: the code cells in order. answer: which of them is the answer cell.
    """
    absent = NOT_DEFINED.search(message)
    if absent:
        name = absent.group(1)
        for repair in repairs:
            if GONE in repair and name in re.findall(r"\w+", repair.partition(GONE)[2]):
                return repair
        later = [
            k
            for k, source in enumerate(sources, 1)
            if answer is not None and k - 1 > answer and name in names_bound(source)
        ]
        return f"{name} is defined later, in code cell {later[0]}; cells run from top to bottom." if later else ""
    if answer is None or not re.search(r"not callable|has no attribute|TypeError|AttributeError", message):
        return ""
    used = names_used(sources[answer])
    for k, source in enumerate(sources[: answer + 1], 1):
        taken = {n for n in names_bound(source) if n in used and (hasattr(builtins, n) or n in LIBRARIES)}
        if "import numpy as np" in source:
            taken -= set(LIBRARIES)
        if taken:
            return f"Code cell {k} gave {sorted(taken)[0]} another meaning; choose another name there."
    return ""


def stopped_words(ename: str, evalue: str, sources: list[str], exposed: bool) -> str:
    """How an answer cell ended, in plain words. exposed: whether the kernel had already seen hidden inputs.

    Then the text of an error may be anything that was kept, so it is shown only where it is Python's own wording about
    a name that the student's code holds.
    """
    if ename == "StdinNotImplementedError":
        return (
            "Its cell asks for input(), but input() does not work in a graded notebook: put the value into a variable."
        )
    if ename == "SystemExit":
        return "The answer cell ends the program before that (exit, quit or sys.exit). Remove the call."
    if not exposed:
        return f"{ename}: {evalue}" if evalue else ename
    known = known_error(ename)
    names = re.findall(r"'([\w.]+)'", evalue)
    fixed = (f"name '{names[0]}' is not defined", f"No module named '{names[0]}'") if names else ()
    said = (
        bool(names) and evalue.startswith(fixed) and any(re.search(rf"\b{re.escape(names[0])}\b", s) for s in sources)
    )
    return f"{known}: {next(f for f in fixed if evalue.startswith(f))}" if said else known
