"""Part 7, the wall clock: exercises, with the mistakes of the field as wrong twins.

Wrong numbers and their causes: the field's tables of misconceptions (ideal division, 2nS, 2(n - 1)S, (n - 1)S and S for
a ring, forward or backward alone, recomputation counted or not, the sparse peak, bits for bytes).
"""

from __future__ import annotations

import math

from autograder.exercise import Exercise, Mistake, call, refuse
from partrain_ref import clock
from partrain_ref.exercises._part7_ring import ring_allreduce
from partrain_ref.exercises._part7_table import inconsistent_cell

NAN, DAY, HOUR = math.nan, 86_400, 3_600

# ---- speed-up -----------------------------------------------------------------------------------------------------

DIVIDED = "That is the ideal: one device's time over the computing alone. The devices also wait for the communication."
OVERLAPPED = (
    "There the shorter of the two times costs nothing, as if it were hidden behind the longer. Here the device "
    "computes first and communicates then."
)
INVERTED = "That is the share of the time that is left, the speed-up upside down. Divide the time of one device by it."
SECONDS_OFF = "Seconds were taken away from a ratio there. Add the two times of the many devices first, then divide."
SAVED = "Those are the seconds saved. A speed-up is a ratio: how many times as fast."
COMM_TWICE = "The communication was added to the time of one device. One device has nobody to swap with."
EFFICIENCY = "That is the share of the ideal speed-up, the efficiency. The question asks for the speed-up itself."
COMM_ONLY = "That is one device's time over the communication alone. The computing takes time as well."

speedup_8 = Exercise(
    "speedup_8",
    kind="number",
    reference=80 / 12,
    digits=3,
    unit="times as fast as one device",
    points=1,
    mistakes=(
        Mistake("communication_forgotten", 8.0, DIVIDED),
        Mistake("seconds_taken_from_a_ratio", 6.0, SECONDS_OFF),
        Mistake("efficiency", 10 / 12, EFFICIENCY),
        Mistake("inverted", 12 / 80, INVERTED),
        Mistake("seconds_saved", 68.0, SAVED),
        Mistake("communication_on_one_device", 82 / 12, COMM_TWICE),
        Mistake("communication_alone", 40.0, COMM_ONLY),
        Mistake("percent", 1000 / 12, "That is the efficiency in percent. The question asks for a factor.", unit=True),
    ),
)


def _draw_speedup(rng):
    for comm in (round(rng.uniform(0.3, 4), 2), int(rng.integers(5, 20)), round(rng.uniform(20, 40), 1)):
        yield call(float(rng.integers(60, 900)), round(rng.uniform(4.5, 19), 3), comm)
    yield call(int(rng.integers(60, 900)), int(rng.integers(5, 20)), 0)  # communication may be free


speedup = Exercise(
    "speedup",
    reference=clock.speedup,
    points=4,
    examples=(call(60, 15, 1), call(60, 7.5, 12)),
    draw=_draw_speedup,
    refusals=(
        refuse("t_compute is 0", 80, 0, 2),
        refuse("t_comm is negative", 80, 10, -2),
        refuse("both times of the many devices are 0", 80, 0, 0),
        refuse("t_single is 0", 0, 10, 2),
        refuse("t_compute is NaN", 80, NAN, 2),
        refuse("t_single is infinite", math.inf, 10, 2),
        refuse("t_comm is NaN", 80, 10, NAN),
        refuse("t_compute is negative", 80, -10, 20),
    ),
    mistakes=(
        Mistake("communication_forgotten", lambda single, compute, comm: single / compute, DIVIDED),
        Mistake("hidden_communication", lambda single, compute, comm: single / max(compute, comm), OVERLAPPED),
        Mistake("seconds_taken_from_a_ratio", lambda single, compute, comm: single / compute - comm, SECONDS_OFF),
        Mistake("inverted", lambda single, compute, comm: (compute + comm) / single, INVERTED),
        Mistake("seconds_saved", lambda single, compute, comm: single - compute - comm, SAVED),
        Mistake("communication_on_one_device", lambda s, compute, comm: (s + comm) / (compute + comm), COMM_TWICE),
        Mistake(
            "brackets_forgotten",
            lambda single, compute, comm: single / compute + comm,
            "The division came before the addition. Put brackets round the sum of the two times.",
        ),
    ),
)

