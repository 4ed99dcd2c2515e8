"""Part 8's figure, panel and rules: their numbers are the reference's, at every end they stay readable and calm."""

import itertools
import math
from dataclasses import asdict

import numpy as np
import pytest
from pictures import ends, is_calm, is_sound, texts

from partrain import Cluster, Gpu, Model, Plan, panels, planning, style
from partrain.figures.planner import planner
from partrain.outlook import Outlook, divides
from partrain.panels import part8 as panel8
from partrain.plain import pack, unpack
from partrain.plan_rules import AT_MOST
from partrain.plan_rules import plan_run as tried
from partrain.unfinished import COLUMNS
from partrain.words import call_words, value_words
from partrain_ref import checkpoint, plan
from partrain_ref.exercises import _part8_run as runs
from partrain_ref.exercises import part8


def kit(record):
    """A record of the reference as the kit's."""
    fields = {name: getattr(record, name) for name in type(record).__dataclass_fields__}
    if "gpu" in fields:
        fields["gpu"] = kit(fields["gpu"])
    return getattr(planning, type(record).__name__)(**fields)


CASES = [one.args for one in (*part8.step_seconds.examples, *part8.step_seconds.draw(np.random.default_rng(1)))]

# ---- the outlook --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES)
def test_outlook_has_the_numbers_of_the_reference(case):
    one, model, cluster = case
    outlook = Outlook(*map(kit, case))
    assert outlook.update == pytest.approx(plan.step_seconds(*case), rel=1e-12)
    assert outlook.need == pytest.approx(plan.bytes_per_gpu(one, model), rel=1e-12)
    assert outlook.days == pytest.approx(plan.run_days(*case), rel=1e-12)
    assert outlook.idle == pytest.approx(plan.pipeline.pipeline_bubble(one.pipeline_parallel, one.accumulation))
    mean = checkpoint.mtbf(cluster.device_mtbf, cluster.gpus)
    waste = checkpoint.wasted_fraction(one.checkpoint_seconds, cluster.save_seconds, mean, cluster.restart_seconds)
    assert outlook.useful == pytest.approx(1 / (1 + waste))


@pytest.mark.parametrize("seed", range(3))
def test_outlook_names_the_first_reason_of_the_reference(seed):
    for one in (*part8.fits.examples, *part8.fits.draw(np.random.default_rng(seed))):
        a_plan, model, gpu, node = one.args
        _, reason = plan.fits(*one.args)
        assert divides(kit(a_plan), kit(model)) == (reason != "divisible")
        if reason != "divisible":
            cluster = Cluster(1024, node, kit(gpu), 3e11, 2.5e10, 0, 1e8, 60, 0)
            against = Outlook(kit(a_plan), kit(model), cluster).against
            assert (against[:1] or ["fits"]) == [reason]


# ---- the panel ----------------------------------------------------------------------------------------------------

CHOICES = list(
    itertools.product(panel8.PUBLISHED, (8, 1024, 2520), (1, 8, 16), (1, 4, 8, 35, 64), (0, 3), (1, 4, 32), (1, 100))
)


def test_planner_is_sound_at_every_kind_of_plan():
    panel = panels.planner()
    names = ("billions", "gpus", "tensor", "stages", "sharding", "micro_batch", "between")
    drawn = set()
    for values in CHOICES[::17]:
        panel.set(**dict(zip(names, values, strict=True)))
        is_sound(panel.picture)
        drawn.add(panel.picture.sentence.split(",")[0].split(":")[0] + panel.picture.sentence.split(" ")[6])
        assert len(panel.picture.svg) < 12_000
    assert len(drawn) >= 3


@pytest.mark.parametrize("yours", [None, 0.0, -1.0, 17.0, 1e30])
def test_planner_with_a_given_number_is_sound(yours):
    for case in CASES[::3]:
        given = [*map(kit, case)]
        is_sound(planner(*given, yours))
        assert planner(*given, yours) == planner(*given, yours)


