"""The exercise `save_checkpoint`, with `load_checkpoint`: graded by doing it, see `partrain_ref.drives`.

Most twins forget one item of the state. What differs after loading names it, in whatever form a student saves.
"""

from __future__ import annotations

import json
import os

import numpy as np

from autograder.exercise import Exercise, Mistake, call
from partrain_ref import checkpoint, drives
from partrain_ref.adam_run import ITEMS


def _whole(run) -> dict:
    return run.state()


def _pair(what=_whole, in_place=False):
    """save and load of a student who saves `what(run)`, a dict."""

    def save(path, run):
        partial = path if in_place else f"{path}.partial"
        with open(partial, "w", encoding="ascii") as file:
            file.write(json.dumps(what(run)))
        if not in_place:
            os.replace(partial, path)

    return save, checkpoint.load_checkpoint


def _without(*names):
    return _pair(lambda run: {name: item for name, item in run.state().items() if name not in names})


def _without_half_word(run):
    state = run.state()
    return {**state, "random_state": {**state["random_state"], "has_uint32": 0, "uinteger": 0}}


def _rounded(run):
    state = run.state()
    return {**state, "weights": np.round(state["weights"], 6).tolist()}


def _in_memory(keep, give_back):
    """save and load of a student who writes no file."""
    kept = {}

    def save(path, run):
        kept[path] = keep(run)

    def load(path, run):
        run.restore(give_back(kept[path]))

    return save, load


def _first_only(path, run):
    if not os.path.exists(path):
        checkpoint.save_checkpoint(path, run)


def _appended(path, run):
    with open(path, "a", encoding="ascii") as file:
        file.write(json.dumps(run.state()))


def _second_lost(one, answer):
    return _answer(answer)["differs"] == "nothing" and not _answer(answer)["new_one_loads"]


def _one_file(pair):
    save, load = pair
    name = "checkpoint.json"
    return (
        lambda path, run: save(os.path.join(os.path.dirname(path), name), run),
        lambda path, run: load(os.path.join(os.path.dirname(path), name), run),
    )


UNREAD = {"differs": "nothing", "read_from": "", "weights_off": 0.0, "new_one_loads": True, "old_one_lost": False}


def _answer(answer) -> dict:
    """An answer that can be asked for its items, whatever a kernel sent."""
    known = {"differs": str, "read_from": str, "weights_off": float | int, "new_one_loads": bool, "old_one_lost": bool}
    fine = isinstance(answer, dict) and all(isinstance(answer.get(name), kind) for name, kind in known.items())
    return answer if fine else UNREAD


def _read_from(place):
    return lambda one, answer: _answer(answer)["read_from"] == place


def _differs(*names, but=()):
    def made(one, answer):
        found = _answer(answer)["differs"].split(", ")
        return all(name in found for name in names) and not any(name in found for name in but)

    return made


def _forgot(name: str, sentence: str, *others: str) -> Mistake:
    return Mistake(f"{name}_forgotten", _without(name), sentence, made=_differs(name, *others))


def _draw(rng):
    odd = 2 * int(rng.integers(2, 10)) + 1  # so that half of a 64-bit number waits in the generator
    yield call(int(rng.integers(1, 100_000)), odd, int(rng.integers(4, 9)))


ALL = (*ITEMS, "half_word")

MISTAKES = (
    Mistake(
        "references_not_copies",
        _in_memory(lambda run: run, lambda run: run.state()),
        "What came back is the state of the run as it was at the end, not as it was when it was saved: a reference to "
        "the running object was kept, and it went on training. Save a copy, and save it to a file.",
        made=_read_from("the running object"),
    ),
    Mistake(
        "no_file",
        _in_memory(lambda run: run.state(), lambda state: state),
        "No file was written at the path that was given. When the program ends, its memory is gone: only what is on "
        "the disk can be loaded.",
        made=_read_from("no file"),
    ),
    Mistake(
        "another_path",
        _one_file(_pair()),
        "What came back had been saved under another path. Two runs that save at the same time would overwrite each "
        "other: use the path that is given.",
        made=_read_from("another path"),
    ),
    Mistake(
        "nothing_restored",
        (checkpoint.save_checkpoint, lambda path, run: None),
        "After loading, the run is as fresh as a new one. load_checkpoint has to put what it reads into the run that "
        "it was given; a new object made inside the function is lost when it ends.",
        made=_differs(*ALL),
    ),
    Mistake(
        "weights_only",
        _without(*(name for name in ITEMS if name != "weights")),
        "Only the weights came back. A run is more than its model: the optimizer, the schedule, the random state and "
        "the place in the data all started anew.",
        made=_differs(*(name for name in ALL if name != "weights"), but=("weights",)),
    ),
    Mistake(
        "digits_lost",
        _pair(_rounded),
        "The weights came back close to what they were, but not equal: digits were lost on the way to the file. Write "
        "every number with all its digits, in 64 bits.",
        made=lambda one, answer: 0 < _answer(answer)["weights_off"] < 1e-2,
    ),
    _forgot("weights", "The weights are not those that were saved. The resumed run starts from the first ones again."),
    _forgot(
        "moments",
        "Adam's moments are not those that were saved. The first loss agrees, since it is taken before the update; "
        "from the second on the run goes another way.",
    ),
    _forgot(
        "step_count",
        "Adam's step count is not the one that was saved. Adam divides by a correction that is large in the first "
        "steps, so the first updates come out wrong.",
    ),
    _forgot(
        "schedule",
        "The position in the schedule is not the one that was saved. The warm-up begins again, with a small learning "
        "rate.",
    ),
    _forgot(
        "random_state",
        "The random state is not the one that was saved. The run draws other numbers than it would have drawn, so even "
        "the first loss differs.",
    ),
    Mistake(
        "half_word_forgotten",
        _pair(_without_half_word),
        "The random state came back, but not all of it: a 32-bit draw takes half of a 64-bit number, and the other "
        "half waits in has_uint32 and uinteger. Save the whole dict.",
        made=_differs("half_word", but=("random_state",)),
    ),
    _forgot(
        "data_position",
        "The data position is not the one that was saved. The resumed run trains on rows that it has had already, so "
        "even the first loss differs.",
    ),
    *(
        Mistake(
            "second_save_lost",
            (save, checkpoint.load_checkpoint),
            "The first save loads. But after a second save to the same path the newer state does not load: the older "
            "checkpoint has to be replaced, not kept and not added to.",
            made=_second_lost,
        )
        for save in (_appended, _first_only)
    ),
    Mistake(
        "written_in_place",
        _pair(in_place=True),
        "The resumed run is exact. But after a power cut in the middle of the next save no whole checkpoint was left: "
        "the old file was opened for writing, and that empties it. Write to another file first, then rename it.",
        made=lambda one, answer: _answer(answer)["old_one_lost"],
    ),
)

save_checkpoint = Exercise(
    "save_checkpoint",
    reference=(checkpoint.save_checkpoint, checkpoint.load_checkpoint),
    points=6,
    examples=(call(3, 7, 5),),
    draw=_draw,
    defines=("save_checkpoint", "load_checkpoint"),
    scenario="save_and_resume",
    drive=lambda functions, one: drives.save_and_resume(functions, *one.args, **one.kwargs),
    mistakes=MISTAKES,
)