# ---- what an all-reduce costs -------------------------------------------------------------------------------------

WHOLE_2N = "That is the whole array sent 2n times. A step sends one chunk, and each half has n - 1 steps."
WHOLE_STEPS = (
    "That is the whole array in each of the 2(n - 1) steps. It is also what all devices send together; the question "
    "is about one."
)
WHOLE_TO_ALL = "That is the whole array sent to each of the others. A ring sends it in chunks, and each chunk twice."
ONE_WHOLE = "That is the array once. In a ring each chunk goes round twice: once to be added up, once to be handed out."
LIMIT = "That is twice the array, which a ring comes close to with many devices. Each half has one step less than n."
HALF = "That is one half of a ring: the chunks are added up, or handed out. An all-reduce does both."

ring_gb = Exercise(
    "ring_gb",
    kind="number",
    reference=1.75,
    digits=2,
    unit="GB (1e9 bytes) sent by each GPU",
    points=1,
    mistakes=(
        Mistake("whole_arrays_2n_times", 16.0, WHOLE_2N),
        Mistake("whole_arrays_each_step", 14.0, WHOLE_STEPS),
        Mistake("whole_array_to_everyone", 7.0, WHOLE_TO_ALL),
        Mistake("one_whole_array", 1.0, ONE_WHOLE),
        Mistake("limit_of_many_devices", 2.0, LIMIT),
        Mistake("one_half", 0.875, HALF),
        Mistake("one_chunk", 0.125, "That is one chunk. A device sends one in every step."),
        Mistake("gibibytes", 1.75e9 / 2**30, "That is in GiB (2^30 bytes). The question asks for GB.", unit=True),
        Mistake("gigabytes_from_bytes", 1.75e9, "Those are bytes. The question asks for GB (1e9 bytes).", unit=True),
    ),
)

NO_LATENCY = "Each step also has to start, which takes the latency. It does not appear in that."
ONE_LATENCY = "The latency was counted once. Every step of the ring has to wait for the one before."


def _draw_allreduce_seconds(rng):
    for devices in (3, int(rng.integers(5, 12)), int(rng.integers(100, 2000))):
        nbytes, bandwidth = float(rng.integers(2, 90)) * 1e9, float(rng.integers(11, 90)) * 1e9
        yield call(nbytes, devices, bandwidth, float(rng.integers(2, 50)) * 1e-4)
    yield call(int(rng.integers(10, 99)), float(rng.integers(4, 9)), 0.5, 7)
    yield call(float(rng.integers(2, 90)), 4, 3.0, 0)  # no latency
    yield call(1e9, 1, 1e9, 0.25)  # one device has nothing to send


def _ring(steps=lambda n: 2 * (n - 1), share=lambda n: 2 * (n - 1) / n):
    return lambda nbytes, n, bandwidth, latency: steps(n) * latency + share(n) * nbytes / bandwidth


def _alone(name, sentence, **how):
    """A mistake of those who let one device need some time, and of those who see to it that it needs none."""
    twin = _ring(**how)
    yield Mistake(name, twin, sentence)
    yield Mistake(name, lambda s, n, b, a: 0.0 if n == 1 else twin(s, n, b, a), sentence)


