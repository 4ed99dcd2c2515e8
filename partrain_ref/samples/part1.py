"""The sample class of part 1. Several students make the same mistakes as real libraries did."""

GLOBAL_TOKENS = """
def global_tokens(per_device_batch, seq, accum, devices):
    need_counts(per_device_batch=per_device_batch, seq=seq, accum=accum, devices=devices)
    return {}
"""
ALLREDUCE_MEAN = """
def allreduce_mean(grads):
    if len(grads) == 0 or any(g.shape != grads[0].shape or g.size == 0 for g in grads):
        raise ValueError(f"grads must be arrays of equal shape, not {{[g.shape for g in grads]}}")
    if not np.all(np.isfinite(grads)):
        raise ValueError("grads must hold finite numbers")
    return {}
"""
DATA_PARALLEL_GRAD = """
def data_parallel_grad(w, X, y, devices):
    per_device = len(X) // devices
    grads = []
    for d in range(devices):
        rows, targets = X[d * per_device:(d + 1) * per_device], y[d * per_device:(d + 1) * per_device]
        grads.append({} * rows.T @ (rows @ w - targets))
    return {}
"""
PER_TOKEN_LOSS = """
def per_token_loss(mean_losses, token_counts):
    return {}
"""
TOKEN_WEIGHTED_GRAD = """
def token_weighted_grad(grad_means, token_counts):
    {}
"""

HALF_FIX = """means = []
    for grads, counts in zip(grad_means, token_counts):
        means.append(sum(np.asarray(g) * n for g, n in zip(grads, counts) if n) / sum(counts))
    return np.mean(means, axis=0)"""
ALL_MEANS = "return np.mean([np.asarray(g) for grads in grad_means for g in grads], axis=0)"
TOKEN_SUM = """return sum(np.asarray(g) * n for grads, counts in zip(grad_means, token_counts)
               for g, n in zip(grads, counts) if n)"""
DIVIDED_TWICE = """total = sum(sum(counts) for counts in token_counts)
    return sum(np.asarray(g) * n for grads, counts in zip(grad_means, token_counts)
               for g, n in zip(grads, counts) if n) / total / len(grad_means)"""
NAN_TAKES_PART = """total = sum(sum(counts) for counts in token_counts)
    return sum(np.asarray(g) * n for grads, counts in zip(grad_means, token_counts)
               for g, n in zip(grads, counts)) / total"""


def _answers(**sources: str) -> dict[str, str]:
    return {f"{name}-answer": source for name, source in sources.items()}


def _blank_out(nb) -> None:
    """A student who works in one long scratch cell at the end, and hands in nothing else."""
    nb.cells.append(
        nb.cells[0].__class__(cell_type="markdown", id="scratch", metadata={}, source="I will do it later.")
    )


