"""Part 7's reference against published tables, other software's numbers, and its own properties."""

import copy
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from partrain_ref import clock, memory

# ---- the ring -----------------------------------------------------------------------------------------------------


@given(n=st.integers(1, 12), size=st.integers(1, 40), seed=st.integers(0, 2**32 - 1))
def test_a_ring_equals_the_sum(n, size, seed):
    arrays = list(np.random.default_rng(seed).normal(size=(n, size)))
    before = copy.deepcopy(arrays)
    held, sent = clock.ring_allreduce(arrays)
    assert all(np.array_equal(*pair) for pair in zip(arrays, before, strict=True))
    assert len(held) == len(sent) == n and all(type(number) is int for number in sent)
    assert len({array.tobytes() for array in held}) == 1, "equal in every bit"
    assert held[0] == pytest.approx(np.sum(arrays, axis=0), rel=1e-12, abs=1e-12)
    whole, chunk = 8 * size, 8 * math.ceil(size / n)
    assert sum(sent) == 2 * (n - 1) * whole
    assert all(abs(number - 2 * (n - 1) / n * whole) <= 2 * chunk for number in sent)


def test_devices_do_not_share_an_array():
    held, _ = clock.ring_allreduce([np.ones(3), np.ones(3)])
    held[0][0] = 7
    assert held[1].tolist() == [2, 2, 2]


def test_a_ring_by_hand():
    held, sent = clock.ring_allreduce([np.array([1.0, 2, 3]), np.array([10.0, 20, 30]), np.array([100.0, 200, 300])])
    assert [array.tolist() for array in held] == [[111, 222, 333]] * 3
    assert sent == [32, 32, 32]


def test_bytes_on_the_wire_of_gloo(oracles):
    """All-reduce rows: what was counted at the interface is our total, plus framing of under 1%."""
    rows = [row for row in oracles["bytes_on_wire_gloo"]["rows"] if row["op"] == "all_reduce"]
    assert len(rows) > 10
    for row in rows:
        arrays = sum(clock.ring_allreduce([np.ones(1000)] * row["n"])[1]) / 8000  # that all devices send together
        assert 1 <= row["loopback_bytes"] / (arrays * row["S_bytes"]) < 1.01


def test_collective_factors(oracles):
    block = oracles["collective_factors"]
    for row in block["evaluated"]:
        assert clock.allreduce_seconds(1, row["n"], 1, 0) == pytest.approx(row["all_reduce"], rel=1e-15)
        assert clock.allreduce_seconds(1, row["n"], 1, 0) == pytest.approx(2 * row["all_gather"], rel=1e-15)
    for row in block["time_points"]:
        assert clock.allreduce_seconds(row["S_bytes"], row["n"], row["B"], 0) == pytest.approx(row["t_s"], rel=1e-12)


def test_alpha_beta(oracles):
    for row in oracles["alpha_beta"]["rows"]:
        n, alpha = row["n"], row["alpha"]
        ours = clock.allreduce_seconds(row["S"], n, row["bandwidth"], alpha)
        assert ours == pytest.approx(row["ring_s"], rel=1e-12)
        assert ours - 2 * (n - 1 - math.log2(n)) * alpha == pytest.approx(row["halving_doubling_s"], rel=1e-12)


def test_speedup():
    assert round(clock.speedup(80, 10, 2), 3) == 6.667
    assert clock.speedup(80, 10, 0) == 8
    assert clock.speedup(80, 10, 2) / 8 == pytest.approx(0.833, abs=5e-4)


# ---- operations ---------------------------------------------------------------------------------------------------


