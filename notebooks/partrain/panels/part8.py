"""The panel of part 8: plan a run."""

from partrain import style
from partrain.figures.planner import planner as draw_planner
from partrain.figures.planner import undivided
from partrain.panels.panel import Panel, menu, one_of, whole
from partrain.panels.student import ask_student
from partrain.planning import Cluster, Gpu, Model, Plan

# Megatron-LM, arXiv 2104.04473, Table 1: name -> (parameters, layers, hidden size, heads, sequences of an update), and
# the GPUs, tensor and pipeline parallel degrees of the published run
PUBLISHED = {
    "1.7B": ((1.7e9, 24, 2_304, 24, 512), (32, 1, 1)),
    "3.6B": ((3.6e9, 30, 3_072, 32, 512), (64, 2, 1)),
    "7.5B": ((7.5e9, 36, 4_096, 32, 512), (128, 4, 1)),
    "18.4B": ((18.4e9, 40, 6_144, 48, 1_024), (256, 8, 1)),
    "39.1B": ((39.1e9, 48, 8_192, 64, 1_536), (512, 8, 2)),
    "76.1B": ((76.1e9, 60, 10_240, 80, 1_792), (1_024, 8, 4)),
    "145.6B": ((145.6e9, 80, 12_288, 96, 2_304), (1_536, 8, 8)),
    "310.1B": ((310.1e9, 96, 16_384, 128, 2_160), (1_920, 8, 16)),
    "529.6B": ((529.6e9, 105, 20_480, 128, 2_520), (2_520, 8, 35)),
    "1,008B": ((1_008e9, 128, 25_600, 160, 3_072), (3_072, 8, 64)),
}
BUTTONS = ("1.7B", "18.4B", "76.1B", "529.6B", "1,008B")
SEQ, VOCABULARY, TOKENS = 2_048, 51_200, 300e9
A100 = Gpu(memory_bytes=72e9, peak_flops=312e12, efficiency=0.5)  # 80 GB, less room for what the model leaves out
GPUS = [8, 16, 32, 64, 128, 256, 512, 768, 1_024, 1_536, 1_920, 2_520, 3_072]
STAGES = [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 16, 20, 32, 35, 64]
MINUTES = [1, 5, 10, 20, 30, 45, 60, 77, 90, 120, 240, 480, 1_440, 10_080]


def planner(student=None):
    """Part 8: a plan on A100 nodes of 8; student is a step_seconds(plan, model, cluster)."""

    def draw(billions, gpus, tensor, stages, sharding, micro_batch, minutes, between):
        params, layers, hidden, heads, batch = PUBLISHED[billions][0]
        model = Model(params, layers, hidden, heads, SEQ, VOCABULARY, TOKENS, batch)
        cluster = Cluster(gpus, 8, A100, 300e9, between * 1e9, 5e-6, 1.8e8, 60, 300)
        replicas = gpus // (tensor * stages)
        if gpus % (tensor * stages):
            cut = style.count(gpus, "GPU"), f"({tensor} × {stages})", None
            return undivided([cut], model, cluster)
        fit = batch // (replicas * micro_batch)
        plan = Plan(tensor, stages, replicas, sharding, micro_batch, max(fit, 1), minutes * 60)
        if student is None or heads % tensor or layers % stages or replicas * micro_batch * fit != batch:
            return draw_planner(plan, model, cluster)
        answer, unfinished = ask_student(student, "step_seconds", plan, model, cluster)
        return draw_planner(plan, model, cluster, answer, unfinished=unfinished)

    return Panel(
        draw,
        presets={f"{name} on {PUBLISHED[name][1][0]:,}": _preset(name) for name in BUTTONS},
        billions=menu("Model of", "76.1B", {f"{name} parameters": name for name in PUBLISHED}, half=True),
        gpus=one_of("GPUs", 1_024, GPUS, half=True),
        tensor=one_of("Tensor parallel", 8, [1, 2, 4, 8, 16], half=True),
        stages=one_of("Stages", 1, STAGES, half=True),
        sharding=whole("Sharding stage", 0, 0, 3, half=True),
        micro_batch=one_of("Micro-batch (sequences)", 1, [1, 2, 3, 4, 6, 7, 8, 14, 16, 28, 32], half=True),
        minutes=one_of("Save every (minutes)", 60, MINUTES, half=True),
        between=one_of("Between nodes (GB/s)", 25, [1, 2, 5, 10, 25, 50, 100], half=True),
    )


def _preset(name):
    gpus, tensor, stages = PUBLISHED[name][1]
    return {
        "billions": name, "gpus": gpus, "tensor": tensor, "stages": stages, "sharding": 0, "micro_batch": 1,
        "between": 25,
    }  # fmt: skip
