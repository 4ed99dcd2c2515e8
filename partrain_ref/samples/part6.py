"""The sample class of part 6: each student makes one kind of mistake wherever it can be made."""

COLUMNS = """
def split_columns(W, devices):
    size = W.shape[1] // devices
    return {}
"""
ROWS = """
def split_rows(W, devices):
    size = len(W) // devices
    return {}
"""
PARTIAL = """
def mlp_partial(X, W_up_piece, W_down_piece):
    inner = X @ W_up_piece
    return {}
"""
MLP = """
def tensor_parallel_mlp(X, W_up, W_down, devices):
    up, down = np.split(W_up, devices, axis=1), np.split(W_down, devices)
    partials = [{} for d in range(devices)]
    return {}
"""
ATTENTION = """
def tensor_parallel_attention(X, Wq, Wk, Wv, Wo, heads, devices):
    tokens, hidden = X.shape
    local, size = {local}, hidden // heads
    partials = []
    for d in range(devices):
        mine = slice(d * hidden // devices, (d + 1) * hidden // devices)
        Q, K, V = X @ {queries}[:, mine], X @ {keys}[:, mine], X @ Wv[:, mine]
        outputs = []
        for h in range(local):
            head = {head}
            scores = Q[:, head] @ K[:, head].T / {scale}
            {mask}
            powers = np.exp(scores - scores.max())
            outputs.append({shares} @ V[:, head])
        partials.append(np.hstack(outputs) @ {out})
    return {result}
"""
TRAFFIC = """
def tensor_parallel_traffic(batch, seq, hidden, devices, bytes_per_element):
    elements = batch * seq * hidden
    return {}
"""
TANH = "0.5 * ({0}) * (1 + np.tanh(np.sqrt(2 / np.pi) * (({0}) + 0.044715 * ({0})**3)))"
RIGHT_PARTIAL = "gelu(X @ up[d]) @ down[d]"


def attention(**changes: str) -> str:
    """The right source, except for what is named."""
    right = {
        "local": "heads // devices",
        "queries": "Wq",
        "keys": "Wk",
        "head": "slice(h * Q.shape[1] // local, (h + 1) * Q.shape[1] // local)",
        "scale": "np.sqrt(size)",
        "mask": "pass",
        "shares": "(powers / powers.sum(axis=1, keepdims=True))",
        "out": "Wo[mine]",
        "result": "sum(partials)",
    }
    return ATTENTION.format(**{**right, **changes})


def _answers(**sources: str) -> dict[str, str]:
    return {f"{name}-answer": source for name, source in sources.items()}


