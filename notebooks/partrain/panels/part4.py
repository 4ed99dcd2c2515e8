"""The panels of part 4: checkpoints that resume exactly."""

from partrain.figures.checkpoint_interval import checkpoint_interval as draw_checkpoint_interval
from partrain.figures.resume_curves import ITEMS, STEPS
from partrain.figures.resume_curves import resume_curves as draw_resume_curves
from partrain.panels.panel import Panel, one_of, switch, whole
from partrain.panels.student import ask_student

LLAMA_3 = {"save_seconds": 60, "restart_seconds": 300, "gpus": 16_384, "gpu_hours": 50_677}


def resume_curves():
    """Part 4: what a run does after a resume when the checkpoint lacks something."""
    switches = {name: switch(words.capitalize(), name == "weights") for name, words in ITEMS.items()}
    everything = {
        "The weights alone": {name: name == "weights" for name in ITEMS},
        "All six": dict.fromkeys(ITEMS, True),
    }
    cut = whole("Steps before the stop", 12, 1, STEPS - 2)
    return Panel(draw_resume_curves, presets=everything, cut=cut, **switches)


def checkpoint_interval(student=None):
    """Part 4: the waste against the interval; `student` is a best_interval(save_seconds, mtbf_seconds)."""

    def draw(**values):
        if student is None:
            return draw_checkpoint_interval(**values)
        mean = values["gpu_hours"] * 3600 / values["gpus"]
        answer, unfinished = ask_student(student, "best_interval", values["save_seconds"], mean)
        return draw_checkpoint_interval(**values, answer=answer, unfinished=unfinished)

    return Panel(
        draw,
        presets={"Llama 3: 419 failures in 54 days": LLAMA_3},
        save_seconds=whole("One save (seconds)", LLAMA_3["save_seconds"], 5, 600, 5),
        restart_seconds=whole("One restart (seconds)", LLAMA_3["restart_seconds"], 0, 1800, 30),
        gpus=one_of("GPUs", LLAMA_3["gpus"], [2**power for power in range(10, 18)]),
        gpu_hours=one_of(
            "One GPU: hours between failures",
            LLAMA_3["gpu_hours"],
            [5_000, 10_000, 20_000, 35_000, 50_677, 75_000, 100_000, 200_000],
        ),
    )
