"""Slips that need no comparison with the release: a notebook's own description, and calls that end the program."""

from __future__ import annotations

import ast

import nbformat
from nbformat import NotebookNode

KNOWN = set(  # metadata that editors and nbgrader write; other keys are left out as well, but with a word
    "kernelspec language_info widgets nbgrader celltoolbar toc varInspector hide_input anaconda-cloud orig_nbformat "
    "colab accelerator vscode jupytext jupyter title authors signature name kernel_info nteract latex_envs tags "
    "collapsed scrolled editable deletable trusted slideshow execution id outputId colab_type pycharm ExecuteTime "
    "run_control heading_collapsed hidden lines_to_next_cell format cellView jp-MarkdownHeadingCollapsed".split()
)


def look_at_metadata(content: dict, released: NotebookNode, repairs: list[str]) -> None:
    """Say what of the notebook's own description is not used: another kernel, a newer format, unknown keys."""
    version = content.get("nbformat")
    if type(version) is int and version > nbformat.current_nbformat:
        repairs.append("The notebook was in a newer format; it was read all the same.")
    metadata = content.get("metadata") if isinstance(content.get("metadata"), dict) else {}
    kernel = metadata.get("kernelspec") if isinstance(metadata.get("kernelspec"), dict) else {}
    name, ours = kernel.get("name"), released.metadata.get("kernelspec", {}).get("name")
    if isinstance(name, str) and name != ours:
        repairs.append(f"The notebook names the kernel {name[:60]}; the course's own was used.")
    raw = content.get("cells") if isinstance(content.get("cells"), list) else []
    described = [metadata, *(cell.get("metadata") for cell in raw if isinstance(cell, dict))]
    unknown = sorted({key for one in described if isinstance(one, dict) for key in one} - KNOWN)
    if unknown:
        more = f" and {len(unknown) - 5:,} more" if len(unknown) > 5 else ""
        repairs.append(f"Unknown metadata was left out: {', '.join(key[:40] for key in unknown[:5])}{more}.")


def leave_out_exits(cells: list[NotebookNode], repairs: list[str]) -> None:
    """Put `pass` in the place of each exit() and quit() at the margin of a cell: they would end the kernel for all."""
    count = 0
    for cell in cells:
        calls = _exits(cell.source) if cell.cell_type == "code" else []
        lines = cell.source.split("\n")
        for call in reversed(calls):
            line = lines[call.lineno - 1].encode()
            lines[call.lineno - 1] = (line[: call.col_offset] + b"pass" + line[call.end_col_offset :]).decode()
        cell.source = "\n".join(lines)
        count += bool(calls)
    if count:
        repairs.append(f"exit() or quit() was left out of {count} cell{'s' * (count > 1)}; it would end the program.")


def _exits(source: str) -> list[ast.Expr]:
    if "exit" not in source and "quit" not in source:
        return []
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    calls = (node for node in body if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call))
    named = (node for node in calls if isinstance(node.value.func, ast.Name) and node.value.func.id in ("exit", "quit"))
    return [node for node in named if node.lineno == node.end_lineno]
