"""The panels of part 7: the wall clock."""

from partrain.figures.compute_budget import compute_budget as draw_compute_budget
from partrain.figures.ring_steps import MOST_DEVICES
from partrain.figures.ring_steps import ring_steps as draw_ring_steps
from partrain.figures.scaling_curve import scaling_curve as draw_scaling_curve
from partrain.panels.panel import Panel, menu, one_of, switch, whole
from partrain.panels.student import ask_student

GB, MICRO = 1e9, 1e-6
SECONDS = [1, 2, 5, 10, 20, 40, 60, 80, 160, 320, 640, 1_280, 2_560, 5_000, 10_000, 20_000, 29_483, 60_000]
DEVICES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 384, 512, 768, 1_024, 1_536, 2_048, 4_096]
SIZES = [0.001, 0.01, 0.1, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 350, 523.8, 1_000]  # GB
BANDWIDTHS = [1, 2, 5, 10, 17.5, 25, 30, 50, 100, 200, 300, 450, 900]  # GB/s
LATENCIES = [0, 1, 5, 10, 20, 50, 100, 500, 1_000, 10_000]  # millionths of a second
PEAKS = {
    "A100: 312 TFLOP/s dense": 312e12,
    "H100: 989 TFLOP/s dense": 989e12,
    "H100: 1,979 TFLOP/s with sparsity": 1_979e12,
}
BILLIONS = [0.001, 0.124, 0.35, 1.3, 7, 8, 13, 70, 174.6, 405, 529.6, 1_000]  # parameters
TOKENS = [0.1, 1, 10, 100, 140, 300, 500, 1_000, 2_000, 3_500, 8_100, 15_000, 15_600]  # billions
GPUS = [1, 8, 64, 128, 256, 384, 512, 768, 1_024, 1_536, 2_048, 4_096, 8_192, 16_384]


def scaling_curve(student=None):
    """Part 7: time and speed-up; student is an allreduce_seconds(nbytes, devices, bandwidth, latency)."""

    def draw(seconds, devices, gigabytes, bandwidth, latency, overlap):
        ring = gigabytes * GB, bandwidth * GB, latency * MICRO
        shown = seconds, devices, *ring, overlap / 100
        if student is None:
            return draw_scaling_curve(*shown)
        answer, unfinished = ask_student(student, "allreduce_seconds", ring[0], devices, *ring[1:])
        return draw_scaling_curve(*shown, answer, unfinished=unfinished)

    return Panel(
        draw,
        presets={
            "A small model": {"seconds": 60, "devices": 4, "gigabytes": 20, "bandwidth": 30, "latency": 0},
            "174.6B parameters, all sharded": {
                "seconds": 29_483, "devices": 768, "gigabytes": 523.8, "bandwidth": 25, "latency": 10
            },
        },
        seconds=one_of("On one device (s)", 60, SECONDS),
        devices=one_of("Devices", 4, DEVICES),
        gigabytes=one_of("Gradients (GB)", 20, SIZES),
        bandwidth=one_of("Bandwidth (GB/s)", 30, BANDWIDTHS),
        latency=one_of("Latency of a step (µs)", 0, LATENCIES),
        overlap=whole("Overlap (%)", 0, 0, 100, 10),
    )  # fmt: skip


def ring_steps():
    """Part 7: a ring all-reduce, step by step."""
    return Panel(
        draw_ring_steps,
        devices=whole("Devices", 4, 2, MOST_DEVICES),
        step=whole("Steps done", 1, 0, 2 * (MOST_DEVICES - 1)),
        elements=whole("Elements in each array", 8, 1, 32),
    )


def compute_budget(student=None):
    """Part 7: FLOPs, days and GPU-hours; student is a training_days(params, tokens, devices, flops, recompute)."""

    def draw(billions, tokens, gpus, peak, percent, recompute):
        run = billions * 1e9, tokens * 1e9, gpus
        if student is None:
            return draw_compute_budget(*run, peak, percent / 100, recompute)
        rate = peak * percent / 100
        answer, unfinished = ask_student(student, "training_days", *run, rate, recompute=recompute)
        return draw_compute_budget(*run, peak, percent / 100, recompute, answer, unfinished=unfinished)

    megatron = {"billions": 174.6, "tokens": 300, "gpus": 1_536, "peak": 312e12, "percent": 45, "recompute": True}
    llama = {"billions": 405, "tokens": 15_600, "gpus": 16_384, "peak": 989e12, "percent": 40, "recompute": False}
    return Panel(
        draw,
        presets={"174.6B on 1,536 A100": megatron, "Llama 3 405B on 16,384 H100": llama},
        billions=one_of("Parameters (billions)", 7, BILLIONS),
        tokens=one_of("Tokens (billions)", 2_000, TOKENS),
        gpus=one_of("GPUs", 512, GPUS),
        peak=menu("Peak of one GPU", 312e12, PEAKS, half=True),
        percent=whole("Reached (% of that peak)", 50, 5, 100),
        recompute=switch("Recompute the forward pass"),
    )