allreduce_seconds = Exercise(
    "allreduce_seconds",
    reference=clock.allreduce_seconds,
    points=4,
    examples=(call(20e9, 4, 30e9, 0.001), call(6.0, 3, 2.0, 0.25)),
    draw=_draw_allreduce_seconds,
    refusals=(
        refuse("devices is 0", 1e9, 0, 1e9, 0),
        refuse("latency is negative", 1e9, 4, 1e9, -1e-6),
        refuse("bandwidth is 0", 1e9, 4, 0, 0),
        refuse("nbytes is 0", 0, 4, 1e9, 0),
        refuse("devices is 2.5", 1e9, 2.5, 1e9, 0),
        refuse("devices is True", 1e9, True, 1e9, 0),
        refuse("nbytes is NaN", NAN, 4, 1e9, 0),
        refuse("bandwidth is infinite", 1e9, 4, math.inf, 0),
        refuse("latency is infinite", 1e9, 4, 1e9, math.inf),
    ),
    mistakes=(
        Mistake("bits", lambda s, n, b, a: 2 * (n - 1) * (a + s * 8 / n / b), "Bytes were turned into bits there. "
                "The bandwidth is given in bytes a second.", unit=True),
        Mistake("bits", lambda s, n, b, a: 2 * (n - 1) * (a + s / 8 / n / b), "A factor of 8 for bits is in that. "
                "The bandwidth is given in bytes a second.", unit=True),
        Mistake("latency_forgotten", _ring(steps=lambda n: 0), NO_LATENCY),
        *_alone("latency_once", ONE_LATENCY, steps=lambda n: 1),
        Mistake("latency_of_one_half", _ring(steps=lambda n: n - 1), "That has the latency of n - 1 steps. The ring "
                "takes as many again to hand the sums out."),
        *_alone("latency_of_n_steps", "That has the latency of n steps in each half. After n - 1 of them a chunk has "
                "been everywhere.", steps=lambda n: 2 * n),
        Mistake("latency_divided", _ring(steps=lambda n: 2 * (n - 1) / n), "The latency was divided by the devices. "
                "Chunks get shorter with more devices; the start of a step does not."),
        *_alone("one_chunk", "That has the bytes of one chunk. A device sends one in every step.",
                share=lambda n: 1 / n),
        Mistake("one_half", _ring(share=lambda n: (n - 1) / n), HALF),
        Mistake("one_half", _ring(lambda n: n - 1, lambda n: (n - 1) / n), HALF),
        *_alone("limit_of_many_devices", LIMIT, share=lambda n: 2),
        *_alone("limit_of_many_devices", LIMIT, steps=lambda n: 2 * n, share=lambda n: 2),
        Mistake("whole_arrays_each_step", _ring(share=lambda n: 2 * (n - 1)), WHOLE_STEPS),
        Mistake("whole_array_to_everyone", _ring(share=lambda n: n - 1), WHOLE_TO_ALL),
        Mistake("whole_array_to_everyone", _ring(lambda n: n - 1, lambda n: n - 1), WHOLE_TO_ALL),
        *_alone("one_whole_array", ONE_WHOLE, share=lambda n: 1),
        *_alone("one_whole_array", ONE_WHOLE, steps=lambda n: 1, share=lambda n: 1),
        Mistake("multiplied_by_bandwidth", lambda s, n, b, a: 2 * (n - 1) * (a + s / n * b), "The bytes were "
                "multiplied by the bandwidth. Bytes divided by bytes a second are seconds."),
    ),
)  # fmt: skip

# ---- a compute budget ---------------------------------------------------------------------------------------------

FORWARD = "That is the forward pass alone, 2 FLOPs for each parameter and token. Training also goes backward."
BACKWARD = "That is the backward pass alone, 4 FLOPs for each parameter and token. Training also goes forward."
RECOMPUTED = "That is 8 for each parameter and token: it counts a second forward pass, for recomputation."
ONE_FLOP = "That is parameters times tokens. Each parameter takes several operations for each token."
MULTIPLY_ADD = "That is 3 for each parameter and token: a multiplication and an addition were taken for one operation."
TERA = "Those are TFLOPs (1e12). The question asks for FLOPs."

flops_small = Exercise(
    "flops_small",
    kind="number",
    reference=6e14,
    unit="FLOPs",
    points=1,
    mistakes=(
        Mistake("forward_only", 2e14, FORWARD),
        Mistake("backward_only", 4e14, BACKWARD),
        Mistake("recompute_counted", 8e14, RECOMPUTED),
        Mistake("one_operation", 1e14, ONE_FLOP),
        Mistake("multiply_add_as_one", 3e14, MULTIPLY_ADD),
        Mistake("teraflops", 600, TERA, unit=True),
        Mistake("petaflops", 0.6, "Those are PFLOPs (1e15). The question asks for FLOPs.", unit=True),
        Mistake("one_token", 6e6, "That is for one token. The run has 100 million of them."),
    ),
)


