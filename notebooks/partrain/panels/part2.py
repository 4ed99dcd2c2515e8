"""The panels of part 2: bigger steps."""

from partrain.figures.critical_batch import MIN_STEPS
from partrain.figures.critical_batch import critical_batch as draw_critical_batch
from partrain.figures.schedule import LATER, MOST_STEPS
from partrain.figures.schedule import schedule as draw_schedule
from partrain.figures.small_steps import RULES
from partrain.figures.small_steps import small_steps as draw_small_steps
from partrain.panels.panel import Panel, menu, one_of, real, whole
from partrain.panels.student import ask_student, ask_student_several


def small_steps_big_step():
    """Part 2: the same examples in many small steps and in few big ones, on a noisy quadratic."""
    return Panel(
        draw_small_steps,
        batch_factor=one_of("Batch factor (small batches in the big one)", 8, [2**power for power in range(7)]),
        rule=menu("Rule for the rate", "none", list(RULES)),
        warm_up=whole("Warm-up (big steps)", 0, 0, 16),
        noise=real("Noise of a small batch's gradient (std)", 1, 0, 2, 0.1, digits=1),
    )


def schedule(student=None):
    """Part 2: a rate for every step; `student` is a cosine_lr(step, peak_lr, warmup_steps, total_steps, final_lr)."""

    def draw(peak, warm_up, total, final):
        rates, unfinished = [], None
        for step in range(total + LATER + 1) if student and total > warm_up else ():
            rate, unfinished = ask_student(student, "cosine_lr", step, peak, warm_up, total, final)
            if unfinished:
                break
            rates.append(rate)
        return draw_schedule(peak, warm_up, total, final, rates or None, unfinished=unfinished)

    return Panel(
        draw,
        peak=real("Peak rate", 0.8, 0.4, 1, 0.05),
        warm_up=whole("Warm-up (steps)", 4, 0, 20),
        total=whole("Total (steps)", 20, 10, MOST_STEPS),
        final=real("Final rate", 0.08, 0, 0.4, 0.02),
    )


def critical_batch(student=None):
    """Part 2: what a batch costs in steps and examples; `student` is a steps_and_examples(batch, critical, steps)."""

    def draw(batch, critical):
        answer, unfinished = None, None
        if student:
            answer, unfinished = ask_student_several(student, "steps_and_examples", 2, batch, critical, MIN_STEPS)
        return draw_critical_batch(batch, critical, answer, unfinished=unfinished)

    return Panel(
        draw,
        batch=one_of("Batch (examples)", 256, [2**power for power in range(4, 17)]),
        critical=one_of("Critical batch (examples)", 1024, [2**power for power in range(7, 14)]),
    )
