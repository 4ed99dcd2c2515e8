"""The sample class of part 2: rates scaled by the wrong rule, ramps off by one, ratios upside down."""

SCALED_LR = """
def scaled_lr(base_lr, base_batch, batch, optimizer):
    need_positive(base_lr=base_lr)
    need_counts(base_batch=base_batch, batch=batch)
    if optimizer not in ("sgd", "adam"):
        raise ValueError(f"optimizer must be 'sgd' or 'adam', not {{optimizer!r}}")
    ratio = batch / base_batch
    return {} if optimizer == "sgd" else {}
"""
WARMUP_LR = """
def warmup_lr(step, peak_lr, warmup_steps):
    need_counts_or_zero(step=step, warmup_steps=warmup_steps)
    need_positive(peak_lr=peak_lr)
    return {}
"""
COSINE_LR = """
def cosine_lr(step, peak_lr, warmup_steps, total_steps, final_lr):
    need_counts_or_zero(step=step, warmup_steps=warmup_steps)
    need_positive(peak_lr=peak_lr)
    need_positive_or_zero(final_lr=final_lr)
    need_counts(total_steps=total_steps)
    if total_steps <= warmup_steps:
        raise ValueError(f"total_steps must be above warmup_steps, not {{total_steps}}")
    {}
"""
NOISE_SCALE = """
def noise_scale(small_batch, small_grad_sq, big_batch, big_grad_sq):
    signal = (big_batch * big_grad_sq - small_batch * small_grad_sq) / (big_batch - small_batch)
    noise = (small_grad_sq - big_grad_sq) / (1 / small_batch - 1 / big_batch)
    {}
"""
STEPS_AND_EXAMPLES = """
def steps_and_examples(batch, critical_batch, min_steps):
    need_counts(batch=batch, min_steps=min_steps)
    need_positive(critical_batch=critical_batch)
    steps = {}
    return {}
"""

RAMP = "if step < warmup_steps:\n        return peak_lr * (step + 1) / warmup_steps\n    "
HOLD = "if step >= total_steps:\n        return final_lr\n    "
PROGRESS = "p = (step - warmup_steps) / (total_steps - warmup_steps)\n    "
WAVE = "return final_lr + (peak_lr - final_lr) * (1 + np.cos(np.pi * p)) / 2"
RIGHT_STEPS = "min_steps * (1 + critical_batch / batch)"


def _answers(**sources: str) -> dict[str, str]:
    return {f"{name}-answer": source for name, source in sources.items()}


def _cosine(*pieces: str) -> str:
    return COSINE_LR.format("".join(pieces))


