"""Part 4's figures, panels and checks: numbers are the reference's, any shuffle that keeps its promises is right."""

import itertools

import numpy as np
import pytest
from pictures import ends, is_calm, is_sound, texts

from partrain import check, panels, style
from partrain.check import EXAMPLES, Unfinished
from partrain.figures.checkpoint_interval import checkpoint_interval
from partrain.figures.resume_curves import ITEMS, SEED, STEPS, resume_curves
from partrain.plain import pack, unpack
from partrain.properties import PROPERTIES
from partrain.scenarios import ask_steps
from partrain_ref import adam_run, checkpoint
from partrain_ref.exercises.part4 import EXERCISES

BY_NAME = {exercise.name: exercise for exercise in EXERCISES}
ROWS = BY_NAME["rows_for_step"]
ALL = dict.fromkeys(ITEMS, True)
SWITCHES = [dict(zip(ITEMS, kept, strict=True)) for kept in itertools.product([True, False], repeat=len(ITEMS))]
CLUSTERS = list(itertools.product([5, 60, 600], [0, 300, 1800], [1024, 16_384, 131_072], [5000, 50_677, 200_000]))


# ---- resume_curves --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cut", [1, 2, 11, 20, STEPS - 2])
def test_resume_curves_is_sound(cut):
    for kept in SWITCHES[:: 5 if cut != 11 else 1]:
        is_sound(resume_curves(cut, **kept))
    assert resume_curves(cut, **kept) == resume_curves(cut, **kept)


@pytest.mark.parametrize("kept", SWITCHES[::3])
def test_resume_curves_has_the_numbers_of_the_reference(kept):
    cut = 12
    run, fresh = adam_run.AdamRun(SEED), adam_run.AdamRun(SEED)
    for _ in range(cut):
        run.step()
    fresh.restore({name: item for name, item in run.state().items() if kept[name]})
    gaps = [abs(fresh.step() - run.step()) for _ in range(STEPS - cut)]
    picture = resume_curves(cut, **kept)
    off = float(np.abs(fresh.weights - run.weights).max())
    shown = [style.number(value) if value else "0" for value in (gaps[0], max(gaps), off)]
    assert all(value in texts(picture) for value in shown)
    assert f"{sum(gap > 0 for gap in gaps)} of 18 losses differ" in texts(picture)
    assert (off == 0) == all(kept.values())


def test_resume_curves_sentences():
    assert resume_curves(12, **ALL).sentence == (
        "With all six in the checkpoint, all 18 losses after the resume equal those of the whole run to the last bit, "
        "and so do the final weights."
    )
    assert resume_curves(12, **{**ALL, "moments": False}).sentence == (
        "Without the moments, the first loss after the resume is equal to the last bit; 17 of 18 losses differ, and "
        "the final weights by up to 0.22."
    )
    assert resume_curves(12, **dict.fromkeys(ITEMS, False)).sentence.startswith(
        "Without any of the six, the first loss"
    )


@pytest.mark.parametrize("name", ITEMS)
def test_the_first_loss_tells_only_of_what_it_is_made_of(name):
    said = resume_curves(12, **{**ALL, name: False}).sentence
    assert ("is equal to the last bit" in said) == (name in ("moments", "step_count", "schedule"))


def test_the_buttons_of_the_resume_panel():
    panel = panels.resume_curves()
    panel.buttons["All six"].click()
    assert is_calm(panel).startswith("With all six")
    panel.buttons["The weights alone"].click()
    assert is_calm(panel) == panels.resume_curves().picture.sentence


# ---- checkpoint_interval --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cluster", CLUSTERS[::2])
def test_checkpoint_interval_is_sound(cluster):
    for yours in (None, 1e-3, 817.0, 1e9, 1e300, 0.0, -5.0):
        is_sound(checkpoint_interval(*cluster, yours))
    is_sound(checkpoint_interval(*cluster, unfinished="Finish the cell above first."))


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_checkpoint_interval_has_the_numbers_of_the_reference(cluster):
    save, restart, gpus, gpu_hours = cluster
    mean = checkpoint.mtbf(gpu_hours * 3600, gpus)
    best = checkpoint.best_interval(save, mean)
    waste = checkpoint.wasted_fraction(best, save, mean, restart)
    words = texts(checkpoint_interval(*cluster))
    minutes = f"{best / 60:,.2f} minutes" if best >= 60 else f"{best:.1f} seconds"
    assert minutes in words
    assert (f"{100 * waste:.1f}%" if waste < 10 else f"{100 * waste:,.0f}%") in words


