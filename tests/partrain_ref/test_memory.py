"""Part 3's reference against the published tables, other software's numbers, and its own properties."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from partrain_ref import memory

GB, GIB = 1e9, 2**30
RECIPES = {  # bytes per parameter: weight, gradient, optimizer
    "mixed Adam, 16-bit gradients": ((2, 2, 12), 16),
    "bf16 with fp32 gradients": ((2, 4, 12), 18),
    "fp16 gradients and an fp32 copy": ((2, 6, 12), 20),
    "fp32 Adam": ((4, 4, 8), 16),
    "bf16 moments, fp32 master and gradient": ((2, 4, 8), 14),
    "SGD with momentum, mixed": ((2, 2, 8), 12),
    "bf16 AdamW without a master copy": ((2, 2, 4), 8),
}
GPT3 = {"seq": 2048, "batch": 1, "hidden": 12288, "heads": 96}

# ZeRO, arXiv 1910.02054, Table 1: GB per device at stages 1, 2, 3, as printed. The cells of 7.5B are rounded, those of
# 128B and 1T are cut off.
TABLE_1 = {
    7.5e9: {
        1: ("120", "120", "120"),
        4: ("52.5", "41.3", "30"),
        16: ("35.6", "21.6", "7.5"),
        64: ("31.4", "16.6", "1.88"),
        256: ("30.4", "15.4", "0.47"),
        1024: ("30.1", "15.1", "0.12"),
    },
    128e9: {
        1: ("2048", "2048", "2048"),
        4: ("896", "704", "512"),
        16: ("608", "368", "128"),
        64: ("536", "284", "32"),
        256: ("518", "263", "8"),
        1024: ("513", "257", "2"),
    },
    1e12: {
        1: ("16000", "16000", "16000"),
        4: ("7000", "5500", "4000"),
        16: ("4750", "2875", "1000"),
        64: ("4187", "2218", "250"),
        256: ("4046", "2054", "62.5"),
        1024: ("4011", "2013", "15.6"),
    },
}
CELLS = [
    pytest.param(psi, n, stage, cell, id=f"{psi:.3g}-{n}-stage{stage}")
    for psi, rows in TABLE_1.items()
    for n, cells in rows.items()
    for stage, cell in enumerate(cells, start=1)
]


def test_there_are_54_cells():
    assert len(CELLS) == 54


@pytest.mark.parametrize(("psi", "n", "stage", "cell"), CELLS)
def test_zero_table_1(psi, n, stage, cell):
    value = memory.zero_bytes_per_device(psi, n, stage) / GB
    places = len(cell.partition(".")[2])
    last = 10**places
    if psi == 7.5e9:
        assert abs(float(cell) - value) <= 0.5 / last + 1e-12
    else:
        assert math.floor(value * last) / last == float(cell)


@pytest.mark.parametrize("model", TABLE_1)
def test_the_smallest_number_of_devices_that_fits_32_gb(model):
    """The cells that the paper prints in bold."""
    bold = {7.5e9: (64, 16, 4), 128e9: (None, None, 64), 1e12: (None, None, 1024)}[model]
    for stage, n in enumerate(bold, start=1):
        fits = [n for n in TABLE_1[model] if memory.zero_bytes_per_device(model, n, stage) <= 32 * GB]
        assert min(fits, default=None) == n


def test_zero_paper_table_1(oracles):
    block = oracles["memory_zero_paper_table1"]
    stages = {"Pos": 1, "Pos+g": 2, "Pos+g+p": 3}
    for row in block["rows"]:
        value = memory.zero_bytes_per_device(row["psi"], row["dp"], stages[row["stage"]]) / GB
        assert value == pytest.approx(row["unrounded_GB"], rel=1e-12)
    figure = block["figure1"]
    for stage, name in enumerate(["baseline", "Pos", "Pos_g", "Pos_g_p"]):
        value = memory.zero_bytes_per_device(figure["psi"], figure["Nd"], stage, optimizer_bytes=figure["K"]) / GB
        assert round(value, 1) == figure[name]


@pytest.mark.parametrize(("parts", "total"), RECIPES.values(), ids=RECIPES)
def test_byte_recipes(parts, total):
    assert memory.model_state_bytes(1e9, *parts) == total * 1e9


def test_conventions_of_bytes_per_parameter(oracles):
    totals = {row["name"]: row["total"] for row in oracles["memory_conventions_bytes_per_param"]}
    assert memory.model_state_bytes(1) == totals["ZeRO paper mixed Adam"]
    assert memory.model_state_bytes(1, optimizer_bytes=16) == totals["DeepSpeed estimate zero2, 1 GPU"]
    assert memory.model_state_bytes(1, grad_bytes=4) == totals["EleutherAI cookbook default"]
    assert memory.model_state_bytes(1, 4, 4, 8) == totals["torch fp32 Adam measured"]


def test_published_sizes():
    assert memory.model_state_bytes(7.5e9) == 120 * GB
    assert memory.model_state_bytes(1.5e9) == 24 * GB  # GPT-2; its 16-bit weights alone are 3 GB
    assert 7.5e9 * 10 == 75 * GB  # the shorthand without gradients and master copy
    # Megatron's distributed optimizer on 8 ranks: 6 + 12/8, 4 + 16/8 and 8 + 8/8 bytes
    assert memory.zero_bytes_per_device(1, 8, 1, 2, 4, 12) == 7.5
    assert memory.zero_bytes_per_device(1, 8, 1, 2, 2, 16) == 6
    assert memory.zero_bytes_per_device(1, 8, 1, 4, 4, 8) == 9


@pytest.mark.parametrize(("stage", "billions"), [(0, 6.67), (1, 16), (2, 24.62), (3, 53.33)])
def test_largest_model_on_8_gpus_of_80_gb(stage, billions):
    assert round(memory.largest_model(80e9, 8, stage, optimizer_bytes=8) / 1e9, 2) == billions


def test_deepspeed_estimators(oracles):
    """zero2 without offload is our stage 2 with 2 + 2 + 16 bytes; zero3 shards 18 bytes and adds its largest layer."""
    for row in oracles["memory_deepspeed_estimators"]["rows"]:
        if row["cpu_offload"]:
            continue
        devices = row["gpus_per_node"] * row["nodes"]
        stage, optimizer_bytes = (2, 16) if row["fn"] == "zero2" else (3, 14)
        state = memory.zero_bytes_per_device(row["total_params"], devices, stage, optimizer_bytes=optimizer_bytes)
        assert math.floor(state + row.get("largest_layer_bytes", 0)) == row["gpu_bytes"]


def interleaved(p, v):
    """In how many micro-batches' worth of layers the first of p stages holds with v chunks, over p."""
    return 1 + (p - 1) / (p * v)


