"""The sample class of part 3: each student makes one kind of mistake wherever it can be made."""

MODEL_STATE = """
def model_state_bytes(params, weight_bytes=2, grad_bytes=2, optimizer_bytes=12):
    return {}
"""
ZERO = """
def zero_bytes_per_device(params, devices, stage, weight_bytes=2, grad_bytes=2, optimizer_bytes=12):
    w, g, o, n = weight_bytes, grad_bytes, optimizer_bytes, devices
    {}
    return {}
"""
LARGEST = """
def largest_model(gpu_bytes, devices, stage, weight_bytes=2, grad_bytes=2, optimizer_bytes=12):
    w, g, o, n = weight_bytes, grad_bytes, optimizer_bytes, devices
    {}
    return {}
"""
SHARD = """
def shard(flat, devices):
    size = -(-len(flat) // devices)
    filled = np.pad(flat, (0, size * devices - len(flat)))
    return {}
"""
UNSHARD = """
def unshard(pieces, size):
    joined = np.concatenate(pieces)
    return {}
"""
ADAM = """
def sharded_adam_step(weights, grads, moments, step, lr):
    n, eps = len(grads), 1e-8
    size = -(-len(weights) // n)
    cut = lambda flat: np.pad(flat, (0, size * n - len(flat))).reshape(n, size)
    gradient = {gradient}
    new_pieces, new_moments = [], []
    for piece, g, (m, v) in zip(cut(weights), gradient, moments):
        old = (m, v)
        m = {beta_1} * m + (1 - {beta_1}) * g
        v = {beta_2} * v + (1 - {beta_2}) * g**2
        m_hat, v_hat = m / ({rest_1}), v / ({rest_2})
        new_pieces.append(piece {sign} lr * m_hat / ({root}))
        new_moments.append({kept})
    joined = np.concatenate(new_pieces)
    return {weights}, {moments}
"""
TRAFFIC = """
def zero_traffic(params, devices, stage):
    passes = 3 if stage == 3 else 2
    return {}
"""
ACTIVATIONS = """
def activation_bytes(
    seq, batch, hidden, heads, layers, tensor_parallel=1, sequence_parallel=False, recompute="none"
):
    t, sbh = {t}, seq * {batch} * hidden
    if recompute == {full_when}:
        return sbh * {layers} * {full} * 1.0
    scores = {scores} if {scores_when} else 0
    return sbh * {layers} * ({outside} + 24 / {inside_by} + scores / {scores_by}){unit}
"""


def adam(power="step + 1", **slips):
    """The right step, apart from the slips."""
    right = {
        "gradient": "cut(np.mean(grads, axis=0))",
        "beta_1": "0.9",
        "beta_2": "0.999",
        "rest_1": f"1 - 0.9 ** ({power})",
        "rest_2": f"1 - 0.999 ** ({power})",
        "sign": "-",
        "root": "np.sqrt(v_hat) + eps",
        "kept": "(m, v)",
        "weights": "joined[: len(weights)]",
        "moments": "new_moments",
    }
    return ADAM.format(**{**right, **slips})


def activations(**slips):
    """The right bytes, apart from the slips."""
    right = {
        "t": "tensor_parallel",
        "batch": "batch",
        "layers": "layers",
        "full_when": '"full"',
        "full": "2",
        "scores_when": 'recompute == "none"',
        "scores": "5 * heads * seq / hidden",
        "scores_by": "t",
        "inside_by": "t",
        "outside": "10 / (t if sequence_parallel else 1)",
        "unit": "",
    }
    return ACTIVATIONS.format(**{**right, **slips})


def _each(first="stage", w="w", g="g", o="o", share="/ n", order="ogw"):
    """A line that computes the bytes of one parameter on one device; `order`: what is sharded first, second, third."""
    parts = {"w": w, "g": g, "o": o}
    terms = [f"({parts[part]}) * (1 {share} if {first} >= {stage} else 1)" for stage, part in enumerate(order, start=1)]
    return "each = " + " + ".join(terms)


RIGHT_EACH = _each()
ONE_STEP = adam().replace("def sharded_adam_step", "def one_step")
IN_A_ROW = (
    ONE_STEP
    + """
def sharded_adam_step(weights, grads, moments, step, lr):
    for grad in grads:
        weights, moments = one_step(weights, [grad] * len(grads), moments, step, lr)
    return weights, moments
"""
)
AVERAGED_TOO_LATE = (
    ONE_STEP
    + """
def sharded_adam_step(weights, grads, moments, step, lr):
    steps = [one_step(weights, [grad] * len(grads), moments, step, lr) for grad in grads]
    kept = [tuple(np.mean([after[d] for _, after in steps], axis=0)) for d in range(len(grads))]
    return np.mean([moved for moved, _ in steps], axis=0), kept
"""
)
STAGES = {  # mistake -> the bytes of one parameter on one device
    "all_sharded": "each = (w + g + o) / n",
    "not_sharded": "each = w + g + o",
    "one_stage_too_far": _each(first="stage + 1"),
    "one_stage_short": _each(first="stage - 1"),
    "not_cumulative": "each = [w + g + o, w + g + o / n, w + g / n + o, w / n + g + o][int(stage)]",
    "weights_first": _each(order="wgo"),
    "gradients_first": _each(order="gow"),
    "master_copy_forgotten": _each(o="o - 4"),
    "master_copy_whole": _each(o="o - 4") + " + 4",
    "gradients_forgotten": _each(g="0"),
    "recipe_ignored": _each(w="2", g="2", o="12"),
    "devices_multiplied": _each(share="* n"),
}