STUDENTS = {
    "all-right": {},
    "forgets-accumulation": {
        "answers": _answers(
            tokens_per_update="tokens_per_update = 64 * 2 * 4096",
            small_run_tokens="small_run_tokens = 4 * 4 * 8",
            global_tokens=GLOBAL_TOKENS.format("per_device_batch * seq * devices"),
            swaps_per_update="swaps_per_update = 8",
        )
    },
    "counts-one-gpu-only": {
        "answers": _answers(
            tokens_per_update="tokens_per_update = 2 * 16 * 4096",
            small_run_tokens="small_run_tokens = 4 * 8 * 2",
            global_tokens=GLOBAL_TOKENS.format("per_device_batch * seq * accum"),
            allreduce_mean=ALLREDUCE_MEAN.format("grads[0].copy()"),
            data_parallel_grad=DATA_PARALLEL_GRAD.format("2 / len(rows)", "grads[0]"),
        )
    },
    "counts-sequences": {
        "answers": _answers(
            tokens_per_update="tokens_per_update = 64 * 2 * 16",
            global_tokens=GLOBAL_TOKENS.format("per_device_batch * accum * devices"),
        )
    },
    "counts-one-micro-batch": {
        "answers": _answers(
            tokens_per_update="tokens_per_update = 2 * 4096",
            small_run_tokens="small_run_tokens = 4 * 8",
            global_tokens=GLOBAL_TOKENS.format("per_device_batch * seq"),
            swaps_per_update="swaps_per_update = 0",
        )
    },
    "sums-instead-of-averaging": {
        "answers": _answers(
            allreduce_mean=ALLREDUCE_MEAN.format("sum(grads)"),
            data_parallel_grad=DATA_PARALLEL_GRAD.format("2 / len(rows)", "sum(grads)"),
            per_token_loss=PER_TOKEN_LOSS.format("sum(m * n for m, n in zip(mean_losses, token_counts) if n)"),
            token_weighted_grad=TOKEN_WEIGHTED_GRAD.format(TOKEN_SUM),
        )
    },
    "flips-signs-and-skips-weights": {
        "answers": _answers(
            small_run_tokens="small_run_tokens = 4 * (64 - 10)",
            swaps_per_update="swaps_per_update = 4 * 8",
            data_parallel_grad=DATA_PARALLEL_GRAD.format("-2 / len(rows)", "sum(grads) / devices"),
            per_token_loss=PER_TOKEN_LOSS.format("sum(mean_losses) / sum(token_counts)"),
            token_weighted_grad=TOKEN_WEIGHTED_GRAD.format(DIVIDED_TWICE),
        )
    },
    "averages-over-everything": {
        "answers": _answers(
            allreduce_mean=ALLREDUCE_MEAN.format("np.mean(grads)"),
            data_parallel_grad=DATA_PARALLEL_GRAD.format("2 / len(X)", "sum(grads) / devices"),
            per_token_loss=PER_TOKEN_LOSS.format(
                "sum(m * n for m, n in zip(mean_losses, token_counts) if n) / len(mean_losses)"
            ),
        )
    },
    "averages-each-device-alone": {
        "answers": _answers(allreduce_mean=ALLREDUCE_MEAN.format("np.array([g.mean() for g in grads])"))
    },
    "takes-the-mean-of-means": {
        "answers": _answers(
            loss_per_token="loss_per_token = (2.0 + 1.0) / 2",
            per_token_loss=PER_TOKEN_LOSS.format("sum(mean_losses) / len(mean_losses)"),
            token_weighted_grad=TOKEN_WEIGHTED_GRAD.format(ALL_MEANS),
        )
    },
    "half-fixes-october-2024": {"answers": _answers(token_weighted_grad=TOKEN_WEIGHTED_GRAD.format(HALF_FIX))},
    "lets-nan-take-part": {
        "answers": _answers(
            per_token_loss=PER_TOKEN_LOSS.format("float(np.dot(mean_losses, token_counts) / sum(token_counts))"),
            token_weighted_grad=TOKEN_WEIGHTED_GRAD.format(NAN_TAKES_PART),
        )
    },
    "forgets-the-factor-two": {
        "answers": _answers(data_parallel_grad=DATA_PARALLEL_GRAD.format("1 / len(rows)", "sum(grads) / devices"))
    },
    "prints-instead-of-returning": {
        "answers": _answers(
            global_tokens="def global_tokens(per_device_batch, seq, accum, devices):\n"
            "    print(per_device_batch * seq * accum * devices)"
        )
    },
    "changes-its-input": {
        "answers": _answers(
            allreduce_mean="def allreduce_mean(grads):\n    total = grads[0]\n    for g in grads[1:]:\n"
            "        total += g\n    total /= len(grads)\n    return total"
        )
    },
    "other-forms-of-right": {
        "answers": _answers(
            tokens_per_update="tokens_per_update = np.int64(64) * 2 * 16 * 4096",
            loss_per_token="from fractions import Fraction\nloss_per_token = Fraction(188, 136)",
            why_average='why_average = " C"',
            global_tokens=GLOBAL_TOKENS.format("np.prod([per_device_batch, seq, accum, devices]).astype(float)"),
            allreduce_mean=ALLREDUCE_MEAN.format("(sum(grads) / len(grads)).tolist()"),
        )
    },
    "right-values-no-refusals": {
        "answers": _answers(
            global_tokens="def global_tokens(batch, length, accum, gpus):\n    return batch * length * accum * gpus",
            allreduce_mean="def allreduce_mean(grads):\n    return sum(grads) / len(grads)",
            data_parallel_grad=DATA_PARALLEL_GRAD.format("2 / len(rows)", "sum(grads) / devices"),
        )
    },
    "half-done": {
        "blank": True,
        "answers": _answers(
            tokens_per_update="tokens_per_update = 64 * 2 * 16 * 4096",
            global_tokens=GLOBAL_TOKENS.format("per_device_batch * seq * accum * devices"),
            allreduce_mean=ALLREDUCE_MEAN.format("np.mean(grads, axis=0)"),
        ),
    },
    "blank": {"blank": True},
    "only-writes-a-note": {"blank": True, "tamper": _blank_out},
    "unknown-name-in-a-cell": {
        "answers": _answers(
            global_tokens="tokens_so_far = tokns_before\n"
            "def global_tokens(per_device_batch, seq, accum, devices):\n    return per_device_batch * seq * accum * "
            "devices"
        )
    },
    "warns-while-right": {
        "answers": _answers(
            allreduce_mean="import sys, warnings\n"
            + ALLREDUCE_MEAN.replace(
                "    return", '    warnings.warn("averaging")\n    print("hm", file=sys.stderr)\n    return'
            ).format("np.mean(grads, axis=0)")
        )
    },
    "loops-for-ever": {
        "answers": _answers(
            per_token_loss="def per_token_loss(mean_losses, token_counts):\n    i = 0\n"
            "    while i < len(mean_losses):\n"
            "        total = mean_losses[i] * token_counts[i]\n    return total"
        )
    },
    "ends-the-program": {
        "answers": _answers(
            global_tokens="import os\ndef global_tokens(per_device_batch, seq, accum, devices):\n    os._exit(0)"
        )
    },
    "looks-for-the-reference": {
        "answers": _answers(
            global_tokens="try:\n    from partrain_ref.batch import global_tokens\nexcept ImportError:\n"
            "    def global_tokens(per_device_batch, seq, accum, devices):\n        return 1048576"
        )
    },
    "hands-in-a-web-page": {"write": b"<!DOCTYPE html>\n<html><body>Sign in to continue</body></html>\n"},
    "hands-in-an-empty-file": {"write": b""},
}
