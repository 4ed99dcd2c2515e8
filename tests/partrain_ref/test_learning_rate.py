"""Part 2's reference against facts, other software's numbers and its own refusals."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from partrain_ref import learning_rate as lr

CLOSE = {"rel": 0, "abs": 1e-12}
RATES = st.floats(1e-6, 10)
STEPS = st.integers(0, 10_000)
BATCHES = st.integers(1, 10**7)


# ---- published and recomputed numbers -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "rate"),
    [
        ((0.1, 256, 8192, "sgd"), 3.2),  # Goyal et al., section 5.1
        ((0.05, 256, 8192, "sgd"), 1.6),  # Table 2a, 0.05 × 32
        ((0.2, 256, 8192, "sgd"), 6.4),
        ((1e-3, 512, 2048, "adam"), 2e-3),  # Malladi et al., kappa = 4
        ((0.1, 256, 256, "sgd"), 0.1),
        ((0.1, 8192, 256, "adam"), 0.1 / math.sqrt(32)),
    ],
)
def test_scaled_rates(arguments, rate):
    assert lr.scaled_lr(*arguments) == pytest.approx(rate)


def test_the_wrong_rates_of_the_ablation():
    """0.566 (square root for SGD, 26.22 % error) and 0.1 (no scaling, 41.67 %) are what the rules do not give."""
    assert lr.scaled_lr(0.1, 256, 8192, "adam") == pytest.approx(0.566, abs=5e-4)
    assert lr.scaled_lr(0.1, 256, 8192, "sgd") not in (pytest.approx(0.566, abs=5e-4), pytest.approx(0.1))


def test_the_schedule_of_llama_3_405b():
    rate = lambda step: lr.cosine_lr(step, 8e-5, 8_000, 1_200_000, 8e-7)  # noqa: E731
    assert rate(0) == pytest.approx(8e-5 / 8_000)
    assert rate(7_999) == pytest.approx(8e-5) == rate(8_000)
    assert rate(604_000) == pytest.approx((8e-5 + 8e-7) / 2)
    assert rate(1_200_000) == rate(2_000_000) == 8e-7


def test_at_the_critical_batch_both_double():
    for critical, steps in itertools.product((64, 1_000, 2**20), (100, 12_345)):
        assert lr.steps_and_examples(critical, critical, steps) == (2 * steps, 2 * steps * critical)


# ---- other software: lr_schedules ---------------------------------------------------------------------------------


def rows(oracles, words):
    found = [row for row in oracles["lr_schedules"]["rows"] if words in row["fn"]]
    assert found
    return found


def test_warm_up_is_theirs_one_step_later(oracles):
    """transformers starts at 0: their step t + 1 is our step t, as far as the warm-up goes."""
    ours = 0
    for words in ("linear_schedule_with_warmup", "cosine_schedule_with_warmup", "constant_schedule_with_warmup"):
        for row in rows(oracles, words):
            for step, value in row["values"]:
                if 1 <= step <= row["warmup"]:
                    assert lr.warmup_lr(step - 1, row["lr"], row["warmup"]) == pytest.approx(value, **CLOSE)
                    ours += 1
    assert ours == 12


def test_after_the_warm_up_the_rate_stays(oracles):
    (row,) = rows(oracles, "constant_schedule_with_warmup")
    for step, value in row["values"]:
        if step >= row["warmup"]:
            assert lr.warmup_lr(step, row["lr"], row["warmup"]) == value


def test_lambda_lr_of_torch_is_our_warm_up(oracles):
    (row,) = rows(oracles, "LambdaLR")
    for step, value in row["values"]:
        assert lr.warmup_lr(step, row["lr"], 10) == pytest.approx(value, **CLOSE)


def test_cosine_between_warm_up_and_end(oracles):
    for row in rows(oracles, "cosine_schedule_with_warmup"):
        for step, value in row["values"]:
            rate = lr.cosine_lr(step, row["lr"], row["warmup"], row["total"], 0.0)
            if row["warmup"] <= step <= row["total"]:
                assert rate == pytest.approx(value, **CLOSE)
            if step > row["total"]:
                assert rate == 0.0 < value  # theirs rises again


def test_cosine_with_a_floor(oracles):
    """torch's LinearLR climbs another way (from a tenth of the peak); from the milestone on the two agree."""
    (row,) = rows(oracles, "SequentialLR")
    for step, value in row["values"]:
        if step >= 10:
            assert lr.cosine_lr(step, row["lr"], 10, 100, 1e-4) == pytest.approx(value, **CLOSE)