def test_published_budgets():
    assert clock.train_flops(1e6, 1e8) == 6e14
    gpt3 = clock.train_flops(174.6e9, 300e9)
    assert f"{gpt3:.2e}" == "3.14e+23"
    assert gpt3 / (1e15 * 86_400) == pytest.approx(3637.5, abs=0.05)  # PF-days; Table D.1 prints 3.64E+03
    llama = clock.train_flops(405e9, 15.6e12)
    assert f"{llama:.2e}" == "3.79e+25"
    hours = 30.84e6
    assert hours / 16_384 / 24 == pytest.approx(78.4, abs=0.05)
    tokens_per_second = 15.6e12 / (hours / 16_384 * 3600)
    assert clock.utilisation(405e9, tokens_per_second, 16_384, 989e12) == pytest.approx(0.345, abs=5e-4)


# Megatron-LM, arXiv 2104.04473, Table 2: model (layers, hidden), method, GPUs, TFLOP/s of a GPU, days for 300B tokens
SMALL, LARGE = (96, 12_288), (105, 20_480)
TABLE_2 = [
    (SMALL, 384, 144, 90, 90.0),
    (SMALL, 768, 88, 74, 73.7),
    (SMALL, 1536, 44, 74, 73.7),
    (LARGE, 640, 138, 169, 169.2),
    (LARGE, 1120, 98, 137, 136.2),
    (LARGE, 2240, 48, 140, 139.0),
    (SMALL, 384, 153, 84, 84.7),
    (SMALL, 768, 149, 43, 43.5),
    (SMALL, 1536, 141, 23, 23.0),
    (LARGE, 560, 171, 156, 156.1),
    (LARGE, 1120, 167, 80, 79.9),
    (LARGE, 2240, 159, 42, 42.0),
]


@pytest.mark.parametrize(("model", "gpus", "teraflops", "printed", "recomputed"), TABLE_2)
def test_megatron_table_2(model, gpus, teraflops, printed, recomputed):
    for batch in (1536, 2560):  # the days do not depend on the batch
        flops = clock.megatron_flops(batch, 2048, *model, 51_200) * 300e9 / (batch * 2048)
        days = flops / (gpus * teraflops * 1e12) / 86_400
        assert days == pytest.approx(recomputed, abs=0.051)
        assert abs(days - printed) <= 1


def test_8nd_leaves_out_what_equation_3_counts():
    for (layers, hidden), params, lower in ((SMALL, 174.6e9, 0.026), (LARGE, 529.6e9, 0.016)):
        counted = memory.parameter_count(hidden, layers, 51_200, 2048)
        assert counted == pytest.approx(params, rel=5e-4)
        equation = clock.megatron_flops(1, 2048, layers, hidden, 51_200) / 2048 * 300e9
        days = clock.training_days(counted, 300e9, 1536, 141e12, recompute=True)
        assert days == pytest.approx(8 / 6 * clock.training_days(counted, 300e9, 1536, 141e12))
        assert 1 - days * 86_400 * 1536 * 141e12 / equation == pytest.approx(lower, abs=5e-4)


# Korthikanti and others, arXiv 2205.05198, Tables 3 and 5: hidden, layers, GPUs, batch, seconds, MFU % and HFU % as
# printed, MFU % from equation 7, HFU % from equation 8
KORTHIKANTI = [
    (6144, 48, 8, 4, 1.10, 41.5, 43.7, 41.65, 43.81),
    (12288, 96, 64, 64, 13.75, 51.4, 52.8, 51.39, 52.77),
    (20480, 105, 280, 280, 37.83, 56.0, 57.0, 56.05, 56.96),
    (25600, 128, 512, 512, 71.49, 56.3, 57.0, 56.27, 57.01),
]


@pytest.mark.parametrize("row", KORTHIKANTI)
def test_korthikanti_utilisation(row):
    hidden, layers, gpus, batch, seconds, mfu, hfu, equation_7, equation_8 = row
    peak = gpus * 312e12 * seconds / 100
    model = clock.megatron_flops(batch, 2048, layers, hidden, 51_200, recompute=False)
    again = 72 * batch * layers * 2048 * hidden**2 * 2048 / (6 * hidden)  # equation 8: attention is counted twice
    assert model / peak == pytest.approx(equation_7, abs=0.006) and abs(model / peak - mfu) < 0.2
    assert (model + again) / peak == pytest.approx(equation_8, abs=0.006)
    assert abs((model + again) / peak - hfu) < 0.2


