"""Part 4, checkpoints that resume exactly: exercises, with the mistakes of the field as wrong twins.

Wrong numbers and their causes: the field's tables of misconceptions (weights alone, gradients saved too, one GPU's mean
time between failures, the forgotten 2 in Young's formula, references instead of copies).
"""

from __future__ import annotations

import math

from autograder.exercise import Exercise, Mistake, call, refuse
from partrain_ref import checkpoint
from partrain_ref.adam_run import ITEMS
from partrain_ref.checkpoint import VOCABULARY
from partrain_ref.exercises._part4_resume import save_checkpoint
from partrain_ref.exercises._part4_rows import rows_for_step

NAN = math.nan

# ---- how large it is ----------------------------------------------------------------------------------------------

WEIGHTS_ONLY = "That is the size of the weights alone. The optimizer's state and the fp32 weights are saved too."
GRADIENTS_TOO = "Gradients are in that. They are not saved: the next step computes them anew from the weights."
NO_MASTER = (
    "The fp32 copy of the weights is missing. Rounded to 16 bits they are not the weights the optimizer works on."
)
NO_MOMENTS = "Adam's moments are missing in that."
NO_WEIGHTS = "The 16-bit weights are missing in that."
BLOOM = 176.247e9

checkpoint_tb = Exercise(
    "checkpoint_tb",
    kind="number",
    reference=BLOOM * 14 / 1e12,
    digits=2,
    unit="TB (1e12 bytes)",
    points=1,
    mistakes=(
        Mistake("weights_only", BLOOM * 2 / 1e12, WEIGHTS_ONLY),
        Mistake("gradients_too", BLOOM * 16 / 1e12, GRADIENTS_TOO),
        Mistake(
            "master_forgotten",
            BLOOM * 10 / 1e12,
            "That is 10 bytes a parameter. The fp32 copy of the weights is missing, or one of the two moments.",
        ),
        Mistake("weights_forgotten", BLOOM * 12 / 1e12, NO_WEIGHTS),
        Mistake("moments_forgotten", BLOOM * 6 / 1e12, NO_MOMENTS),
        Mistake("tebibytes", BLOOM * 14 / 2**40, "That is in TiB (2^40 bytes). The question asks for TB.", unit=True),
        Mistake("gigabytes", BLOOM * 14 / 1e9, "That is in GB (1e9 bytes). The question asks for TB.", unit=True),
        Mistake("bytes", BLOOM * 14, "That is in bytes. The question asks for TB.", unit=True),
    ),
)


def _draw_checkpoint_bytes(rng):
    yield call(int(rng.integers(10**6, 10**10)))
    yield call(float(rng.integers(1, 500)) * 1e9)
    yield call(int(rng.integers(50, 5000)), weight_bytes=4, master_bytes=2, moment_bytes=6)
    yield call(int(rng.integers(50, 5000)), moment_bytes=int(rng.choice([2, 4, 12])))
    yield call(int(rng.integers(50, 5000)), weight_bytes=1, master_bytes=3)


def _bytes(formula):
    """A twin whose bytes a parameter are formula(weight, master, moment)."""
    return lambda params, weight_bytes=2, master_bytes=4, moment_bytes=8: (
        params * formula(weight_bytes, master_bytes, moment_bytes)
    )