def test_megatron_weights_and_optimizer(oracles):
    """Bytes of the fullest shard: 2 + 4 + 12, the 12 divided by the ranks of the distributed optimizer."""
    for row in oracles["memory_megatron"]["rows"]:
        a = row["args"]
        h, layers, t, p = (
            a["hidden_size"],
            a["num_layers"],
            a["tensor_model_parallel_size"],
            a["pipeline_model_parallel_size"],
        )
        matrices = 12 * layers * h**2 / p / t + a["padded_vocab_size"] * h / t
        norms = (4 * layers + 2) * h / p  # not cut by tensor parallelism
        stage, devices = (1, a["data_parallel_size"]) if a["use_distributed_optimizer"] else (0, 1)
        state = memory.zero_bytes_per_device(matrices + norms, devices, stage, 2, 4, 12)
        assert state == pytest.approx(row["weight_and_optimizer_bytes"], rel=1e-12)


def test_megatron_activations(oracles):
    """All layers with sequence parallel and selective recomputation, then what it adds for embedding and logits."""
    for row in oracles["memory_megatron"]["rows"]:
        a, m = row["args"], row["num_microbatches"]
        s, b, h, layers = a["seq_length"], a["micro_batch_size"], a["hidden_size"], a["num_layers"]
        t, p = a["tensor_model_parallel_size"], a["pipeline_model_parallel_size"]
        ours = memory.activation_bytes(
            s, b, h, a["num_attention_heads"], layers, tensor_parallel=t, sequence_parallel=True, recompute="selective"
        )
        v = a.get("virtual_pipeline_model_parallel_size")
        scale = interleaved(p, v) if v else min(m / p, 1) if m else 1
        embedding = (8 * s * b * p + s * b * h * p) / t
        logits = 4 * s * b * h * (1 + a["padded_vocab_size"] / h) / t if p == 1 else 0
        assert (ours + embedding) * scale + logits == pytest.approx(row["activation_bytes_sp_selective"], rel=1e-12), (
            row["label"]
        )