# ---- properties ---------------------------------------------------------------------------------------------------


@given(RATES, BATCHES, BATCHES, BATCHES, st.sampled_from(["sgd", "adam"]))
def test_scaling_in_two_stages_is_scaling_at_once(rate, first, second, third, optimizer):
    stages = lr.scaled_lr(lr.scaled_lr(rate, first, second, optimizer), second, third, optimizer)
    assert stages == pytest.approx(lr.scaled_lr(rate, first, third, optimizer), rel=1e-9)


@given(RATES, BATCHES, st.integers(1, 1000))
def test_adam_twice_is_sgd_once(rate, batch, factor):
    once = lr.scaled_lr(rate, batch, batch * factor, "sgd")
    twice = lr.scaled_lr(lr.scaled_lr(rate, batch, batch * factor, "adam"), batch, batch * factor, "adam")
    assert twice == pytest.approx(once, rel=1e-9)


@given(RATES, st.integers(0, 200))
def test_the_warm_up_climbs_in_equal_pieces_to_the_peak(peak, warmup):
    rates = [lr.warmup_lr(step, peak, warmup) for step in range(warmup + 3)]
    assert rates[max(0, warmup - 1)] == pytest.approx(peak, rel=1e-12)
    assert rates[warmup:] == [peak] * 3
    pieces = np.diff([0.0, *rates[:warmup]])
    np.testing.assert_allclose(pieces, [peak / warmup] * warmup if warmup else [], rtol=1e-6)


@given(RATES, st.integers(0, 50), st.integers(1, 200), st.floats(0, 1))
def test_the_cosine_falls_from_peak_to_floor_and_stays(peak, warmup, decay, share):
    final, total = share * peak, warmup + decay
    rates = [lr.cosine_lr(step, peak, warmup, total, final) for step in range(total + 10)]
    assert rates[:warmup] == [lr.warmup_lr(step, peak, warmup) for step in range(warmup)]
    assert rates[warmup] == pytest.approx(peak, rel=1e-12)
    assert all(a >= b - 1e-12 * peak for a, b in itertools.pairwise(rates[warmup:]))
    assert rates[total:] == [final] * 10
    for done in range(decay + 1):  # half a wave is the same upside down, turned about its middle
        assert rates[warmup + done] + rates[total - done] == pytest.approx(peak + final, rel=1e-9)


@given(st.floats(0.01, 100), st.floats(0.01, 1000), st.integers(1, 200), st.integers(2, 50))
def test_the_noise_scale_comes_back_from_the_lengths_it_makes(signal, noise, small, factor):
    big = small * factor
    found = lr.noise_scale(small, signal + noise / small, big, signal + noise / big)
    assert found == pytest.approx(noise / signal, rel=1e-6)


def test_the_noise_scale_of_simulated_gradients():
    """Per-device and averaged gradients of a drawn problem give its exact tr(Σ)/|G|² (McCandlish et al., A.1)."""
    rng = np.random.default_rng(4)
    gradient, spread = np.array([0.3, -0.4, 0.0]), np.array([1.0, 2.0, 0.5])
    devices = (gradient + spread * rng.standard_normal((20_000, 8, 4, 3))).mean(axis=2)  # 4 examples a device
    small_sq, big_sq = (devices**2).sum(2).mean(), (devices.mean(1) ** 2).sum(1).mean()
    assert lr.noise_scale(4, small_sq, 32, big_sq) == pytest.approx(5.25 / 0.25, rel=0.05)


@given(BATCHES, st.floats(0.5, 1e7), st.integers(1, 10**6))
def test_steps_and_examples_lie_on_the_hyperbola(batch, critical, least):
    steps, examples = lr.steps_and_examples(batch, critical, least)
    more_steps, more_examples = critical / batch, batch / critical  # S/S_min − 1 and E/E_min − 1
    assume(1e-6 < more_steps < 1e6)  # beyond, subtracting 1 leaves no digits
    assert (steps / least - 1) == pytest.approx(more_steps, rel=1e-6)
    assert (examples / (least * critical) - 1) == pytest.approx(more_examples, rel=1e-6)
    assert (steps / least - 1) * (examples / (least * critical) - 1) == pytest.approx(1, rel=1e-6)
    assert examples == pytest.approx(batch * steps)


