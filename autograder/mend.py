"""Mend a submitted notebook by comparing it with the released one: matched by cell id, then grade id, then likeness."""

from __future__ import annotations

import ast
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from autograder.hints import GONE, names_bound
from autograder.match import Refusal, locked, match, new_cell, read_cells
from autograder.slips import leave_out_exits, look_at_metadata
from autograder.stubs import is_stub


def mend(content: Any, released: NotebookNode) -> tuple[NotebookNode, list[str]]:
    """A well-formed notebook with each released graded cell exactly once, and the repairs in words. Or Refusal.

    content: parsed JSON of the hand-in, of any form. Metadata, locked cells and kernel are those of the release.
    """
    repairs: list[str] = []
    cells = read_cells(content, repairs)
    look_at_metadata(content, released, repairs)
    leave_out_exits(cells, repairs)
    wanted = [cell for cell in released.cells if "nbgrader" in cell.metadata]
    parts = match(cells, wanted)
    _join_halves(cells, wanted, parts)
    if wanted and not any(parts.values()):
        raise Refusal("None of this part's answer or check cells are in the notebook. Is it the right file?")
    placed = _place(cells, wanted, parts, repairs)
    nb = nbformat.v4.new_notebook(cells=_unique_ids(placed), metadata=dict(released.metadata))
    return nb, repairs


# ---- putting together ---------------------------------------------------------------------------------------------


def _place(cells, wanted, parts, repairs) -> list[NotebookNode]:
    """The submitted order, each released graded cell exactly once and in a place where it can work."""
    names = [cell.metadata.nbgrader.grade_id for cell in wanted]
    plan: list[tuple[float, int, NotebookNode]] = []
    graded = {at for positions in parts.values() for at in positions}
    plan += [(at, 0, cell) for at, cell in enumerate(cells) if at not in graded]
    place: dict[str, float] = {}
    before = -1.0
    for order, released in enumerate(wanted):
        name, positions = names[order], parts[names[order]]
        answer = place.get(f"{name.removesuffix('-check')}-answer", before) if name.endswith("-check") else before
        if locked(released):
            at = _locked_place(cells, released, positions, answer, repairs)
            plan.append((at, order + 1, _tagged(released, released.source)))
        elif positions:
            at = float(positions[-1])
            plan += _answer_cells(cells, released, positions, repairs)
        else:
            at = before + 0.001
            repairs.append(f"The answer cell {name} is missing from the hand-in.")
            if released.metadata.nbgrader.get("grade"):  # a written answer: its cell holds its grade
                plan.append((at, order + 1, _tagged(released, released.source)))
        place[name] = before = at
    return [cell for _, _, cell in sorted(plan, key=lambda row: row[:2])]


def _locked_place(cells, released, positions, answer: float, repairs) -> float:
    """Where a locked cell goes: where the student has it if that is behind its answer, else right behind the answer."""
    name = released.metadata.nbgrader.grade_id
    if not positions:
        repairs.append(f"The cell {name} was missing; it was put back as handed out.")
        return answer + 0.001
    if len(positions) > 1:
        repairs.append(f"The cell {name} appears {len(positions)} times; it was run once, as handed out.")
    cell = cells[positions[0]]
    if cell.cell_type != released.cell_type or cell.source.strip() != released.source.strip():
        gone = sorted(names_bound(cell.source) - names_bound(released.source)) if cell.cell_type == "code" else []
        lost = f" {GONE}{', '.join(gone)}." if gone else ""
        repairs.append(f"The cell {name} had been changed; it was put back as handed out.{lost}")
    later = [at for at in positions if at > answer]
    if not later:
        repairs.append(f"The cell {name} stood above its answer; it was moved below it.")
        return answer + 0.001
    return float(later[0])


def _join_halves(cells, wanted, parts) -> None:
    """A cell without a name right below an answer, which is code only together with it, is the answer's other half."""
    named = {at for positions in parts.values() for at in positions}
    for released in (cell for cell in wanted if not locked(cell) and cell.cell_type == "code"):
        positions = parts[released.metadata.nbgrader.grade_id]
        while positions and (half := positions[-1] + 1) < len(cells) and half not in named:
            source = cells[half].source
            whole = "\n".join(cells[at].source for at in (*positions, half))
            if cells[half].cell_type != "code" or _parses(source) or not _parses(whole):
                break
            positions.append(half)
            named.add(half)


def _answer_cells(cells, released, positions, repairs) -> list[tuple[float, int, NotebookNode]]:
    """An answer, also one in several pieces: untouched copies are dropped, halves of a function or text are joined."""
    name = released.metadata.nbgrader.grade_id
    if any(cells[at].cell_type != released.cell_type for at in positions):
        repairs.append(f"The answer {name} had been turned into another kind of cell; it was turned back.")
    if len(positions) > 1:
        repairs.append(f"The answer {name} is in {len(positions)} cells; they were run in order.")
    written = [at for at in positions if not is_stub(cells[at].source, released.source)] or positions[-1:]
    *earlier, last = written
    rows = []
    if released.cell_type == "code" and all(_parses(cells[at].source) for at in written):
        rows = [(float(at), 0, new_code_cell(cells[at].source)) for at in earlier]
        tagged = _tagged(released, cells[last].source)
    else:
        tagged = _tagged(released, "\n".join(cells[at].source for at in written))
    if "attachments" in cells[last]:
        tagged.attachments = cells[last].attachments
    return [*rows, (float(last), 0, tagged)]


def _parses(source: str) -> bool:
    try:
        ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _tagged(released: NotebookNode, source: str) -> NotebookNode:
    """A cell with the release's type, id and grading metadata; tags of anybody's are dropped."""
    cell = new_cell(released.cell_type, source)
    cell.id = released.get("id", cell.id)
    cell.metadata = NotebookNode(nbgrader=NotebookNode(released.metadata.nbgrader))
    return cell


def _unique_ids(cells: list[NotebookNode]) -> list[NotebookNode]:
    """Cells with ids of their own; ids made up here are numbers, so that grading twice gives the same file."""
    taken = {cell.id for cell in cells if "nbgrader" in cell.metadata}
    count = 0
    for cell in cells:
        if "nbgrader" not in cell.metadata:
            while f"cell-{count}" in taken:
                count += 1
            cell.id = f"cell-{count}"
            taken.add(cell.id)
    return cells
