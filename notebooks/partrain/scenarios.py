"""Drivers: they make plain data of several calls of a student's functions. Check and grader run the same ones.

Each is a function of (the student's functions, then the inputs of one graded call); SCENARIOS gives their names.
"""

import contextlib
import os
import tempfile

import numpy as np

from partrain.adam_run import AdamRun
from partrain.power_cut import PowerCut, power_cut

MOST_CUTS = 48  # power cuts tried on one save; a format of many small writes is cut at that many places


class NotWritten(RuntimeError):
    """One of several functions is still a stub. Not a NotImplementedError, which says that nothing is written."""


def ask_steps(functions, steps, batch, rows, seed):
    """The rows of each of `steps`, asked one by one in that order; then those of the first epoch under another seed.

    A single number in the place of the list is one single call.
    """
    (function,) = functions
    if not isinstance(steps, list):
        return function(steps, batch, rows, seed)
    return {
        "rows": [_items(function(step, batch, rows, seed)) for step in steps],
        "next_seed": [_items(function(step, batch, rows, seed + 1)) for step in range(rows // batch)],
    }


def _items(answer):
    return answer.tolist() if isinstance(answer, np.ndarray) else answer


def save_and_resume(functions, seed, cut, steps):
    """Train to `cut`, save, die, load in a fresh object and go on for `steps`, beside the run that was never stopped.

    Gives a dict: `differs`, what of the state is not as it was saved; `weights_off`, by how much at most; `read_from`,
    "file", "no file", "the running object" or "another path"; `losses` and `weights`, the resumed run's;
    `steps_that_differ`, counted bit for bit against the uninterrupted run; `new_one_loads`, whether after a second save
    to the same path the newer state loads; `old_one_lost`, whether after some power cut in the middle of that save no
    whole checkpoint loads.
    """
    save, load = functions
    with tempfile.TemporaryDirectory() as folder:
        before, after = os.path.join(folder, "before"), os.path.join(folder, "after")
        os.mkdir(before)
        run, other = _trained(seed, cut), _trained(seed + 1, cut + 1)
        saved = run.state()
        save(os.path.join(before, "run"), run)
        save(os.path.join(before, "other"), other)
        wrote = any(os.path.getsize(path) for path in _files(before))
        whole = [(run.step(), run.state()) for _ in range(steps)]
        os.rename(before, after)  # a file moves with its folder; what is kept in memory does not
        fresh = AdamRun(seed)
        _load(load, os.path.join(after, "run"), os.path.join(before, "run"), fresh, wrote)
        loaded = fresh.state()
        resumed = [(fresh.step(), fresh.state()) for _ in range(steps)]
        return {
            "differs": _differs(loaded, saved),
            "weights_off": float(np.abs(np.subtract(loaded["weights"], saved["weights"])).max()),
            "read_from": _read_from(loaded, run.state(), other.state(), wrote),
            "losses": np.array([loss for loss, _ in resumed]),
            "weights": np.array(resumed[-1][1]["weights"]),
            "steps_that_differ": sum(one != two for one, two in zip(resumed, whole)),
            **_saved_twice(save, load, folder, seed, cut),
        }


def _trained(seed, steps):
    run = AdamRun(seed)
    for _ in range(steps):
        run.step()
    return run


def _load(load, path, old_path, run, wrote):
    try:
        load(path, run)
    except NotImplementedError:
        raise NotWritten("load_checkpoint is not written yet") from None
    except FileNotFoundError as error:
        if wrote:
            looked, there = os.path.basename(str(error.filename)), sorted(os.listdir(os.path.dirname(path)))
            wrote_names = ", ".join(repr(name) for name in there if "other" not in name)
            said = f"no file {looked!r} to load; save_checkpoint wrote {wrote_names}"
            raise FileNotFoundError(said).with_traceback(error.__traceback__) from None
        with contextlib.suppress(Exception):
            load(old_path, run)  # no file is there: see whether it was kept in memory
    except Exception:
        if wrote:
            raise
        with contextlib.suppress(Exception):
            load(old_path, run)  # no file is there: see whether it was kept in memory


def _read_from(loaded, later, other, wrote):
    if loaded == later:
        return "the running object"
    if not wrote:
        return "no file"
    return "another path" if loaded == other else "file"


def _differs(state, wanted):
    """The items of a state that are not as wanted, as text; the half word of the generator counts for itself."""

    def items(whole):
        random = dict(whole["random_state"])
        half = random.pop("has_uint32"), random.pop("uinteger")
        return {**whole, "random_state": random, "half_word": half}

    state, wanted = items(state), items(wanted)
    return ", ".join(name for name in wanted if state[name] != wanted[name]) or "nothing"


def _files(folder):
    return [os.path.join(place, name) for place, _, names in os.walk(folder) for name in names]


def _saved_twice(save, load, folder, seed, cut):
    """Save twice over the same path, once whole; then cut the second save short, at one event after the other."""
    old, new = _trained(seed, cut), _trained(seed, cut + 1)
    path = _fresh_path(folder, 0)
    save(path, old)
    first = _what_loads(load, path, seed)
    with power_cut([save]) as disk:
        save(path, new)
    second = _what_loads(load, path, seed)
    if second is None or second == first:
        return {"new_one_loads": False, "old_one_lost": False}
    cuts = np.unique(np.linspace(1, disk.seen, min(disk.seen, MOST_CUTS)).astype(int)) if disk.seen else []
    for number in (int(k) for k in cuts):
        path = _fresh_path(folder, number)
        save(path, old)
        with contextlib.suppress(PowerCut, Exception), power_cut([save], number):
            save(path, new)
        if _what_loads(load, path, seed) not in (first, second):
            return {"new_one_loads": True, "old_one_lost": True}
    return {"new_one_loads": True, "old_one_lost": False}


def _what_loads(load, path, seed):
    """The state that a fresh run has after loading; None where nothing loads."""
    fresh = AdamRun(seed)
    try:
        load(path, fresh)
    except Exception:
        return None
    return fresh.state()


def _fresh_path(folder, number):
    place = os.path.join(folder, f"cut{number}")
    os.mkdir(place)
    return os.path.join(place, "run")


SCENARIOS = {"ask_steps": ask_steps, "save_and_resume": save_and_resume}