def _draw_train_flops(rng):
    yield call(float(rng.integers(1, 90)) * 1e6, float(rng.integers(1, 90)) * 1e9)
    yield call(float(rng.integers(1, 900)) * 1e9, float(rng.integers(2, 160)) * 1e11)
    yield call(int(rng.integers(10, 99)), int(rng.integers(10, 99)))


train_flops = Exercise(
    "train_flops",
    reference=clock.train_flops,
    points=4,
    examples=(call(1.5e9, 10e9), call(10, 7)),
    draw=_draw_train_flops,
    refusals=(
        refuse("params is 0", 0, 1e9),
        refuse("tokens is negative", 1e9, -1),
        refuse("params is NaN", NAN, 1e9),
        refuse("tokens is infinite", 1e9, math.inf),
        refuse("params is True", True, 1e9),
    ),
    mistakes=(
        Mistake("teraflops", lambda n, d: 6 * n * d / 1e12, TERA, unit=True),
        Mistake("forward_only", lambda n, d: 2 * n * d, FORWARD),
        Mistake("backward_only", lambda n, d: 4 * n * d, BACKWARD),
        Mistake("recompute_counted", lambda n, d: 8 * n * d, RECOMPUTED),
        Mistake("one_operation", lambda n, d: n * d, ONE_FLOP),
        Mistake("multiply_add_as_one", lambda n, d: 3 * n * d, MULTIPLY_ADD),
        Mistake("one_token", lambda n, d: 6 * n, "That is for one token. Multiply by the tokens of the run."),
    ),
)


def _draw_training_days(rng):
    for recompute in ({}, {"recompute": True}, {"recompute": False}):
        devices = int(rng.choice([384, 768, 1000, 2048, 16384])) + int(rng.integers(1, 9))
        rate = float(rng.integers(40, 420)) * 1e12
        yield call(float(rng.integers(20, 500)) * 1e9, float(rng.integers(3, 150)) * 1e11, devices, rate, **recompute)
    yield call(int(rng.integers(10**4, 10**6)), float(rng.integers(10**4, 10**6)), 3.0, 1e5, recompute=True)


def _days(factor=lambda again: 8 if again else 6, seconds=DAY, devices=True):
    def twin(params, tokens, count, rate, recompute=False):
        return factor(recompute) * params * tokens / ((count if devices else 1) * rate) / seconds

    return twin


training_days = Exercise(
    "training_days",
    reference=clock.training_days,
    points=4,
    examples=(call(174.6e9, 300e9, 1536, 141e12, recompute=True), call(7e9, 2e12, 512, 180e12)),
    draw=_draw_training_days,
    refusals=(
        refuse("devices is 0", 7e9, 2e12, 0, 180e12),
        refuse("flops_per_device is 0", 7e9, 2e12, 512, 0),
        refuse("devices is 1.5", 7e9, 2e12, 1.5, 180e12),
        refuse("devices is True", 7e9, 2e12, True, 180e12),
        refuse("params is NaN", NAN, 2e12, 512, 180e12),
        refuse("tokens is infinite", 7e9, math.inf, 512, 180e12),
        refuse("tokens is negative", 7e9, -2e12, 512, 180e12),
    ),
    mistakes=(
        Mistake("seconds", _days(seconds=1), "Those are seconds. A day has 86,400 of them.", unit=True),
        Mistake("hours", _days(seconds=HOUR), "Those are hours. A day has 24 of them.", unit=True),
        Mistake(
            "gpu_hours", _days(seconds=HOUR, devices=False), "Those are GPU-hours: one device alone, in hours.",
            unit=True,
        ),
        Mistake("one_device", _days(devices=False), "That is one device working alone. They share the work."),
        Mistake(
            "recompute_ignored",
            _days(factor=lambda again: 6),
            "recompute makes no difference there. It costs another forward pass.",
        ),
        Mistake(
            "recompute_always",
            _days(factor=lambda again: 8),
            "A second forward pass is counted even where nothing is recomputed.",
        ),
        Mistake(
            "recompute_upside_down",
            _days(factor=lambda again: 6 if again else 8),
            "The second forward pass is counted without recompute, and left out with it.",
        ),
        Mistake(
            "everything_twice",
            _days(factor=lambda again: 12 if again else 6),
            "With recompute everything is counted twice. Only the forward pass is run again.",
        ),
        Mistake(
            "backward_again",
            _days(factor=lambda again: 10 if again else 6),
            "With recompute 4 was added, as for a backward pass. It is the forward pass that is run again.",
        ),
        Mistake(
            "one_more_operation",
            _days(factor=lambda again: 7 if again else 6),
            "With recompute 1 was added. A forward pass takes a multiplication and an addition for each parameter.",
        ),
        Mistake("forward_only", _days(factor=lambda again: 4 if again else 2), FORWARD),
        Mistake("forward_only", _days(factor=lambda again: 2), FORWARD),
        Mistake("upside_down", lambda n, d, count, rate, recompute=False: (
            count * rate * DAY / ((8 if recompute else 6) * n * d)
        ), "That is upside down: the share of the run that is done in a day."),
    ),
)  # fmt: skip


