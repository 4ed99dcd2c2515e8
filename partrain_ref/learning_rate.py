"""Part 2: the learning rate for a bigger batch, its warm-up and decay, and when a bigger batch stops paying."""

from __future__ import annotations

import math

from partrain_ref import _need

GROWTH = {"sgd": lambda ratio: ratio, "adam": math.sqrt}  # what the rate is multiplied by when the batch is


def scaled_lr(base_lr: float, base_batch: int, batch: int, optimizer: str) -> float:
    """The learning rate for effective batch `batch`, from one that works at `base_batch`, both in the same unit.

    optimizer: "sgd" (linear rule) or "adam" (square-root rule; the rate's part of it: betas and epsilon change too).
    Raises ValueError for a rate that is not above 0, batches that are not whole or below 1, another optimizer.
    Sources: Goyal et al., arXiv 1706.02677, section 2.1; Malladi et al., arXiv 2205.10287.
    """
    base_lr = _need.positive("base_lr", base_lr)
    base_batch, batch = _need.whole("base_batch", base_batch), _need.whole("batch", batch)
    if not isinstance(optimizer, str) or optimizer not in GROWTH:
        raise ValueError(f"optimizer must be one of {', '.join(map(repr, GROWTH))}, not {optimizer!r}")
    return base_lr * GROWTH[optimizer](batch / base_batch)


def warmup_lr(step: int, peak_lr: float, warmup_steps: int) -> float:
    """The rate of optimizer step number `step`, counted from 0: peak·(step + 1)/warmup_steps, then the peak.

    So step 0 already moves, and step warmup_steps − 1 is the first with the full rate; warmup_steps 0 means the full
    rate at once. Raises ValueError for a rate that is not above 0 and steps that are not whole or are negative.
    """
    step, warmup_steps = _need.whole("step", step, least=0), _need.whole("warmup_steps", warmup_steps, least=0)
    peak_lr = _need.positive("peak_lr", peak_lr)
    return peak_lr * (step + 1) / warmup_steps if step < warmup_steps else peak_lr


def cosine_lr(step: int, peak_lr: float, warmup_steps: int, total_steps: int, final_lr: float) -> float:
    """`warmup_lr`, then half a cosine from the peak at step warmup_steps to `final_lr` at step total_steps and after.

    Raises ValueError as `warmup_lr` does, for a negative `final_lr` and for total_steps not above warmup_steps.
    """
    total_steps, final_lr = _need.whole("total_steps", total_steps), _need.not_negative("final_lr", final_lr)
    rate = warmup_lr(step, peak_lr, warmup_steps)
    step, warmup_steps = int(step), int(warmup_steps)
    if total_steps <= warmup_steps:
        raise ValueError(f"total_steps must be above warmup_steps = {warmup_steps}, not {total_steps}")
    if step < warmup_steps:
        return rate
    if step >= total_steps:
        return final_lr
    progress = (step - warmup_steps) / (total_steps - warmup_steps)
    return final_lr + (rate - final_lr) * (1 + math.cos(math.pi * progress)) / 2


def noise_scale(small_batch: int, small_grad_sq: float, big_batch: int, big_grad_sq: float) -> float:
    """tr(Σ)/|G|², in the unit of the batches, from the squared length of the gradient at two batch sizes.

    The squared length is |G|² + tr(Σ)/batch on average, which gives both. Average them over many steps first: single
    estimates are noisy. Raises ValueError for batches that are not whole or below 1, a big_batch that is not above
    small_batch, squared lengths that are not above 0, and where the estimate of |G|² is not positive.
    Source: McCandlish et al., arXiv 1812.06162, appendix A.1.
    """
    small_batch, big_batch = _need.whole("small_batch", small_batch), _need.whole("big_batch", big_batch)
    small_sq, big_sq = _need.positive("small_grad_sq", small_grad_sq), _need.positive("big_grad_sq", big_grad_sq)
    if big_batch <= small_batch:
        raise ValueError(f"big_batch must be above small_batch = {small_batch}, not {big_batch}")
    signal = (big_batch * big_sq - small_batch * small_sq) / (big_batch - small_batch)
    noise = (small_sq - big_sq) * small_batch * big_batch / (big_batch - small_batch)  # ÷ (1/small − 1/big)
    if not signal > 0:
        raise ValueError(
            f"small_grad_sq = {small_grad_sq!r} and big_grad_sq = {big_grad_sq!r} make |G|² {signal!r}, which is not "
            "positive: average over more steps first"
        )
    return noise / signal


def steps_and_examples(batch: int, critical_batch: float, min_steps: int) -> tuple[float, float]:
    """Optimizer steps, and examples, that training to a fixed loss takes at `batch`; neither is rounded.

    min_steps: the steps that an endless batch would take. The result's examples are in the unit of the batches. Steps
    are S_min (1 + B_crit/B), examples B times that. Raises ValueError for a batch or min_steps that is not a whole
    number of at least 1 and a critical_batch that is not above 0. Source: Kaplan et al., arXiv 2001.08361, section 5.1.
    """
    batch, min_steps = _need.whole("batch", batch), _need.whole("min_steps", min_steps)
    steps = min_steps * (1 + _need.positive("critical_batch", critical_batch) / batch)
    return steps, batch * steps
