"""Answer: run the notebook in a box, a cell at a time, and keep what each check cell published.

Takes the place of nbgrader's Execute. A cell that kills the kernel costs itself: a new box runs the notebook again
without it, and only check cells that have not answered yet are asked again.
"""

from __future__ import annotations

import copy
import time

from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Integer

from autograder.ask import KEY, Grading, check_name
from autograder.course import CourseSettings
from autograder.sandbox import BoxError, Limits, Ran, open_box

NO_KERNEL = "The grader's machine could not start a kernel. This is not your fault; it is graded again later."
MAX_TEXT = 100_000
MAX_RICH = 2_000_000


class Answer(CourseSettings, NbGraderPreprocessor):
    """Runs the student's cells; what leaves it are outputs, never objects."""

    cell_seconds = Integer(15, help="Seconds that one cell may take.").tag(config=True)
    total_seconds = Integer(300, help="Seconds that one submission may take, new starts included.").tag(config=True)
    max_boxes = Integer(8, help="How many kernels one submission may use up.").tag(config=True)
    memory_mib = Integer(4096, help="Address space of one kernel, in MiB.").tag(config=True)

    def preprocess(self, nb, resources):
        grading: Grading = resources[KEY]
        if grading.refusal:
            return nb, resources
        run = _Run(nb, grading, time.monotonic() + self.total_seconds, self.cell_seconds)
        limits = Limits(
            cell_seconds=self.cell_seconds, memory=self.memory_mib * 2**20, cpu_seconds=2 * self.total_seconds
        )
        course = self.course
        files = course.files_beside(grading.assignment)
        try:
            for _ in range(self.max_boxes):
                with open_box(files, limits, (course.reference,)) as box:
                    grading.sealed = bool(box.seal)
                    if run.through(box):
                        break
        except BoxError as error:
            self.log.error("%s: %s", grading.student, error)
            grading.refusal = NO_KERNEL
        run.give_up_on_the_rest()
        return nb, resources


class _Run:
    """The state of one submission while boxes come and go."""

    def __init__(self, nb, grading: Grading, deadline: float, cell_seconds: int):
        self.cells = [(i, cell) for i, cell in enumerate(nb.cells) if cell.cell_type == "code" and cell.source.strip()]
        self.grading, self.deadline, self.cell_seconds = grading, deadline, cell_seconds
        self.done: set[int] = set()  # check cells that have answered, and cells that must not run again

    def through(self, box) -> bool:
        """Run what is left to run; False where the kernel is gone and a new one is needed."""
        for index, cell in self.cells:
            if index in self.done:
                continue
            if time.monotonic() > self.deadline:
                return True
            ran = box.run(cell.source)
            cell.outputs = trimmed(ran.outputs)
            if cell.outputs != ran.outputs:
                self.grading.repairs.append(f"{self._which(index, cell)} showed more than is kept; the rest was cut.")
            cell.execution_count = ran.execution_count
            self._note(index, cell, ran)
            if ran.status == "died":
                return False
        return True

    def _note(self, index: int, cell, ran: Ran) -> None:
        question = self.grading.questions.get(check_name(cell))
        stopped = {
            "timed out": f"was stopped after {self.cell_seconds} seconds",
            "died": "ended or crashed the program, or could not be stopped",
        }.get(ran.status, "")
        if question:
            self.done.add(index)
            if stopped:
                question.lost = f"The function {stopped}."
            else:
                question.outputs = copy.deepcopy(ran.outputs)
        elif ran.status == "died":
            self.done.add(index)
            self.grading.repairs.append(f"{self._which(index, cell)} {stopped}; the rest was run without it.")

    def _which(self, index: int, cell) -> str:
        name = cell.metadata.get("nbgrader", {}).get("grade_id", "")
        return f"Cell {name}" if name else f"Code cell {1 + [i for i, _ in self.cells].index(index)}"

    def give_up_on_the_rest(self) -> None:
        for question in self.grading.questions.values():
            if question.outputs is None and not question.lost:
                question.lost = "The notebook ran out of time before this question's turn came."


def trimmed(outputs: list) -> list:
    """Outputs cut to a size that a page can show."""
    kept = []
    for output in outputs:
        output = copy.deepcopy(output)
        if output.output_type == "stream" and len(output.text) > MAX_TEXT:
            output.text = f"{output.text[:MAX_TEXT]}\n[cut: {len(output.text):,} characters in all]\n"
        elif output.output_type in ("display_data", "execute_result"):
            size = sum(len(str(part)) for part in output.data.values())
            if size > MAX_RICH:
                output.data = {"text/plain": f"[an output of {size:,} characters, not kept]"}
        kept.append(output)
    return kept
