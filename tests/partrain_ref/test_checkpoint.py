"""Part 4's reference against facts, other software's numbers, its promises and its own refusals."""

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partrain_ref import checkpoint
from partrain_ref.adam_run import ITEMS, AdamRun

BLOOM = 176_247_271_424
HOUR = 3600


# ---- size -----------------------------------------------------------------------------------------------------------


def test_published_sizes():
    assert checkpoint.checkpoint_bytes(BLOOM) == 2_467_461_799_936
    assert checkpoint.checkpoint_bytes(BLOOM) / 2**40 == pytest.approx(2.244, abs=5e-4)
    weights = checkpoint.checkpoint_bytes(BLOOM, master_bytes=0, moment_bytes=0)
    assert weights / 1e9 == pytest.approx(352.5, abs=0.05) and weights / 2**30 == pytest.approx(328.3, abs=0.05)
    assert checkpoint.checkpoint_bytes(1e12) / 13.8e12 == pytest.approx(1, abs=0.02)  # Megatron-LM's 1T prints 13.8 TB
    assert 13.8e12 / 273e9 == pytest.approx(50.5, abs=0.05)


def test_checkpoint_torch_optimizer(oracles):
    """The moments of Adam in fp32, beside weights that are their own fp32 copy; torch adds a 4-byte step a tensor."""
    for row in oracles["checkpoint_torch_optimizer"]["rows"]:
        moment_bytes = {"Adam": 8, "SGD": 0}[row["opt"]]
        weights = checkpoint.checkpoint_bytes(row["params"], 4, 0, 0)
        moments = checkpoint.checkpoint_bytes(row["params"], 4, 0, moment_bytes) - weights
        assert moments == row["moment_bytes"]
        steps = 4 * row["param_tensors"] if row["step_value"] else 0
        assert moments + steps == row["state_tensor_bytes"]


def test_safetensors_sizes(oracles):
    for row in oracles["safetensors_sizes"]["rows"]:
        assert checkpoint.safetensors_bytes(row["tensors"]) == row["file_bytes"]
        assert row["file_bytes"] == 8 + row["header_len"] + row["data_bytes"]


@given(st.floats(1, 1e13), st.integers(1, 8), st.integers(0, 8), st.integers(0, 16))
def test_bytes_add_up(params, weights, master, moments):
    total = checkpoint.checkpoint_bytes(params, weights, master, moments)
    parts = [checkpoint.checkpoint_bytes(params, weights, 0, 0)]
    parts += [params * master, params * moments]
    assert total == pytest.approx(sum(parts), rel=1e-12)


# ---- contents -------------------------------------------------------------------------------------------------------


def test_must_save_is_what_the_run_calls_its_state():
    assert set(AdamRun().state()) == set(ITEMS) == checkpoint.must_save(checkpoint.VOCABULARY)
    assert checkpoint.must_save(["gradients"]) == set()


@pytest.mark.parametrize("row", range(9))
def test_numpy_rng_resume(oracles, row):
    row = oracles["numpy_rng_resume"]["rows"][row]
    kind = getattr(np.random, row["bitgen"])
    generator = np.random.Generator(kind(row["seed"]))
    generator.standard_normal(row["draws_before"])
    text = json.dumps(generator.bit_generator.state, default=lambda array: array.tolist())
    state = json.loads(text)
    if row["bitgen"] != "PCG64":  # their states are arrays; a list with large numbers must not pass through floats
        word = np.uint64 if row["bitgen"] == "Philox" else np.uint32
        arrays = {name: np.array(v, dtype=word) for name, v in state["state"].items() if isinstance(v, list)}
        state["state"] = {**state["state"], **arrays}
        state = {name: np.array(v, dtype=word) if name == "buffer" else v for name, v in state.items()}
    fresh = np.random.Generator(kind())
    fresh.bit_generator.state = state
    np.testing.assert_allclose(fresh.standard_normal(3), row["next3"], rtol=0, atol=1e-12)
    assert fresh.permutation(8).tolist() == row["perm8"]


def test_half_a_word_waits_in_the_generator(oracles):
    cache = oracles["numpy_rng_resume"]["uint32_cache"]
    generator = np.random.default_rng(3)
    generator.integers(0, 100)
    state = generator.bit_generator.state
    assert (state["has_uint32"], state["uinteger"]) == (cache["has_uint32"], cache["uinteger"])
    for steps in range(1, 8):
        run = AdamRun(steps)
        for _ in range(steps):
            run.step()
        assert run.generator.bit_generator.state["has_uint32"] == steps % 2