checkpoint_bytes = Exercise(
    "checkpoint_bytes",
    reference=checkpoint.checkpoint_bytes,
    points=4,
    examples=(call(1_000_000), call(1_000_000, weight_bytes=4, master_bytes=2, moment_bytes=6)),
    draw=_draw_checkpoint_bytes,
    refusals=(
        refuse("params is 0", 0),
        refuse("moment_bytes is negative", 1000, moment_bytes=-8),
        refuse("params is NaN", NAN),
        refuse("params is infinite", math.inf),
        refuse("weight_bytes is NaN", 1000, weight_bytes=NAN),
        refuse("master_bytes is infinite", 1000, master_bytes=math.inf),
    ),
    mistakes=(
        Mistake("gigabytes", _bytes(lambda w, f, m: (w + f + m) / 1e9), "That is in GB. Return bytes.", unit=True),
        Mistake("gibibytes", _bytes(lambda w, f, m: (w + f + m) / 2**30), "That is in GiB. Return bytes.", unit=True),
        Mistake("terabytes", _bytes(lambda w, f, m: (w + f + m) / 1e12), "That is in TB. Return bytes.", unit=True),
        Mistake("bits", _bytes(lambda w, f, m: (w + f + m) * 8), "Those are bits. Return bytes.", unit=True),
        Mistake("weights_only", _bytes(lambda w, f, m: w), WEIGHTS_ONLY),
        *(
            Mistake("gradients_too", _bytes(formula), GRADIENTS_TOO)
            for formula in (lambda w, f, m: 2 * w + f + m, lambda w, f, m: w + f + m + 2, lambda w, f, m: w + f + m + 4)
        ),
        Mistake("master_forgotten", _bytes(lambda w, f, m: w + m), NO_MASTER),
        Mistake("weights_forgotten", _bytes(lambda w, f, m: f + m), NO_WEIGHTS),
        Mistake("moments_forgotten", _bytes(lambda w, f, m: w + f), NO_MOMENTS),
        Mistake(
            "moments_twice",
            _bytes(lambda w, f, m: w + f + 2 * m),
            "The moments were counted twice: moment_bytes is for both of them together.",
        ),
        Mistake(
            "recipe_ignored",
            _bytes(lambda w, f, m: 14),
            "The bytes passed as arguments were not used: every recipe gets the default of 2 + 4 + 8.",
        ),
    ),
)

# ---- what it holds ------------------------------------------------------------------------------------------------

FORGOTTEN = {
    "weights": "The weights are missing: without them there is no model to go on with.",
    "moments": "The moments are missing. Adam steps along them; from zero they need many steps to build up again.",
    "step_count": "Adam's step count is missing. It corrects the moments, so with a wrong count the updates differ.",
    "schedule": "The position in the schedule is missing. The learning rate would start its warm-up again.",
    "random_state": "The random state is missing. Dropout and noise would draw other numbers.",
    "data_position": "The data position is missing. The run would read rows again that it has had in this epoch.",
}
NEEDLESS = {
    "gradients": "The gradients are in it. A checkpoint is written between two updates, and the next step computes new "
    "ones.",
    "activations": "The activations are in it. They belong to one batch and are gone after its backward pass.",
    "training_rows": "The training rows are in it. The table does not change as the run trains: the place "
    "in it is enough.",
    "loss_curve": "The loss curve is in it. It is nice to have, but no later step reads it.",
    "device_names": "The device names are in it. A run may go on with other devices of the same kind.",
}


def _draw_must_save(rng):
    yield call([str(name) for name in rng.permutation(VOCABULARY)])
    for _ in range(3):
        picked = rng.permutation(VOCABULARY)[: rng.integers(4, 9)]
        yield call([str(name) for name in picked])


def _chosen(wanted):
    return lambda choices: set(choices) & wanted


def _names(answer) -> set:
    return {name for name in answer if isinstance(name, str)} if isinstance(answer, set | list) else set()


def _forgets(name):
    return lambda one, answer: isinstance(answer, set | list) and name not in _names(answer)


def _includes(name):
    return lambda one, answer: (name in one.args[0]) == (name in _names(answer))


