"""A table of runs whose columns depend on each other: find the one cell that is off."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from partrain_ref import _need

TOKENS_UNIT = 2**20  # the unit of the column `tokens`
COLUMNS = ("gpus", "tp", "cp", "pp", "dp", "seq", "batch_per_dp", "tokens")


def inconsistent_cell(table: Sequence[Mapping[str, int]]) -> tuple[int, str]:
    """(row, column) of the one cell whose change makes both equations hold in every row; rows count from 0.

    The equations: tp · cp · pp · dp = gpus, and dp · batch_per_dp · seq tokens, in units of 2^20 and rounded, = tokens.
    Raises ValueError for an empty table, a missing column, a bad count, and where no cell or more than one would do.
    """
    rows = [_counts(at, row) for at, row in enumerate(table)]
    if not rows:
        raise ValueError("table must have at least one row; it is empty")
    wrong = [at for at, row in enumerate(rows) if not _holds(row)]
    if len(wrong) != 1:
        raise ValueError(f"table must have one row that does not hold; it has {len(wrong)}")
    (at,) = wrong
    cells = [name for name in COLUMNS if any(_holds({**rows[at], name: new}) for new in _repairs(rows[at], name))]
    if len(cells) != 1:
        raise ValueError(f"table must have one cell that repairs it; in row {at} there are {len(cells)}: {cells}")
    return at, cells[0]


def _counts(at: int, row: Mapping[str, int]) -> dict[str, int]:
    missing = [name for name in COLUMNS if name not in row]
    if missing:
        raise ValueError(f"table[{at}] has no column {missing[0]!r}")
    return {name: _need.whole(f"table[{at}][{name!r}]", row[name]) for name in COLUMNS}


def _holds(row: Mapping[str, int]) -> bool:
    gpus = row["tp"] * row["cp"] * row["pp"] * row["dp"]
    tokens = row["dp"] * row["batch_per_dp"] * row["seq"]
    return gpus == row["gpus"] and round(tokens / TOKENS_UNIT) == row["tokens"]


def _repairs(row: Mapping[str, int], name: str) -> list[int]:
    """Whole numbers of at least 1 for one cell, of which one repairs the row if any number does."""
    others = math.prod(row[other] for other in ("tp", "cp", "pp", "dp") if other != name)
    tokens = math.prod(row[other] for other in ("dp", "batch_per_dp", "seq") if other != name)
    if name in ("gpus", "tokens"):
        return [others if name == "gpus" else max(1, round(tokens / TOKENS_UNIT))]
    if name in ("tp", "cp", "pp", "dp"):
        return [row["gpus"] // others] if row["gpus"] >= others else []
    middle = row["tokens"] * TOKENS_UNIT / tokens
    return [max(1, math.floor(middle)), math.ceil(middle)]
