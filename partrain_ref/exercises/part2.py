"""Part 2, bigger steps: exercises, with the mistakes of the field as wrong twins.

Wrong rates and their causes: the published ablation of large-batch SGD (arXiv 1706.02677, Table 2a: no scaling, square
root for SGD), the step conventions of common schedulers (t/W, a cosine that rises again), and public notes that turn
B_crit/B upside down.
"""

from __future__ import annotations

import math

from autograder.exercise import Exercise, Mistake, call, refuse
from partrain_ref import learning_rate as lr
from partrain_ref.exercises._part2_schedules import cosine_lr, warmup_lr

NAN, INF = math.nan, math.inf


def _each(name, sentence, *twins):
    """One mistake, written in several ways."""
    return tuple(Mistake(name, twin, sentence) for twin in twins)


# ---- scaling the rate ---------------------------------------------------------------------------------------------

LINEAR_FOR_ADAM = (
    "That is the linear rule with Adam. Adam divides by the typical size of the gradient, so its rate grows more "
    "slowly than the batch."
)
SQRT_FOR_SGD = (
    "That is the square-root rule with SGD. SGD has another rule: it has to cover the ground of all small steps."
)
SQUARED = "That is the square of the factor. Adam's rate grows more slowly than its batch."
NEVER_SHRINKS = "A batch may shrink as well. Then the rate shrinks too, by the same rule."
NO_SCALING = (
    "That is the old rate. A bigger batch makes fewer updates out of the same examples, so each has to go further."
)
UPSIDE_DOWN = "The ratio of the batches is upside down. A bigger batch asks for a higher rate, not for a lower one."
RATE_FORGOTTEN = "That is what the rate is multiplied by. The question asks for the new rate itself."
BASE_BATCH_FORGOTTEN = (
    "The batch at which the old rate works is left out. What counts is by how much the batch has grown."
)

sgd_rate = Exercise(
    "sgd_rate",
    kind="number",
    reference=0.1 * 8192 / 256,
    digits=3,
    points=1,
    mistakes=(
        Mistake("sqrt_for_sgd", 0.1 * math.sqrt(32), SQRT_FOR_SGD),
        Mistake("sqrt_for_sgd", 0.57, SQRT_FOR_SGD),
        Mistake("no_scaling", 0.1, NO_SCALING),
        Mistake("ratio_upside_down", 0.1 / 32, UPSIDE_DOWN),
        Mistake("rate_forgotten", 32.0, RATE_FORGOTTEN),
        Mistake("base_batch_forgotten", 819.2, BASE_BATCH_FORGOTTEN),
    ),
)

grown_batch_factor = Exercise(
    "grown_batch_factor",
    kind="number",
    reference=8 * 4,
    digits=2,
    unit="a factor for the old rate",
    points=1,
    mistakes=(
        Mistake(
            "gpus_only",
            8.0,
            "That counts the GPUs only. Accumulation adds up more micro-batches before an update, so the effective "
            "batch grows with it as well.",
        ),
        Mistake(
            "accumulation_only",
            4.0,
            "That counts the accumulation only. Each new GPU brings its own examples to the update too.",
        ),
        Mistake(
            "added_up",
            12.0,
            "The two were added. Every one of the GPUs takes more micro-batches, so both act on the batch together.",
        ),
        Mistake(
            "divided",
            2.0,
            "2 is 8 ÷ 4, or the square root of 4. More GPUs and more accumulation both make the batch bigger; neither "
            "undoes the other.",
        ),
        Mistake("no_scaling", 1.0, NO_SCALING),
        Mistake("sqrt_for_sgd", math.sqrt(32), SQRT_FOR_SGD),
        Mistake("sqrt_for_sgd", math.sqrt(8), SQRT_FOR_SGD),
        Mistake("ratio_upside_down", 1 / 32, UPSIDE_DOWN),
    ),
)

adam_factor = Exercise(
    "adam_factor",
    kind="number",
    reference=math.sqrt(4),
    digits=2,
    unit="a factor for the old rate",
    points=1,
    mistakes=(
        Mistake("linear_for_adam", 4.0, LINEAR_FOR_ADAM),
        Mistake("no_scaling", 1.0, NO_SCALING),
        Mistake("squared", 16.0, SQUARED),
        Mistake("root_taken_twice", math.sqrt(2), "The square root was taken twice. The batch grew by 4, not by 2."),
        Mistake("ratio_upside_down", 0.5, UPSIDE_DOWN),
        Mistake("ratio_upside_down", 0.25, UPSIDE_DOWN),
    ),
)