must_save = Exercise(
    "must_save",
    reference=checkpoint.must_save,
    points=4,
    examples=(
        call(["gradients", "weights", "activations", "moments"]),
        call(list(VOCABULARY)),
    ),
    draw=_draw_must_save,
    refusals=(
        refuse("a name is not in the vocabulary", ["weights", "wheels"]),
        refuse("the list is empty", []),
        refuse("a name is written with a capital letter", ["Weights", "moments"]),
        refuse("a name has a space in it", ["weights", "step count"]),
    ),
    mistakes=(
        Mistake(
            "everything",
            lambda choices: set(choices),
            "That is every name of the list. Leave out what the next step computes anew, what never changes, and what "
            "no step reads.",
        ),
        Mistake(
            "the_opposite",
            lambda choices: set(choices) - set(ITEMS),
            "Those are the ones that need not be saved. Return the others.",
        ),
        Mistake(
            "weights_only",
            lambda choices: set(choices) & {"weights"},
            "That saves the model and nothing else. It can answer questions, but its training cannot go on exactly.",
        ),
        Mistake(
            "beyond_the_choices",
            lambda choices: set(ITEMS),
            "It returned names that were not among the choices. Return those of the choices that are needed.",
        ),
        Mistake(
            "model_and_moments",
            lambda choices: set(choices) & {"weights", "moments"},
            "Weights and moments are there, but nothing that says how far Adam, the schedule, the random numbers and "
            "the rows have come.",
        ),
        Mistake(
            "counters_forgotten",
            lambda choices: set(choices) & (set(ITEMS) - {"step_count", "schedule"}),
            "Adam's step count and the position in the schedule are missing. Both act in every update.",
        ),
        Mistake(
            "computed_anew_too",
            lambda choices: set(choices) & {*ITEMS, "gradients", "activations"},
            "Gradients and activations are in it. The next step computes both anew.",
        ),
        Mistake(
            "model_and_optimizer",
            lambda choices: set(choices) & {"weights", "moments", "step_count", "schedule"},
            "Model and optimizer are there, but nothing that says which random numbers and which rows come next.",
        ),
        *(
            Mistake(f"{name}_forgotten", _chosen(set(ITEMS) - {name}), sentence, made=_forgets(name))
            for name, sentence in FORGOTTEN.items()
        ),
        *(
            Mistake(f"{name}_too", _chosen({*ITEMS, name}), sentence, made=_includes(name))
            for name, sentence in NEEDLESS.items()
        ),
    ),
)

# ---- how often ----------------------------------------------------------------------------------------------------

SAVE, HOURS, FAILURES, GPUS = 60, 54 * 24, 419, 16_384  # Llama 3 405B, arXiv 2407.21783, section 3.3.4
MEAN = HOURS * 3600 / FAILURES  # seconds
FORGOT_2 = "The 2 in Young's formula is missing."
ONE_GPU = "That uses the mean time between failures of one GPU. A failure of any of them stops the whole job."
IN_MINUTES = "That is in minutes. Return seconds."

interval_minutes = Exercise(
    "interval_minutes",
    kind="number",
    reference=math.sqrt(2 * SAVE * MEAN) / 60,
    digits=1,
    unit="minutes, by Young's formula",
    points=1,
    mistakes=(
        Mistake("one_gpu", math.sqrt(2 * SAVE * MEAN * GPUS) / 60, ONE_GPU),
        Mistake("factor_2_forgotten", math.sqrt(SAVE * MEAN) / 60, FORGOT_2),
        Mistake("divided_by_2", math.sqrt(SAVE * MEAN / 2) / 60, "The product was divided by 2 there, not multiplied."),
        Mistake("mean_time", MEAN / 60, "That is the mean time between failures itself, in minutes."),
        Mistake("no_root", 2 * SAVE * MEAN / 3600, "That is the product before the square root is taken."),
        Mistake("seconds", math.sqrt(2 * SAVE * MEAN), "That is in seconds. The question asks for minutes.", unit=True),
        Mistake("hours", math.sqrt(2 * SAVE * MEAN) / 3600, "That is in hours. Minutes are asked for.", unit=True),
        Mistake(
            "units_mixed",
            math.sqrt(2 * (SAVE / 60) * (MEAN / 3600)),
            "A save in minutes and a mean time in hours stand together under the root there. Use one unit for both.",
            unit=True,
        ),
        Mistake(
            "all_interruptions_or_daly",  # the two agree in the first decimal
            math.sqrt(2 * SAVE * HOURS * 3600 / 466) / 60,
            "That comes from all 466 interruptions, or from taking the save off at the end. A planned stop loses "
            "nothing, and Young's formula is the root alone.",
        ),
        Mistake(
            "write_added",
            (math.sqrt(2 * SAVE * MEAN) + SAVE) / 60,
            "The time of the save was added. The interval is the computing between two saves, without the save.",
        ),
    ),
)


