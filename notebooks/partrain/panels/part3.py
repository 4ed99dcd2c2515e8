"""The panels of part 3: when the model doesn't fit."""

from partrain.figures.activation_bars import activation_bars as draw_activation_bars
from partrain.figures.memory_bars import memory_bars as draw_memory_bars
from partrain.panels.panel import Panel, menu, one_of, switch, whole
from partrain.panels.student import ask_student

BILLIONS = [0.125, 0.35, 0.76, 1.5, 2.7, 6.7, 7.5, 13, 22, 30, 70, 128, 175, 405, 530, 1000]
RECIPES = {  # bytes of weight, gradient and optimizer state
    "16 = 2 + 2 + 12: mixed Adam": (2, 2, 12),
    "18 = 2 + 4 + 12: mixed Adam, fp32 gradients": (2, 4, 12),
    "20 = 2 + 6 + 12: mixed Adam, gradients in both": (2, 6, 12),
    "16 = 4 + 4 + 8: fp32 Adam": (4, 4, 8),
    "14 = 2 + 4 + 8: mixed Adam, bf16 moments": (2, 4, 8),
    "12 = 2 + 2 + 8: mixed SGD with momentum": (2, 2, 8),
    "8 = 2 + 2 + 4: bf16 Adam, no fp32 copy": (2, 2, 4),
}


def memory_bars(student=None):
    """Part 3: model state on each GPU at stages 0 to 3.

    student is a zero_bytes_per_device(params, devices, stage, weight_bytes, grad_bytes, optimizer_bytes).
    """

    def draw(billions, gpus, stage, recipe, gpu_gb, gib):
        shown = billions * 1e9, gpus, stage, recipe, gpu_gb * 1e9, "GiB" if gib else "GB"
        if student is None:
            return draw_memory_bars(*shown)
        names = ("weight_bytes", "grad_bytes", "optimizer_bytes")
        recipe_by_name = dict(zip(names, recipe, strict=True))
        answer, unfinished = ask_student(student, "zero_bytes_per_device", *shown[:3], **recipe_by_name)
        return draw_memory_bars(*shown, answer, unfinished=unfinished)

    return Panel(
        draw,
        presets={
            "7.5B on 64 GPUs": {"billions": 7.5, "gpus": 64, "recipe": (2, 2, 12), "gib": False},
            "GPT-2 1.5B on 1 GPU": {"billions": 1.5, "gpus": 1, "recipe": (2, 2, 12), "gib": False},
        },
        billions=one_of("Parameters (billions)", 7.5, BILLIONS),
        gpus=one_of("GPUs", 8, [2**power for power in range(12)]),
        stage=whole("Stage", 0, 0, 3),
        recipe=menu("Bytes per parameter", (2, 2, 12), RECIPES),
        gpu_gb=one_of("Memory of one GPU (GB)", 80, [16, 24, 32, 40, 48, 80, 96, 141, 192]),
        gib=switch("Show GiB (2^30 bytes) instead of GB (1e9 bytes)"),
    )


def activation_bars(student=None):
    """Part 3: what one layer keeps for the backward pass; student is an activation_bytes(...) as the notebook asks."""

    def draw(seq, batch, hidden_size, heads, tensor_parallel, sequence_parallel, recompute):
        how = {"tensor_parallel": tensor_parallel, "sequence_parallel": sequence_parallel, "recompute": recompute}
        if student is None or heads % tensor_parallel:
            return draw_activation_bars(seq, batch, hidden_size, heads, **how)
        answer, unfinished = ask_student(student, "activation_bytes", seq, batch, hidden_size, heads, 1, **how)
        return draw_activation_bars(seq, batch, hidden_size, heads, **how, yours=answer, unfinished=unfinished)

    return Panel(
        draw,
        seq=one_of("Sequence (tokens)", 2048, [2**power for power in range(9, 18)]),
        batch=whole("Micro-batch (sequences)", 1, 1, 16),
        hidden_size=one_of("Hidden size", 12288, [1024, 2048, 4096, 6144, 8192, 12288, 16384, 20480, 25600]),
        heads=one_of("Attention heads", 96, [8, 12, 16, 32, 40, 64, 96, 128, 160]),
        tensor_parallel=one_of("Tensor parallel (devices)", 8, [1, 2, 4, 8]),
        recompute=menu("Recompute", "none", ["none", "selective", "full"], half=True),
        sequence_parallel=switch("Sequence parallel"),
    )