def _draw_utilisation(rng):
    for peak in (312e12, 989e12, float(rng.integers(100, 900)) * 1e12):
        params, devices = float(rng.integers(5, 400)) * 1e9, int(rng.integers(8, 2000))
        tokens = rng.uniform(0.2, 0.6) * devices * peak / (6 * params)
        yield call(params, float(round(tokens, 1)), devices, peak)
    yield call(int(rng.integers(100, 999)), 5.5, 4.0, 10_000)


utilisation = Exercise(
    "utilisation",
    reference=clock.utilisation,
    points=4,
    examples=(call(7e9, 1.5e6, 512, 312e12), call(20, 3, 4, 300)),
    draw=_draw_utilisation,
    refusals=(
        refuse("devices is 0", 7e9, 1e6, 0, 312e12),
        refuse("peak_flops is 0", 7e9, 1e6, 512, 0),
        refuse("tokens_per_second is negative", 7e9, -1e6, 512, 312e12),
        refuse("params is NaN", NAN, 1e6, 512, 312e12),
        refuse("devices is 2.5", 7e9, 1e6, 2.5, 312e12),
        refuse("devices is True", 7e9, 1e6, True, 312e12),
        refuse("peak_flops is infinite", 7e9, 1e6, 512, math.inf),
    ),
    mistakes=(
        Mistake("percent", lambda n, tps, g, peak: 600 * n * tps / (g * peak), "That is in percent. Return the share "
                "itself: 1 stands for the peak.", unit=True),
        Mistake("recompute_counted", lambda n, tps, g, peak: 8 * n * tps / (g * peak), "That counts 8 for each "
                "parameter and token, recomputation included: what the hardware does. Count what the model needs."),
        Mistake("forward_only", lambda n, tps, g, peak: 2 * n * tps / (g * peak), FORWARD),
        Mistake("one_operation", lambda n, tps, g, peak: n * tps / (g * peak), ONE_FLOP),
        Mistake("one_device", lambda n, tps, g, peak: 6 * n * tps / peak, "The rate of the whole run was compared with "
                "one device's peak. The peaks of all devices add up."),
        Mistake("tokens_shared_out_twice", lambda n, tps, g, peak: 6 * n * tps / (g * g * peak), "That divides by the "
                "devices twice. tokens_per_second is that of the whole run."),
        Mistake("sparse_peak", lambda n, tps, g, peak: 6 * n * tps / (2 * g * peak), "The peak was doubled, as for "
                "sparse matrices. Take peak_flops as it is given."),
        Mistake("upside_down", lambda n, tps, g, peak: g * peak / (6 * n * tps), "That is upside down: the peak over "
                "what is used of it."),
        Mistake("flops_a_second", lambda n, tps, g, peak: 6 * n * tps, "Those are the FLOP/s of the run. Compare them "
                "with the peak of all devices."),
    ),
)  # fmt: skip

# ---- tokens and steps ---------------------------------------------------------------------------------------------

DOWN = "That is rounded down. The last tokens need a step as well, even if they do not fill it."

