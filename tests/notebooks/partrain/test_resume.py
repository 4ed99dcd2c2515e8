"""Save and resume: the kit's run, driver and power cut, in every form students save in, and against the grader's."""

import gzip
import io
import json
import os
import pickle
import shutil
import tempfile
import threading
from pathlib import Path

import numpy as np
import pytest

from autograder import wire
from autograder.exercise import call
from partrain import scenarios
from partrain.adam_run import AdamRun
from partrain.plain import pack
from partrain.power_cut import PowerCut, power_cut
from partrain.properties import save_checkpoint as tried
from partrain.record import SCENARIOS
from partrain_ref import adam_run, drives
from partrain_ref.exercises.part4 import EXERCISES

BY_NAME = {exercise.name: exercise for exercise in EXERCISES}
SAVE = BY_NAME["save_checkpoint"]
ONE = call(11, 7, 4)


# ---- forms of saving ------------------------------------------------------------------------------------------------


def load_json(path, run):
    with open(path) as file:
        run.restore(json.load(file))


def renamed(write):
    """A save that lets `write(other path, run)` write, and then renames."""

    def save(path, run):
        write(path + ".new", run)
        os.replace(path + ".new", path)

    return save


def write_json(path, run):
    with open(path, "w") as file:
        json.dump(run.state(), file)  # many small writes


def write_and_sync(path, run):
    with open(path, mode="w") as file:
        file.write(json.dumps(run.state()))
        file.flush()
        os.fsync(file.fileno())


def write_with_pathlib(path, run):
    Path(path).write_text(json.dumps(run.state()))


def write_gzip(path, run):
    with gzip.open(path, "wt") as file:
        json.dump(run.state(), file)


def load_gzip(path, run):
    with gzip.open(path, "rt") as file:
        run.restore(json.load(file))