def test_flops_torch_counter(oracles):
    """The counter's closed form is Megatron's without recomputation, to the last FLOP."""
    for row in oracles["flops_torch_counter"]["rows"]:
        cfg = row["cfg"]
        ours = clock.megatron_flops(
            row["B"], row["T"], cfg["n_layer"], cfg["n_embd"], cfg["vocab_size"], recompute=False
        )
        assert round(ours) == row["fwd_bwd_flops"]
        for params, name in (
            (row["N_non_embedding"], "measured_over_6NneD"),
            (row["N_total"], "measured_over_6NtotalD"),
        ):
            assert row["fwd_bwd_flops"] / clock.train_flops(params, row["tokens"]) == pytest.approx(row[name], rel=1e-9)


def printed(text):
    """'104.37 ZFLOPs (1.04 × ...)' -> (number, one unit of the last printed place)."""
    number, unit = text.split()[:2]
    size = {"K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12, "G": 1e9, "P": 1e15, "E": 1e18, "Z": 1e21}[unit[0]]
    return float(number) * size, size * 10.0 ** -len(number.partition(".")[2])


def flags(args):
    words = args.split()
    pairs = zip(words, [*words[1:], "-"], strict=True)
    return {word: (None if value.startswith("-") else float(value)) for word, value in pairs if word.startswith("-")}


def test_flops_cookbook(oracles):
    """Its blocks add up to ours, once its logits are multiplied by 3 for the backward pass."""
    seen = 0
    for row in oracles["flops_cookbook"]["rows"]:
        f = flags(row["args"])
        if "-i" in f or "--tokens" not in f:
            continue  # inference alone, or a default number of tokens
        seen += 1
        tokens, recompute = f["--tokens"], "-ca" not in f
        out = {name: printed(text) for name, text in row["out"].items()}
        logits, place = out["Embedding FLOPs"]
        total, last = out["Total FLOPs for the Model"]
        ours = clock.megatron_flops(1, f["-s"], f["-l"], f["-hs"], f["-v"], recompute) * tokens / f["-s"]
        assert ours == pytest.approx(total + 2 * logits, abs=last + 2 * place)
    assert seen == 2


def test_params_cookbook(oracles):
    """The rows with tied embeddings are ours; the others hold the vocabulary twice."""
    for row in oracles["params_cookbook"]["rows"]:
        f = flags(row["args"])
        total, last = printed(row["out"]["Total Params in the Model"])
        ours = memory.parameter_count(int(f["-hs"]), int(f["-l"]), int(f["-v"]), int(f["-s"]))
        twice = 0 if "--tied-embeddings" in f else f["-v"] * f["-hs"]
        assert ours + twice == pytest.approx(total, abs=2 * last)


# ---- tokens, steps, tables ----------------------------------------------------------------------------------------


@given(tokens=st.integers(1, 10**13), each=st.integers(1, 10**8))
def test_steps_are_just_enough(tokens, each):
    steps = clock.optimizer_steps(tokens, each)
    assert (steps - 1) * each < tokens <= steps * each
    assert type(steps) is int


def test_updates_for_300_billion_tokens():
    assert clock.optimizer_steps(300e9, 8_388_608) == 35_763


# Llama 3, arXiv 2407.21783, Table 4: GPUs, TP, CP, PP, DP, length, batch a DP, tokens, TFLOP/s, MFU % printed, of 989
TABLE_4 = [
    (8_192, 8, 1, 16, 64, 8_192, 32, 16, 430, 43, 43.5),
    (16_384, 8, 1, 16, 128, 8_192, 16, 16, 400, 41, 40.4),
    (16_384, 8, 16, 16, 8, 131_072, 16, 16, 380, 38, 38.4),
]
COLUMNS = ("gpus", "tp", "cp", "pp", "dp", "seq", "batch_per_dp", "tokens")


def llama():
    return [dict(zip(COLUMNS, row[:8], strict=True)) for row in TABLE_4]


def test_llama_3_table_4():
    for row in TABLE_4:
        tokens_per_second = row[0] * row[8] * 1e12 / (6 * 405e9)
        share = clock.utilisation(405e9, tokens_per_second, row[0], 989e12)
        assert round(100 * share, 1) == row[10] and abs(100 * share - row[9]) < 1
    with pytest.raises(ValueError, match="one row that does not hold; it has 0"):
        clock.inconsistent_cell(llama())
    misprinted = llama()
    misprinted[2]["dp"] = 4  # as one circulated version prints it
    assert clock.inconsistent_cell(misprinted) == (2, "dp")


@given(row=st.integers(0, 2), column=st.sampled_from(COLUMNS), value=st.integers(1, 300_000))
def test_a_cell_that_is_named_can_be_repaired(row, column, value):
    table = llama()
    table[row][column] = value
    if table == llama():
        return
    try:
        at, name = clock.inconsistent_cell(table)
    except ValueError as refusal:
        assert "does not hold" in str(refusal) or f"in row {row}" in str(refusal)
        return
    assert (at, name) == (row, column), "the only repair is the one that was made"


def test_a_misprint_with_several_repairs_is_refused():
    table = llama()
    table[1]["tp"] = 4  # half as many gpus, or twice as many of tp, cp or pp, would do
    with pytest.raises(ValueError, match="one cell that repairs it; in row 1 there are 4"):
        clock.inconsistent_cell(table)


# ---- refusals -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "arguments", "said"),
    [
        (clock.speedup, (80, 0, 0), "t_compute must be a finite number above 0, not 0"),
        (clock.speedup, (80, 10, -1), "t_comm must be a finite number of at least 0, not -1"),
        (clock.ring_allreduce, ([],), "arrays must be 1-D and of one shape"),
        (clock.ring_allreduce, ([np.ones((2, 2))],), r"arrays must be 1-D .* not \[\(2, 2\)\]"),
        (clock.ring_allreduce, ([np.ones(2), np.array([1, math.nan])],), r"arrays\[1\] holds an entry"),
        (clock.allreduce_seconds, (1e9, 2.5, 1e9, 0), "devices must be a whole number of at least 1, not 2.5"),
        (clock.allreduce_seconds, (1e9, 4, 1e9, -1), "latency must be .* at least 0, not -1"),
        (clock.train_flops, (0, 1), "params must be a finite number above 0, not 0"),
        (clock.training_days, (1e9, 1e9, True, 1e12), "devices .* not True"),
        (clock.training_days, (1e9, 1e9, 8, 1e12, "full"), "recompute must be True or False, not 'full'"),
        (clock.utilisation, (1e9, math.inf, 8, 1e12), "tokens_per_second .* not inf"),
        (clock.optimizer_steps, (300e9, 0), "tokens_per_update .* not 0"),
        (clock.inconsistent_cell, ([],), "table must have at least one row"),
        (clock.inconsistent_cell, ([{"gpus": 8}],), r"table\[0\] has no column 'tp'"),
        (clock.inconsistent_cell, ([{**llama()[0], "dp": 0}],), r"table\[0\]\['dp'\] must be .* not 0"),
    ],
)
def test_refusals_name_the_argument_and_its_value(function, arguments, said):
    with pytest.raises(ValueError, match=said):
        function(*arguments)


def test_one_device_has_nobody_to_send_to():
    assert clock.allreduce_seconds(1e9, 1, 1e9, 5) == 0
    assert clock.ring_allreduce([np.array([3.0])])[1] == [0]
