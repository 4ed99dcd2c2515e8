"""Hand-ins of one line of difference each: made from the released notebook with every answer right, then changed.

A change is a function of a HandIn; the helpers below make the common ones. A Case names its number, its change and what
must come of it; whatever a case does not name must come out right, with no repair.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import nbformat

PART1 = "part1_split_the_batch"
RIGHT, PARTLY, WRONG = "right", "partly", "wrong"
NOT_STARTED, UNGRADED, WAITS = "not started", "could not be graded", "waits for a person"
NO_POINTS = (WRONG, UNGRADED)  # where a case may end either way, as long as it earns nothing


@dataclass
class HandIn:
    """The notebook as parsed JSON, the files beside it, and what is written in the end."""

    part: str
    content: dict
    name: str
    stubs: dict[str, str]
    files: dict[str, bytes] = field(default_factory=dict)
    raw: Callable[[bytes], bytes] = lambda data: data
    last: list[Callable[[Path], None]] = field(default_factory=list)  # done to the folder at the very end

    @property
    def cells(self) -> list[dict]:
        return self.content["cells"]

    def at(self, cell_id: str) -> int:
        (found,) = [at for at, cell in enumerate(self.cells) if cell.get("id") == cell_id]
        return found

    def cell(self, cell_id: str) -> dict:
        return self.cells[self.at(cell_id)]

    def write(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        if self.name:
            data = self.raw(json.dumps(self.content, indent=1).encode())
            (folder / self.name).write_bytes(data)
        for name, data in self.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)
        for step in self.last:
            step(folder)


# the authors build this answer on the one before it; here each question stands and falls on its own
ON_ITS_OWN = {
    "data_parallel_grad-answer": """def data_parallel_grad(w, X, y, devices):
    need_counts(devices=devices)
    devices = int(devices)
    w, X, y = (np.asarray(array, dtype=float) for array in (w, X, y))
    if X.ndim != 2 or X.size == 0 or w.shape != X.shape[1:] or y.shape != X.shape[:1]:
        raise ValueError("shapes that do not fit")
    for array in (w, X, y):
        if not np.isfinite(array).all():
            raise ValueError("entries that are not finite")
    if len(X) % devices:
        raise ValueError("rows that devices do not divide")
    size = len(X) // devices
    total = np.zeros(len(w))

    for start in range(0, len(X), size):
        rows, targets = X[start : start + size], y[start : start + size]
        total = total + 2 / size * rows.T @ (rows @ w - targets)
    return total / devices"""
}

Change = Callable[[HandIn], None]


@dataclass(frozen=True)
class Case:
    """One submission and what must come of it.

    states: exercise -> state, or -> the states allowed; a single text holds for all exercises. says: exercise -> words
    of its message. mistakes: exercise -> the mistake that is named. repairs: words that the repairs must hold, each in
    one. never: words that nobody may read in verdict or feedback. shown: words that the feedback must show.
    """

    number: str
    about: str
    changes: tuple[Change, ...]
    states: dict | str = field(default_factory=dict)
    says: dict = field(default_factory=dict)
    mistakes: dict = field(default_factory=dict)
    repairs: tuple[str, ...] | None = ()  # None: with or without
    never: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    part: str = PART1
    sealed: bool = False
    blank: bool = False
    student: str = ""

    @property
    def name(self) -> str:
        return self.student or f"{self.number} {self.about}".replace("/", " ")[:80].strip()

    def states_of(self, exercise: str) -> tuple[str, ...]:
        wanted = self.states if isinstance(self.states, str) else self.states.get(exercise, RIGHT)
        return (wanted,) if isinstance(wanted, str) else wanted


def case(number: str, about: str, *changes: Change, **more) -> Case:
    return Case(number, about, changes, **more)


def all_right(root: Path, part: str, blank: bool = False) -> HandIn:
    """The released notebook with every answer of the authors, or with none."""
    released = root / "release" / part / f"{part}.ipynb"
    content = json.loads(released.read_text(encoding="utf-8"))
    source = nbformat.read(root / "source" / part / released.name, as_version=4)
    solutions = {cell.id: cell.source for cell in source.cells if cell.id.endswith("-answer")}
    solutions |= {name: source for name, source in ON_ITS_OWN.items() if name in solutions}
    stubs = {}
    for cell in content["cells"]:
        cell["source"] = "".join(cell["source"])
        if cell["id"] in solutions:
            stubs[cell["id"]] = cell["source"]
            cell["source"] = cell["source"] if blank else solutions[cell["id"]]
    kit = {path.relative_to(released.parent): path for path in released.parent.rglob("*") if path.is_file()}
    files = {str(name): path.read_bytes() for name, path in kit.items() if path != released and path.suffix != ".pyc"}
    return HandIn(part, content, released.name, stubs, files)


# ---- changes of the notebook's cells ------------------------------------------------------------------------------


def answer(name: str, source: str) -> Change:
    def change(hand_in):
        hand_in.cell(f"{name}-answer")["source"] = source.strip("\n")

    return change


def ending(name: str, more: str) -> Change:
    """The right answer, and something after it in the same cell."""

    def change(hand_in):
        hand_in.cell(f"{name}-answer")["source"] += "\n" + more.strip("\n")

    return change


def beginning(name: str, more: str) -> Change:
    def change(hand_in):
        cell = hand_in.cell(f"{name}-answer")
        cell["source"] = more.strip("\n") + "\n" + cell["source"]

    return change


def edit(cell_id: str, source: str) -> Change:
    def change(hand_in):
        hand_in.cell(cell_id)["source"] = source

    return change


def new_cell(source: str, kind: str = "code", **more) -> dict:
    code = {"outputs": [], "execution_count": None} if kind == "code" else {}
    return {"cell_type": kind, "metadata": {}, "source": source.strip("\n"), **code, **more}


def after(cell_id: str, source: str, kind: str = "code", **more) -> Change:
    def change(hand_in):
        at = hand_in.at(cell_id) + 1
        hand_in.cells.insert(at, new_cell(source, kind, id=f"own-{len(hand_in.cells)}", **more))

    return change


def at_the_end(source: str, kind: str = "code", **more) -> Change:
    def change(hand_in):
        hand_in.cells.append(new_cell(source, kind, id=f"own-{len(hand_in.cells)}", **more))

    return change


def delete(cell_id: str) -> Change:
    def change(hand_in):
        del hand_in.cells[hand_in.at(cell_id)]

    return change


def cells(function: Callable[[dict], None]) -> Change:
    """The same done to every cell."""

    def change(hand_in):
        for cell in hand_in.cells:
            function(cell)

    return change


def content(function: Callable[[dict], None]) -> Change:
    """Something done to the notebook as a whole."""
    return lambda hand_in: function(hand_in.content)


# ---- changes of the bytes and of the folder -----------------------------------------------------------------------


def raw(function: Callable[[bytes], bytes]) -> Change:
    return lambda hand_in: setattr(hand_in, "raw", function)


def named(name: str) -> Change:
    return lambda hand_in: setattr(hand_in, "name", name)


def file(name: str, data: bytes) -> Change:
    return lambda hand_in: hand_in.files.update({name: data})


def folder(step: Callable[[Path], None]) -> Change:
    return lambda hand_in: hand_in.last.append(step)
