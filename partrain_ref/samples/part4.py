"""The sample class of part 4. Most forget one item of a run's state, as most first checkpoints do."""

MUST_SAVE = """
def must_save(choices):
    if len(choices) == 0 or not set(choices) <= set(vocabulary):
        raise ValueError(f"choices must be names of the vocabulary, not {{choices}}")
    return set(choices) {}
"""
CHECKPOINT_BYTES = """
def checkpoint_bytes(params, weight_bytes=2, master_bytes=4, moment_bytes=8):
    return params * ({})
"""
ROWS_FOR_STEP = """
def rows_for_step(step, batch, rows, seed):
    need_counts(batch=batch, rows=rows)
    need_counts_or_zero(step=step)
    if rows % batch:
        raise ValueError(f"batch = {{batch}} does not divide the {{rows}} rows")
    epoch, place = divmod(step, rows // batch)
    order = {}
    return {}
"""
SHUFFLED = "np.random.default_rng([seed, epoch]).permutation(rows)"
PLACE = "order[place * batch : (place + 1) * batch]"
MTBF = "def mtbf(device_mtbf, devices):\n    return {}"
BEST_INTERVAL = """
def best_interval(save_seconds, mtbf_seconds):
    return {}
"""
WASTED_FRACTION = """
def wasted_fraction(interval, save_seconds, mtbf_seconds, restart_seconds):
    return {}
"""
SAVE = """
def save_checkpoint(path, run):
    state = run.state()
    {}
    with open(path + ".new", "w") as file:
        json.dump(state, file)
    os.replace(path + ".new", path)


def load_checkpoint(path, run):
    with open(path) as file:
        run.restore(json.load(file))
"""
IN_PLACE = SAVE.replace(' + ".new", "w"', ', "w"').replace('    os.replace(path + ".new", path)\n', "")
IN_MEMORY = """
kept = {{}}

def save_checkpoint(path, run):
    kept[path] = {}

def load_checkpoint(path, run):
    run.restore({})
"""
NEW_OBJECT = """
def load_checkpoint(path, run):
    run = AdamRun()
    with open(path) as file:
        run.restore(json.load(file))
    return run
"""
ONE_NAME = SAVE.format('path = os.path.join(os.path.dirname(path), "checkpoint.json")').replace(
    "    with open(path) as",
    '    path = os.path.join(os.path.dirname(path), "checkpoint.json")\n    with open(path) as',
)
PICKLE = """
import pickle
from pathlib import Path

def save_checkpoint(name, training):
    other = Path(name).with_suffix(".new")
    other.write_bytes(pickle.dumps(training.state()))
    other.rename(name)


def load_checkpoint(name, training):
    training.restore(pickle.loads(Path(name).read_bytes()))
"""
SIX = "{'weights', 'moments', 'step_count', 'schedule', 'random_state', 'data_position'}"


def _answers(**sources: str) -> dict[str, str]:
    return {f"{name}-answer": source for name, source in sources.items()}


def _forgets(name: str, **others: str) -> dict:
    """A student who leaves one item out of the checkpoint, and makes another mistake or two."""
    saved = SAVE.format(f'del state["{name}"]')
    return {"answers": _answers(must_save=MUST_SAVE.format(f"& {SIX} - {{{name!r}}}"), save_checkpoint=saved, **others)}


def _adds(name: str, **others: str) -> dict:
    """A student who puts something into the checkpoint that no step needs."""
    return {"answers": _answers(must_save=MUST_SAVE.format(f"& ({SIX} | {{{name!r}}})"), **others)}


