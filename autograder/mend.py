"""Mend a submitted notebook by comparing it with the released one: matched by cell id, then grade id, then likeness."""

from __future__ import annotations

import ast
import re
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_raw_cell

from autograder.stubs import is_stub

MAX_CELLS = 5000
ALIKE = 0.6
DEFINES = re.compile(r"^(?:def[ \t]+)?(\w+)[ \t]*(?:\(|=(?!=))", re.MULTILINE)  # names at the margin: def f(, x =
MAKERS = {"code": new_code_cell, "markdown": new_markdown_cell, "raw": new_raw_cell}


class Refusal(Exception):
    """The hand-in cannot be graded; the text is the one sentence that everybody reads."""


def mend(content: Any, released: NotebookNode) -> tuple[NotebookNode, list[str]]:
    """A well-formed notebook with each released graded cell exactly once, and the repairs in words. Or Refusal.

    content: parsed JSON of the hand-in, of any form. Metadata, locked cells and kernel are those of the release.
    """
    repairs: list[str] = []
    cells = _cells(content, repairs)
    wanted = [cell for cell in released.cells if "nbgrader" in cell.metadata]
    parts = _match(cells, wanted)
    if wanted and not any(parts.values()):
        raise Refusal("None of this part's answer or check cells are in the notebook. Is it the right file?")
    placed = _place(cells, wanted, parts, repairs)
    nb = nbformat.v4.new_notebook(cells=_unique_ids(placed), metadata=dict(released.metadata))
    return nb, repairs


# ---- reading cells ------------------------------------------------------------------------------------------------


def _cells(content: Any, repairs: list[str]) -> list[NotebookNode]:
    """The cells as fresh nodes of the current format; only type, id, source and the old grade id are taken over."""
    if not isinstance(content, dict):
        raise Refusal("The file is not a notebook: it holds no cells.")
    raw = content.get("cells")
    if raw is None and isinstance(content.get("worksheets"), list):  # formats 2 and 3
        sheets = [sheet.get("cells") for sheet in content["worksheets"] if isinstance(sheet, dict)]
        raw = [cell for cells in sheets if isinstance(cells, list) for cell in cells]
        repairs.append("The notebook was in an old format; it was read all the same.")
    if not isinstance(raw, list) or not raw:
        raise Refusal("The file is not a notebook, or an empty one: it holds no cells.")
    if len(raw) > MAX_CELLS:
        raise Refusal(f"The notebook has more than {MAX_CELLS:,} cells.")
    made = [cell for cell in map(_cell, raw) if cell is not None]
    if len(made) < len(raw):
        repairs.append(f"{len(raw) - len(made)} damaged cells could not be read and were left out.")
    return made


def _cell(raw: Any) -> NotebookNode | None:
    if not isinstance(raw, dict):
        return None
    kind = raw.get("cell_type")
    source = raw.get("source", raw.get("input", ""))
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    if not isinstance(source, str) or not isinstance(kind, str):
        return None
    source = source.replace("\r\n", "\n").replace("\r", "\n")
    cell = MAKERS.get(kind, new_markdown_cell)(source)
    metadata = raw.get("metadata") if isinstance(raw.get("metadata"), dict) else {}
    about = metadata.get("nbgrader") if isinstance(metadata.get("nbgrader"), dict) else {}
    cell.was = (str(raw.get("id", "")), str(about.get("grade_id", "")))
    if kind == "markdown" and isinstance(raw.get("attachments"), dict):
        cell.attachments = nbformat.from_dict(raw["attachments"])
    return cell


# ---- matching -----------------------------------------------------------------------------------------------------


def _match(cells: list[NotebookNode], wanted: list[NotebookNode]) -> dict[str, list[int]]:
    """grade id -> positions of the submitted cells that stand for it."""
    parts: dict[str, list[int]] = {cell.metadata.nbgrader.grade_id: [] for cell in wanted}
    by_id = {cell.get("id"): cell.metadata.nbgrader.grade_id for cell in wanted}
    left = []
    for at, cell in enumerate(cells):
        cell_id, grade_id = cell.pop("was")
        name = by_id.get(cell_id) or (grade_id if grade_id in parts else None)
        if name:
            parts[name].append(at)
        else:
            left.append(at)
    for cell in wanted:  # what has lost both names is looked for by its text
        name = cell.metadata.nbgrader.grade_id
        if not parts[name] and left:
            best = max(left, key=lambda at: _likeness(cells[at].source, cell.source))
            exact = cells[best].source.strip() == cell.source.strip()
            if exact or (not _locked(cell) and _likeness(cells[best].source, cell.source) >= ALIKE):
                parts[name].append(best)
                left.remove(best)
    return parts


def _likeness(source: str, stub: str) -> float:
    """How much a cell looks like a released one, between 0 and 1; an answer may be many times as long as its stub."""
    source, stub = source[:20_000], stub[:20_000]
    if not stub.strip() or not source.strip():
        return 0.0
    if set(DEFINES.findall(stub)) & set(DEFINES.findall(source)):
        return 0.9
    lines, kept = [line.strip() for line in source.splitlines()], [x.strip() for x in stub.splitlines() if x.strip()]
    return sum(line in lines for line in kept) / len(kept)


def _locked(cell: NotebookNode) -> bool:
    return bool(cell.metadata.nbgrader.get("locked"))


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
        if _locked(released):
            at = _locked_place(cells, released, positions, answer, repairs)
            plan.append((at, order + 1, _tagged(released, released.source)))
        elif positions:
            at = float(positions[-1])
            plan += _answer_cells(cells, released, positions, repairs)
        else:
            at = before + 0.001
            repairs.append(f"The answer cell {name} is missing from the hand-in.")
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
        repairs.append(f"The cell {name} had been changed; it was put back as handed out.")
    later = [at for at in positions if at > answer]
    if not later:
        repairs.append(f"The cell {name} stood above its answer; it was moved below it.")
        return answer + 0.001
    return float(later[0])


def _answer_cells(cells, released, positions, repairs) -> list[tuple[float, int, NotebookNode]]:
    """An answer, also one in several pieces: untouched copies are dropped, halves that make no sense alone are joined."""
    name = released.metadata.nbgrader.grade_id
    if any(cells[at].cell_type != released.cell_type for at in positions):
        repairs.append(f"The answer {name} had been turned into another kind of cell; it was turned back.")
    if len(positions) > 1:
        repairs.append(f"The answer {name} is in {len(positions)} cells; they were run in order.")
    written = [at for at in positions if not is_stub(cells[at].source, released.source)] or positions[-1:]
    *earlier, last = written
    rows = []
    if all(_parses(cells[at].source) for at in written):
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
    cell = MAKERS[released.cell_type](source)
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