STUDENTS = {
    "all-right": {},
    "takes-rows-for-columns": {
        "answers": _answers(
            split_columns=COLUMNS.format("np.split(W, devices)"),
            split_rows=ROWS.format("np.split(W, devices, axis=1)"),
            tensor_parallel_mlp="def tensor_parallel_mlp(X, W_up, W_down, devices):\n"
            "    parts = zip(np.array_split(X, devices, axis=1), np.array_split(W_up, devices))\n"
            "    return sum(gelu(x @ up) for x, up in parts) @ W_down",
            tensor_parallel_attention=attention(
                shares="(powers / np.exp(scores - scores.max()).sum(axis=0, keepdims=True))"
            ),
            which_cut_first='which_cut_first = "a"',
            where_it_breaks='where_it_breaks = "a"',
        )
    },
    "forgets-the-gelu": {
        "answers": _answers(
            mlp_partial=PARTIAL.format("inner @ W_down_piece"),
            tensor_parallel_mlp=MLP.format("X @ up[d] @ down[d]", "sum(partials)"),
            tensor_parallel_attention=attention(shares="scores"),
            allreduces_per_layer="allreduces_per_layer = 0",
        )
    },
    "bends-too-late": {
        "answers": _answers(
            mlp_partial=PARTIAL.format("gelu(inner @ W_down_piece)"),
            tensor_parallel_mlp=MLP.format("X @ up[d] @ down[d]", "gelu(sum(partials))"),
            tensor_parallel_attention=attention(out="np.eye(hidden)[mine]"),
            where_it_breaks='where_it_breaks = "d"',
        )
    },
    "bends-twice": {
        "answers": _answers(
            mlp_partial=PARTIAL.format("gelu(gelu(inner) @ W_down_piece)"),
            tensor_parallel_mlp=MLP.format(RIGHT_PARTIAL, "gelu(sum(partials))"),
            tensor_parallel_attention=attention(mask="scores = np.where(np.tri(tokens) > 0, scores, -np.inf)"),
            allreduces_per_layer="allreduces_per_layer = 4",
        )
    },
    "approximates": {
        "answers": _answers(
            mlp_partial=PARTIAL.format(TANH.format("inner") + " @ W_down_piece"),
            tensor_parallel_mlp=MLP.format(TANH.format("X @ up[d]") + " @ down[d]", "sum(partials)"),
            tensor_parallel_attention=attention(scale="1"),
            tensor_parallel_traffic=TRAFFIC.format("8 * elements * bytes_per_element"),
            tp_traffic_mb="tp_traffic_mb = 8 * 2048 * 12288 * 2 / 1e6",
        )
    },
    "keeps-the-first-device": {
        "answers": _answers(
            split_columns=COLUMNS.format("W[:, :size]"),
            split_rows=ROWS.format("[W[:size]]"),
            mlp_partial=PARTIAL.format("gelu(inner)"),
            tensor_parallel_mlp=MLP.format(RIGHT_PARTIAL, "partials[0]"),
            tensor_parallel_attention=attention(result="partials[0]"),
            allreduces_per_layer="allreduces_per_layer = 1",
            tensor_parallel_traffic=TRAFFIC.format("2 * elements * (devices - 1) / devices * bytes_per_element"),
        )
    },
    "averages-the-devices": {
        "answers": _answers(
            tensor_parallel_mlp=MLP.format(RIGHT_PARTIAL, "sum(partials) / devices"),
            tensor_parallel_attention=attention(result="np.mean(partials, axis=0)"),
            tensor_parallel_traffic=TRAFFIC.format("8 * elements / devices * bytes_per_element"),
        )
    },
    "puts-side-by-side": {
        "answers": _answers(
            split_columns=COLUMNS.format("np.split(W.T, devices)"),
            split_rows=ROWS.format("[piece.T for piece in np.split(W, devices)]"),
            tensor_parallel_mlp=MLP.format(RIGHT_PARTIAL, "np.concatenate(partials, axis=1)"),
            tensor_parallel_attention=attention(result="np.concatenate(partials)"),
            which_cut_first='which_cut_first = "b"',
            where_it_breaks='where_it_breaks = "c"',
        )
    },
    "deals-out-like-cards": {
        "answers": _answers(
            split_columns=COLUMNS.format("[W[:, d::devices] for d in range(devices)]"),
            split_rows=ROWS.format("[W[d::devices] for d in range(devices)]"),
            tensor_parallel_attention=(
                "def tensor_parallel_attention(X, Wq, Wk, Wv, Wo, heads, devices):\n"
                "    outputs = []\n"
                "    for h in range(heads):\n"
                "        Q, K, V = X @ Wq[:, h::heads], X @ Wk[:, h::heads], X @ Wv[:, h::heads]\n"
                "        outputs.append(softmax_rows(Q @ K.T / np.sqrt(Q.shape[1])) @ V)\n"
                "    return np.hstack(outputs) @ Wo"
            ),
            mlp_partial=PARTIAL.format("np.maximum(inner, 0) @ W_down_piece"),
        )
    },
    "copies-to-every-device": {
        "answers": _answers(
            split_columns=COLUMNS.format("[W.copy() for d in range(devices)]"),
            split_rows=ROWS.format("[W.copy() for d in range(devices)]"),
            tensor_parallel_mlp=MLP.format("gelu(X @ W_up) @ W_down", "sum(partials)"),
            tensor_parallel_attention=attention(local="1"),
            tensor_parallel_traffic=TRAFFIC.format("8 * elements * (devices - 1) * bytes_per_element"),
        )
    },
    "counts-elements": {
        "answers": _answers(
            split_columns=COLUMNS.format("list(W.reshape(devices, len(W), size))"),
            mlp_partial=PARTIAL.format("gelu(X) @ W_up_piece @ W_down_piece"),
            tensor_parallel_attention=attention(scale="np.sqrt(hidden)"),
            tp_traffic_mb="tp_traffic_mb = 8 * 2048 * 12288 * 7 / 8 / 1e6",
            tensor_parallel_traffic=TRAFFIC.format("8 * elements * (devices - 1) / devices"),
        )
    },
    "forgets-the-way-back": {
        "answers": _answers(
            tensor_parallel_attention=attention(queries="Wk", keys="Wq"),
            tp_traffic_mb="tp_traffic_mb = 4 * 2048 * 12288 * 7 / 8 * 2 / 1e6",
            tensor_parallel_traffic=TRAFFIC.format("4 * elements * (devices - 1) / devices * bytes_per_element"),
        )
    },
    "counts-each-array-once": {
        "answers": _answers(
            tp_traffic_mb="tp_traffic_mb = 4 * 2048 * 12288 * 2 / 1e6",
            tensor_parallel_traffic=TRAFFIC.format("4 * elements * bytes_per_element"),
        )
    },
    "answers-in-megabytes": {
        "answers": _answers(
            tp_traffic_mb="tp_traffic_mb = 8 * 2048 * 12288 * 7 / 8 * 2 / 2**20",
            tensor_parallel_traffic=TRAFFIC.format("8 * elements * (devices - 1) / devices * bytes_per_element / 1e6"),
        )
    },
    "right-values-no-refusals": {
        "answers": _answers(
            split_columns=COLUMNS.format("[W[:, d * size : (d + 1) * size] for d in range(devices)]"),
            split_rows=ROWS.format("W.reshape(devices, size, -1)"),
            mlp_partial=PARTIAL.format("(gelu(inner) @ W_down_piece).tolist()"),
            tensor_parallel_mlp="def tensor_parallel_mlp(X, up, down, gpus):\n    return gelu(X @ up) @ down",
            tensor_parallel_attention=attention(),
            tensor_parallel_traffic=TRAFFIC.format("8 * elements * (devices - 1) / devices * bytes_per_element"),
        )
    },
    "half-done": {
        "blank": True,
        "answers": _answers(
            split_columns=COLUMNS.format("np.split(W, devices, axis=1)"),
            split_rows=ROWS.format("np.split(W, devices)"),
            mlp_partial=PARTIAL.format("gelu(inner) @ W_down_piece"),
            allreduces_per_layer="allreduces_per_layer = 2",
            which_cut_first='which_cut_first = "d"',
        ),
    },
    "blank": {"blank": True},
}