def _draw_scaled_lr(rng):
    for optimizer, (less, more) in (("sgd", (2, 40)), ("adam", (2, 40)), ("sgd", (2, 40)), ("adam", (2, 40))):
        base_batch = int(rng.integers(3, 60)) * 16
        yield call(
            round(float(rng.uniform(0.01, 0.5)), 4),
            base_batch,
            base_batch * int(rng.integers(less, more)) + 8,
            optimizer,
        )
    yield call(
        round(float(rng.uniform(1e-4, 9e-4)), 7), 4_194_304, float(2 ** rng.integers(23, 26)), "adam"
    )  # in tokens
    yield call(round(float(rng.uniform(0.1, 0.9)), 3), int(rng.integers(70, 99)), int(rng.integers(30, 60)), "sgd")
    yield call(round(float(rng.uniform(0.1, 0.9)), 3), int(rng.integers(70, 99)), int(rng.integers(30, 60)), "adam")


def _scaled(sgd, adam):
    return lambda rate, base, batch, optimizer: (sgd if optimizer == "sgd" else adam)(rate, base, batch)


def _linear(rate, base, batch):
    return rate * batch / base


def _sqrt(rate, base, batch):
    return rate * math.sqrt(batch / base)


def _old(rate, base, batch):
    return rate


def _never_shrinks(ratio):
    return _scaled(lambda r, *batches: r * ratio(*batches), lambda r, *batches: r * math.sqrt(ratio(*batches)))


def _no_smaller_batch(rate, base, batch, optimizer):
    if batch < base:
        raise ValueError
    return lr.scaled_lr(rate, base, batch, optimizer)


def _linear_down(rate, base, batch):
    return _linear(rate, batch, base)


def _sqrt_down(rate, base, batch):
    return _sqrt(rate, batch, base)