def stages(mistake):
    """Both functions that rest on the stages, with one idea of them."""
    return {
        "zero_bytes_per_device": ZERO.format(STAGES[mistake], "params * each"),
        "largest_model": LARGEST.format(STAGES[mistake], "gpu_bytes / each"),
    }


def _answers(**sources: str) -> dict[str, str]:
    return {f"{name}-answer": source for name, source in sources.items()}


WHOLE_MOMENTS = "[tuple(np.concatenate(part)[: len(weights)] for part in zip(*new_moments))] * n"

STUDENTS = {
    "all-right": {},
    "counts-weights-only": {
        "answers": _answers(
            whole_state_gb="whole_state_gb = 7.5 * 2",
            stage3_gb="stage3_gb = round(7.5 * 2 / 64, 2)",
            model_state_bytes=MODEL_STATE.format("params * weight_bytes"),
            largest_model=LARGEST.format("each = w", "gpu_bytes / each"),
            sharded_adam_step=adam(weights="new_pieces"),
            activation_bytes=activations(layers="1"),
        )
    },
    "forgets-the-optimizer": {
        "answers": _answers(
            whole_state_gb="whole_state_gb = 7.5 * 4",
            model_state_bytes=MODEL_STATE.format("params * (weight_bytes + grad_bytes)"),
            zero_bytes_per_device=ZERO.format(
                "shared = [w + g + o, o / n, (o + g) / n, (o + g + w) / n][int(stage)]", "params * shared"
            ),
            largest_model=LARGEST.format(
                "shared = [w + g + o, o / n, (o + g) / n, (o + g + w) / n][int(stage)]", "gpu_bytes / shared"
            ),
            sharded_adam_step=adam(kept="old"),
            which_bytes='which_bytes = "d"',
        )
    },
    "forgets-the-master-copy": {
        "answers": _answers(
            whole_state_gb="whole_state_gb = 7.5 * 12",
            stage1_gb="stage1_gb = round(30 + 7.5 * 8 / 64, 1)",
            model_state_bytes=MODEL_STATE.format("params * (weight_bytes + grad_bytes + optimizer_bytes - 4)"),
            **stages("master_copy_forgotten"),
            sharded_adam_step=adam(rest_1="1", rest_2="1"),
            which_bytes='which_bytes = "a"',
        )
    },
    "forgets-the-gradients": {
        "answers": _answers(
            whole_state_gb="whole_state_gb = 7.5 * 14",
            model_state_bytes=MODEL_STATE.format("params * (weight_bytes + optimizer_bytes)"),
            **stages("gradients_forgotten"),
            sharded_adam_step=adam(gradient="cut(grads[0])"),
            zero_traffic=TRAFFIC.format("(passes - 1) * params * (devices - 1) / devices"),
            activation_bytes=activations(scores_when="False"),
        )
    },
    "knows-one-recipe": {
        "answers": _answers(
            model_state_bytes=MODEL_STATE.format("params * 16"),
            **stages("recipe_ignored"),
            sharded_adam_step=adam(
                beta_1="0.999", beta_2="0.9", rest_1="1 - 0.999 ** (step + 1)", rest_2="1 - 0.9 ** (step + 1)"
            ),
            activation_bytes=activations(full_when='"everything"', scores_when="True"),
        )
    },
    "divides-everything": {
        "answers": _answers(
            stage1_gb="stage1_gb = round(7.5 * 16 / 64, 1)",
            **stages("all_sharded"),
            shard=SHARD.format(
                "[flat[d * (len(flat) // devices) : (d + 1) * (len(flat) // devices)] for d in range(devices)]"
            ),
            unshard=UNSHARD.format("pieces[0].copy()"),
            sharded_adam_step=adam(gradient="[cut(grad)[d] for d, grad in enumerate(grads)]"),
            zero_traffic=TRAFFIC.format("passes * params / devices"),
            activation_bytes=activations(outside="10 / t"),
        )
    },
    "divides-nothing": {
        "answers": _answers(
            stage1_gb="stage1_gb = 120",
            stage3_gb="stage3_gb = 120",
            **stages("not_sharded"),
            shard=SHARD.format("[flat.copy() for _ in range(devices)]"),
            unshard=UNSHARD.format("joined"),
            sharded_adam_step=adam(moments=WHOLE_MOMENTS),
            zero_traffic=TRAFFIC.format("passes * params"),
            activation_bytes=activations(t="1"),
        )
    },
    "goes-one-stage-too-far": {
        "answers": _answers(
            stage1_gb="stage1_gb = 16.6",
            **stages("one_stage_too_far"),
            shard=SHARD.format("[np.pad(p, (0, size - len(p))) for p in np.array_split(flat, devices)]"),
            unshard=UNSHARD.format("joined[joined != 0]"),
            sharded_adam_step=adam(power="step + 2"),
            zero_traffic=TRAFFIC.format("(3 if stage else 2) * params * (devices - 1) / devices"),
            activation_bytes=activations(full_when='"selective"', scores_when="True").replace(
                'if recompute == "selective"', 'if recompute != "none"'
            ),
            what_sharding_costs='what_sharding_costs = "c"',
        )
    },
    "stops-one-stage-short": {
        "answers": _answers(
            stage3_gb="stage3_gb = 16.64",
            **stages("one_stage_short"),
            shard=SHARD.format("[flat[d * size : (d + 1) * size] for d in range(devices)]"),
            sharded_adam_step=adam(power="step"),
            zero_traffic=TRAFFIC.format("2 * params * (devices - 1) / devices"),
            activation_bytes=activations(full_when='"everything"'),
            what_sharding_costs='what_sharding_costs = "a"',
        )
    },
    "shards-one-part-at-a-time": {
        "answers": _answers(
            **stages("not_cumulative"),
            shard=SHARD.format("list(filled.reshape(size, devices).T)"),
            unshard=UNSHARD.format("np.stack(pieces).T.ravel()[:size]"),
            sharded_adam_step=adam(kept="(m_hat, v_hat)"),
            activation_bytes=activations(outside="10"),
        )
    },
    "shards-the-weights-first": {
        "answers": _answers(
            **stages("weights_first"),
            shard=SHARD.format("list(np.pad(flat, (size * devices - len(flat), 0)).reshape(devices, size))"),
            sharded_adam_step=adam(weights="joined"),
            activation_bytes=activations(full="2 / t"),
        )
    },
    "keeps-the-master-copy-whole": {
        "answers": _answers(
            stage1_gb="stage1_gb = round(60 + 7.5 * 8 / 64, 1)",
            **stages("master_copy_whole"),
            sharded_adam_step=adam(root="v_hat + eps"),
            activation_bytes=activations(scores_by="1"),
        )
    },
    "multiplies-by-the-devices": {
        "answers": _answers(
            stage1_gb="stage1_gb = 7.5 * (4 + 12 * 64)",
            model_state_bytes=MODEL_STATE.format("params * (grad_bytes + optimizer_bytes)"),
            **stages("devices_multiplied"),
            sharded_adam_step=adam(gradient="cut(np.sum(grads, axis=0))"),
            zero_traffic=TRAFFIC.format("passes * params * (devices - 1)"),
            activation_bytes=activations(unit=" * 2").replace("* 1.0", "* 2.0"),
            what_sharding_costs='what_sharding_costs = "b"',
        )
    },
    "answers-in-gigabytes": {
        "answers": _answers(
            model_state_bytes=MODEL_STATE.format("params * (weight_bytes + grad_bytes + optimizer_bytes) / 1e9"),
            zero_bytes_per_device=ZERO.format(RIGHT_EACH, "params * each / 1e9"),
            largest_model=LARGEST.format(RIGHT_EACH, "gpu_bytes / (each / 1e9)"),
            sharded_adam_step=adam(root="np.sqrt(v_hat + eps)"),
            zero_traffic=TRAFFIC.format("2 * passes * params * (devices - 1) / devices"),
            activation_bytes=activations(unit=" / 1e9").replace("* 1.0", "/ 1e9"),
        )
    },
    "answers-in-gibibytes": {
        "answers": _answers(
            whole_state_gb="whole_state_gb = 7.5e9 * 16 / 2**30",
            stage1_gb="stage1_gb = 7.5e9 * (4 + 12 / 64) / 2**30",
            model_state_bytes=MODEL_STATE.format("params * (weight_bytes + grad_bytes + optimizer_bytes) / 2**30"),
            zero_bytes_per_device=ZERO.format(RIGHT_EACH, "params * each / 2**30"),
            largest_model=LARGEST.format(RIGHT_EACH, "gpu_bytes / (each / 2**30)"),
            sharded_adam_step=adam(root="np.sqrt(v_hat)"),
            activation_bytes=activations(unit=" / 2**30").replace("* 1.0", "/ 2**30"),
        )
    },
    "answers-in-bits": {
        "answers": _answers(
            model_state_bytes=MODEL_STATE.format("params * 8 * (weight_bytes + grad_bytes + optimizer_bytes)"),
            zero_bytes_per_device=ZERO.format(RIGHT_EACH, "params * each * 8"),
            largest_model=LARGEST.format(RIGHT_EACH, "gpu_bytes / (each * 8)"),
            sharded_adam_step=adam(sign="+"),
            activation_bytes=activations(batch="1"),
            which_bytes='which_bytes = "c"',
        )
    },
    "counts-all-devices": {
        "answers": _answers(
            zero_bytes_per_device=ZERO.format(RIGHT_EACH, "params * each * devices"),
            largest_model=LARGEST.format(RIGHT_EACH, "gpu_bytes / (each * devices)"),
            sharded_adam_step=adam(gradient="cut(np.mean(grads, axis=0) / n)"),
            activation_bytes=activations(inside_by="1"),
        )
    },
    "turns-it-round": {
        "answers": _answers(
            largest_model=LARGEST.format(RIGHT_EACH, "gpu_bytes * each"),
            unshard=UNSHARD.format("joined[-size:]"),
            zero_traffic=TRAFFIC.format("(4 if stage == 3 else 2) * params * (devices - 1) / devices"),
            activation_bytes=activations(full="1"),
        )
    },
    "pools-the-memory": {
        "answers": _answers(
            largest_model=LARGEST.format(RIGHT_EACH, "gpu_bytes * devices / each"),
            activation_bytes=activations(full="0"),
        )
    },
    "shards-the-gradients-first": {
        "answers": _answers(
            stage1_gb="stage1_gb = 41.25",
            stage3_gb="stage3_gb = 15",
            model_state_bytes=MODEL_STATE.format("params * weight_bytes + grad_bytes + optimizer_bytes"),
            **stages("gradients_first"),
            shard=SHARD.format("list(filled.reshape(size, devices))"),
            sharded_adam_step=AVERAGED_TOO_LATE,
            zero_traffic=TRAFFIC.format("(passes if stage else 1) * params * (devices - 1) / devices"),
            activation_bytes=activations(scores="5 * seq / hidden"),
        )
    },
    "counts-the-master-copy-twice": {
        "answers": _answers(
            stage1_gb="stage1_gb = 7.5e9 * (4 + 12 / 64)",
            stage3_gb="stage3_gb = 7.5e9 * 16 / 64",
            model_state_bytes=MODEL_STATE.format("params * (weight_bytes + grad_bytes + optimizer_bytes + 4)"),
            shard="""
def shard(flat, devices):
    size = len(flat) // devices + 1
    return list(np.pad(flat, (0, size * devices - len(flat))).reshape(devices, size))
""",
            sharded_adam_step=IN_A_ROW,
            zero_traffic=TRAFFIC.format("passes * params * (devices - 1) / devices / 1e9"),
            activation_bytes=activations(scores="5 * heads / hidden"),
        )
    },
    "returns-only-the-weights": {
        "answers": _answers(
            stage1_gb="stage1_gb = 30",
            sharded_adam_step=adam().replace(", new_moments\n", "\n"),
            activation_bytes=activations(scores="5 * heads * seq"),
        )
    },
    "starts-the-moments-afresh": {
        "answers": _answers(
            sharded_adam_step=adam().replace("old = (m, v)", "m, v = np.zeros(size), np.zeros(size)"),
            activation_bytes=activations(scores_when='recompute != "full"'),
        )
    },
    "swaps-the-moments": {
        "answers": _answers(
            sharded_adam_step=adam(kept="(v, m)"),
            activation_bytes=activations(full_when='"everything"', scores_when='recompute != "selective"'),
        )
    },
    "right-values-no-refusals": {
        "answers": _answers(
            model_state_bytes=MODEL_STATE.format("params * (weight_bytes + grad_bytes + optimizer_bytes)"),
            zero_bytes_per_device=ZERO.format(RIGHT_EACH, "params * each"),
            shard=SHARD.format("filled.reshape(devices, size)"),
            unshard=UNSHARD.format("joined[:size].tolist()"),
            sharded_adam_step=adam(),
            zero_traffic=TRAFFIC.format("passes * params * (devices - 1) / devices"),
            activation_bytes=activations(),
        )
    },
    "half-done": {
        "blank": True,
        "answers": _answers(
            whole_state_gb="whole_state_gb = 120",
            model_state_bytes=MODEL_STATE.format("params * (weight_bytes + grad_bytes + optimizer_bytes)"),
            stage3_gb="stage3_gb = 1.9",
            largest_model=LARGEST.format(RIGHT_EACH, "gpu_bytes / each / 1e9"),
        ),
    },
    "blank": {"blank": True},
}
