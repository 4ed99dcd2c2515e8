"""The sample class of part 7. Most count the wrong bytes, or the wrong operations, as public calculators do."""

SPEEDUP = "def speedup(t_single, t_compute, t_comm):\n    return {}"
RING = """
def ring_allreduce(arrays):
    n, S = len(arrays), arrays[0].nbytes
    held = [np.array_split(array, n) for array in arrays]
    sent = [0] * n
    for step in range({steps}):
        chunks = [held[d][(d - step) % n] for d in range(n)]
        for d, chunk in enumerate(chunks):
            after, c = (d + 1) % n, (d - step) % n
            held[after][c] = held[after][c] + chunk if step < n - 1 else chunk
            sent[d] += {counted}
    held = [np.concatenate(chunks) for chunks in held]
    return {held}, {sent}
"""
SECONDS = "def allreduce_seconds(nbytes, devices, bandwidth, latency):\n    n = devices\n    return {}"
FLOPS = "def train_flops(params, tokens):\n    return {}"
DAYS = """
def training_days(params, tokens, devices, flops_per_device, recompute=False):
    operations = params * tokens * ({})
    return {}
"""
SHARE = "def utilisation(params, tokens_per_second, devices, peak_flops):\n    return {}"
STEPS = "def optimizer_steps(tokens, tokens_per_update):\n    return {}"
CELL = """
def inconsistent_cell(table):
    for at, row in enumerate(table):
        gpus = {} == row["gpus"]
        tokens = {} == row["tokens"]
        if not (gpus and tokens):
            return {}
"""
GPUS = 'row["tp"] * row["cp"] * row["pp"] * row["dp"]'
TOKENS = 'round(row["dp"] * row["batch_per_dp"] * row["seq"] / 2**20)'
COLUMN = '"gpus" if tokens else "tokens" if gpus else "dp"'
EXACT = "-(-tokens // tokens_per_update)"


def _ring(steps="2 * (n - 1)", counted="chunk.nbytes", held="held", sent="sent"):
    return RING.format(steps=steps, counted=counted, held=held, sent=sent)


def _days(each="8 if recompute else 6", days="operations / (devices * flops_per_device) / 86400"):
    return DAYS.format(each, days)


def _cell(gpus=GPUS, tokens=TOKENS, answer=f"at, {COLUMN}"):
    return CELL.format(gpus, tokens, answer)


def _answers(**sources: str) -> dict[str, dict[str, str]]:
    """A number or letter is given as it is typed, a function as its source."""
    written = {name: text if "def " in text else f"{name} = {text}" for name, text in sources.items()}
    return {"answers": {f"{name}-answer": text for name, text in written.items()}}