@given(BATCHES, st.floats(1, 1e7), st.integers(1, 10**6))
def test_a_bigger_batch_saves_steps_and_costs_examples(batch, critical, least):
    steps, examples = lr.steps_and_examples(batch, critical, least)
    fewer, more = lr.steps_and_examples(2 * batch, critical, least)
    assert steps / 2 <= fewer <= steps and examples <= more <= 2 * examples


# ---- refusals -----------------------------------------------------------------------------------------------------

GOOD = {
    lr.scaled_lr: {"base_lr": 0.1, "base_batch": 256, "batch": 8192, "optimizer": "sgd"},
    lr.warmup_lr: {"step": 3, "peak_lr": 0.8, "warmup_steps": 4},
    lr.cosine_lr: {"step": 8, "peak_lr": 0.8, "warmup_steps": 4, "total_steps": 20, "final_lr": 0.08},
    lr.noise_scale: {"small_batch": 8, "small_grad_sq": 13.0, "big_batch": 32, "big_grad_sq": 4.0},
    lr.steps_and_examples: {"batch": 256, "critical_batch": 1024, "min_steps": 1000},
}
COUNTS = ("base_batch", "batch", "step", "warmup_steps", "total_steps", "small_batch", "big_batch", "min_steps")
ZERO_IS_FINE = ("step", "warmup_steps", "final_lr")
NUMBERS = [(f, name) for f, good in GOOD.items() for name in good if name != "optimizer"]


@pytest.mark.parametrize(("function", "name"), NUMBERS)
def test_every_argument_is_refused_by_name_and_value(function, name):
    bad = [-1, math.nan, math.inf, -math.inf, True, "8", None]
    bad += [] if name in ZERO_IS_FINE else [0, 0.0]
    bad += [2.5] if name in COUNTS else []
    for value in bad:
        with pytest.raises(ValueError, match=rf"^{name} .*{value!r}$"):
            function(**{**GOOD[function], name: value})


@pytest.mark.parametrize(("function", "name"), [(f, name) for f, name in NUMBERS if name in ZERO_IS_FINE])
def test_zero_is_legal_for_steps_and_the_final_rate(function, name):
    assert math.isfinite(function(**{**GOOD[function], name: 0}))


@pytest.mark.parametrize(("function", "name"), [(f, name) for f, name in NUMBERS if name in COUNTS])
def test_whole_floats_count_as_whole(function, name):
    good = GOOD[function]
    for form in (float, np.int64, np.float64):
        assert function(**{**good, name: form(good[name])}) == function(**good)


@pytest.mark.parametrize("optimizer", ["lion", "SGD", "", None, 1, ["sgd"]])
def test_other_optimizers_are_refused(optimizer):
    with pytest.raises(ValueError, match="optimizer must be one of 'sgd', 'adam'"):
        lr.scaled_lr(0.1, 256, 8192, optimizer)


def test_the_decay_needs_a_step():
    with pytest.raises(ValueError, match="total_steps must be above warmup_steps = 4, not 4"):
        lr.cosine_lr(1, 0.8, 4, 4, 0.0)
    assert lr.cosine_lr(5, 0.8, 4, 5, 0.0) == 0.0


def test_no_signal_is_refused():
    for small_sq, big_sq in ((16.0, 4.0), (13.0, 3.0)):  # 32·4 − 8·16 = 0, 32·3 − 8·13 < 0
        with pytest.raises(ValueError, match="not positive: average over more steps first"):
            lr.noise_scale(8, small_sq, 32, big_sq)
    for big in (32, 8):
        with pytest.raises(ValueError, match="big_batch must be above small_batch = 32"):
            lr.noise_scale(32, 4.0, big, 4.0)


def test_results_are_plain_numbers():
    for function, good in GOOD.items():
        answer = function(**{name: np.float64(v) if isinstance(v, float) else v for name, v in good.items()})
        assert all(type(value) is float for value in (answer if isinstance(answer, tuple) else (answer,)))
