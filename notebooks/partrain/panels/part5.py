"""The panel of part 5: split the layers."""

from partrain.figures.pipeline_timeline import pipeline_timeline as draw_pipeline_timeline
from partrain.panels.panel import Panel, menu, real, whole
from partrain.panels.student import ask_student, ask_student_as
from partrain.schedules import SCHEDULES, plan, read_order

BLOOM = {"stages": 12, "schedule": "1F1B", "slow": 1}


def pipeline_timeline(schedule="GPipe", *, gpipe_order=None, one_f_one_b_order=None, pipeline_time=None):
    """Part 5: who works when, and what it costs. schedule: the one shown first.

    gpipe_order and one_f_one_b_order are a reader's (stages, microbatches) -> order, drawn in the place of the course's
    own; pipeline_time is a reader's (order, forward_time, backward_time) -> time, asked about what is drawn.
    """
    readers = {"GPipe": ("gpipe_order", gpipe_order), "1F1B": ("one_f_one_b_order", one_f_one_b_order)}

    def draw(**values):
        stages, microbatches, schedule = values["stages"], values["microbatches"], values["schedule"]
        name, reader = readers.get(schedule, ("", None))
        own, time, unfinished = None, None, None
        if reader:
            read, unfinished = ask_student_as(lambda a: read_order(a, stages), reader, name, stages, microbatches)
            own = (name, read) if read else None
        if pipeline_time and schedule != "interleaved":
            time, unfinished = _ask_time(pipeline_time, own, unfinished, **values)
        timed = pipeline_time is not None
        return draw_pipeline_timeline(**values, own=own, time=time, timed=timed, unfinished=unfinished)

    def hidden(values):
        absent = [] if values["schedule"] == "interleaved" else ["chunks"]
        return [*absent, "slow_stage"] if values["slow"] == 1 else absent

    return Panel(
        draw,
        hidden,
        presets={
            "4 stages, 8 micro-batches": {"stages": 4, "microbatches": 8, "slow": 1},
            "BLOOM as first planned: 1 micro-batch": {**BLOOM, "microbatches": 1},
        },
        schedule=menu("Schedule", schedule, list(SCHEDULES)),
        stages=whole("Stages (devices)", 4, 2, 16),
        microbatches=whole("Micro-batches", 8, 1, 32),
        chunks=whole("Chunks on each device", 2, 1, 4),
        ratio=real("Backward (times a forward)", 2, 0.5, 3, 0.25),
        slow=real("One slow stage (times as long)", 1, 1, 3, 0.25),
        slow_stage=whole("Which stage is slow", 1, 0, 15),
    )


def _ask_time(function, own, unfinished, stages, microbatches, schedule, ratio, slow, slow_stage, **others):
    """The reader's time for the order that is drawn, with the times that it is drawn with."""
    if unfinished:
        return None, unfinished
    items = own[1] if own else plan(schedule, stages, microbatches)
    order = [[(letter, i) for letter, _, i in row] for row in items]
    forward = [slow if s == min(slow_stage, stages - 1) else 1 for s in range(stages)]
    return ask_student(function, "pipeline_time", order, forward, [ratio * each for each in forward])