def save_low_level(path, run):
    file = os.open(path + ".new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.write(file, json.dumps(run.state()).encode())
    os.fsync(file)
    os.close(file)
    os.rename(path + ".new", path)


def save_pickle(path, run):
    with tempfile.NamedTemporaryFile(dir=os.path.dirname(path), delete=False) as file:
        pickle.dump(run.state(), file)
    shutil.move(file.name, path)


def load_pickle(path, run):
    with open(path, "rb") as file:
        run.restore(pickle.load(file))


def write_npz(path, run):
    state = run.state()
    moments = state.pop("moments")
    np.savez(path, w=state.pop("weights"), first=moments["first"], second=moments["second"], rest=json.dumps(state))


def save_npz(path, run):
    write_npz(path + ".new.npz", run)
    os.replace(path + ".new.npz", path + ".npz")


def load_npz(path, run):
    with np.load(path + ".npz") as file:
        moments = {"first": file["first"], "second": file["second"]}
        run.restore({**json.loads(str(file["rest"])), "weights": file["w"], "moments": moments})


def save_with_backup(path, run):
    if os.path.exists(path):
        os.replace(path, path + ".old")
    write_json(path, run)


def load_with_backup(path, run):
    try:
        load_json(path, run)
    except (OSError, ValueError):
        load_json(path + ".old", run)


def save_and_give_up(path, run):
    try:
        save_with_backup(path, run)
    except BaseException:
        raise ValueError("could not save") from None


RIGHT = {
    "json": (renamed(write_json), load_json),
    "sync": (renamed(write_and_sync), load_json),
    "pathlib": (renamed(write_with_pathlib), load_json),
    "gzip": (renamed(write_gzip), load_gzip),
    "low level": (save_low_level, load_json),
    "pickle": (save_pickle, load_pickle),
    "npz": (save_npz, load_npz),
    "backup": (save_with_backup, load_with_backup),
    "another error after the cut": (save_and_give_up, load_with_backup),
}


def save_by_copy(path, run):
    renamed(write_json)(path + ".new", run)
    shutil.copyfile(path + ".new", path)


def save_after_remove(path, run):
    write_json(path + ".new", run)
    if os.path.exists(path):
        os.remove(path)
    os.rename(path + ".new", path)


TORN = {
    "json": (write_json, load_json),
    "pathlib": (write_with_pathlib, load_json),
    "gzip": (write_gzip, load_gzip),
    "npz": (lambda path, run: write_npz(path + ".npz", run), load_npz),
    "copied over": (save_by_copy, load_json),
    "removed first": (save_after_remove, load_json),
}


def answered(pair, one=ONE):
    """What the grader reads of the kit's answer for this pair of functions."""
    return wire.decode(json.loads(json.dumps(pack(scenarios.save_and_resume(pair, *one.args)))))


@pytest.mark.parametrize("pair", RIGHT.values(), ids=RIGHT)
def test_every_way_to_save_is_right(pair):
    reference = SAVE.run(SAVE.reference, ONE)
    assert SAVE.right(answered(pair), reference, ONE)
    assert tried(pair, *ONE.args) is None


@pytest.mark.parametrize("pair", TORN.values(), ids=TORN)
def test_every_way_to_lose_the_old_checkpoint_is_named(pair):
    assert SAVE.mistake([answered(pair)], [ONE]).name == "written_in_place"
    assert "no whole checkpoint" in tried(pair, *ONE.args)


@pytest.mark.parametrize("names", [(name,) for name in adam_run.ITEMS] + [("moments", "random_state")])
def test_what_is_forgotten_is_named_in_place_or_not(names):
    def forgetful(path, run):
        with open(path, "w") as file:
            json.dump({name: item for name, item in run.state().items() if name not in names}, file)

    for save in (forgetful, renamed(forgetful)):
        assert SAVE.mistake([answered((save, load_json))], [ONE]).name == f"{names[0]}_forgotten"
        said = tried((save, load_json), *ONE.args)
        assert all(name.split("_")[0] in said for name in names)


def test_32_bit_floats_lose_digits():
    def save(path, run):
        with open(path, "w") as file:
            json.dump({**run.state(), "weights": np.float32(run.weights).tolist()}, file)

    assert SAVE.mistake([answered((save, load_json))], [ONE]).name == "digits_lost"


def test_a_half_written_pair_is_said_calmly():
    def unwritten(path, run):
        raise NotImplementedError

    with pytest.raises(NotImplementedError):
        scenarios.save_and_resume((unwritten, unwritten), *ONE.args)
    with pytest.raises(RuntimeError, match="load_checkpoint is not written yet"):
        scenarios.save_and_resume((renamed(write_json), unwritten), *ONE.args)


@pytest.mark.parametrize("junk", [None, 3, "x", [], {}, {"differs": 3}, {"differs": [[]], "read_from": []}])
def test_junk_is_no_known_mistake(junk):
    assert SAVE.mistake([junk], [ONE]) is None


# ---- the two sides are one ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 3, 12_345])
def test_the_kit_has_the_run_of_the_reference(seed):
    ours, theirs = adam_run.AdamRun(seed), AdamRun(seed)
    for _ in range(60):
        assert ours.step() == pytest.approx(theirs.step(), rel=1e-12)
        assert ours.state()["random_state"] == theirs.state()["random_state"]
    np.testing.assert_allclose(ours.weights, theirs.weights, rtol=1e-12)
    assert set(ours.state()) == set(theirs.state()) == set(adam_run.ITEMS)


def same(one, two):
    assert one.keys() == two.keys()
    for name in one:
        if isinstance(one[name], np.ndarray | float):
            np.testing.assert_allclose(one[name], two[name], rtol=1e-12, atol=1e-14)
        else:
            assert one[name] == two[name], name


TWINS = [(mistake.name, mistake.twin) for mistake in SAVE.mistakes]


@pytest.mark.parametrize("pair", [SAVE.reference] + [twin for _, twin in TWINS], ids=["right"] + [n for n, _ in TWINS])
def test_the_drivers_agree_on_saving(pair):
    same(scenarios.save_and_resume(pair, *ONE.args), drives.save_and_resume(pair, *ONE.args))


def test_the_drivers_agree_on_rows():
    rows = BY_NAME["rows_for_step"]
    for function in [rows.reference] + [mistake.twin for mistake in rows.mistakes if "asked_again" not in mistake.name]:
        for one in rows.examples:
            assert scenarios.ask_steps([function], *one.args) == drives.ask_steps(function, *one.args)


def test_every_scenario_has_its_driver():
    assert {exercise.scenario for exercise in EXERCISES if exercise.scenario} <= SCENARIOS.keys()


# ---- the power cut --------------------------------------------------------------------------------------------------


def test_everything_is_put_back():
    before = open, io.open, os.open, os.write, os.fsync, os.rename, os.replace
    with pytest.raises(PowerCut), power_cut([write_json], 1):
        write_json("nowhere.json" if os.name == "nt" else os.devnull, AdamRun())
    assert before == (open, io.open, os.open, os.write, os.fsync, os.rename, os.replace)


def test_events_come_one_by_one_and_only_half_is_written(tmp_path):
    path = str(tmp_path / "file")

    def write(words):
        with open(path, "w") as file:
            file.write(words)

    with power_cut([write]) as disk:
        write("12345678")
    assert disk.seen == 2
    for number, left in ((1, ""), (2, "1234"), (3, "12345678")):
        try:
            with power_cut([write], number):
                write("12345678")
        except PowerCut:
            pass
        assert Path(path).read_text() == left


def test_after_the_cut_nothing_more_reaches_the_disk(tmp_path):
    path = str(tmp_path / "file")

    def stubborn():
        for _ in range(3):
            try:
                with open(path, "a") as file:
                    file.write("ab")
            except PowerCut:
                pass

    with power_cut([stubborn], 2):
        stubborn()
    assert Path(path).read_text() == "a"


def test_names_of_the_students_module_are_watched(tmp_path):
    """IPython puts an `open` of its own into the notebook, and `from os import replace` is a name too."""
    source = "from os import replace\ndef save(path):\n    open(path, 'w').close()\n    replace(path, path + '2')\n"
    space = {"open": lambda file, *args, **kwargs: open(file, *args, **kwargs)}
    exec(source, space)
    theirs = space["open"], space["replace"]
    with power_cut([space["save"]]) as disk:
        space["save"](str(tmp_path / "file"))
    assert disk.seen >= 2 and (space["open"], space["replace"]) == theirs


def test_other_threads_keep_their_power(tmp_path):
    done = []

    def elsewhere():
        with open(tmp_path / "other", "w") as file:
            file.write("whole")
        done.append(True)

    with power_cut([], 1):
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
    assert done and (tmp_path / "other").read_text() == "whole"
