"""Part 8's reference against the published runs, exhaustive search, the closed forms of earlier parts."""

import itertools
import math
import time
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from partrain import planning
from partrain_ref import checkpoint, clock, memory, pipeline, plan, tensor
from partrain_ref.exercises import _part8_run as runs
from partrain_ref.plan import Cluster, Gpu, Model, Plan

A100 = Gpu(72e9, 312e12, 0.5)
SEQ, VOCABULARY = 2048, 51_200

# Megatron-LM, arXiv 2104.04473, Table 1 (verified): 1e9 parameters, heads, hidden, layers, t, p, GPUs, batch, TFLOP/s
# of a GPU, % of peak, PFLOP/s of all; and d (recomputed)
TABLE_1 = [
    (1.7, 24, 2304, 24, 1, 1, 32, 512, 137, 44, 4.4, 32),
    (3.6, 32, 3072, 30, 2, 1, 64, 512, 138, 44, 8.8, 32),
    (7.5, 32, 4096, 36, 4, 1, 128, 512, 142, 46, 18.2, 32),
    (18.4, 48, 6144, 40, 8, 1, 256, 1024, 135, 43, 34.6, 32),
    (39.1, 64, 8192, 48, 8, 2, 512, 1536, 138, 44, 70.8, 32),
    (76.1, 80, 10240, 60, 8, 4, 1024, 1792, 140, 45, 143.8, 32),
    (145.6, 96, 12288, 80, 8, 8, 1536, 2304, 148, 47, 227.1, 24),
    (310.1, 128, 16384, 96, 8, 16, 1920, 2160, 155, 50, 297.4, 15),
    (529.6, 128, 20480, 105, 8, 35, 2520, 2520, 163, 52, 410.2, 9),
    (1008.0, 160, 25600, 128, 8, 64, 3072, 3072, 163, 52, 502.0, 6),
]
every_run = pytest.mark.parametrize("row", TABLE_1, ids=lambda row: f"{row[0]}B")


