"""The sample class of part 8. Each forgets one part of a plan, as people do who plan their first run."""

REPLICAS = "def replicas(gpus, tensor_parallel, pipeline_parallel):\n    return {}"
FITS = """
def fits(plan, model, gpu, gpus_per_node):
    t, p, d = plan.tensor_parallel, plan.pipeline_parallel, plan.data_parallel
    b, m = plan.micro_batch, plan.accumulation
    own, shared, stage = {own}, {shared}, {stage}
    state = own * (2 / (shared if stage > 2 else 1) + 2 / (shared if stage > 1 else 1) + 12 / (shared if stage else 1))
    kept = {kept}
    rules = [
        ("divisible", {divisible}),
        ("node", {node}),
        ("micro-batches", {micro}),
        ("memory", {memory} > gpu.memory_bytes),
    ]
    for reason, broken in {rules}:
        if broken:
            return False, reason
    return True, {word}
"""
STEP = """
def step_seconds(plan, model, cluster):
    t, p, d = plan.tensor_parallel, plan.pipeline_parallel, plan.data_parallel
    b, m = plan.micro_batch, plan.accumulation
    inside, between, wait = cluster.bandwidth_inside, cluster.bandwidth_between, {wait}
    own = {own}

    def ring(nbytes, n, bandwidth):
        return 2 * (n - 1) * (wait + nbytes / n / bandwidth)

    message = {size} * b * model.seq * model.hidden
    computing = {flops} * own * b * model.seq / ({rate})
    tensor = {tensor}
    handing_on = {handing_on}
    passes = {passes}
    gradients = passes / 2 * ring({size} * own, d, {network})
    return {update}
"""
RUN = """
def plan_run(model, cluster):
    interval = {interval}
    best, least = None, float("inf")
    for t in {groups}:
        for p in range(1, model.layers + 1):
            if cluster.gpus % (t * p) or model.heads % t or model.layers % p:
                continue
            d = {d}
            if d < 1 or model.batch % d:
                continue
            for b in [b for b in range(1, model.batch // d + 1) if model.batch // d % b == 0]:
                for stage in range(4):
                    m = {m}
                    one = Plan(t, p, d, stage, b, m, interval)
                    if {good}:
                        cost = {cost}
                        if cost < least:
                            best, least = one, cost
    if best is None:
        raise ValueError("no plan fits")
    return {answer}
"""
WHY = (
    "Eight GPUs share each matrix, since that traffic should stay in a node. Four stages and sharded optimizer state "
    "leave room in the memory. The other GPUs make 32 replicas, which divide the batch. Overlap is not in the model."
)


def _fits(**changed):
    usual = {
        "own": "model.params / (t * p)",
        "shared": "d",
        "stage": "plan.stage",
        "kept": "2 * model.seq * b * model.hidden * model.layers",
        "divisible": "model.heads % t or model.layers % p or d * b * m != model.batch",
        "node": "gpus_per_node % t",
        "micro": "m < p",
        "memory": "state + kept",
        "rules": "rules",
        "word": '"fits"',
    }
    return FITS.format(**(usual | changed))


def _step(**changed):
    usual = {
        "wait": "cluster.latency",
        "own": "model.params / (t * p)",
        "size": "2",
        "flops": "8",
        "rate": "cluster.gpu.peak_flops * cluster.gpu.efficiency",
        "tensor": "6 * model.layers / p * ring(message, t, inside)",
        "handing_on": "2 * (wait + message / between) if p > 1 else 0",
        "passes": "(2, 2, m + 1, 3 * m)[plan.stage]",
        "network": "between",
        "update": "(m + p - 1) * (computing + tensor + handing_on) + gradients",
    }
    return STEP.format(**(usual | changed))


def _run(**changed):
    usual = {
        "interval": "(2 * cluster.save_seconds * cluster.device_mtbf / cluster.gpus) ** 0.5",
        "groups": "range(1, cluster.gpus_per_node + 1)",
        "d": "cluster.gpus // (t * p)",
        "m": "model.batch // (d * b)",
        "good": "fits(one, model, cluster.gpu, cluster.gpus_per_node)[0]",
        "cost": "step_seconds(one, model, cluster)",
        "answer": "best",
    }
    return RUN.format(**(usual | changed))


def _answers(**sources: str) -> dict[str, dict[str, str]]:
    """A letter is given as it is typed, a function as its source, the written answer as its text."""
    written = {name: text if "def " in text else f"{name} = {text}" for name, text in sources.items()}
    return {"answers": {f"{name}-answer": text for name, text in written.items()}}