def _draw_mtbf(rng):
    for _ in range(3):
        yield call(float(rng.integers(2000, 90_000)), int(rng.integers(2, 20_000)))
    yield call(round(rng.uniform(1e3, 1e6), 2), float(2 ** rng.integers(1, 12)))  # 512.0 counts as whole


mtbf = Exercise(
    "mtbf",
    reference=checkpoint.mtbf,
    points=4,
    examples=(call(50_000.0, 1000), call(40.0, 8), call(50_000.0, 16_384)),
    draw=_draw_mtbf,
    refusals=(
        refuse("devices is 0", 50_000.0, 0),
        refuse("device_mtbf is negative", -5.0, 8),
        refuse("devices is 2.5", 50_000.0, 2.5),
        refuse("devices is True", 50_000.0, True),
        refuse("device_mtbf is 0", 0, 8),
        refuse("device_mtbf is NaN", NAN, 8),
        refuse("device_mtbf is infinite", math.inf, 8),
    ),
    mistakes=(
        Mistake(
            "failure_rate",
            lambda device_mtbf, devices: devices / device_mtbf,
            "Those are the failures in a unit of time. The mean time between two of them is one over that.",
            unit=True,
        ),
        Mistake("one_device", lambda device_mtbf, devices: float(device_mtbf), ONE_GPU.replace("GPU", "device")),
        Mistake(
            "multiplied",
            lambda device_mtbf, devices: device_mtbf * devices,
            "That grows with the number of devices. With more devices there is more that can fail, so the "
            "time is shorter.",
        ),
        Mistake(
            "square_root",
            lambda device_mtbf, devices: device_mtbf / math.sqrt(devices),
            "That divides by the square root of the devices. Failures add up: n devices fail n times as often as one.",
        ),
        Mistake(
            "others_only",
            lambda device_mtbf, devices: device_mtbf / (devices - 1),
            "That divides by one device too few. Each of them can stop the job, the first as well.",
        ),
    ),
)


def _draw_best_interval(rng):
    for _ in range(4):
        yield call(float(rng.integers(5, 900)), float(rng.integers(3000, 400_000)))
    yield call(round(rng.uniform(0.5, 5), 3), round(rng.uniform(600, 5000), 2))


def _daly(save, mean):
    return math.sqrt(2 * save * mean) - save if save < mean / 2 else mean


def _daly_full(save, mean):
    x = math.sqrt(save / (2 * mean))
    return math.sqrt(2 * save * mean) * (1 + x / 3 + x * x / 9) - save if save < 2 * mean else mean


OTHER_FORM = (
    "That is Daly's form of 2006, which comes closer to the optimum when a save takes long. The question asks for "
    "Young's form of 1974, the square root alone."
)