def test_interleaving_holds_more_chunks(oracles):
    for row in oracles["pipeline_interleaved_memory_check"]["rows"]:
        p, v = row["p"], row["v"]
        assert row["torch_chunks"] / v == p * interleaved(p, v) == row["megatron"]


def test_accelerate_in_fp32(oracles):
    for row in oracles["memory_accelerate"]["rows"]:
        params = row["total_size_fp32"] / 4  # buffers count too
        assert memory.model_state_bytes(params, 4, 4, 8) == row["training"]["step"]


def flags(args):
    pairs = (word[2:].partition("=") for word in args.split())
    return {name.replace("-", "_"): float(value) if value else True for name, _, value in pairs}


def test_eleuther_cookbook(oracles):
    """The rows without tensor parallelism and with the MLP of 4 h, in GiB to two decimals."""
    seen = 0
    for row in oracles["memory_eleuther_cookbook"]["rows"]:
        f = {"vocab_size": 51200, "tensor_parallel_size": 1, "pipeline_parallel_size": 1, **flags(row["args"])}
        h, layers, seq = f["hidden_size"], f["num_layers"], f["sequence_length"]
        if f["tensor_parallel_size"] > 1 or f["pipeline_parallel_size"] > 1 or f.get("ffn_expansion_factor", 4) != 4:
            continue
        seen += 1
        params = 12 * layers * h**2 + 8 * layers * h + (2 * f["vocab_size"] + seq) * h  # untied embeddings
        parts = {"Model": 2, "Gradient": f.get("bytes_per_grad_ele", 4), "Optimizer": 12}
        for name, each in parts.items():
            (printed,) = (value for key, value in row["out"].items() if key.startswith(f"Total {name} Memory"))
            assert f"{params * each / GIB:.2f} GiB" == printed
        kept = "selective" if f.get("checkpoint_activations") else "none"
        sizes = (seq, f.get("batch_size_per_gpu", 1), h, f["num_attention_heads"], layers)
        activations = memory.activation_bytes(*sizes, recompute=kept)
        assert f"{activations / GIB:.2f} GiB" == row["out"]["Total Activation Memory"]
    assert seen


def test_parameter_counts(oracles):
    for row in oracles["param_counts"]["rows"]:
        if "h" in row:
            assert memory.parameter_count(row["h"], row["layers"], row["vocab"], row["positions"]) == row["params"]


# ---- activations --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("how", "printed"),
    [
        ({}, "2.869"),
        ({"tensor_parallel": 8}, "0.579"),
        ({"tensor_parallel": 8, "sequence_parallel": True}, "0.359"),
        ({"tensor_parallel": 8, "recompute": "selective"}, "0.327"),
        ({"tensor_parallel": 8, "sequence_parallel": True, "recompute": "selective"}, "0.107"),
        ({"tensor_parallel": 8, "recompute": "full"}, "0.0503"),
        ({"tensor_parallel": 8, "sequence_parallel": True, "recompute": "full"}, "0.0503"),
    ],
)
def test_a_layer_of_gpt_3_in_gb(how, printed):
    value = memory.activation_bytes(*GPT3.values(), 1, **how) / GB
    assert f"{value:.{len(printed) - 2}f}" == printed


def test_other_activation_values():
    assert math.prod([GPT3["seq"], GPT3["batch"], GPT3["hidden"]]) == 25_165_824
    assert round(memory.activation_bytes(*GPT3.values(), 1) / GIB, 3) == 2.672
    assert round(memory.activation_bytes(*GPT3.values(), 96) / GB, 1) == 275.4


@pytest.mark.parametrize(
    ("heads", "hidden", "scores"), [(96, 12288, 80), (128, 20480, 64), (64, 6144, 106.7), (160, 25600, 64)]
)
def test_the_share_of_attention_scores(heads, hidden, scores):
    """5as/h beside the 34, at s = 2048: GPT-3, MT-NLG, 22B, 1T."""
    whole = memory.activation_bytes(2048, 1, hidden, heads, 1)
    rest = memory.activation_bytes(2048, 1, hidden, heads, 1, recompute="selective")
    assert round((whole - rest) / (2048 * hidden), 1) == scores
    assert rest == 34 * 2048 * hidden


counts = st.integers(1, 12)