def test_the_llama_3_panel():
    panel = panels.checkpoint_interval()
    said = (
        "A failure every 3.093 hours: with a checkpoint every 19.27 minutes the waste is least, 13.1% of the computing "
    )
    assert is_calm(panel) == said + "time."
    panel.controls["gpus"].value = 131_072
    assert "1.09" not in is_calm(panel)
    panel.buttons["Llama 3: 419 failures in 54 days"].click()
    assert is_calm(panel).startswith("A failure every 3.093 hours")


def test_the_panel_asks_the_readers_own_function():
    assert panels.checkpoint_interval(checkpoint.best_interval).picture == panels.checkpoint_interval().picture
    wrong = panels.checkpoint_interval(lambda save, mean: (save * mean) ** 0.5)
    assert is_calm(wrong).endswith(
        "your interval of 13.62 minutes wastes 13.7%, and that is not the bottom of the curve."
    )
    assert "19.27" not in wrong.html.value

    def unwritten(save, mean):
        raise NotImplementedError

    panel = panels.checkpoint_interval(unwritten)
    assert is_calm(panel) == "Finish the cell above first: best_interval is not written yet."
    for name, control in panel.controls.items():
        for end in ends(control):
            panel.set(**{name: end})
            assert is_calm(panel).startswith("Finish")


# ---- exercises judged by properties ---------------------------------------------------------------------------------


