"""How reference and twins are driven in part 4: plain data out of several calls, as the kit's scenarios make it.

The kit runs a student's functions, this runs ours; a test holds the two equal on the reference and on every twin.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from partrain_ref._power_cut import PowerCut, power_cut
from partrain_ref.adam_run import AdamRun


def ask_steps(function: Callable, steps: Sequence[int] | int, batch: int, rows: int, seed: int) -> Any:
    """The rows of each step, asked one by one; then the first epoch of the next seed. One step: one plain call."""
    if not isinstance(steps, list):
        return function(steps, batch, rows, seed)
    return {
        "rows": [_items(function(step, batch, rows, seed)) for step in steps],
        "next_seed": [_items(function(step, batch, rows, seed + 1)) for step in range(rows // batch)],
    }


def _items(answer: Any) -> Any:
    return answer.tolist() if isinstance(answer, np.ndarray) else answer


def save_and_resume(functions: tuple[Callable, Callable], seed: int, cut: int, steps: int) -> dict[str, Any]:
    """Train, save, die, load in a fresh object and go on, beside the run that was never stopped."""
    save, load = functions
    saved, whole = _uninterrupted(seed, cut, steps)
    (elsewhere, _) = _uninterrupted(seed + 1, cut + 1, 0)
    run, other = _restored(seed, saved), _restored(seed + 1, elsewhere)
    with tempfile.TemporaryDirectory() as folder:
        before, after = Path(folder, "before"), Path(folder, "after")
        before.mkdir()
        save(str(before / "run"), run)
        save(str(before / "other"), other)
        wrote = any(path.is_file() and path.stat().st_size for path in before.rglob("*"))
        run.restore(whole[-1][1])  # it went on training
        before.rename(after)
        fresh = AdamRun(seed)
        try:
            load(str(after / "run"), fresh)
        except Exception:
            if wrote:
                raise
            with suppress(Exception):
                load(str(before / "run"), fresh)
        loaded = fresh.state()
        resumed = [(fresh.step(), fresh.state()) for _ in range(steps)]
        source = "the running object" if loaded == run.state() else "no file" if not wrote else ""
        return {
            "differs": differing(loaded, saved),
            "weights_off": float(np.abs(np.subtract(loaded["weights"], saved["weights"])).max()),
            "read_from": source or ("another path" if loaded == elsewhere else "file"),
            "losses": np.array([loss for loss, _ in resumed]),
            "weights": np.array(resumed[-1][1]["weights"]),
            "steps_that_differ": sum(one != two for one, two in zip(resumed, whole, strict=True)),
            **_saved_twice(save, load),
        }


@lru_cache(maxsize=64)
def _uninterrupted(seed: int, cut: int, steps: int) -> tuple[dict, list]:
    """The state after `cut` steps, and loss and state after each of the `steps` that follow."""
    run = AdamRun(seed)
    for _ in range(cut):
        run.step()
    return run.state(), [(run.step(), run.state()) for _ in range(steps)]


def _restored(seed: int, state: dict) -> AdamRun:
    run = AdamRun(seed)
    run.restore(state)
    return run


def differing(state: dict, wanted: dict) -> str:
    """The items, as text, that are not as wanted; the unused half of a generator's 64-bit number counts for itself."""
    state, wanted = _items_of(state), _items_of(wanted)
    return ", ".join(name for name in wanted if state[name] != wanted[name]) or "nothing"


def _items_of(state: dict) -> dict:
    random = dict(state["random_state"])
    return {**state, "half_word": (random.pop("has_uint32"), random.pop("uinteger")), "random_state": random}


@lru_cache(maxsize=256)  # a matter of how a pair of functions writes, not of what; and the disk is slow
def _saved_twice(save: Callable, load: Callable) -> dict[str, bool]:
    """Whether a second save to the same path loads, and whether a power cut in it leaves neither old nor new one."""
    with tempfile.TemporaryDirectory() as folder:
        loads, lost = _second_save(Path(folder, "torn"), save, load)
    return {"new_one_loads": loads, "old_one_lost": lost}


def _second_save(path: Path, save: Callable, load: Callable) -> tuple[bool, bool]:
    seed, (first, rest) = 0, _uninterrupted(0, 3, 1)
    old, new = _restored(seed, first), _restored(seed, rest[0][1])

    def loads(path: Path) -> dict | None:
        fresh = AdamRun(seed)
        with suppress(Exception):
            load(str(path), fresh)
            return fresh.state()
        return None

    save(str(path), old)
    whole = [loads(path)]
    with power_cut(None) as seen:
        save(str(path), new)
    whole.append(loads(path))
    if whole[1] in (None, whole[0]):
        return False, False
    for number in range(1, len(seen) + 1):
        save(str(path), old)
        with suppress(PowerCut), power_cut(number):
            save(str(path), new)
        if loads(path) not in whole:
            return True, True
    return True, False