STUDENTS = {
    "all-right": {"answers": {"why_this_plan": WHY}},
    "counts-all-gpus": _answers(
        replicas=REPLICAS.format("gpus"),
        fits=_fits(shared="d * t * p"),
        step_seconds=_step(own="model.params"),
        plan_run=_run(d="cluster.gpus // (t * p) // 2", good="m >= p", cost="p - stage"),
    ),
    "forgets-the-stages": _answers(
        replicas=REPLICAS.format("gpus // tensor_parallel"),
        fits=_fits(kept="2 * model.seq * b * model.hidden * model.layers / p"),
        step_seconds=_step(handing_on="0"),
    ),
    "forgets-the-groups": _answers(
        replicas=REPLICAS.format("gpus // pipeline_parallel"),
        fits=_fits(own="model.params / p"),
        step_seconds=_step(tensor="0"),
        plan_run=_run(m="model.batch // (d * b) + 1", good="m >= p", cost="p"),
    ),
    "forgets-the-bubble": _answers(
        step_seconds=_step(update="m * (computing + tensor + handing_on) + gradients"),
        what_stays_inside='"b"',
    ),
    "forgets-the-traffic": _answers(
        step_seconds=_step(update="(m + p - 1) * computing"),
        what_stays_inside='"d"',
    ),
    "forgets-the-activations": _answers(
        fits=_fits(kept="0"), step_seconds=_step(update="(m + p - 1) * (computing + tensor + handing_on)")
    ),
    "keeps-everything": _answers(
        fits=_fits(
            kept="model.layers * model.seq * b * (model.hidden * (10 + 24 / t) + 5 * model.heads * model.seq / t)"
        ),
        step_seconds=_step(flops="6", tensor="4 * model.layers / p * ring(message, t, inside)"),
        what_the_rate_includes='"a"',
    ),
    "keeps-all-micro-batches": _answers(
        fits=_fits(kept="2 * model.seq * b * model.hidden * model.layers / p * m"),
        step_seconds=_step(update="p * (computing + tensor + handing_on) + gradients"),
    ),
    "splits-the-inputs": _answers(
        fits=_fits(kept="2 * model.seq * b * model.hidden * model.layers / t"),
        step_seconds=_step(tensor="6 * model.layers * ring(message, t, inside)"),
    ),
    "ignores-the-sharding": _answers(fits=_fits(stage="0"), step_seconds=_step(passes="2")),
    "weighs-the-weights-alone": _answers(fits=_fits(memory="2 * own + kept"), step_seconds=_step(size="1")),
    "one-network-for-all": _answers(
        fits=_fits(node="t > gpus_per_node"),
        step_seconds=_step(network="inside", handing_on="2 * (wait + message / inside) if p > 1 else 0"),
        what_stays_inside='"a"',
    ),
    "plans-across-nodes": _answers(plan_run=_run(groups="(16, 32)", good="m >= p")),
    "asks-for-no-node": _answers(fits=_fits(node="False"), step_seconds=_step(wait="0")),
    "asks-for-no-heads": _answers(
        replicas=REPLICAS.format("tensor_parallel * pipeline_parallel"),
        fits=_fits(divisible="model.layers % p or d * b * m != model.batch"),
        step_seconds=_step(handing_on="wait + message / between if p > 1 else 0"),
    ),
    "asks-for-no-layers": _answers(
        replicas=REPLICAS.format("gpus // (tensor_parallel + pipeline_parallel)"),
        fits=_fits(divisible="model.heads % t or d * b * m != model.batch"),
        step_seconds=_step(handing_on="2 * (wait + message / between)"),
    ),
    "asks-for-no-batch": _answers(
        fits=_fits(divisible="model.heads % t or model.layers % p"),
        step_seconds=_step(passes="(2 * m, 2 * m, m + 1, 3 * m)[plan.stage]"),
    ),
    "asks-for-no-division": _answers(
        fits=_fits(divisible="False"),
        step_seconds=_step(passes="(2, 2, 2, 3)[plan.stage]"),
        what_the_rate_includes='"c"',
    ),
    "asks-for-no-micro-batches": _answers(
        fits=_fits(micro="False"),
        step_seconds=_step(rate="cluster.gpu.peak_flops"),
        plan_run=_run(good="m < p"),
        what_the_rate_includes='"d"',
    ),
    "asks-for-more-micro-batches": _answers(
        fits=_fits(micro="m <= p"),
        step_seconds=_step(update="m * (1 + (p - 1) / (m + p - 1)) * (computing + tensor + handing_on) + gradients"),
    ),
    "fills-the-replicas": _answers(
        fits=_fits(micro="m < d"), step_seconds=_step(passes="2 * (2, 2, m + 1, 3 * m)[plan.stage]")
    ),
    "names-the-last-reason": _answers(fits=_fits(rules="reversed(rules)")),
    "has-no-word-for-yes": _answers(
        fits=_fits(word='""'),
        plan_run=_run(answer="(best.tensor_parallel, best.pipeline_parallel, best.data_parallel)"),
    ),
    "asks-for-no-memory": _answers(plan_run=_run(good="m >= p")),
    "saves-as-one-gpu-would": _answers(
        plan_run=_run(interval="(2 * cluster.save_seconds * cluster.device_mtbf) ** 0.5")
    ),
    "saves-every-minute": _answers(plan_run=_run(interval="60")),
    "takes-the-first-plan": _answers(plan_run=_run(cost="0")),
    "other-forms-of-right": _answers(
        fits=_fits()
        .replace("    t, p, d", "    need_counts(gpus_per_node=gpus_per_node)\n    t, p, d", 1)
        .replace("return False, reason", "return [np.bool_(False), reason]"),
        plan_run=_run(answer="dict(vars(best), stage=float(best.stage))"),
        what_stays_inside='" C "',
    ),
    "right-values-no-refusals": _answers(
        replicas=REPLICAS.format("gpus // (tensor_parallel * pipeline_parallel)"),
        fits=_fits(),
        step_seconds=_step(),
        plan_run=_run(good="fits(one, model, cluster.gpu, cluster.gpus_per_node)[0]").replace(
            'raise ValueError("no plan fits")', "return None"
        ),
    ),
    "half-done": {
        "blank": True,
        "answers": {
            **_answers(replicas=REPLICAS.format("gpus // (tensor_parallel * pipeline_parallel)"), fits=_fits())[
                "answers"
            ],
            "why_this_plan": "I do not know yet.",
        },
    },
    "blank": {"blank": True},
}
