"""The panels of part 1: split the batch."""

from partrain.figures.batch_grid import batch_grid as draw_batch_grid
from partrain.figures.token_weighting import token_weighting as draw_token_weighting
from partrain.panels.panel import Panel, one_of, real, whole
from partrain.panels.student import ask_student

MOST_MICRO_BATCHES = 4


def batch_grid():
    """Part 1: how many sequences and tokens go into one update."""
    return Panel(
        draw_batch_grid,
        gpus=whole("GPUs", 8, 1, 64),
        micro_batch=whole("Micro-batch (sequences)", 4, 1, 16),
        accumulation=whole("Accumulation (micro-batches)", 8, 1, 32),
        sequence_length=one_of("Sequence length (tokens)", 4096, [2**power for power in range(3, 15)]),
    )


def token_weighting(student=None):
    """Part 1: mean of means against per token; `student` is a per_token_loss(mean_losses, token_counts)."""

    def draw(micro_batches, **values):
        counts = [values[f"tokens_{index}"] for index in range(micro_batches)]
        losses = [values[f"loss_{index}"] for index in range(micro_batches)]
        if student is None or not any(counts):
            return draw_token_weighting(counts, losses)
        answer, unfinished = ask_student(student, "per_token_loss", list(losses), list(counts))
        return draw_token_weighting(counts, losses, answer, unfinished=unfinished)

    def hidden(values):
        return [
            f"{quantity}_{index}"
            for index in range(values["micro_batches"], MOST_MICRO_BATCHES)
            for quantity in ("tokens", "loss")
        ]

    sliders = {}
    for index, (tokens, loss) in enumerate([(100, 2.0), (300, 1.0), (200, 1.5), (400, 0.5)]):
        sliders[f"tokens_{index}"] = whole(f"Micro-batch {index} (tokens)", tokens, 10, 400, 10, half=True)
        sliders[f"loss_{index}"] = real(f"Micro-batch {index} (mean loss)", loss, 0, 4, 0.05, half=True)
    count = whole("Micro-batches (count)", 2, 2, MOST_MICRO_BATCHES)
    return Panel(draw, hidden, micro_batches=count, **sliders)
