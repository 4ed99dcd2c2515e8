"""Read the cells of a hand-in, whatever their form, and find which of them stand for which released cell."""

from __future__ import annotations

import re
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.corpus.words import generate_corpus_id

MAX_CELLS = 5000
ALIKE = 0.6
LOOKED_AT = 20_000  # characters of a cell
DEFINES = re.compile(r"^(?:def[ \t]+)?(\w+)[ \t]*(?:\(|=(?!=))", re.MULTILINE)  # names at the margin: def f(, x =
KINDS = ("code", "markdown", "raw")


class Refusal(Exception):
    """The hand-in cannot be graded; the text is the one sentence that everybody reads."""


# ---- reading cells ------------------------------------------------------------------------------------------------


def read_cells(content: Any, repairs: list[str]) -> list[NotebookNode]:
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
    if any("\0" in cell.source for cell in made):
        for cell in made:
            cell.source = cell.source.replace("\0", "")
        repairs.append("Null characters, which no code can hold, were left out.")
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
    cell = new_cell(kind if kind in KINDS else "markdown", source)
    metadata = raw.get("metadata") if isinstance(raw.get("metadata"), dict) else {}
    about = metadata.get("nbgrader") if isinstance(metadata.get("nbgrader"), dict) else {}
    cell.was = (str(raw.get("id", "")), str(about.get("grade_id", "")))
    pictures = _pictures(raw.get("attachments")) if kind == "markdown" else {}
    if pictures:
        cell.attachments = nbformat.from_dict(pictures)
    return cell


def new_cell(kind: str, source: str) -> NotebookNode:
    """A fresh cell. nbformat's own makers check each against the schema, which costs more than all else here."""
    cell = NotebookNode(cell_type=kind, id=generate_corpus_id(), metadata=NotebookNode(), source=source)
    if kind == "code":
        cell.execution_count, cell.outputs = None, []
    return cell


def _pictures(raw: Any) -> dict[str, dict[str, str]]:
    """Pictures pasted into a text cell: name -> MIME type -> base64; anything else is left out."""
    found = raw.items() if isinstance(raw, dict) else ()
    kept = {name: body for name, body in found if isinstance(body, dict)}
    return {name: {mime: data for mime, data in body.items() if isinstance(data, str)} for name, body in kept.items()}


# ---- matching -----------------------------------------------------------------------------------------------------


def match(cells: list[NotebookNode], wanted: list[NotebookNode]) -> dict[str, list[int]]:
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
    looks = {at: _look(cells[at].source) for at in left} if left and not all(parts.values()) else {}
    for cell in wanted:  # what has lost both names is looked for by its text
        name = cell.metadata.nbgrader.grade_id
        if not parts[name] and looks:
            stub = _look(cell.source)
            best = max(looks, key=lambda at: _likeness(looks[at], stub))
            exact = cells[best].source.strip() == cell.source.strip()
            if exact or (not locked(cell) and _likeness(looks[best], stub) >= ALIKE):
                parts[name].append(best)
                del looks[best]
    return parts


def _look(source: str) -> tuple[frozenset[str], frozenset[str]]:
    """What likeness goes by: the names a cell defines and its lines. Taken once a cell, for a notebook may be long."""
    source = source[:LOOKED_AT]
    return frozenset(DEFINES.findall(source)), frozenset(line.strip() for line in source.splitlines() if line.strip())


def _likeness(look: tuple, stub: tuple) -> float:
    """How much a cell looks like a released one, between 0 and 1; an answer may be many times as long as its stub."""
    (names, lines), (wanted, kept) = look, stub
    if not kept or not lines:
        return 0.0
    return 0.9 if wanted & names else len(kept & lines) / len(kept)


def locked(cell: NotebookNode) -> bool:
    return bool(cell.metadata.nbgrader.get("locked"))