best_interval = Exercise(
    "best_interval",
    reference=checkpoint.best_interval,
    points=4,
    examples=(call(50.0, 10_000.0), call(300.0, 86_400.0), call(45.0, 7_000.0)),
    draw=_draw_best_interval,
    refusals=(
        refuse("save_seconds is 0", 0, 10_000.0),
        refuse("mtbf_seconds is negative", 50.0, -1.0),
        refuse("mtbf_seconds is 0", 50.0, 0),
        refuse("save_seconds is NaN", NAN, 10_000.0),
        refuse("mtbf_seconds is infinite", 50.0, math.inf),
    ),
    mistakes=(
        Mistake("minutes", lambda save, mean: math.sqrt(2 * save * mean) / 60, IN_MINUTES, unit=True),
        Mistake(
            "hours_converted",
            lambda save, mean: math.sqrt(2 * save * mean * 3600),
            "The mean time was multiplied by 3,600 there. It is in seconds already.",
            unit=True,
        ),
        Mistake("factor_2_forgotten", lambda save, mean: math.sqrt(save * mean), FORGOT_2),
        Mistake(
            "divided_by_2",
            lambda save, mean: math.sqrt(save * mean / 2),
            "The product was divided by 2 under the root. It is multiplied by 2.",
        ),
        Mistake(
            "two_outside_the_root",
            lambda save, mean: 2 * math.sqrt(save * mean),
            "The 2 stands outside the square root there. It belongs under it.",
        ),
        Mistake("no_root", lambda save, mean: 2 * save * mean, "The square root is missing."),
        Mistake("daly", _daly, OTHER_FORM),
        Mistake("daly", _daly_full, OTHER_FORM),
        Mistake(
            "write_added",
            lambda save, mean: math.sqrt(2 * save * mean) + save,
            "The time of the save was added. The interval is the computing between two saves, without the save.",
        ),
        Mistake(
            "quotient",
            lambda save, mean: math.sqrt(2 * mean / save),
            "The two times were divided by each other there. A slower save calls for a longer interval.",
        ),
    ),
)


def _draw_wasted_fraction(rng):
    for _ in range(4):
        save, mean = float(rng.integers(5, 400)), float(rng.integers(4000, 90_000))
        yield call(float(rng.integers(300, 4000)), save, mean, float(rng.integers(30, 900)))
    yield call(float(rng.integers(300, 4000)), 30.0, 20_000.0, 0)  # a restart that takes no time
    yield call(float(rng.integers(200, 400)), float(rng.integers(410, 500)), 700.0, 250.0)  # above 1