STUDENTS = {
    "all-right": {},
    "divides-by-the-gpus": _answers(
        speedup_8="8",
        speedup=SPEEDUP.format("t_single / t_compute"),
        ring_gb="1 / 8",
        ring_allreduce=_ring(sent="[2 * (n - 1) / n * S] * n"),
        allreduce_seconds=SECONDS.format("2 * (n - 1) / n * (latency + nbytes / bandwidth)"),
        is_division_enough='"a"',
    ),
    "counts-elements": _answers(
        speedup_8="100 * 80 / 12 / 8",
        ring_allreduce=_ring(counted="chunk.size"),
        allreduce_seconds=SECONDS.format("2 * (n - 1) * (latency + nbytes / 8 / n / bandwidth)"),
        flops_small="600",
        train_flops=FLOPS.format("6 * params * tokens / 1e12"),
        training_days=_days(days="operations / (devices * flops_per_device)"),
        utilisation=SHARE.format("100 * 6 * params * tokens_per_second / (devices * peak_flops)"),
        updates_for_300b="300e9",
        inconsistent_cell=_cell(tokens=TOKENS.replace("2**20", "1e6")),
    ),
    "counts-bits": _answers(
        ring_gb="1.75e9 / 2**30",
        ring_allreduce=_ring(counted="8 * chunk.nbytes"),
        allreduce_seconds=SECONDS.format("2 * (n - 1) * (latency + 8 * nbytes / n / bandwidth)"),
        flops_small="0.6",
        training_days=_days(days="operations / (devices * flops_per_device) / 3600"),
        updates_for_300b="8_388_608",
    ),
    "returns-one-result": _answers(
        speedup_8="12 / 80",
        speedup=SPEEDUP.format("(t_compute + t_comm) / t_single"),
        ring_gb="1.75e9",
        ring_allreduce=_ring(held="held[0]"),
        training_days=_days(days="operations / flops_per_device / 3600"),
        utilisation=SHARE.format("devices * peak_flops / (6 * params * tokens_per_second)"),
        optimizer_steps=STEPS.format("-(-tokens_per_update // tokens)"),
        inconsistent_cell=_cell(answer=f"{COLUMN}, at"),
    ),
    "averages-and-takes-turns": _answers(
        speedup_8="10 / 12",
        speedup=SPEEDUP.format("t_single / max(t_compute, t_comm)"),
        ring_allreduce=_ring(held="[array / n for array in held]"),
        allreduce_seconds=SECONDS.format("latency + 2 * (n - 1) / n * nbytes / bandwidth"),
        train_flops=FLOPS.format("3 * params * tokens"),
        flops_small="3e14",
        optimizer_steps=STEPS.format("round(tokens / tokens_per_update)"),
        what_6nd_omits='"c"',
    ),
    "stops-half-way": _answers(
        ring_gb="0.875",
        ring_allreduce=_ring(steps="n - 1"),
        allreduce_seconds=SECONDS.format("(n - 1) * (latency + nbytes / n / bandwidth)"),
        flops_small="2e14",
        train_flops=FLOPS.format("2 * params * tokens"),
        training_days=_days(each="4 if recompute else 2"),
        utilisation=SHARE.format("2 * params * tokens_per_second / (devices * peak_flops)"),
        updates_for_300b="35_762",
        optimizer_steps=STEPS.format("tokens // tokens_per_update"),
        inconsistent_cell=_cell(tokens='row["tokens"]'),
    ),
    "adds-up-on-one-device": _answers(
        speedup_8="82 / 12",
        speedup=SPEEDUP.format("(t_single + t_comm) / (t_compute + t_comm)"),
        ring_allreduce=_ring(held="held[:1] + [array.copy() for array in arrays[1:]]"),
        training_days=_days(days="operations / flops_per_device / 86400"),
        utilisation=SHARE.format("6 * params * tokens_per_second / peak_flops"),
        inconsistent_cell=_cell(gpus='row["gpus"]', answer='at, "dp"'),
    ),
    "loses-what-is-left-over": _answers(
        ring_allreduce=_ring(
            held="[np.concatenate([h[: len(h) // n * n], a[len(h) // n * n :]]) for h, a in zip(held, arrays)]",
        ),
        allreduce_seconds=SECONDS.format("2 * (n - 1) / n * nbytes / bandwidth"),
        flops_small="6e6",
        train_flops=FLOPS.format("6 * params"),
        training_days=_days(each="6"),
        optimizer_steps=STEPS.format("tokens / tokens_per_update"),
        inconsistent_cell=_cell(tokens=TOKENS.replace("round", "")),
    ),
    "counts-the-padding": _answers(
        ring_gb="2",
        ring_allreduce=_ring(counted="8 * -(-len(arrays[0]) // n)"),
        allreduce_seconds=SECONDS.format("2 * (n - 1) * latency + 2 * nbytes / bandwidth"),
        flops_small="8e14",
        train_flops=FLOPS.format("8 * params * tokens"),
        training_days=_days(each="8"),
        utilisation=SHARE.format("8 * params * tokens_per_second / (devices * peak_flops)"),
        optimizer_steps=STEPS.format("tokens // tokens_per_update + 1"),
    ),
    "sends-all-through-device-0": _answers(
        speedup_8="80 - 12",
        speedup=SPEEDUP.format("t_single - t_compute - t_comm"),
        ring_gb="7",
        ring_allreduce=_ring(sent="[(n - 1) * S] + [S] * (n - 1)"),
        allreduce_seconds=SECONDS.format("(n - 1) * latency + 2 * (n - 1) / n * nbytes / bandwidth"),
        training_days=_days(each="6 if recompute else 8"),
        inconsistent_cell=_cell(answer=f"at, {COLUMN}".replace('gpus" if tokens', 'pp" if tokens')),
    ),
    "sends-whole-arrays-2n-times": _answers(
        ring_gb="16",
        ring_allreduce=_ring(sent="[2 * n * S] * n"),
        allreduce_seconds=SECONDS.format("2 * n * latency + 2 * (n - 1) / n * nbytes / bandwidth"),
        training_days=_days(each="12 if recompute else 6"),
        what_6nd_omits='"d"',
    ),
    "sends-whole-arrays-each-step": _answers(
        ring_gb="14",
        ring_allreduce=_ring(counted="S"),
        allreduce_seconds=SECONDS.format("2 * (n - 1) * (latency + nbytes / bandwidth)"),
        is_division_enough='"b"',
        training_days=_days(each="10 if recompute else 6"),
    ),
    "sends-the-array-to-everyone": _answers(
        ring_gb="7",
        ring_allreduce=_ring(sent="[(n - 1) * S] * n"),
        allreduce_seconds=SECONDS.format("(n - 1) * (latency + nbytes / bandwidth)"),
        updates_for_300b="37_500",
        training_days=_days(each="7 if recompute else 6"),
    ),
    "sends-the-array-once": _answers(
        speedup_8="8 - 2",
        speedup=SPEEDUP.format("t_single / t_compute - t_comm"),
        ring_gb="1",
        ring_allreduce=_ring(sent="[S] * n"),
        allreduce_seconds=SECONDS.format("2 * (n - 1) * latency + nbytes / bandwidth"),
        flops_small="1e14",
        train_flops=FLOPS.format("params * tokens"),
        utilisation=SHARE.format("params * tokens_per_second / (devices * peak_flops)"),
        inconsistent_cell=_cell(answer=f"at + 1, {COLUMN}"),
    ),
    "goes-one-step-too-far": _answers(
        speedup_8="80 / 2",
        speedup=SPEEDUP.format("t_single / t_compute + t_comm"),
        ring_allreduce=_ring(steps="2 * n"),
        allreduce_seconds=SECONDS.format("2 * (n - 1) * latency + 2 * (n - 1) / n * nbytes * bandwidth"),
        updates_for_300b="286_103",
        utilisation=SHARE.format("6 * params * tokens_per_second / devices**2 / peak_flops"),
        inconsistent_cell=_cell(gpus=GPUS.replace(' * row["cp"]', "")),
    ),
    "counts-four-bytes": _answers(
        ring_allreduce=_ring(counted="4 * chunk.size"),
        allreduce_seconds=SECONDS.format("2 * (n - 1) * latency + nbytes / n / bandwidth"),
        flops_small="4e14",
        train_flops=FLOPS.format("4 * params * tokens"),
        training_days=_days(days="devices * flops_per_device * 86400 / operations"),
        utilisation=SHARE.format("6 * params * tokens_per_second / (2 * devices * peak_flops)"),
        is_division_enough='"d"',
        inconsistent_cell=_cell(answer='at, "gpus"'),
    ),
    "adds-up-in-its-own-order": _answers(
        ring_allreduce=_ring(held="[sum(arrays[d:] + arrays[:d]) for d in range(n)]"),
        utilisation=SHARE.format("6 * params * tokens_per_second"),
        what_6nd_omits='"a"',
        inconsistent_cell=_cell(answer='at, "dp"'),
    ),
    "other-forms-of-right": _answers(
        speedup_8="np.float64(6.66666667)",
        ring_allreduce=_ring(held="np.array(held)", sent="np.array(sent)")
        .replace("d + 1) % n, (d", "d - 1) % n, (d")
        .replace("(d - step) % n", "(d + step) % n"),
        flops_small="600 * 10**12",
        optimizer_steps=STEPS.format("np.ceil(tokens / tokens_per_update)"),
        is_division_enough='" C "',
        inconsistent_cell=_cell(answer=f"[np.int64(at), {COLUMN}]"),
    ),
    "right-values-no-refusals": _answers(
        speedup=SPEEDUP.format("t_single / (t_compute + t_comm)"),
        ring_allreduce=_ring(),
        allreduce_seconds=SECONDS.format("2 * (n - 1) * (latency + nbytes / n / bandwidth)"),
        train_flops=FLOPS.format("6 * params * tokens"),
        training_days=_days(),
        utilisation=SHARE.format("6 * params * tokens_per_second / (devices * peak_flops)"),
        optimizer_steps=STEPS.format(EXACT),
        inconsistent_cell=_cell(),
    ),
    "half-done": {
        "blank": True,
        **_answers(
            speedup_8="6.667",
            speedup=SPEEDUP.format("t_single / (t_compute + t_comm)"),
            ring_gb="1.75",
            ring_allreduce=_ring(steps="n - 1"),
            flops_small="6e14",
            train_flops=FLOPS.format("6 * params * tokens"),
        ),
    },
    "blank": {"blank": True},
}