def walk(step, batch, rows, seed):
    """A shuffle of another kind: a walk with a stride that has no factor in common with the rows."""
    epoch, place = divmod(step, rows // batch)
    strides = [n for n in range(1, rows) if np.gcd(n, rows) == 1]
    start, stride = 5 * epoch + 3 * seed, strides[(epoch + seed) % len(strides)]
    return np.array([(start + stride * (place * batch + i)) % rows for i in range(batch)])


def sort_by_key(step, batch, rows, seed):
    epoch, place = divmod(step, rows // batch)
    keys = np.random.Generator(np.random.MT19937(seed * 1000 + epoch)).random(rows)
    return sorted(range(rows), key=lambda row: keys[row])[place * batch :][:batch]


def sorted_in_the_batch(step, batch, rows, seed):
    return tuple(np.sort(checkpoint.rows_for_step(step, batch, rows, seed + 17)))


def answered(function, one):
    return unpack(pack(ask_steps([function], *one.args)))


CALLS = [*ROWS.examples, *ROWS.hidden(b"one"), *ROWS.hidden(b"two")]


@pytest.mark.parametrize("function", [walk, sort_by_key, sorted_in_the_batch])
def test_any_shuffle_is_right(function):
    for one in CALLS:
        assert ROWS.right(answered(function, one), ROWS.run(ROWS.reference, one), one)
        assert PROPERTIES["rows_for_step"]([function], *one.args) is None


UNSEEN = {
    "with replacement": (lambda s, b, n, seed: np.random.default_rng([seed, s]).integers(0, n, b), "rows_come_twice"),
    "overlapping": (
        lambda s, b, n, seed: np.roll(np.random.default_rng([seed, s * b // n]).permutation(n), -(s % (n // b)))[:b],
        "rows_come_twice",
    ),
    "unseeded": (lambda s, b, n, seed: np.random.default_rng().permutation(n)[:b], "other_rows_when_asked_again"),
    "by the table": (lambda s, b, n, seed: (np.arange(b) + s * b) % n, "not_shuffled"),
    "shuffled once, no seed": (
        lambda s, b, n, seed: np.random.default_rng(1).permutation(n)[s * b % n : s * b % n + b],
        "same_order_every_epoch",
    ),
}


@pytest.mark.parametrize(("function", "name"), UNSEEN.values(), ids=UNSEEN)
def test_wrong_rows_are_named_however_they_are_made(function, name):
    assert ROWS.mistake([answered(function, one) for one in CALLS], CALLS).name == name
    assert PROPERTIES["rows_for_step"]([function], *CALLS[0].args)


JUNK = [
    None,
    3,
    "rows",
    [],
    {},
    {"rows": 1, "next_seed": 2},
    {"rows": [[1.5]], "next_seed": []},
    {"rows": [], "next_seed": []},
]


@pytest.mark.parametrize("junk", [*JUNK, {"rows": [["a"] * 4] * 11, "next_seed": [[None]] * 3}])
def test_junk_is_neither_right_nor_a_known_mistake(junk):
    one = CALLS[0]
    assert not ROWS.right(junk, ROWS.run(ROWS.reference, one), one)
    assert ROWS.mistake([junk], [one]) is None


@pytest.mark.parametrize("name", PROPERTIES)
def test_exercises_by_properties_ship_inputs_only(name):
    if name in BY_NAME:
        assert BY_NAME[name].by_properties
        shipped = EXAMPLES[name]
        assert shipped.keys() == {"kind", "by_properties", "examples", "refusals"}
        assert all(example.keys() == {"args", "kwargs"} for example in shipped["examples"])


def told(name, answer):
    with pytest.raises(Unfinished) as raised:
        check(name, answer)
    return str(raised.value)


@pytest.mark.parametrize("exercise", [e for e in EXERCISES if e.by_properties], ids=lambda e: e.name)
def test_check_passes_the_reference_and_tells_every_mistake(exercise, capsys):
    check(exercise.name, exercise.reference)
    assert capsys.readouterr().out.startswith(f"{exercise.name}: right in all that is tried here")
    said = [told(exercise.name, mistake.twin) for mistake in exercise.mistakes]
    assert all(text.startswith(f"{exercise.name}: not right yet.\n") for text in said)


def test_check_is_calm_about_what_is_not_there_yet():
    def stub(*args):
        raise NotImplementedError

    def wrong_type(step, batch, rows, seed):
        return "rows"

    assert "not started yet" in told("save_checkpoint", (stub, stub))
    assert "not started yet" in told("save_checkpoint", (..., ...))
    assert "no longer a function" in told("save_checkpoint", (stub, 3))
    assert "not started yet" in told("rows_for_step", stub)
    unwritten = told("save_checkpoint", (checkpoint.save_checkpoint, stub))
    assert unwritten == "save_checkpoint: load_checkpoint is not written yet."
    assert "returned nothing" in told("rows_for_step", lambda *args: None)
    assert "a list of 4 rows is asked for" in told("rows_for_step", wrong_type)
    careless = told("rows_for_step", lambda step, *args: checkpoint.rows_for_step(abs(step), *args))
    assert "The values are right" in careless and "should raise ValueError" in careless


def test_check_says_which_of_two_functions_stopped_and_which_file_is_there():
    def save_under_another_name(path, run):
        checkpoint.save_checkpoint(path + ".npz", run)

    def load_with_a_slip(path, run):
        run.restore(path.nothing)

    slip = told("save_checkpoint", (checkpoint.save_checkpoint, load_with_a_slip))
    assert slip.startswith("load_with_a_slip stopped with AttributeError")
    lost = told("save_checkpoint", (save_under_another_name, checkpoint.load_checkpoint))
    assert lost == (
        "load_checkpoint stopped with FileNotFoundError: no file 'run' to load; save_checkpoint wrote 'run.npz'"
    )


def test_the_half_word_is_named_only_where_the_rest_of_the_random_state_came_back():
    twins = {mistake.name: mistake.twin for mistake in BY_NAME["save_checkpoint"].mistakes}
    assert told("save_checkpoint", twins["random_state_forgotten"]).endswith(": the random state.")
    assert "has_uint32" in told("save_checkpoint", twins["half_word_forgotten"])