class OracleRun(AdamRun):
    """The run of block resume_adam, in the frame of ours: its data, rows by choice, no noise and no dropout."""

    batch, peak_rate, warmup_steps, cut, steps = 8, 0.05, 8, 5, 10

    def __init__(self):
        super().__init__()
        self.weights = np.random.default_rng(8).standard_normal(4)
        self.X = np.random.default_rng(9).standard_normal((40, 4))
        self.y = self.X @ np.array([1, -2, 3, 0.5])
        self.generator = np.random.default_rng(7)

    def next_batch(self):
        rows = self.generator.choice(40, 8, replace=False)
        return self.X[rows], self.y[rows]

    @classmethod
    def stopped(cls):
        """The state after five steps."""
        run = cls()
        for _ in range(cls.cut):
            run.step()
        return run.state()


def test_resume_adam_uninterrupted(oracles):
    row = oracles["resume_adam"]["rows"][0]
    run = OracleRun()
    np.testing.assert_allclose([run.step() for _ in range(10)], row["losses"], rtol=0, atol=1e-9)
    np.testing.assert_allclose(run.weights, row["w"], rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("case", "forgotten", "schedules"),
    [
        ("resume at 5 dropping opt", ("moments", "step_count"), {0: 0, 1: 6}),  # torch takes one step at the first rate
        ("resume at 5 dropping opt, learning rate kept", ("moments", "step_count"), {}),
        ("resume at 5 dropping sch", ("schedule",), {}),
    ],
)
def test_resume_adam_with_something_forgotten(oracles, case, forgotten, schedules):
    rows = {row["case"]: row for row in oracles["resume_adam"]["rows"]}
    row, whole = rows[case], rows["uninterrupted"]
    run = OracleRun()
    run.restore({name: item for name, item in OracleRun.stopped().items() if name not in forgotten})
    losses = []
    for step, factor in enumerate(row["lr_factors_after_resume"]):
        run.schedule = schedules.get(step, run.schedule)
        assert min(1, (run.schedule + 1) / 8) == factor
        losses.append(run.step())
    np.testing.assert_allclose(losses, row["losses"], rtol=0, atol=1e-9)
    np.testing.assert_allclose(run.weights, row["w"], rtol=0, atol=1e-9)
    assert np.abs(run.weights - whole["w"]).max() == pytest.approx(row["max_diff"], abs=1e-9)
    assert losses[0] == pytest.approx(whole["losses"][5], abs=1e-9) and abs(losses[1] - whole["losses"][6]) > 0.1


def test_resume_adam_with_everything_kept(tmp_path):
    whole, run = OracleRun(), OracleRun()
    losses = [whole.step() for _ in range(10)]
    for _ in range(5):
        run.step()
    checkpoint.save_checkpoint(tmp_path / "run", run)
    fresh = OracleRun()
    checkpoint.load_checkpoint(tmp_path / "run", fresh)
    assert [fresh.step() for _ in range(5)] == losses[5:] and fresh.state() == whole.state()


@settings(max_examples=30)
@given(st.integers(0, 2**31), st.integers(0, 40), st.integers(1, 12))
def test_a_resumed_run_equals_the_uninterrupted_one_at_any_step(tmp_path_factory, seed, cut, steps):
    path = tmp_path_factory.mktemp("resume") / "run"
    run = AdamRun(seed)
    for _ in range(cut):
        run.step()
    checkpoint.save_checkpoint(path, run)
    fresh = AdamRun(seed)
    checkpoint.load_checkpoint(path, fresh)
    for _ in range(steps):
        assert fresh.step() == run.step() and fresh.state() == run.state()


def test_a_state_is_a_copy():
    run = AdamRun(1)
    run.step()
    kept, before = run.state(), json.dumps(run.state())
    run.step()
    assert json.dumps(kept) == before != json.dumps(run.state())


def test_saving_leaves_one_file_and_replaces_the_old_one(tmp_path):
    path = tmp_path / "run"
    for _ in range(2):
        checkpoint.save_checkpoint(str(path), AdamRun(1))
        assert [p.name for p in Path(tmp_path).iterdir()] == ["run"]


# ---- rows -----------------------------------------------------------------------------------------------------------


@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 10**6), st.integers(0, 10**6))
def test_every_row_once_an_epoch_and_the_same_when_asked_again(batch, length, epoch, seed):
    rows = batch * length
    steps = [epoch * length + place for place in range(length)]
    found = {step: checkpoint.rows_for_step(step, batch, rows, seed) for step in reversed(steps)}
    assert sorted(itertools.chain.from_iterable(found.values())) == list(range(rows))
    assert all(checkpoint.rows_for_step(step, batch, rows, seed) == found[step] for step in steps)


