"""The exercise `inconsistent_cell`: tables of runs with one wrong cell, drawn so that only one cell can repair them."""

from __future__ import annotations

import math

from autograder.exercise import Exercise, Mistake, call, refuse
from partrain_ref import clock

UNIT = 2**20


def _row(tp, cp, pp, dp, seq, batch_per_dp):
    tokens = round(dp * batch_per_dp * seq / UNIT)
    row = {"gpus": tp * cp * pp * dp, "tp": tp, "cp": cp, "pp": pp, "dp": dp, "seq": seq}
    return {**row, "batch_per_dp": batch_per_dp, "tokens": tokens}


def _random_row(rng, cp=None):
    while True:
        tp, pp = (int(rng.choice(sizes)) for sizes in ((2, 4, 8), (2, 4, 8, 12, 16)))
        cp, dp = cp or int(rng.choice((1, 2, 4))), int(rng.choice((6, 8, 12, 20, 24, 32, 48, 64)))
        row = _row(tp, cp, pp, dp, int(rng.choice((2048, 4096, 8192))), int(rng.choice((10, 16, 24, 28, 40))))
        if row["tokens"] >= 3 and abs(row["dp"] * row["batch_per_dp"] * row["seq"] / UNIT % 1 - 0.5) > 0.05:
            return row


def _uneven(row):
    """Its tokens are no whole number of units, so that rounding matters; in millions they round to another number."""
    tokens = row["dp"] * row["batch_per_dp"] * row["seq"]
    return tokens % UNIT and round(tokens / 1e6) != row["tokens"]


def _draw(rng):
    for place, column in ((2, "dp"), (1, "gpus"), (3, "dp"), (0, "gpus")):
        yield call(_table(rng, place, column))


def _table(rng, place, column):
    while True:
        rows = [_random_row(rng, cp=int(rng.choice((2, 4))) if at % 2 else None) for at in range(4)]
        true = rows[place]
        rows[place] = {**true, column: _misprint(rng, true[column], column)}
        others = [row for at, row in enumerate(rows) if at != place]
        if any(_uneven(row) for row in others) and _unique(rows, (place, column)):
            return rows


def _misprint(rng, value, column):
    """A half or a double, as for another number of copies; or one that ends in another digit."""
    return int(rng.choice((value // 2, 2 * value))) if column == "dp" else value + int(rng.choice((-1, 1, 3, 9)))


def _unique(rows, answer):
    try:
        return clock.inconsistent_cell(rows) == answer and not _gpus(rows[answer[0]])
    except ValueError:
        return False


def _gpus(row, cp=True):
    return row["tp"] * (row["cp"] if cp else 1) * row["pp"] * row["dp"] == row["gpus"]


def _tokens(row, unit=UNIT, rounded=True):
    tokens = row["dp"] * row["batch_per_dp"] * row["seq"] / unit
    return (round(tokens) if rounded else tokens) == row["tokens"]


def _named(gpus, tokens, both="dp", first="gpus", second="tokens"):
    """A twin: the first row of which an equation fails, and the name that goes with what fails."""

    def twin(table):
        for at, row in enumerate(table):
            fine = gpus(row), tokens(row)
            if fine != (True, True):
                return at, both if fine == (False, False) else second if fine[0] else first
        return None

    return twin


def _always(row):
    return True


def _shift(table):
    row, column = clock.inconsistent_cell(table)
    return row + 1, column


EXAMPLE = [
    _row(8, 1, 16, 64, 8192, 32),
    _row(8, 1, 16, 128, 8192, 16),
    _row(8, 2, 4, 24, 8192, 20),
    {**_row(8, 16, 16, 8, 131072, 16), "dp": 4},
]
EXAMPLE_GPUS = [
    _row(8, 2, 8, 16, 4096, 30),
    {**_row(8, 1, 16, 128, 8192, 16), "gpus": 16348},
    _row(4, 1, 8, 48, 8192, 10),
]
GPUS_ONLY = (
    "Only tp · cp · pp · dp = gpus was looked at. Try the tokens of that row too: where both equations are off, "
)

inconsistent_cell = Exercise(
    "inconsistent_cell",
    reference=clock.inconsistent_cell,
    points=4,
    examples=(call(EXAMPLE), call(EXAMPLE_GPUS)),
    draw=_draw,
    refusals=(
        refuse("the table has no rows", []),
        refuse("no cell is wrong", EXAMPLE[:3]),
        refuse("a row has no column pp", [{k: v for k, v in EXAMPLE[3].items() if k != "pp"}]),
        refuse("dp is 0", [EXAMPLE[0], {**EXAMPLE[1], "dp": 0}]),
        refuse("gpus is NaN", [EXAMPLE[0], {**EXAMPLE[1], "gpus": math.nan}]),
        refuse("seq is 0.5", [{**EXAMPLE[0], "seq": 0.5}, EXAMPLE[3]]),
        refuse("two rows are wrong", [EXAMPLE[3], EXAMPLE_GPUS[1]]),
    ),
    mistakes=(
        Mistake(
            "tokens_in_millions",
            _named(_gpus, lambda row: _tokens(row, unit=1e6)),
            "The tokens were taken in millions. The column counts in units of 2^20 = 1,048,576 tokens, rounded.",
            unit=True,
        ),
        Mistake(
            "rows_from_one",
            _shift,
            "The column is right, but the row is counted from 1. Rows count from 0.",
        ),
        Mistake(
            "column_first",
            lambda table: clock.inconsistent_cell(table)[::-1],
            "Row and column have changed places: return the row's index first, then the column's name.",
        ),
        Mistake(
            "context_parallel_forgotten",
            _named(lambda row: _gpus(row, cp=False), _tokens),
            "cp was left out of the product. A copy of the model stands on tp · cp · pp GPUs.",
        ),
        Mistake(
            "not_rounded",
            _named(_gpus, lambda row: _tokens(row, rounded=False)),
            "The tokens were compared without rounding. The column holds whole units of 2^20 tokens.",
        ),
        *(
            Mistake(
                "gpus_only",
                _named(_gpus, _always, first=name),
                GPUS_ONLY + "the cell that is in both of them is the one to change.",
            )
            for name in ("gpus", "tp", "cp", "pp")
        ),
        *(
            Mistake(
                "another_factor",
                _named(_gpus, _tokens, first=name),
                f"{name} was blamed, but no whole number in its place makes the product the number of GPUs.",
            )
            for name in ("tp", "cp", "pp")
        ),
        Mistake(
            "always_dp",
            _named(_gpus, _tokens, first="dp"),
            "dp was blamed although the tokens of that row are right. Another dp would break them: where one equation "
            "holds, change a cell that is not in it.",
        ),
        Mistake(
            "tokens_only",
            _named(_always, _tokens, second="dp"),
            "Only the tokens were looked at. A row whose tokens are right may still have the wrong number of GPUs.",
        ),
        *(
            Mistake(
                "tokens_only",
                _named(_always, _tokens, second=name),
                "Only the tokens were looked at. Try tp · cp · pp · dp = gpus as well.",
            )
            for name in ("tokens", "batch_per_dp", "seq")
        ),
    ),
)