def laid_out(row, stage=0, micro_batch=1):
    """(plan, model, cluster) of a published run; the micro-batch is not printed."""
    billions, heads, hidden, layers, t, p, gpus, batch = row[:8]
    model = Model(billions * 1e9, layers, hidden, heads, SEQ, VOCABULARY, 300e9, batch)
    cluster = Cluster(gpus, 8, A100, 300e9, 25e9, 5e-6, 1.8e8, 60, 300)
    d = plan.replicas(gpus, t, p)
    return Plan(t, p, d, stage, micro_batch, batch // (d * micro_batch), 3600), model, cluster


# ---- Table 1 ------------------------------------------------------------------------------------------------------


@every_run
def test_the_published_runs_divide_and_fit(row):
    one, model, _ = laid_out(row)
    assert one.data_parallel == row[-1] and model.batch % one.data_parallel == 0
    for stage in (0, 1):
        assert plan.fits(replace(one, stage=stage), model, A100, 8) == (True, "fits")


@every_run
def test_the_published_parameters_rates_and_totals(row):
    billions, _, hidden, layers, _, _, gpus, _, teraflops, percent, petaflops, _ = row
    assert memory.parameter_count(hidden, layers, VOCABULARY, positions=SEQ) / 1e9 == pytest.approx(billions, abs=0.1)
    assert 100 * teraflops / 312 == pytest.approx(percent, abs=1)
    assert gpus * teraflops / 1000 == pytest.approx(petaflops, rel=0.004)


def test_the_residual_of_the_published_updates():
    """One efficiency for all: too quick for the smallest, too slow for the largest, and never off by a third."""
    off = []
    for row in TABLE_1:
        one, model, cluster = laid_out(row)
        flops = clock.megatron_flops(model.batch, SEQ, model.layers, model.hidden, VOCABULARY)
        off.append(plan.step_seconds(one, model, cluster) / (flops / (cluster.gpus * row[8] * 1e12)) - 1)
    assert -0.12 < off[0] < -0.11 and 0.25 < off[-1] < 0.26
    assert all(abs(share) < 0.26 for share in off)
    assert off[5] == pytest.approx(0.057, abs=0.001)


def test_replicas_of_the_facts_table():
    assert plan.replicas(1024, 8, 4) == 32
    with pytest.raises(ValueError, match="gpus = 1000 is not a multiple"):
        plan.replicas(1000, 8, 4)


def test_the_hardware_rate_holds_the_second_forward_pass():
    _, model, cluster = laid_out(TABLE_1[5])
    seconds = clock.megatron_flops(model.batch, SEQ, model.layers, model.hidden, VOCABULARY) / (1024 * 140e12)
    share = clock.utilisation(model.params, model.batch * SEQ / seconds, cluster.gpus, 312e12)
    assert 100 * share == pytest.approx(32.6, abs=0.1)


# ---- fits ---------------------------------------------------------------------------------------------------------


def test_reasons_come_in_their_order():
    one, model, _ = laid_out(TABLE_1[5])
    tiny = replace(A100, memory_bytes=1.0)
    breaks = {
        "divisible": {"data_parallel": 31},
        "node": {"tensor_parallel": 16},
        "micro-batches": {"pipeline_parallel": 60},
    }
    for changes in itertools.chain.from_iterable(itertools.combinations(breaks, n) for n in range(4)):
        broken = replace(one, **{name: value for reason in changes for name, value in breaks[reason].items()})
        first = next((reason for reason in plan.REASONS if reason in changes), "memory")
        assert plan.fits(broken, model, tiny, 8) == (False, first)


def test_memory_is_that_of_part_3_and_part_5():
    one, model, _ = laid_out(TABLE_1[5], stage=1)
    state = memory.zero_bytes_per_device(76.1e9 / 32, 32, 1)
    kept = memory.activation_bytes(SEQ, 1, 10_240, 80, 60, recompute="full")  # layers / p, times p in flight
    assert plan.bytes_per_gpu(one, model) == pytest.approx(state + kept, rel=1e-15)
    flying = pipeline.peak_in_flight(pipeline.one_f_one_b_order(4, one.accumulation))
    assert flying[0] == 4
    assert plan.bytes_per_gpu(one, model) == pytest.approx(12.92e9, rel=1e-3)


@given(t=st.sampled_from([1, 2, 4, 8]), p=st.sampled_from([1, 2, 4]), stage=st.integers(0, 3), d=st.integers(1, 64))
def test_more_sharding_and_more_splitting_never_need_more(t, p, stage, d):
    model = Model(7.5e9, 36, 4096, 32, SEQ, VOCABULARY, 1e9, d * 8)
    need = plan.bytes_per_gpu(Plan(t, p, d, stage, 1, 8, 60), model)
    for more in (Plan(2 * t, p, d, stage, 1, 8, 60), Plan(t, 3 * p, d, stage, 1, 8, 60)):
        assert plan.bytes_per_gpu(more, model) < need
    if stage < 3:
        assert plan.bytes_per_gpu(Plan(t, p, d, stage + 1, 1, 8, 60), model) <= need


# ---- step_seconds -------------------------------------------------------------------------------------------------


@given(
    t=st.sampled_from([1, 2, 8]), p=st.sampled_from([1, 2, 3, 12]), d=st.integers(1, 9), stage=st.integers(0, 3),
    b=st.integers(1, 4), m=st.integers(1, 40), wait=st.sampled_from([0.0, 1e-5]),
)  # fmt: skip
def test_an_update_is_the_schedule_of_part_5_with_the_traffic_of_parts_3_6_and_7(t, p, d, stage, b, m, wait):
    model = Model(7.5e9, 36, 4096, 32, SEQ, VOCABULARY, 1e9, d * b * m)
    cluster = Cluster(t * p * d, 8, A100, 300e9, 25e9, wait, 1e8, 60, 300)
    seconds = plan.step_seconds(Plan(t, p, d, stage, b, m, 60), model, cluster)
    message = 2 * b * SEQ * 4096
    slot = 8 * 7.5e9 / (t * p) * b * SEQ / 156e12
    slot += 36 / p * 1.5 * tensor.tensor_parallel_traffic(b, SEQ, 4096, t, 2) / 300e9 + 36 / p * 12 * (t - 1) * wait
    slot += 2 * (wait + message / 25e9) if p > 1 else 0
    busy = pipeline.pipeline_time(pipeline.one_f_one_b_order(p, m), slot / 3, 2 * slot / 3)
    bytes_sent = 2 * memory.zero_traffic(7.5e9 / (t * p), d, stage) if m == 1 else None
    after = seconds - busy
    if bytes_sent is not None and wait == 0:
        assert after == pytest.approx(bytes_sent / 25e9, rel=1e-6, abs=1e-9 * seconds)
    passes = {0: 2, 1: 2, 2: m + 1, 3: 3 * m}[stage]
    assert after == pytest.approx(
        passes / 2 * clock.allreduce_seconds(2 * 7.5e9 / (t * p), d, 25e9, wait), rel=1e-6, abs=1e-9 * seconds
    )


@given(row=st.sampled_from(TABLE_1), change=st.sampled_from(["bandwidth_inside", "bandwidth_between", "latency"]))
def test_a_better_network_is_never_slower(row, change):
    one, model, cluster = laid_out(row)
    better = replace(cluster, **{change: getattr(cluster, change) * (0.5 if change == "latency" else 2)})
    assert plan.step_seconds(one, model, better) <= plan.step_seconds(one, model, cluster)


def test_step_seconds_refuses_what_does_not_belong_together():
    one, model, cluster = laid_out(TABLE_1[5])
    for given_ in ((one, model, replace(cluster, gpus=512)), (replace(one, micro_batch=2), model, cluster),
                   (one, replace(model, layers=61), cluster)):  # fmt: skip
        with pytest.raises(ValueError, match="plan"):
            plan.step_seconds(*given_)


def test_days_are_updates_and_waste():
    one, model, cluster = laid_out(TABLE_1[5])
    updates = math.ceil(300e9 / (1792 * SEQ))
    mean = 1.8e8 / 1024
    waste = checkpoint.wasted_fraction(3600, 60, mean, 300)
    wanted = updates * plan.step_seconds(one, model, cluster) * (1 + waste) / 86_400
    assert plan.run_days(one, model, cluster) == pytest.approx(wanted, rel=1e-15)


# ---- plan_run -----------------------------------------------------------------------------------------------------


def brute_force(model, cluster):
    """Every whole number in the place of a degree or a micro-batch, nothing left out for being no divisor."""
    mean = cluster.device_mtbf / cluster.gpus
    interval = checkpoint.best_interval(cluster.save_seconds, mean)
    for t, p in itertools.product(range(1, cluster.gpus_per_node + 1), range(1, model.layers + 1)):
        if cluster.gpus % (t * p) == 0:
            d = cluster.gpus // (t * p)
            for b, stage in itertools.product(range(1, model.batch // d + 1), range(4)):
                one = Plan(t, p, d, stage, b, max(1, model.batch // (d * b)), interval)
                if plan.fits(one, model, cluster.gpu, cluster.gpus_per_node)[0]:
                    yield plan.run_days(one, model, cluster)


@settings(max_examples=25)
@given(
    gpus=st.sampled_from([1, 4, 8, 24, 64, 96]), node=st.sampled_from([4, 8]), layers=st.sampled_from([6, 12, 24]),
    heads=st.sampled_from([8, 12, 16]), batch=st.sampled_from([12, 48, 96, 128]),
    room=st.sampled_from([4e9, 20e9, 72e9]), between=st.sampled_from([1e9, 25e9]),
)  # fmt: skip
def test_plan_run_finds_what_exhaustive_search_finds(gpus, node, layers, heads, batch, room, between):
    hidden = 128 * heads
    model = Model(12.0 * layers * hidden**2, layers, hidden, heads, SEQ, VOCABULARY, 1e9, batch)
    cluster = Cluster(gpus, node, replace(A100, memory_bytes=room), 300e9, between, 5e-6, 1e7, 60, 300)
    fewest = min(brute_force(model, cluster), default=None)
    if fewest is None:
        with pytest.raises(ValueError, match="no plan"):
            plan.plan_run(model, cluster)
        return
    best = plan.plan_run(model, cluster)
    assert plan.fits(best, model, cluster.gpu, cluster.gpus_per_node) == (True, "fits")
    assert best.tensor_parallel * best.pipeline_parallel * best.data_parallel == cluster.gpus
    assert plan.run_days(best, model, cluster) == pytest.approx(fewest, rel=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_graded_machines_are_small_enough_to_search(seed):
    for one in (*runs.SHOWN, *runs._draw(np.random.default_rng(seed))):
        assert sum(1 for _ in plan.plans(*one.args)) <= 10_000
        plan.plan_run.cache_clear()
        start = time.perf_counter()
        plan.plan_run(*one.args)
        assert time.perf_counter() - start < 1


@settings(max_examples=20)
@given(seconds=st.floats(60, 1e5), machine=st.sampled_from(runs.SHOWN))
def test_the_best_interval_is_the_best_for_every_plan(seconds, machine):
    best = plan.plan_run(*machine.args)
    assume(seconds != best.checkpoint_seconds)
    assert plan.run_days(best, *machine.args) <= plan.run_days(replace(best, checkpoint_seconds=seconds), *machine.args)


def test_the_published_plan_is_within_5_percent_of_the_best():
    one, model, cluster = laid_out(TABLE_1[5], stage=1)
    best = plan.plan_run(model, cluster)
    one = replace(one, checkpoint_seconds=best.checkpoint_seconds)
    assert 1.01 < plan.run_days(one, model, cluster) / plan.run_days(best, model, cluster) < 1.02
    assert runs.accepted(one, model, cluster)


def test_a_larger_model_than_the_cluster_holds_is_refused():
    _, model, cluster = laid_out(TABLE_1[-1])
    with pytest.raises(ValueError, match=r"no plan of cluster\.gpus = 64 fits"):
        plan.plan_run(model, replace(cluster, gpus=64))


@pytest.mark.parametrize("answer", [None, 3, [], {}, {"stage": 1}, dict.fromkeys(runs.FIELDS, 0),
                                    dict.fromkeys(runs.FIELDS, "x"), dict.fromkeys(runs.FIELDS, math.inf)])  # fmt: skip
def test_what_is_no_plan_is_never_accepted(answer):
    assert runs.read(answer) is None
    assert not runs.plan_run.accepts(runs.SHOWN[0], answer, None)


# ---- the records --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["Plan", "Model", "Gpu", "Cluster"])
def test_records_are_the_kit_s(name):
    ours, theirs = getattr(plan, name), getattr(planning, name)
    assert [field.name for field in fields(ours)] == [field.name for field in fields(theirs)]


def numbers(record):
    return [getattr(record, field.name) for field in fields(record)]


@pytest.mark.parametrize("value", [0, -1, 2.5, True, math.nan, math.inf, "8", None])
@pytest.mark.parametrize("record", laid_out(TABLE_1[5]) + (A100,), ids=lambda record: type(record).__name__)
def test_records_refuse_the_same_as_the_kit_s(record, value):
    theirs = getattr(planning, type(record).__name__)
    for at, field in enumerate(fields(record)):
        if field.name == "gpu":
            continue
        given_ = [*numbers(record)[:at], value, *numbers(record)[at + 1 :]]

        def refused(kind, given_=given_):
            try:
                kind(*given_)
            except ValueError as error:
                return str(error)
            return None

        assert (refused(type(record)) is None) == (refused(theirs) is None), field.name
        if refused(theirs):
            assert field.name in refused(theirs) and field.name in refused(type(record))