def test_a_new_order_every_epoch():
    orders = {tuple(checkpoint.rows_for_step(epoch, 50, 50, 3)) for epoch in range(100)}
    assert len(orders) == 100


# ---- how often ------------------------------------------------------------------------------------------------------

LLAMA_3 = {
    "faulty GPU": 148, "HBM3": 72, "software": 54, "network": 35, "host maintenance": 32, "SRAM": 19,
    "system processor": 17, "NIC": 7, "NCCL watchdog": 7, "silent data corruption": 6, "thermal": 6, "SSD": 3,
    "power supply": 3, "five others": 5 * 2,
}  # fmt: skip


def test_llama_3_interruptions():
    assert sum(LLAMA_3.values()) == 419
    assert 148 / 419 == pytest.approx(0.353, abs=5e-4)
    job = checkpoint.mtbf(1296 * 16_384 / 419, 16_384)
    assert job == pytest.approx(3.093, abs=5e-4)
    assert checkpoint.mtbf(50_677, 16_384) == pytest.approx(3.093, abs=5e-4)  # the panel's slider
    assert checkpoint.best_interval(60, job * HOUR) / 60 == pytest.approx(19.27, abs=5e-3)
    assert 1296 / 466 == pytest.approx(2.78, abs=5e-3)
    assert checkpoint.best_interval(60, 1296 * 16_384 / 419 * HOUR) / HOUR == pytest.approx(41, abs=0.5)


@pytest.mark.parametrize(("mean", "minutes"), [(24 * HOUR, 120), (6 * HOUR, 60), (HOUR / 4, 12.2)])
def test_young_at_the_examples_of_daly(mean, minutes):
    assert checkpoint.best_interval(300, mean) / 60 == pytest.approx(minutes, abs=0.05)


@given(st.floats(0.1, 1e4), st.floats(10, 1e7), st.floats(0, 1e4), st.floats(1.01, 10))
def test_the_best_interval_wastes_least_and_halves_the_cost(save, mean, restart, factor):
    best = checkpoint.best_interval(save, mean)
    least = checkpoint.wasted_fraction(best, save, mean, restart)
    assert save / best == pytest.approx(best / 2 / mean)
    assert least == pytest.approx(math.sqrt(2 * save / mean) + restart / mean)
    assert checkpoint.wasted_fraction(best * factor, save, mean, restart) > least * (1 - 1e-12)
    assert checkpoint.wasted_fraction(best / factor, save, mean, restart) > least * (1 - 1e-12)


@given(st.floats(1, 1e8), st.integers(1, 10**5))
def test_failures_add_up(device_mtbf, devices):
    assert 1 / checkpoint.mtbf(device_mtbf, devices) == pytest.approx(devices / device_mtbf)


# ---- refusals -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("refused", "words"),
    [
        (lambda: checkpoint.checkpoint_bytes(0), "params must be a finite number above 0, not 0"),
        (lambda: checkpoint.checkpoint_bytes(10, 0, 0, 0), "must not all be 0"),
        (lambda: checkpoint.checkpoint_bytes(10, moment_bytes=-8), "moment_bytes .* not -8"),
        (lambda: checkpoint.must_save([]), "choices must be names"),
        (lambda: checkpoint.must_save(["weights", "wheels"]), "not .'wheels'."),
        (lambda: checkpoint.rows_for_step(0, 5, 12, 7), "batch = 5 does not divide the 12 rows"),
        (lambda: checkpoint.rows_for_step(-1, 4, 12, 7), "step must be a whole number of at least 0, not -1"),
        (lambda: checkpoint.mtbf(50_000.0, 0), "devices must be a whole number of at least 1, not 0"),
        (lambda: checkpoint.best_interval(0, 10.0), "save_seconds must be a finite number above 0, not 0"),
        (lambda: checkpoint.wasted_fraction(9.0, 1.0, 5.0, -1), "restart_seconds .* not -1"),
    ],
)
def test_refusals_name_the_argument_and_its_value(refused, words):
    with pytest.raises(ValueError, match=words):
        refused()


def test_zero_is_legal_where_it_means_something():
    assert checkpoint.wasted_fraction(600.0, 30.0, 20_000.0, 0) == pytest.approx(0.065)
    assert len(checkpoint.rows_for_step(0, 4, 12, 0)) == 4
    assert checkpoint.checkpoint_bytes(1000, weight_bytes=0) == 12_000
