"""What the grade book holds of a released notebook, as plain rows, and nbgrader's OverwriteCells working from them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from types import SimpleNamespace

from nbgrader import preprocessors as stock
from nbgrader.api import Gradebook, MissingEntry

RECORD = "record"


@dataclass(frozen=True)
class Sources:
    """The grade book's record of one released notebook: plain rows, so that other processes can have them."""

    kernelspec: dict | None
    cells: dict[str, dict]  # name -> cell_type, locked, checksum, source
    points: dict[str, float]  # graded cells only
    solutions: frozenset[str]


def sources(book: Gradebook, assignment: str, notebook: str) -> Sources:
    """Read what the steps ask for, once for a whole class."""
    found = book.find_notebook(notebook, assignment)
    rows = {
        cell.name: {
            "cell_type": cell.cell_type,
            "locked": cell.locked,
            "checksum": cell.checksum,
            "source": cell.source,
        }
        for cell in found.source_cells
    }
    return Sources(
        json.loads(found.kernelspec) if found.kernelspec else None,
        rows,
        {cell.name: float(cell.max_score) for cell in found.grade_cells},
        frozenset(cell.name for cell in found.solution_cells),
    )


class Record:
    """Answers nbgrader's OverwriteCells as a grade book would."""

    def __init__(self, rows: Sources):
        cells = [SimpleNamespace(name=name, **row) for name, row in rows.cells.items()]
        self._cells = {cell.name: cell for cell in cells}
        self._points = rows.points
        graded = [SimpleNamespace(name=name, max_score=points) for name, points in rows.points.items()]
        solutions = [SimpleNamespace(name=name) for name in rows.solutions]
        self._notebook = SimpleNamespace(
            source_cells=cells, grade_cells=graded, solution_cells=solutions, task_cells=()
        )

    def find_source_cell(self, name, *where):
        if name not in self._cells:
            raise MissingEntry(name)
        return self._cells[name]

    def find_graded_cell(self, name, *where):
        return SimpleNamespace(max_score=self._points[name])

    def find_notebook(self, *where):
        return self._notebook


class OverwriteCells(stock.OverwriteCells):
    """nbgrader's step, given the record instead of a grade book."""

    def preprocess(self, nb, resources):
        self.notebook_id, self.assignment_id = (resources["nbgrader"][key] for key in ("notebook", "assignment"))
        self.gradebook = resources[RECORD]
        nb, resources = super(stock.OverwriteCells, self).preprocess(nb, resources)
        if self.add_missing_cells:
            nb, resources = self.add_missing_grade_cells(nb, resources)
        return nb, resources