STUDENTS = {
    "all-right": {},
    "takes-one-rule-for-all": {  # linear for Adam as well; warm-up as in transformers
        "answers": _answers(
            adam_factor="adam_factor = 4",
            scaled_lr=SCALED_LR.format("base_lr * ratio", "base_lr * ratio"),
            warmup_lr=WARMUP_LR.format("peak_lr * step / warmup_steps if step < warmup_steps else peak_lr"),
            noise_scale=NOISE_SCALE.format("return noise"),
            steps_and_examples=STEPS_AND_EXAMPLES.format(RIGHT_STEPS, "batch * steps, steps"),
            which_rule='which_rule = "a"',
        )
    },
    "takes-the-square-root-for-all": {
        "answers": _answers(
            sgd_rate="sgd_rate = 0.1 * (8192 / 256) ** 0.5",
            scaled_lr=SCALED_LR.format("base_lr * ratio ** 0.5", "base_lr * ratio ** 0.5"),
            warmup_lr=WARMUP_LR.format("min(peak_lr, peak_lr * (step + 1) / (warmup_steps + 1))"),
            noise_scale=NOISE_SCALE.format("return signal"),
            steps_and_examples=STEPS_AND_EXAMPLES.format(
                "min_steps * (1 + batch / critical_batch)", "steps, batch * steps"
            ),
        )
    },
    "swaps-things": {
        "answers": _answers(
            scaled_lr=SCALED_LR.format("base_lr * ratio ** 0.5", "base_lr * ratio"),
            warmup_lr=WARMUP_LR.format(
                "peak_lr if step >= warmup_steps - 1 else peak_lr * (step + 1) / (warmup_steps - 1)"
            ),
            cosine_lr=_cosine(
                "w = warmup_steps\n    if step < w:\n        return min(1, (step + 1) / (w - 1)) * peak_lr\n    ",
                HOLD,
                PROGRESS,
                WAVE,
            ),
            noise_scale=NOISE_SCALE.format("return signal / noise"),
            steps_and_examples=STEPS_AND_EXAMPLES.format("min_steps", "steps, batch * steps"),
        )
    },
    "does-not-scale": {
        "answers": _answers(
            sgd_rate="sgd_rate = 0.1",
            scaled_lr=SCALED_LR.format("base_lr", "base_lr"),
            warmup_lr=WARMUP_LR.format("peak_lr"),
            cosine_lr=_cosine("p = min(1, step / total_steps)\n    ", WAVE),
            noise_scale=NOISE_SCALE.format("return noise / big_grad_sq"),
            steps_and_examples=STEPS_AND_EXAMPLES.format(
                "min_steps * max(1, critical_batch / batch)", "steps, batch * steps"
            ),
            which_rule='which_rule = "c"',
        )
    },
    "turns-ratios-upside-down": {
        "answers": _answers(
            sgd_rate="sgd_rate = 0.1 * 256 / 8192",
            scaled_lr=SCALED_LR.format("base_lr / ratio", "base_lr / ratio ** 0.5"),
            warmup_lr=WARMUP_LR.format("peak_lr * (step + 1) / warmup_steps if 0 < warmup_steps >= step else peak_lr"),
            cosine_lr=_cosine(RAMP, HOLD, "p = step / total_steps\n    ", WAVE),
            noise_scale=NOISE_SCALE.format(
                "signal = (big_batch * small_grad_sq - small_batch * big_grad_sq) / (big_batch - small_batch)\n"
                "    return noise / signal"
            ),
            steps_and_examples=STEPS_AND_EXAMPLES.format(RIGHT_STEPS, "steps, critical_batch * min_steps"),
        )
    },
    "counts-gpus-only": {
        "answers": _answers(
            grown_batch_factor="grown_batch_factor = 8",
            scaled_lr=SCALED_LR.format("ratio", "ratio ** 0.5"),
            warmup_lr=WARMUP_LR.format("peak_lr * (step + 1) / max(1, warmup_steps)").replace(
                "    return", "    if warmup_steps == 0:\n        return peak_lr\n    return"
            ),
            cosine_lr=_cosine(RAMP, PROGRESS, WAVE),
            noise_scale=NOISE_SCALE.format(
                "signal = small_batch * big_grad_sq - big_batch * small_grad_sq\n    if signal <= 0:\n"
                '        raise ValueError("small_grad_sq and big_grad_sq leave no signal")\n    return noise / signal'
            ),
            steps_and_examples="import math\n"
            + STEPS_AND_EXAMPLES.format(f"math.ceil({RIGHT_STEPS})", "steps, batch * steps"),
            which_rule='which_rule = "d"',
        )
    },
    "forgets-where-it-started": {
        "answers": _answers(
            scaled_lr=SCALED_LR.format("base_lr * batch", "base_lr * batch ** 0.5"),
            warmup_lr=WARMUP_LR.format("peak_lr / warmup_steps if step < warmup_steps else peak_lr"),
            cosine_lr=_cosine(RAMP, HOLD, PROGRESS, "return peak_lr * (1 + np.cos(np.pi * p)) / 2"),
            noise_scale=NOISE_SCALE.format("return (small_grad_sq - big_grad_sq) / signal"),
            steps_and_examples=STEPS_AND_EXAMPLES.format(
                "min_steps / (1 + critical_batch / batch)", "steps, batch * steps"
            ),
            why_warm_up='why_warm_up = "b"',
        )
    },
    "rounds-and-cuts": {
        "answers": _answers(
            scaled_lr=SCALED_LR.replace("batch / base_batch", "batch // base_batch").format(
                "base_lr * ratio", "base_lr * ratio ** 0.5"
            ),
            warmup_lr=WARMUP_LR.format("peak_lr * min(1, (step + 1) // warmup_steps) if warmup_steps else peak_lr"),
            cosine_lr=_cosine(RAMP, HOLD, PROGRESS, "return max(final_lr, peak_lr * (1 + np.cos(np.pi * p)) / 2)"),
            noise_scale=NOISE_SCALE.format("return abs(noise / signal) ** 0.5"),
            why_warm_up='why_warm_up = "a"',
        )
    },
    "divides-by-zero": {
        "answers": _answers(
            scaled_lr=SCALED_LR.format("base_lr * ratio", "(base_lr * ratio) ** 0.5"),
            warmup_lr=WARMUP_LR.format("peak_lr * min(1, (step + 1) / warmup_steps)"),
            cosine_lr=_cosine(RAMP, HOLD, PROGRESS, "return final_lr + (peak_lr - final_lr) * np.cos(np.pi / 2 * p)"),
            noise_scale=NOISE_SCALE.format("return -noise / signal"),
        )
    },
    "counts-from-one": {  # refuses a step of 0, and what else may be 0
        "answers": _answers(
            warmup_lr=WARMUP_LR.replace(
                "need_counts_or_zero(step=step, ", "need_counts(step=step)\n    need_counts_or_zero("
            ).format("peak_lr * (step + 1) / warmup_steps if step < warmup_steps else peak_lr"),
            cosine_lr=_cosine(RAMP, HOLD, PROGRESS, WAVE)
            .replace("need_counts_or_zero(step=step, ", "need_counts(step=step)\n    need_counts_or_zero(")
            .replace("need_positive_or_zero", "need_positive"),
        )
    },
    "ends-one-step-early": {
        "answers": _answers(
            warmup_lr=WARMUP_LR.format("(step + 1) / warmup_steps if step < warmup_steps else 1.0"),
            cosine_lr=_cosine(RAMP, "p = min(1, (step - warmup_steps) / (total_steps - 1 - warmup_steps))\n    ", WAVE),
            noise_scale=NOISE_SCALE.format("return noise / (big_batch * big_grad_sq - small_batch * small_grad_sq)"),
        )
    },
    "right-values-no-refusals": {
        "answers": _answers(
            scaled_lr="def scaled_lr(rate, old, new, optimizer):\n"
            "    return rate * (new / old) ** (1 if optimizer == 'sgd' else 0.5)",
            warmup_lr="def warmup_lr(t, peak, w):\n    return peak * min(1, (t + 1) / max(1, w))",
            noise_scale=NOISE_SCALE.format("return noise / signal"),
            steps_and_examples="def steps_and_examples(b, critical, least):\n"
            "    return [least + least * critical / b, least * (b + critical)]",
        )
    },
    "never-shrinks": {
        "answers": _answers(
            adam_factor="adam_factor = 2 ** 0.5",
            scaled_lr=SCALED_LR.replace("batch / base_batch", "max(1, batch / base_batch)").format(
                "base_lr * ratio", "base_lr * ratio ** 0.5"
            ),
            warmup_lr=WARMUP_LR.format("0.0 if step < warmup_steps else peak_lr"),
            cosine_lr=_cosine("if step < warmup_steps:\n        return 0.0\n    ", HOLD, PROGRESS, WAVE),
            noise_scale=NOISE_SCALE.format("return (small_grad_sq - big_grad_sq) * small_batch / big_grad_sq"),
            steps_and_examples=STEPS_AND_EXAMPLES.format("min_steps * critical_batch / batch", "steps, batch * steps"),
        )
    },
    "squares-once-more": {
        "answers": _answers(
            scaled_lr=SCALED_LR.format("base_lr * ratio", "base_lr * ratio ** 2"),
            noise_scale=NOISE_SCALE.replace("_grad_sq -", "_grad_sq**2 -")
            .replace("small_batch * small_grad_sq)", "small_batch * small_grad_sq**2)")
            .replace("- big_grad_sq)", "- big_grad_sq**2)")
            .format("return noise / signal"),
            steps_and_examples=STEPS_AND_EXAMPLES.replace(
                "min_steps=min_steps", "min_steps=min_steps, critical_batch=critical_batch"
            ).format(RIGHT_STEPS, "steps, batch * steps"),
        )
    },
    "halves-for-the-root": {
        "answers": _answers(scaled_lr=SCALED_LR.format("base_lr * ratio", "base_lr * ratio ** 1 / 2")),
    },
    "half-done": {
        "blank": True,
        "answers": _answers(
            sgd_rate="sgd_rate = 3.2",
            grown_batch_factor="grown_batch_factor = 32.0",
            adam_factor="adam_factor = np.sqrt(4)",
            scaled_lr=SCALED_LR.format("base_lr * ratio", "base_lr * ratio ** 0.5"),
            warmup_lr=WARMUP_LR.format("min(1.0, (step + 1) / max(warmup_steps, 1)) * peak_lr"),
        ),
    },
    "blank": {"blank": True},
}