@given(seq=counts, batch=counts, width=counts, heads=counts, layers=counts, t=counts)
def test_activation_properties(seq, batch, width, heads, layers, t):
    sizes = (seq * t, batch, width * heads * t, heads * t, layers)
    none = memory.activation_bytes(*sizes)
    both = memory.activation_bytes(*sizes, tensor_parallel=t, sequence_parallel=True)
    assert both * t == pytest.approx(none)
    ways = [memory.activation_bytes(*sizes, tensor_parallel=t, recompute=how) for how in ("none", "selective", "full")]
    assert ways[0] > ways[1] > ways[2]
    assert ways[2] == memory.activation_bytes(*sizes, recompute="full") == 2 * math.prod(sizes[:3]) * layers


# ---- sharding for real --------------------------------------------------------------------------------------------


@given(size=st.integers(1, 40), devices=st.integers(1, 12), seed=st.integers(0, 99))
def test_shard_then_unshard_is_the_identity(size, devices, seed):
    flat = np.random.default_rng(seed).integers(-3, 4, size).astype(float)  # zeros among them
    pieces = memory.shard(flat, devices)
    assert len(pieces) == devices and {piece.shape for piece in pieces} == {(-(-size // devices),)}
    np.testing.assert_array_equal(memory.unshard(pieces, size), flat)
    np.testing.assert_array_equal(np.concatenate(pieces)[size:], 0)


def plain_adam(weights, gradient, m, v, step, lr):
    m, v = 0.9 * m + 0.1 * gradient, 0.999 * v + 0.001 * gradient**2
    m_hat, v_hat = m / (1 - 0.9 ** (step + 1)), v / (1 - 0.999 ** (step + 1))
    return weights - lr * m_hat / (np.sqrt(v_hat) + 1e-8), m, v


@given(size=st.integers(1, 20), devices=st.integers(1, 6), steps=st.integers(1, 5), seed=st.integers(0, 999))
def test_the_sharded_step_equals_plain_adam(size, devices, steps, seed):
    rng = np.random.default_rng(seed)
    weights = whole = rng.normal(size=size)
    m = v = np.zeros(size)
    moments = list(zip(memory.shard(m, devices), memory.shard(v, devices), strict=True))
    for step in range(steps):
        grads = [rng.normal(size=size) for _ in range(devices)]
        before = [array.copy() for array in (weights, *grads, *(part for pair in moments for part in pair))]
        inputs = (weights, *grads, *(part for pair in moments for part in pair))
        weights, moments = memory.sharded_adam_step(weights, grads, moments, step, 0.01)
        assert all(np.array_equal(a, b) for a, b in zip(before, inputs, strict=True))
        whole, m, v = plain_adam(whole, np.mean(grads, axis=0), m, v, step, 0.01)
        held = [sum(part.nbytes for part in pair) for pair in moments]
        assert held == [2 * 8 * math.ceil(size / devices)] * devices  # a share of both moments, in bytes
    np.testing.assert_allclose(weights, whole, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(memory.unshard([m for m, _ in moments], size), m, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(memory.unshard([v for _, v in moments], size), v, rtol=1e-12, atol=1e-15)


def mlp_gradient(layers, X, Y):
    """Gradient of the mean squared error over all entries; tanh between layers, none after the last."""
    inputs, last = [X], len(layers) - 1
    for i, (W, b) in enumerate(layers):
        X = np.tanh(X @ W.T + b) if i < last else X @ W.T + b
        inputs.append(X)
    back = 2 / Y.size * (inputs[-1] - Y)
    grads = []
    for i, (W, _) in reversed(list(enumerate(layers))):
        grads += [back.sum(axis=0), (back.T @ inputs[i]).ravel()]
        back = (back @ W) * (1 - inputs[i] ** 2) if i else back
    return np.concatenate(grads[::-1])


def unflatten(flat, sizes):
    layers, at = [], 0
    for n_in, n_out in itertools.pairwise(sizes):
        W = flat[at : at + n_in * n_out].reshape(n_out, n_in)
        at += n_in * n_out
        layers.append((W, flat[at : at + n_out]))
        at += n_out
    return layers


def test_zero1_equals_adam(oracles):
    """Five steps of an MLP on several ranks give the weights of torch's sharded optimizer, which cuts no tensor."""
    rows = [row for row in oracles["zero1_equals_adam"]["rows"] if row["opt"] == "Adam"]
    assert len(rows) == 2
    for row in rows:
        rng, sizes, world = np.random.default_rng(row["seed"]), row["sizes"], row["world"]
        flat = [0.3 * rng.standard_normal((n_out, n_in)) for n_in, n_out in itertools.pairwise(sizes)]
        weights = np.concatenate([part for W in flat for part in (W.ravel(), np.zeros(len(W)))])
        X = rng.standard_normal((row["steps"], 4 * world, sizes[0]))
        Y = rng.standard_normal((row["steps"], 4 * world, sizes[-1]))
        moments = list(zip(*[memory.shard(np.zeros(weights.size), world)] * 2, strict=True))
        for step in range(row["steps"]):
            halves = zip(np.split(X[step], world), np.split(Y[step], world), strict=True)
            grads = [mlp_gradient(unflatten(weights, sizes), x, y) for x, y in halves]
            weights, moments = memory.sharded_adam_step(weights, grads, moments, step, 0.01)
        assert weights.size == row["params"]
        assert weights.sum() == pytest.approx(row["param_sum_after"], abs=1e-12)
        held = [sum(part.nbytes for part in pair) for pair in moments]
        assert max(held) < max(row["state_bytes_per_rank"])  # whole tensors make uneven shares
        assert sum(row["state_bytes_per_rank"]) == row["state_bytes_plain"] == 2 * 8 * weights.size


def test_fsdp2_holds_the_same_share(oracles):
    for row in oracles["fsdp2"]["rows"]:
        assert memory.shard(np.zeros(row["total"]), row["world"])[0].size == row["local_numel"]


# ---- stages, traffic, refusals ------------------------------------------------------------------------------------

params = st.floats(1, 1e13)
parts = st.tuples(*[st.floats(0.5, 20)] * 3)


@given(params=params, devices=st.integers(1, 5000), parts=parts)
def test_stage_properties(params, devices, parts):
    stages = [memory.zero_bytes_per_device(params, devices, stage, *parts) for stage in range(4)]
    assert stages == sorted(stages, reverse=True) or devices == 1
    assert stages[0] == memory.model_state_bytes(params, *parts)
    assert stages[3] * devices == pytest.approx(stages[0])
    for stage in range(4):
        fitting = memory.largest_model(stages[stage], devices, stage, *parts)
        assert fitting == pytest.approx(params)


@given(params=params, devices=st.integers(1, 5000))
def test_traffic_properties(params, devices):
    sent = [memory.zero_traffic(params, devices, stage) for stage in range(4)]
    assert sent[0] == sent[1] == sent[2] <= 2 * params
    assert sent[3] == pytest.approx(1.5 * sent[0])
    assert memory.zero_traffic(params, 1, 3) == 0


@pytest.mark.parametrize(
    ("function", "arguments", "said"),
    [
        (memory.model_state_bytes, (0,), "params must be a finite number above 0, not 0"),
        (memory.zero_bytes_per_device, (7.5e9, 64, 4), "stage must be 0, 1, 2 or 3, not 4"),
        (memory.zero_bytes_per_device, (7.5e9, 0, 1), "devices must be a whole number of at least 1, not 0"),
        (memory.zero_bytes_per_device, (7.5e9, 64, True), "stage .* not True"),
        (memory.largest_model, (math.nan, 64, 1), "gpu_bytes .* not nan"),
        (memory.zero_traffic, (7.5e9, 2.5, 1), "devices .* not 2.5"),
        (memory.activation_bytes, (1024, 1, 768, 12, 12, 8), "tensor_parallel = 8 does not divide heads = 12"),
        (memory.activation_bytes, (1022, 1, 768, 12, 12, 4, True), "tensor_parallel = 4 does not divide seq = 1022"),
        (memory.activation_bytes, (1024, 1, 768, 12, 12, 1, False, "half"), "recompute .* not 'half'"),
        (memory.shard, (np.ones((2, 2)), 2), r"flat must be one-dimensional; its shape is \(2, 2\)"),
        (memory.unshard, ([np.ones(2)], 3), "size = 3 is more than"),
        (memory.sharded_adam_step, (np.ones(2), [np.ones(2)], [(np.ones(2),) * 2], -1, 0.1), "step .* not -1"),
        (memory.sharded_adam_step, (np.ones(2), [], [], 0, 0.1), "grads and moments"),
        (memory.sharded_adam_step, (np.ones(2), [np.ones(2)], [(np.ones(3),) * 2], 0, 0.1), "pieces of 2 entries"),
    ],
)
def test_refusals_name_the_argument_and_its_value(function, arguments, said):
    with pytest.raises(ValueError, match=said):
        function(*arguments)
    assert memory.zero_bytes_per_device(7.5e9, 64.0, 1.0) == memory.zero_bytes_per_device(7.5e9, 64, 1)