scaled_lr = Exercise(
    "scaled_lr",
    reference=lr.scaled_lr,
    points=4,
    examples=(
        call(0.1, 256, 8192, "sgd"),
        call(0.003, 256, 1024, "adam"),
        call(0.3, 512, 768, "sgd"),
        call(0.008, 1024, 256, "adam"),
    ),
    draw=_draw_scaled_lr,
    refusals=(
        refuse("optimizer is 'lion', which is neither of the two", 0.1, 256, 8192, "lion"),
        refuse("base_batch is 0", 0.1, 0, 8192, "sgd"),
        refuse("batch is 0.5", 0.1, 256, 0.5, "adam"),
        refuse("batch is negative", 0.1, 256, -8192, "sgd"),
        refuse("base_lr is 0", 0.0, 256, 8192, "sgd"),
        refuse("base_lr is NaN", NAN, 256, 8192, "sgd"),
        refuse("batch is infinite", 0.1, 256, INF, "adam"),
        refuse("base_batch is True", 0.1, True, 8192, "sgd"),
    ),
    mistakes=(
        Mistake("linear_for_adam", _scaled(_linear, _linear), LINEAR_FOR_ADAM),
        Mistake("sqrt_for_sgd", _scaled(_sqrt, _sqrt), SQRT_FOR_SGD),
        Mistake("rules_swapped", _scaled(_sqrt, _linear), "The two rules are swapped: each optimizer got the other's."),
        Mistake("no_scaling", _scaled(_old, _old), NO_SCALING),
        Mistake("no_scaling", _scaled(_linear, _old), NO_SCALING),
        Mistake("no_scaling", _scaled(_old, _sqrt), NO_SCALING),
        Mistake("ratio_upside_down", _scaled(_linear_down, _sqrt_down), UPSIDE_DOWN),
        Mistake("ratio_upside_down", _scaled(_linear_down, _sqrt), UPSIDE_DOWN),
        Mistake("ratio_upside_down", _scaled(_linear, _sqrt_down), UPSIDE_DOWN),
        Mistake(
            "rate_forgotten",
            _scaled(lambda r, base, batch: _linear(1, base, batch), lambda r, base, batch: _sqrt(1, base, batch)),
            RATE_FORGOTTEN,
        ),
        Mistake(
            "base_batch_forgotten",
            _scaled(lambda r, base, batch: r * batch, lambda r, base, batch: r * math.sqrt(batch)),
            BASE_BATCH_FORGOTTEN,
        ),
        Mistake(
            "root_of_the_rate_too",
            _scaled(_linear, lambda r, base, batch: math.sqrt(r * batch / base)),
            "With Adam the root was taken of the old rate too. It belongs to the ratio of the batches only.",
        ),
        Mistake(
            "ratio_rounded_down",
            _scaled(lambda r, base, batch: r * (batch // base), lambda r, base, batch: r * math.sqrt(batch // base)),
            "The ratio of the batches was rounded down: // drops the fraction. A batch may grow by 1.5, or shrink.",
        ),
        Mistake("squared", _scaled(_linear, lambda r, base, batch: r * (batch / base) ** 2), SQUARED),
        Mistake(
            "half_for_the_root",
            _scaled(_linear, lambda r, base, batch: r * batch / base / 2),
            "With Adam the ratio was halved. In Python, x ** 1 / 2 is half of x; a square root is x ** 0.5.",
        ),
        *_each(
            "never_shrinks",
            NEVER_SHRINKS,
            _never_shrinks(lambda base, batch: max(1, batch / base)),
            _never_shrinks(lambda base, batch: max(base, batch) / min(base, batch)),
            _no_smaller_batch,
        ),
    ),
)

# ---- the noise of a gradient --------------------------------------------------------------------------------------


def _draw_noise_scale(rng):
    for _ in range(5):
        signal, noise = float(rng.uniform(0.05, 3)), float(rng.uniform(20, 900))
        small = int(rng.integers(2, 40))
        big = small * int(rng.integers(3, 17)) + int(rng.integers(0, 2))
        yield call(small, round(signal + noise / small, 6), big, round(signal + noise / big, 6))
    yield call(1, round(float(rng.uniform(9, 15)), 3), 2.0, round(float(rng.uniform(8, 8.9)), 3))


def _signal(b, small, B, big):
    return (B * big - b * small) / (B - b)


def _noise(b, small, B, big):
    return (small - big) / (1 / b - 1 / B)


noise_scale = Exercise(
    "noise_scale",
    reference=lr.noise_scale,
    points=4,
    examples=(call(8, 13.0, 32, 4.0), call(16, 2.5, 48, 1.0)),
    draw=_draw_noise_scale,
    refusals=(
        refuse("the estimate of |G|² is negative", 8, 13.0, 32, 3.0),
        refuse("big_batch is not above small_batch", 32, 4.0, 32, 4.0),
        refuse("the estimate of |G|² is 0", 8, 16.0, 32, 4.0),
        refuse("big_batch is below small_batch", 32, 4.0, 8, 13.0),
        refuse("small_batch is 0", 0, 13.0, 32, 4.0),
        refuse("big_batch is 32.5", 8, 13.0, 32.5, 4.0),
        refuse("small_grad_sq is negative", 8, -13.0, 32, 4.0),
        refuse("big_grad_sq is NaN", 8, 13.0, 32, NAN),
        refuse("small_grad_sq is infinite", 8, INF, 32, 4.0),
    ),
    mistakes=(
        Mistake("noise_only", _noise, "That is tr(Σ) alone. The noise scale compares it with |G|²."),
        Mistake("signal_only", _signal, "That is |G|² alone. The noise scale compares tr(Σ) with it."),
        Mistake(
            "ratio_upside_down",
            lambda *a: _signal(*a) / _noise(*a),
            "That is |G|² over tr(Σ), so upside down. A noisy gradient should have a large noise scale.",
        ),
        *_each(
            "norms_not_weighed",
            "The squared lengths are not weighed by their batches where |G|² is worked out. Each still holds noise, "
            "the big batch less of it; weighing them by batch takes the noise out.",
            lambda b, small, B, big: _noise(b, small, B, big) / big,
            lambda b, small, B, big: _noise(b, small, B, big) / small,
            lambda b, small, B, big: (small - big) / big,
            lambda b, small, B, big: small / big,
            lambda b, small, B, big: _noise(b, small, B, big) / (small - big),
            lambda b, small, B, big: _noise(b, small, B, big) / ((big - small) / (B - b)),
            lambda b, small, B, big: _noise(b, small, B, big) / ((small - big) / (B - b)),
            lambda b, small, B, big: _noise(b, small, B, big) / ((small + big) / 2),
        ),
        *_each(
            "weights_swapped",
            "The estimate of |G|² takes each squared length with the other one's batch. That of the big batch is "
            "weighed by the big batch.",
            lambda b, small, B, big: _noise(b, small, B, big) / ((b * big - B * small) / (B - b)),
            lambda b, small, B, big: _noise(b, small, B, big) / ((B * small - b * big) / (B - b)),
        ),
        Mistake(
            "always_refused",
            lambda *a: int("x"),  # a ValueError
            "Good input is refused: here |G|² is positive. The squared length of the big batch is weighed by the big "
            "batch, and that of the small batch, weighed by its own, is taken off.",
        ),
        *_each(
            "noise_not_per_example",
            "The difference of the squared lengths is not yet tr(Σ). It is tr(Σ) times the difference of one over the "
            "small batch and one over the big batch.",
            lambda *a: (a[1] - a[3]) / _signal(*a),
            lambda *a: (a[1] - a[3]) * (1 / a[0] - 1 / a[2]) / _signal(*a),
            lambda *a: (a[1] - a[3]) / (a[2] - a[0]) / _signal(*a),
            lambda *a: (a[1] - a[3]) * (a[2] - a[0]) / _signal(*a),
        ),
        *_each(
            "noise_not_per_example",
            "That is the noise of a whole batch over |G|². tr(Σ) is the noise of a single example.",
            lambda b, small, B, big: small / _signal(b, small, B, big) - 1,
            lambda b, small, B, big: big / _signal(b, small, B, big) - 1,
        ),
        *_each(
            "signal_not_divided",
            "The estimate of |G|² is missing its last step: the difference of the weighed lengths is |G|² as many "
            "times as the batches differ.",
            lambda b, small, B, big: _noise(b, small, B, big) / (B * big - b * small),
        ),
        *_each(
            "sign_flipped",
            "One of the two differences has the wrong sign: tr(Σ) is positive when the small batch has the longer "
            "gradient, since 1/small is more than 1/big.",
            lambda *a: -_noise(*a) / _signal(*a),
        ),
        *_each(
            "noise_left_in_big_batch",
            "The big batch is taken as free of noise. It has less noise than the small one, but its squared length "
            "still holds some.",
            lambda b, small, B, big: (small - big) * b / big,
            lambda b, small, B, big: (small - big) * b / _signal(b, small, B, big),
        ),
        *_each(
            "squared_again",
            "The lengths were squared once more. They come in squared already.",
            lambda b, small, B, big: _noise(b, small**2, B, big**2) / _signal(b, small**2, B, big**2),
        ),
        *_each(
            "root_taken",
            "A square root was taken, of the lengths or at the end. The ratio is one of squared lengths, as they are.",
            lambda b, small, B, big: (
                _noise(b, math.sqrt(small), B, math.sqrt(big)) / _signal(b, math.sqrt(small), B, math.sqrt(big))
            ),
            lambda *a: math.sqrt(_noise(*a) / _signal(*a)),
        ),
    ),
)

# ---- steps against examples ---------------------------------------------------------------------------------------


def _draw_steps_and_examples(rng):
    for low, high in ((0.1, 0.6), (0.6, 0.95), (1.1, 3), (3, 12)):
        critical = int(rng.integers(300, 3000))
        yield call(int(critical * rng.uniform(low, high)), critical, int(rng.integers(200, 9000)))
    yield call(float(2 ** rng.integers(5, 9)), round(float(rng.uniform(500, 2000)), 2), int(rng.integers(200, 9000)))


def _steps(batch, critical, least):
    return least * (1 + critical / batch)


def _perfect(batch, critical, least):
    return least * max(1, critical / batch)


def _pair(steps):
    return lambda batch, critical, least: (steps(batch, critical, least), batch * steps(batch, critical, least))


def _whole_critical_only(batch, critical, least):
    if critical % 1:
        raise ValueError
    return lr.steps_and_examples(batch, critical, least)


def _rounded(up_or_down):
    return _pair(lambda *a: up_or_down(_steps(*a)))


LEAST_AS_IS = "min_steps was taken as it is. Only an endless batch gets by with so few; every real batch needs more."

steps_and_examples = Exercise(
    "steps_and_examples",
    reference=lr.steps_and_examples,
    points=4,
    examples=(
        call(1024, 1024, 1000),
        call(256, 1024, 1000),
        call(4096, 1024, 1000),
        call(300, 1000, 500),
        call(64, 812.5, 300),
    ),
    draw=_draw_steps_and_examples,
    refusals=(
        refuse("batch is 0", 0, 1024, 1000),
        refuse("critical_batch is negative", 256, -1024, 1000),
        refuse("critical_batch is 0", 256, 0, 1000),
        refuse("min_steps is 0", 256, 1024, 0),
        refuse("batch is 2.5", 2.5, 1024, 1000),
        refuse("critical_batch is NaN", 256, NAN, 1000),
        refuse("min_steps is infinite", 256, 1024, INF),
        refuse("batch is True", True, 1024, 1000),
    ),
    mistakes=(
        Mistake(
            "swapped",
            lambda *a: lr.steps_and_examples(*a)[::-1],
            "Steps and examples are swapped: the steps come first.",
        ),
        *_each(
            "ratio_upside_down",
            "The ratio of the two batches is upside down. A batch far above the critical one needs hardly more than "
            "min_steps; a small one needs many more.",
            _pair(lambda b, critical, least: _steps(critical, b, least)),
            lambda b, critical, least: (_steps(critical, b, least), critical * _steps(b, critical, least)),
            lambda b, critical, least: (_steps(critical, b, least), critical * _steps(critical, b, least)),
        ),
        *_each(
            "min_steps_as_is",
            LEAST_AS_IS,
            lambda b, critical, least: (least, least * b),
            lambda b, critical, least: (least, least * critical),
            lambda b, critical, least: (least, b * _steps(b, critical, least)),
        ),
        *_each(
            "no_loss_at_critical",
            "That takes scaling for perfect up to the critical batch, and for useless above. The change is gradual: "
            "at the critical batch part of the gain is lost already.",
            _pair(_perfect),
            lambda b, critical, least: (_perfect(b, critical, least), least * critical),
        ),
        *_each(
            "never_less_gain",
            "Here twice the batch always halves the steps, so an endless batch would need none. It needs min_steps.",
            _pair(lambda b, critical, least: least * critical / b),
        ),
        Mistake(
            "fraction_refused",
            _whole_critical_only,
            "A critical_batch that is not whole is refused. It is a ratio, so it may have a fraction.",
        ),
        *_each(
            "examples_at_their_least",
            "The steps are right. The examples are not: they are what these steps consume, a batch at every one of "
            "them.",
            lambda b, critical, least: (_steps(b, critical, least), least * critical),
            lambda b, critical, least: (_steps(b, critical, least), least * b),
            lambda b, critical, least: (_steps(b, critical, least), _steps(critical, b, least)),
            lambda b, critical, least: (_steps(b, critical, least), critical * _steps(b, critical, least)),
            lambda b, critical, least: (_steps(b, critical, least), least * critical * _steps(b, critical, least)),
        ),
        *_each(
            "divided",
            "Dividing gives fewer steps than the fewest. A real batch needs more steps than an endless one.",
            _pair(lambda b, critical, least: least / (1 + critical / b)),
            _pair(lambda b, critical, least: least / (1 + b / critical)),
        ),
        *_each(
            "rounded",
            "The steps were rounded. Leave both results as they come out of the formula, with their fractions.",
            _pair(lambda b, critical, least: least * (1 + critical // b)),
            _rounded(math.ceil),
            _rounded(math.floor),
            _rounded(round),
            *(
                lambda *a, cut=cut: tuple(cut(value) for value in lr.steps_and_examples(*a))
                for cut in (math.ceil, math.floor, round)
            ),
            *(
                lambda *a, cut=cut: (cut(_steps(*a)), lr.steps_and_examples(*a)[1])
                for cut in (math.ceil, math.floor, round)
            ),
        ),
    ),
)

# ---- choices ------------------------------------------------------------------------------------------------------

which_rule = Exercise(
    "which_rule",
    kind="choice",
    reference="b",
    points=1,
    mistakes=(
        Mistake(
            "linear_for_adam",
            "a",
            "That takes the linear rule for Adam. Adam divides by the size of the gradient, and that size shrinks "
            "when the noise averages out, so part of the work is done already.",
        ),
        Mistake(
            "no_scaling",
            "c",
            "Adam adapts the size of each weight's step to its gradient, not to the number of updates. With fewer "
            "updates at the old rate the run covers less ground.",
        ),
        Mistake(
            "rule_by_batch_size",
            "d",
            "That picks the rule by the size of the batch. It belongs to the optimizer; what a large batch decides is "
            "whether any of the rules still holds.",
        ),
    ),
)

why_warm_up = Exercise(
    "why_warm_up",
    kind="choice",
    reference="d",
    points=1,
    mistakes=(
        Mistake(
            "noise_at_the_start",
            "a",
            "That takes the start for the noisy part. At the start the gradients of different examples agree more "
            "than later; the trouble is that a step changes the gradient itself.",
        ),
        Mistake(
            "peak_too_high",
            "b",
            "That takes warm-up for a lower rate. Most of the run still has the full rate; warm-up changes only when "
            "it is reached.",
        ),
        Mistake(
            "finds_the_peak",
            "c",
            "Nothing is measured during warm-up. The peak is chosen before, and the ramp leads up to it whether it is "
            "good or bad.",
        ),
    ),
)

EXERCISES = (
    sgd_rate,
    grown_batch_factor,
    adam_factor,
    scaled_lr,
    warmup_lr,
    cosine_lr,
    noise_scale,
    steps_and_examples,
    which_rule,
    why_warm_up,
)
