"""What a released answer cell says: the solution gone, the place to write plain to see."""

from __future__ import annotations

import ast
import re

from nbgrader.preprocessors import ClearSolutions

PLACE = ("# your code here", "raise NotImplementedError")


class Stubs(ClearSolutions):
    """An indented solution region becomes `raise NotImplementedError`; a region at the margin is dropped.

    A region at the margin leaves the line above it standing (`tokens = ...  # tokens`). Text cells and cells without
    a region are treated as nbgrader does.
    """

    def _replace_solution_region(self, cell, language):
        if cell.cell_type != "code":
            return super()._replace_solution_region(cell, language)
        source = cell.source
        begin, end = self.begin_solution_delimeter, self.end_solution_delimeter
        if begin not in source and end not in source:
            return False
        cell.source = drop_regions(source, begin, end)
        return True


def drop_regions(source: str, begin: str = "BEGIN SOLUTION", end: str = "END SOLUTION") -> str:
    """`source` without its solution regions. RuntimeError for a region that is nested or never closed."""
    kept, inside = [], False
    for line in source.split("\n"):
        if begin in line:
            if inside:
                raise RuntimeError("a solution region begins inside another one")
            inside = True
            indent = re.match(r"\s*", line).group(0)
            kept += [indent + text for text in PLACE if indent]
        elif end in line:
            if not inside:
                raise RuntimeError("a solution region ends that was never begun")
            inside = False
        elif not inside:
            kept.append(line)
    if inside:
        raise RuntimeError("a solution region is never closed")
    return "\n".join(kept).rstrip()


def without_marks(source: str, begin: str = "BEGIN SOLUTION", end: str = "END SOLUTION") -> str:
    """`source` with its solutions and without the lines that mark them: as somebody writes who solved it."""
    return "\n".join(line for line in source.split("\n") if begin not in line and end not in line)


def is_stub(source: str, stub: str) -> bool:
    """Whether an answer cell still says what was released, apart from blanks, comments and docstrings."""
    return _skeleton(source) == _skeleton(stub)


def _skeleton(source: str) -> str:
    try:
        tree = ast.parse(source)
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module):
                first = node.body[0] if node.body else None
                is_text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
                if is_text and isinstance(first.value.value, str):
                    node.body = node.body[1:]
        return ast.dump(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # no Python, or too deep to be looked into
        return "\n".join(line.strip() for line in source.splitlines() if line.strip())
