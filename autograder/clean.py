"""What a student's cells leave behind, made fit to be shown: text stays text, pictures stay pictures, nothing runs.

`clean_outputs` is a pure function of a cell's outputs. `Clean` uses it on all cells of a graded notebook but the check
cells, which hold our verdicts, and marks the cells that ran after hidden inputs had been used (see `feedback`).
"""

from __future__ import annotations

import base64
import os
import re
import sys
import tempfile
from html import escape
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell, new_output
from nbgrader.preprocessors import NbGraderPreprocessor

from autograder.ask import KEY, Grading, check_name
from autograder.course import CourseSettings
from autograder.readable import readable, shortened, visible, visible_text

MAX_OUTPUTS = 40  # of one cell
MAX_PICTURE = 400_000  # characters of base64: a screenful
MAX_PICTURES = 2_000_000  # of one notebook
MAX_TRACEBACK = 40  # lines
BASE64 = re.compile(r"[A-Za-z0-9+/\s]+=*\s*")
PICTURES = {"image/png": "png", "image/jpeg": "jpeg", "image/gif": "gif"}
SVG = "image/svg+xml"
AFTER = "autograder_after_hidden"  # marks cells that ran when hidden inputs were already in the kernel
REPAIRS_ID = "autograder-repairs"


class Clean(CourseSettings, NbGraderPreprocessor):
    """Last but one of the steps: outputs of a student's become harmless, repairs stand at the top for everybody."""

    def preprocess(self, nb, resources):
        grading: Grading = resources[KEY]
        secret_places = (str(self.course.root),)
        after, room = False, MAX_PICTURES
        for at, cell in enumerate(nb.cells):
            cell.source = visible(cell.source)
            question = grading.questions.get(check_name(cell))
            if cell.cell_type == "raw":
                nb.cells[at] = new_markdown_cell(
                    "".join(f"    {line}\n" for line in fit(cell.source).split("\n")), id=cell.id
                )
            elif cell.cell_type == "code" and not check_name(cell):
                cell.outputs = clean_outputs(cell.get("outputs", []), secret_places, room)
                room -= sum(len(str(output)) for output in cell.outputs if output.output_type == "display_data")
                if after:
                    cell.metadata[AFTER] = True
            after = after or bool(question and question.exercise.kind == "function")
        if grading.repairs:
            nb.cells.insert(0, repairs_cell(grading.repairs))
        return nb, resources


def clean_outputs(outputs: Any, secret_places: tuple[str, ...] = (), room: int = MAX_PICTURES) -> list[NotebookNode]:
    """Outputs that a page can show: streams and errors as trimmed text, pictures, and text in the place of the rest.

    secret_places: folders whose paths are shortened, beside those that every grader has. room: characters left for
    pictures. Whatever the outputs hold, nothing is raised.
    """
    outputs = outputs if isinstance(outputs, list) else []
    made = []
    for output in outputs[:MAX_OUTPUTS]:
        one = _clean(output, secret_places, room) if isinstance(output, dict) else None
        if one is not None:
            room -= len(str(one)) if one.output_type == "display_data" else 0
            made.append(one)
    if len(outputs) > MAX_OUTPUTS:
        made.append(_text(f"[cut: {len(outputs):,} outputs in all]"))
    return made


def _clean(output: dict, secret_places: tuple[str, ...], room: int) -> NotebookNode | None:
    kind = output.get("output_type")
    if kind == "stream":
        name = "stderr" if output.get("name") == "stderr" else "stdout"
        return new_output("stream", name=name, text=fit(output.get("text"), secret_places))
    if kind == "error":
        name, value = (shortened(readable(str(output.get(key, ""))), 300) for key in ("ename", "evalue"))
        lines = output.get("traceback")
        text = "\n".join(map(str, lines)) if isinstance(lines, list) else ""
        shown = fit(text, secret_places).split("\n")[-MAX_TRACEBACK:]
        return new_output("error", ename=name, evalue=without_places(value, secret_places), traceback=shown)
    data = output.get("data")
    if kind not in ("display_data", "execute_result") or not isinstance(data, dict):
        return None
    said = fit(data.get("text/plain"), secret_places)
    picture = _picture(data, said, room)
    if picture:
        return new_output("display_data", {"text/html": picture, "text/plain": said})
    for mime in ("text/html", "text/markdown", "text/latex"):
        if mime in data and (not said or said.startswith("<IPython.core.display.")):
            said = fit(visible_text(str(data[mime])) if mime == "text/html" else data[mime], secret_places)
    return _text(said) if said else None


def _text(said: str) -> NotebookNode:
    return new_output("display_data", {"text/plain": said})


def _picture(data: dict, said: str, room: int) -> str:
    """An <img> with the picture inside, which can neither run nor load anything; "" where there is no picture."""
    mime = next((mime for mime in (SVG, *PICTURES) if isinstance(data.get(mime), str)), None)
    if mime is None:
        return ""
    packed = data[mime] if mime != SVG else base64.b64encode(data[mime].encode("utf-8", "replace")).decode()
    if not BASE64.fullmatch(packed):
        return ""
    if len(packed) > min(MAX_PICTURE, room):
        return f"<p>[a picture of {len(packed):,} characters, not kept]</p>"
    alt = escape(shortened(said, 300) or "A picture without a description", quote=True)
    return f'<img alt="{alt}" src="data:{mime};base64,{"".join(packed.split())}">'


# ---- text ---------------------------------------------------------------------------------------------------------


def fit(text: Any, secret_places: tuple[str, ...] = ()) -> str:
    """Text of any making as a page can show it: no codes that steer, no places of the grader, not too much of it."""
    if isinstance(text, list):
        text = "".join(map(str, text[:10_000]))
    return without_places(shortened(readable(text[:300_000] if isinstance(text, str) else "")), secret_places)


def without_places(text: str, secret_places: tuple[str, ...] = ()) -> str:
    """`text` with paths into the grader's own folders shortened to their last name."""
    own = {tempfile.gettempdir(), sys.prefix, sys.base_prefix, str(Path.home()), os.path.dirname(os.__file__)}
    repository = str(Path(__file__).resolve().parents[1])
    places = {place for place in (*own, repository, *secret_places) if len(place) > 3}
    places |= {os.path.realpath(place) for place in places}
    for place in sorted(places, key=len, reverse=True):
        text = re.sub(re.escape(place) + r"(?:/[^\s'\"<>:,()/]+)*(?=/)", "…", text)
        text = text.replace(place, "…")
    return text


def repairs_cell(repairs: list[str]) -> NotebookNode:
    """A text cell for student and teacher that lists what was repaired."""
    lines = [re.sub(r"([\\`*_{}\[\]()<>#+!|~$&-])", r"\\\1", " ".join(readable(line).split())) for line in repairs]
    text = "**Repaired before grading**\n\n" + "\n".join(f"- {shortened(line, 400)}" for line in lines)
    return new_markdown_cell(text, id=REPAIRS_ID)