def test_buttons_are_the_published_runs():
    panel = panels.planner()
    assert is_calm(panel) == (
        "It does not run, first reason memory: it needs 155 GB on each GPU, which has 72.0. Otherwise an update would "
        "take 17.1 s."
    )
    for name in panel8.BUTTONS:
        (params, layers, hidden, heads, batch), (gpus, t, p) = panel8.PUBLISHED[name]
        panel.buttons[f"{name} on {gpus:,}"].click()
        assert is_calm(panel).startswith("It fits, with ")
        d = plan.replicas(gpus, t, p)
        model = plan.Model(params, layers, hidden, heads, 2048, 51_200, 300e9, batch)
        cluster = plan.Cluster(gpus, 8, plan.Gpu(72e9, 312e12, 0.5), 300e9, 25e9, 5e-6, 1.8e8, 60, 300)
        one = plan.Plan(t, p, d, 0, 1, batch // d, 3600)
        assert f"update {style.significant(plan.step_seconds(one, model, cluster))} s" in texts(panel.picture)
        assert f"run {style.significant(plan.run_days(one, model, cluster))} days" in texts(panel.picture)


def test_the_first_reason_is_marked_and_the_rest_is_not_looked_at():
    panel = panels.planner()
    panel.set(stages=7)
    assert is_calm(panel) == "It does not run, first reason divisible: 1,024 GPUs cannot be divided by (8 × 7)."
    assert texts(panel.picture).count("not looked at") == 3
    panel.set(stages=64, tensor=16)
    assert "first reason divisible: 60 layers cannot be divided by 64" in is_calm(panel)
    panel.set(stages=4, tensor=16, micro_batch=28)
    assert "first reason node: " in is_calm(panel)
    assert sum("(first reason)" in text for text in texts(panel.picture)) == 1


def unwritten(*arguments):
    raise NotImplementedError


def test_the_panel_asks_the_readers_own_function():
    assert is_calm(panels.planner(unwritten)) == "Finish the cell above first: step_seconds is not written yet."
    assert is_calm(panels.planner(lambda *a: math.nan)).startswith("Finish the cell above first: step_seconds returned")
    wrong = panels.planner(lambda *a: 2 * Outlook(*a).update)
    assert "and the panel draws another time" in is_calm(wrong) and "◆" in wrong.picture.svg
    panel = panels.planner(plan.step_seconds)
    panel.buttons["76.1B on 1,024"].click()
    assert is_calm(panel).startswith("Your step_seconds gives 17.0 s, as drawn. It fits")
    for control in panel.controls.values():
        for end in ends(control):
            control.value = end
            assert "another time" not in is_calm(panel)


# ---- what `check` tries -------------------------------------------------------------------------------------------


def said(function):
    """What `check` says of plan_run on the first visible example that is off, or None."""
    kits = ([kit(record) for record in one.args] for one in part8.plan_run.examples)
    return next((words for words in (tried((function,), *records) for records in kits) if words), None)


def ours(function):
    """A function of the reference's records, as one of the kit's."""

    def wrapped(model, cluster):
        records = [getattr(plan, type(one).__name__) for one in (model, cluster)]
        a_model = records[0](**asdict(model))
        gpu = plan.Gpu(**asdict(cluster.gpu))
        a_cluster = records[1](**{**asdict(cluster), "gpu": gpu})
        found = function(a_model, a_cluster)
        return kit(found) if isinstance(found, plan.Plan) else found

    return wrapped


def test_the_targets_are_5_percent_above_the_fewest_days():
    for one in part8.plan_run.examples:
        best = plan.plan_run(*one.args)
        assert AT_MOST[one.args[1].gpus] == pytest.approx(1.05 * plan.run_days(best, *one.args), abs=0.005)


def test_check_takes_a_right_plan():
    assert said(ours(plan.plan_run)) is None


@pytest.mark.parametrize("mistake", part8.plan_run.mistakes, ids=lambda mistake: mistake.name)
def test_check_finds_every_wrong_plan(mistake):
    words = said(ours(mistake.twin))
    assert words and words.endswith(".")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (None, "On 1,024 GPUs it returned nothing (None)"),
        ((8, 4, 32), "an object of type tuple; one Plan is asked for"),
        (Plan(8, 4, 16, 1, 1, 56, 3600), "That uses 512 GPUs"),
        (Plan(8, 4, 32, 1, 1, 55, 3600), "does not divide heads, layers or batch"),
        (Plan(8, 1, 128, 0, 1, 14, 3600), "needs more memory than a GPU has"),
        (Plan(8, 4, 32, 3, 1, 56, 3600), "That fits, but takes "),
    ],
)
def test_check_says_what_is_off_in_a_plan(answer, words):
    assert words in said(lambda model, cluster: answer)


# ---- records on the wire ------------------------------------------------------------------------------------------


def test_records_travel_to_the_kernel_and_come_back_as_dicts():
    from autograder import wire

    for record in (*part8.fits.examples[0].args[:3], runs.SHOWN[0].args[1]):
        sent = wire.encode(record, tuples=True)
        assert unpack(sent) == kit(record)
        back = pack(kit(record))
        assert wire.decode(back) == asdict(record)
        with pytest.raises(wire.WireError):
            wire.decode(sent)
        with pytest.raises(TypeError):
            wire.encode(record)


def test_records_are_shown_in_full():
    model = Model(1e9, 12, 512, 8, 128, 1000, 1e9, 64)
    cluster = Cluster(64, 8, Gpu(8e10, 1e14, 0.5), 3e11, 2.5e10, 5e-6, 1e8, 60.0, 300.0)
    assert value_words(model) == repr(model) and value_words(cluster) == repr(cluster)
    assert len(value_words(["x" * 500])) == 120


def test_records_show_numbers_as_they_are_typed():
    model = Model(76.1e9, 12, 512, 8, 128, 1000, 16_307_453_952.0, 64)
    assert repr(model).startswith("Model(params=76.1e9, layers=12, ") and "tokens=16307453952, " in repr(model)
    assert repr(Gpu(72e9, 312e12, 0.5)) == "Gpu(memory_bytes=72e9, peak_flops=312e12, efficiency=0.5)"
    assert "checkpoint_seconds=4592.5)" in repr(Plan(8, 4, 32, 1, 1, 56, np.float64(4592.5)))
    theirs = runs.SHOWN[0].args[1]
    assert repr(kit(theirs)) == repr(theirs) and eval(repr(theirs)) == kit(theirs)


def test_a_call_with_records_has_lines_that_a_notebook_does_not_break():
    lines = call_words("f", [kit(record) for record in runs.SHOWN[0].args], {}).splitlines()
    assert lines[0] == "`f(" and lines[-1] == ")`" and max(map(len, lines)) <= COLUMNS
    assert sum(line.startswith(("  Model(", "  Cluster(")) for line in lines) == 2