updates_for_300b = Exercise(
    "updates_for_300b",
    kind="number",
    reference=35_763,
    unit="optimizer steps",
    points=1,
    mistakes=(
        Mistake("rounded_down", 35_762, DOWN),
        Mistake("eight_million", 37_500, "That takes the 8M of a step for 8,000,000. It is 8,388,608 tokens."),
        *(
            Mistake(
                "a_million_a_step", steps, "That takes a step for 1,048,576 tokens. This run takes eight times that."
            )
            for steps in (286_102, 286_103)
        ),
        Mistake(
            "tokens", 300e9, "Those are the tokens of the run. Each step takes millions of them at once.", unit=True
        ),
        Mistake(
            "tokens_a_step",
            8_388_608,
            "That is how many tokens a step takes. The question asks how many such steps make up the run.",
            unit=True,
        ),
    ),
)


def _draw_optimizer_steps(rng):
    for each in (int(2 ** rng.integers(19, 24)), int(rng.integers(1000, 9000))):
        yield call(float(rng.integers(20, 90)) * 1e9, each)
    times = int(rng.integers(20, 90))
    yield call(times * 4096, 4096)  # nothing is left over
    yield call(times * 4096 + 1, 4096)  # a single token is
    yield call((times + 0.75) * 1000, 1000.0)
    yield call(10, int(rng.integers(100, 900)))  # less than one batch


optimizer_steps = Exercise(
    "optimizer_steps",
    reference=clock.optimizer_steps,
    points=4,
    examples=(call(1000, 300), call(1100, 300), call(1200, 300)),
    draw=_draw_optimizer_steps,
    refusals=(
        refuse("tokens_per_update is 0", 300e9, 0),
        refuse("tokens is negative", -1, 4096),
        refuse("tokens is NaN", NAN, 4096),
        refuse("tokens_per_update is infinite", 300e9, math.inf),
        refuse("tokens is True", True, 4096),
    ),
    mistakes=(
        Mistake("rounded_down", lambda tokens, each: tokens // each, DOWN),
        Mistake("rounded_to_nearest", lambda tokens, each: round(tokens / each), "That is rounded to the nearest whole "
                "number. Tokens that are left over need a step, however few they are."),
        Mistake("not_rounded", lambda tokens, each: tokens / each, "That is not a whole number of steps. Round up."),
        Mistake("one_step_too_many", lambda tokens, each: tokens // each + 1, "Where the tokens fill the last step "
                "exactly, that is one step too many."),
        Mistake("upside_down", lambda tokens, each: math.ceil(each / tokens), "That is upside down: how many runs fit "
                "into a step."),
    ),
)  # fmt: skip

# ---- choices ------------------------------------------------------------------------------------------------------

is_division_enough = Exercise(
    "is_division_enough",
    kind="choice",
    reference="c",
    points=1,
    mistakes=(
        Mistake(
            "ideal_division",
            "a",
            "That is the ideal. The work is shared out, but the gradients of all have to meet, and that takes a time "
            "which does not shrink with the devices.",
        ),
        Mistake(
            "only_slower_gain",
            "b",
            "That takes more devices for at least a little better. Going from 768 to 1,536 GPUs bought nothing in the "
            "published table, and latency can make a step longer.",
        ),
        Mistake(
            "peak_of_the_data_sheet",
            "d",
            "That mends the rate of one device and leaves out the wait. And the larger number of a data sheet is the "
            "one for sparse matrices.",
        ),
    ),
)

what_6nd_omits = Exercise(
    "what_6nd_omits",
    kind="choice",
    reference="b",
    points=1,
    mistakes=(
        Mistake(
            "only_the_backward_pass",
            "a",
            "That takes 6 for the forward pass. It is 2 forward and 4 backward: the backward pass is in it.",
        ),
        Mistake(
            "tokens_follow",
            "c",
            "That takes a fit for a law. About 20 tokens for each parameter came out of one data set and one kind of "
            "model; 6ND takes any N and D, and published runs go far beyond.",
        ),
        Mistake(
            "gives_the_loss",
            "d",
            "That takes a price for a result. Operations say nothing about how good the model is, and a test text that "
            "was also trained on makes any loss look good.",
        ),
    ),
)

EXERCISES = (
    speedup_8,
    speedup,
    ring_gb,
    ring_allreduce,
    allreduce_seconds,
    flops_small,
    train_flops,
    training_days,
    utilisation,
    updates_for_300b,
    optimizer_steps,
    inconsistent_cell,
    is_division_enough,
    what_6nd_omits,
)