STUDENTS = {
    "all-right": {},
    "saves-the-weights-only": {
        "answers": _answers(
            must_save=MUST_SAVE.format("& {'weights'}"),
            checkpoint_tb="checkpoint_tb = 176.247e9 * 2 / 1e12",
            checkpoint_bytes=CHECKPOINT_BYTES.format("weight_bytes"),
            save_checkpoint=SAVE.format('state = {"weights": state["weights"]}'),
            wasted_fraction=WASTED_FRACTION.format("save_seconds / interval"),
        )
    },
    "saves-model-and-optimizer": {
        "answers": _answers(
            must_save=MUST_SAVE.format("& {'weights', 'moments', 'step_count', 'schedule'}"),
            save_checkpoint=SAVE.format('del state["random_state"], state["data_position"]'),
            what_a_seed_is_not='what_a_seed_is_not = "a"',
            mtbf=MTBF.format("device_mtbf / (devices - 1)"),
        )
    },
    "saves-everything": {
        "answers": _answers(
            must_save=MUST_SAVE.format(""),
            checkpoint_tb="checkpoint_tb = 176.247e9 * 16 / 1e12",
            checkpoint_bytes=CHECKPOINT_BYTES.format("2 * weight_bytes + master_bytes + moment_bytes"),
            wasted_fraction=WASTED_FRACTION.format(
                "(save_seconds + restart_seconds) / interval + interval / 2 / mtbf_seconds"
            ),
        )
    },
    "saves-the-opposite": {
        "answers": _answers(
            must_save=MUST_SAVE.format(f"- {SIX}"),
            checkpoint_bytes=CHECKPOINT_BYTES.format("weight_bytes + master_bytes + 2 * moment_bytes"),
            mtbf=MTBF.format("device_mtbf * devices"),
            best_interval=BEST_INTERVAL.format("(2 * mtbf_seconds / save_seconds) ** 0.5"),
            wasted_fraction=WASTED_FRACTION.format(
                "1 - save_seconds / interval - (interval / 2 + restart_seconds) / mtbf_seconds"
            ),
        )
    },
    "forgets-the-weights": _forgets(
        "weights",
        checkpoint_tb="checkpoint_tb = 176.247e9 * 12 / 1e12",
        checkpoint_bytes=CHECKPOINT_BYTES.format("master_bytes + moment_bytes"),
        rows_for_step=ROWS_FOR_STEP.format(SHUFFLED, PLACE + " + 1"),
    ),
    "forgets-the-moments": _forgets(
        "moments",
        checkpoint_tb="checkpoint_tb = 176.247e9 * 6 / 1e12",
        checkpoint_bytes=CHECKPOINT_BYTES.format("weight_bytes + master_bytes"),
        first_loss_equal='first_loss_equal = "a"',
        wasted_fraction=WASTED_FRACTION.format("save_seconds / interval + restart_seconds / mtbf_seconds"),
    ),
    "forgets-the-step-count": _forgets(
        "step_count",
        checkpoint_bytes=CHECKPOINT_BYTES.format("14"),
        rows_for_step=ROWS_FOR_STEP.format(SHUFFLED, "order[:batch]"),
        wasted_fraction=WASTED_FRACTION.format("save_seconds / interval + interval / 2 / mtbf_seconds"),
    ),
    "forgets-the-schedule": _forgets(
        "schedule",
        checkpoint_tb="checkpoint_tb = 176.247e9 * 10 / 1e12",
        checkpoint_bytes=CHECKPOINT_BYTES.format("weight_bytes + moment_bytes"),
        interval_minutes="interval_minutes = (60 * 54 * 24 * 3600 / 419) ** 0.5 / 60",
        best_interval=BEST_INTERVAL.format("(save_seconds * mtbf_seconds) ** 0.5"),
    ),
    "forgets-the-random-state": _forgets(
        "random_state",
        rows_for_step=ROWS_FOR_STEP.format("np.random.default_rng(epoch).permutation(rows)", PLACE),
        best_interval=BEST_INTERVAL.format("2 * save_seconds * mtbf_seconds"),
        what_a_seed_is_not='what_a_seed_is_not = "a"',
    ),
    "forgets-the-data-position": _forgets(
        "data_position",
        rows_for_step=ROWS_FOR_STEP.format("np.random.default_rng([seed, step]).permutation(rows)", "order[:batch]"),
        wasted_fraction=WASTED_FRACTION.format("(interval / 2 + restart_seconds) / mtbf_seconds"),
    ),
    "saves-the-gradients-too": _adds(
        "gradients",
        checkpoint_bytes=CHECKPOINT_BYTES.format("weight_bytes + master_bytes + moment_bytes + 2"),
        best_interval=BEST_INTERVAL.format("(2 * save_seconds * mtbf_seconds) ** 0.5 + save_seconds"),
        wasted_fraction=WASTED_FRACTION.format("(save_seconds + interval / 2 + restart_seconds) / mtbf_seconds"),
    ),
    "saves-the-activations-too": _adds(
        "activations",
        save_checkpoint=SAVE.format('state["random_state"].update(has_uint32=0, uinteger=0)'),
        rows_for_step=ROWS_FOR_STEP.format("np.arange(rows)", PLACE),
        best_interval=BEST_INTERVAL.format("2 * (save_seconds * mtbf_seconds) ** 0.5"),
    ),
    "saves-the-table-too": _adds(
        "training_rows",
        save_checkpoint=SAVE.format("pass").split("\n\n\ndef")[0] + NEW_OBJECT,
        rows_for_step=ROWS_FOR_STEP.format("np.random.default_rng(seed).permutation(rows)", PLACE),
        best_interval=BEST_INTERVAL.format("(save_seconds * mtbf_seconds / 2) ** 0.5"),
    ),
    "rounds-and-keeps-the-curve": _adds(
        "loss_curve",
        save_checkpoint=SAVE.format('state["weights"] = [round(w, 4) for w in state["weights"]]'),
        first_loss_equal='first_loss_equal = "c"',
        best_interval=BEST_INTERVAL.format("(2 * save_seconds * mtbf_seconds) ** 0.5 - save_seconds"),
    ),
    "one-name-for-all-runs": _adds(
        "device_names",
        save_checkpoint=ONE_NAME,
        rows_for_step="shuffler = np.random.default_rng(0)\n"
        + ROWS_FOR_STEP.format("shuffler.permutation(rows)", "order[:batch]"),
        mtbf=MTBF.format("device_mtbf / devices ** 0.5"),
    ),
    "writes-over-the-only-file": {"answers": _answers(save_checkpoint=IN_PLACE.format("pass"))},
    "keeps-it-in-memory": {"answers": _answers(save_checkpoint=IN_MEMORY.format("run.state()", "kept[path]"))},
    "keeps-a-reference": {"answers": _answers(save_checkpoint=IN_MEMORY.format("run", "kept[path].state()"))},
    "appends-to-the-file": {
        "answers": _answers(
            must_save=MUST_SAVE.format(f"and {SIX}"),
            save_checkpoint=IN_PLACE.format("pass").replace('"w"', '"a"'),
            rows_for_step=ROWS_FOR_STEP.format(SHUFFLED, "order[step * batch : (step + 1) * batch]"),
            checkpoint_bytes=CHECKPOINT_BYTES.format("weight_bytes + master_bytes + moment_bytes) / (2**30"),
            best_interval=BEST_INTERVAL.format("(2 * save_seconds * mtbf_seconds * 3600) ** 0.5"),
            wasted_fraction=WASTED_FRACTION.format(
                "save_seconds / interval + interval / 2 + restart_seconds / mtbf_seconds"
            ),
        )
    },
    "counts-in-all-time": {
        "answers": _answers(
            must_save=MUST_SAVE.format("& {'weights', 'moments'}"),
            wasted_fraction=WASTED_FRACTION.format(
                "1 - 1 / (1 + save_seconds / interval + (interval / 2 + restart_seconds) / mtbf_seconds)"
            ),
        )
    },
    "forgets-the-counters": {
        "answers": _answers(
            must_save=MUST_SAVE.format(f"& {SIX} - {{'step_count', 'schedule'}}"),
            save_checkpoint=SAVE.format('del state["step_count"], state["schedule"]'),
            wasted_fraction=WASTED_FRACTION.format(
                "min(1.0, save_seconds / interval + (interval / 2 + restart_seconds) / mtbf_seconds)"
            ),
        )
    },
    "saves-what-comes-anew": {
        "answers": _answers(
            must_save=MUST_SAVE.format(f"& ({SIX} | {{'gradients', 'activations'}})"),
            wasted_fraction=WASTED_FRACTION.format(
                "save_seconds / interval + (interval + restart_seconds) / 2 / mtbf_seconds"
            ),
        )
    },
    "takes-one-gpu-for-all": {
        "answers": _answers(
            mtbf=MTBF.format("device_mtbf"),
            interval_minutes="interval_minutes = (2 * 60 * 54 * 24 * 3600 / 419 * 16_384) ** 0.5 / 60",
            wasted_fraction=WASTED_FRACTION.format(
                "save_seconds / interval + (interval + restart_seconds) / mtbf_seconds"
            ),
        )
    },
    "slips-in-the-units": {
        "answers": _answers(
            checkpoint_tb="checkpoint_tb = 176.247e9 * 14 / 2**40",
            checkpoint_bytes=CHECKPOINT_BYTES.format("weight_bytes + master_bytes + moment_bytes) / (1e9"),
            mtbf=MTBF.format("devices / device_mtbf"),
            interval_minutes="interval_minutes = (2 * 60 * 54 * 24 * 3600 / 419) ** 0.5",
            best_interval=BEST_INTERVAL.format("(2 * save_seconds * mtbf_seconds) ** 0.5 / 60"),
            wasted_fraction=WASTED_FRACTION.format(
                "100 * (save_seconds / interval + (interval / 2 + restart_seconds) / mtbf_seconds)"
            ),
        )
    },
    "counts-bits-and-shares": {
        "answers": _answers(
            checkpoint_bytes=CHECKPOINT_BYTES.format("8 * (weight_bytes + master_bytes + moment_bytes)"),
            wasted_fraction=WASTED_FRACTION.format(
                "save_seconds / (interval + save_seconds) + (interval / 2 + restart_seconds) / mtbf_seconds"
            ),
        )
    },
    "counts-in-terabytes": {
        "answers": _answers(
            checkpoint_bytes=CHECKPOINT_BYTES.format("weight_bytes + master_bytes + moment_bytes) / (1e12")
        )
    },
    "other-forms-of-right": {
        "answers": _answers(
            must_save="def must_save(names):\n    if not names or set(names) - set(vocabulary):\n"
            f"        raise ValueError(f'choices: {{names}}')\n    return [name for name in names if name in {SIX}]",
            checkpoint_tb="checkpoint_tb = np.float64(2.4675)",
            save_checkpoint=PICKLE,
            rows_for_step=ROWS_FOR_STEP.format(
                "np.argsort(np.random.default_rng([epoch, seed, 5]).random(int(rows)), stable=True).tolist()",
                "tuple(" + PLACE + ")",
            ),
        )
    },
    "right-values-no-refusals": {
        "answers": _answers(
            must_save=f"def must_save(choices):\n    return set(choices) & {SIX}",
            checkpoint_bytes=CHECKPOINT_BYTES.format("weight_bytes + master_bytes + moment_bytes"),
            mtbf=MTBF.format("device_mtbf / devices"),
            best_interval=BEST_INTERVAL.format("(2 * save_seconds * mtbf_seconds) ** 0.5"),
        )
    },
    "half-done": {
        "blank": True,
        "answers": _answers(
            must_save=MUST_SAVE.format(f"& {SIX}"),
            checkpoint_tb="checkpoint_tb = 2.47",
            save_checkpoint=SAVE.format("pass").split("\n\n\ndef")[0]
            + "\n\ndef load_checkpoint(path, run):\n    raise NotImplementedError",
        ),
    },
    "blank": {"blank": True},
}