wasted_fraction = Exercise(
    "wasted_fraction",
    reference=checkpoint.wasted_fraction,
    points=4,
    examples=(
        call(1000.0, 50.0, 10_000.0, 200.0),
        call(600.0, 30.0, 20_000.0, 0),
        call(300.0, 400.0, 700.0, 250.0),  # above 1
    ),
    draw=_draw_wasted_fraction,
    refusals=(
        refuse("interval is 0", 0, 50.0, 10_000.0, 200.0),
        refuse("restart_seconds is negative", 1000.0, 50.0, 10_000.0, -1.0),
        refuse("save_seconds is 0", 1000.0, 0, 10_000.0, 200.0),
        refuse("mtbf_seconds is NaN", 1000.0, 50.0, NAN, 200.0),
        refuse("interval is infinite", math.inf, 50.0, 10_000.0, 200.0),
        refuse("mtbf_seconds is negative", 1000.0, 50.0, -10_000.0, 200.0),
    ),
    mistakes=(
        Mistake(
            "percent",
            lambda t, save, mean, restart: 100 * (save / t + (t / 2 + restart) / mean),
            "That is in percent. Return the fraction, where 1 stands for all of the time.",
            unit=True,
        ),
        Mistake(
            "useful_fraction",
            lambda t, save, mean, restart: 1 - save / t - (t / 2 + restart) / mean,
            "That is the useful fraction. The wasted one is what is left of 1.",
        ),
        Mistake(
            "whole_interval_lost",
            lambda t, save, mean, restart: save / t + (t + restart) / mean,
            "That loses a whole interval at each failure. A failure comes at any moment of it, so on "
            "average half is lost.",
        ),
        Mistake(
            "restart_forgotten",
            lambda t, save, mean, restart: save / t + t / 2 / mean,
            "The restart is missing. It is paid once for each failure, as the lost work is.",
        ),
        Mistake(
            "restart_forgotten",
            lambda t, save, mean, restart: save / t + t / mean,
            "The restart is missing. It is paid once for each failure, as the lost work is.",
        ),
        Mistake(
            "save_forgotten",
            lambda t, save, mean, restart: (t / 2 + restart) / mean,
            "The time of the saves is missing. It is paid once in every interval.",
        ),
        Mistake(
            "lost_work_forgotten",
            lambda t, save, mean, restart: save / t + restart / mean,
            "The lost work is missing: what was computed since the last checkpoint has to be computed again.",
        ),
        Mistake(
            "save_alone",
            lambda t, save, mean, restart: save / t,
            "Those are the saves alone. Failures cost time as well.",
        ),
        Mistake(
            "restart_every_interval",
            lambda t, save, mean, restart: (save + restart) / t + t / 2 / mean,
            "The restart was paid in every interval there. It is paid only when something fails.",
        ),
        Mistake(
            "share_with_the_save",
            lambda t, save, mean, restart: save / (t + save) + (t / 2 + restart) / mean,
            "The save was divided by interval plus save. In this formula the interval is the computing alone, and the "
            "save is divided by that.",
        ),
        *(
            Mistake(
                "term_in_seconds",
                twin,
                "One term is in seconds there, not a share. Half the interval and the restart are both divided by the "
                "mean time between failures.",
            )
            for twin in (
                lambda t, save, mean, restart: save / t + t / 2 + restart / mean,
                lambda t, save, mean, restart: save / t + t / 2 / mean + restart,
            )
        ),
        Mistake(
            "restart_halved",
            lambda t, save, mean, restart: save / t + (t + restart) / 2 / mean,
            "The restart was halved there. A failure costs half an interval, on average, and a whole restart.",
        ),
        Mistake(
            "share_of_all_time",
            lambda t, save, mean, restart: 1 - 1 / (1 + save / t + (t / 2 + restart) / mean),
            "That is a share of all time, the wasted time included. A share of the computing time is asked for.",
        ),
        Mistake(
            "cut_off_at_1",
            lambda t, save, mean, restart: min(1.0, save / t + (t / 2 + restart) / mean),
            "It never gets above 1. A share of the computing time can: more time may be wasted than computed.",
        ),
        Mistake(
            "save_per_failure",
            lambda t, save, mean, restart: (save + t / 2 + restart) / mean,
            "The save was paid once for each failure there. It is paid once in every interval.",
        ),
    ),
)

# ---- choices ------------------------------------------------------------------------------------------------------

first_loss_equal = Exercise(
    "first_loss_equal",
    kind="choice",
    reference="b",
    points=1,
    mistakes=(
        Mistake(
            "loss_sees_everything",
            "a",
            "A loss depends on the weights and the batch only. Adam's moments and the learning rate are not in it.",
        ),
        Mistake(
            "few_digits",
            "c",
            "Here the losses agree to the last bit, so no digit hides anything. Ask what went into that first loss.",
        ),
        Mistake(
            "rate_of_zero",
            "d",
            "The learning rate does not matter for this loss: it is taken before the weights move at all.",
        ),
    ),
)

what_a_seed_is_not = Exercise(
    "what_a_seed_is_not",
    kind="choice",
    reference="d",
    points=1,
    mistakes=(
        Mistake(
            "seed_is_enough",
            "a",
            "The same seed gives the same numbers from the beginning. The stopped run was no longer at the beginning.",
        ),
        Mistake(
            "seed_differs_after_restart",
            "b",
            "A seed gives the same numbers after a restart as before; that is what it is for. Ask which "
            "of them come next.",
        ),
        Mistake(
            "seed_used_up",
            "c",
            "A seed may be used any number of times. Ask which numbers of its sequence the resumed run draws.",
        ),
    ),
)

EXERCISES = (
    must_save,
    checkpoint_tb,
    checkpoint_bytes,
    rows_for_step,
    save_checkpoint,
    mtbf,
    interval_minutes,
    best_interval,
    wasted_fraction,
    first_loss_equal,
    what_a_seed_is_not,
)
