"""Judge: hold each recorded answer against the reference, and let the check cell say the verdict and nothing else."""

from __future__ import annotations

from dataclasses import replace

from nbformat import NotebookNode, from_dict
from nbgrader.preprocessors import NbGraderPreprocessor
from nbgrader.utils import compute_checksum, is_grade, is_solution

from autograder import verdict, wire
from autograder.ask import KEY, Grading, Question, bare_name, check_name
from autograder.assess import assess
from autograder.course import CourseSettings
from autograder.hints import hint, stopped_words
from autograder.readable import readable, shortened
from autograder.stubs import is_stub
from autograder.verdict import Verdict

ANSWERS = "autograder_answers"
OUR_FAULT = "The grader could not judge this answer. This is not your fault; your teacher has been told."
OUT_OF_TIME = ("TimeLimit", "KeyboardInterrupt")  # how a cell ends that the sandbox stopped
MAX_MESSAGE = 600


class Judge(CourseSettings, NbGraderPreprocessor):
    """Writes the verdict into the check cell; its last output is the number of points, which nbgrader reads."""

    def preprocess(self, nb, resources):
        grading: Grading = resources[KEY]
        stubs = self._stubs(grading)
        answers = {cell.metadata.get("nbgrader", {}).get("grade_id"): cell for cell in nb.cells if is_solution(cell)}
        resources[ANSWERS] = {}
        code = [cell for cell in nb.cells if cell.cell_type == "code" and cell.source.strip()]
        grading.repairs.extend(stopped_cells(code))
        for cell in nb.cells:
            name = check_name(cell)
            if name in grading.questions:
                question = grading.questions[name]
                answer = answers.get(f"{name}-answer")
                said = self._say(question, answer, stubs.get(f"{name}-answer"), grading, code)
                grading.verdicts[name] = said
                if not grading.refusal:  # else the run, if there was one, was broken off: nothing to judge again
                    found = bundles(question.outputs or [])
                    resources[ANSWERS][name] = {"asked": question.asked, "lost": question.lost, "bundles": found}
                cell.source = question.own_source
                cell.outputs = verdict_outputs(name, said)
            elif is_grade(cell) and is_solution(cell):
                grading.verdicts[name_of(cell)] = self._written(cell, grading)
            elif is_grade(cell) and cell.cell_type == "code":
                said = verdict.ungraded(float(cell.metadata.nbgrader.points), "No exercise of this name is known.")
                grading.verdicts[name_of(cell)] = said
                cell.outputs = verdict_outputs(name_of(cell), said)
        return nb, resources

    def _stubs(self, grading: Grading) -> dict[str, str]:
        released = self.course.released(grading.assignment, grading.notebook)
        return {cell.metadata.get("nbgrader", {}).get("grade_id"): cell.source for cell in released.cells}

    def _say(self, question: Question, answer, stub: str | None, grading: Grading, code: list) -> Verdict:
        try:
            return say(question, answer, stub, grading, code)
        except Exception:  # a fault of the reference or of ours must cost no student anything
            self.log.exception("judging %s of %s", question.exercise.name, grading.student)
            return verdict.ungraded(question.exercise.points, OUR_FAULT)

    def _written(self, cell, grading: Grading) -> Verdict:
        points = float(cell.metadata.nbgrader.points)
        if grading.refusal:
            return verdict.ungraded(points, grading.refusal)
        if compute_checksum(cell) == cell.metadata.nbgrader.get("checksum"):
            return verdict.not_started(points)
        return verdict.waits(points)


def name_of(cell) -> str:
    return bare_name(cell.metadata.nbgrader.grade_id)


def say(question: Question, answer, stub: str | None, grading: Grading, code: list) -> Verdict:
    """The verdict on one question; `answer` is its answer cell, `stub` what that cell said when released.

    code: all code cells of the notebook, in order.
    """
    points = question.exercise.points
    if grading.refusal:
        return verdict.ungraded(points, grading.refusal)
    if answer is not None and stub is not None and is_stub(answer.source, stub):
        return verdict.not_started(points)
    if question.lost:
        return verdict.wrong(points, question.lost, reason="stopped")
    found = bundles(question.outputs or [])
    if len(found) > 1:
        return verdict.wrong(points, "The check showed more than one answer; one is wanted.", reason="bundle")
    if not found:
        return verdict.ungraded(
            points, "No answer reached the grader from this cell. Restart, run all cells, and look."
        )
    try:
        exercise = question.exercise
        bundle = wire.read_bundle(found[0], exercise.name, len(question.calls) + len(exercise.refusals))
    except wire.WireError as error:
        return verdict.ungraded(points, f"Your answers could not be read: {error}. Restart and run all cells.")
    if bundle.missing and answer is None:
        return verdict.not_started(points, "The answer cell is missing. Put it back from the notebook as handed out.")
    at = next((k for k, cell in enumerate(code) if cell is answer), None)
    sources = [cell.source for cell in code]
    said = assess(exercise, question.calls, bundle, _ending(answer, at, code, grading))
    more = hint(said.message, sources, at, grading.repairs) if said.reason in ("raised", "missing") else ""
    message = "\n".join(filter(None, [said.message, more]))
    return replace(said, message=shortened(readable(message), MAX_MESSAGE))


def _ending(answer, at: int | None, code: list, grading: Grading) -> str:
    """How the answer cell ended, if it ended in an error."""
    errors = [out for out in (answer.get("outputs", []) if answer is not None else []) if "ename" in out]
    if not errors:
        return ""
    exposed = any(
        question and question.exercise.kind == "function"
        for question in (grading.questions.get(check_name(cell)) for cell in code[:at])
    )
    name, text = (readable(str(errors[-1].get(key, "")))[:200] for key in ("ename", "evalue"))
    if name in OUT_OF_TIME:
        return "The answer cell ran for too long and was stopped."
    return stopped_words(name, text, [cell.source for cell in code if not check_name(cell)], exposed)


def stopped_cells(code: list) -> list[str]:
    """A sentence for each cell of the student's own that was stopped for time."""
    return [
        f"Code cell {k} ran for too long and was stopped."
        for k, cell in enumerate(code, 1)
        if not check_name(cell) and not is_solution(cell)
        if any(output.get("ename") in OUT_OF_TIME for output in cell.get("outputs", []))
    ]


def bundles(outputs: list) -> list:
    """Everything published in our form, whoever published it."""
    data = [output.get("data", {}) for output in outputs if output.output_type in ("display_data", "execute_result")]
    return [one[wire.MIME] for one in data if wire.MIME in one]


def published(bundle) -> NotebookNode:
    """The opposite of `bundles`: a recorded bundle as the output that held it."""
    return from_dict({"output_type": "display_data", "metadata": {}, "data": {wire.MIME: bundle}})


def verdict_outputs(name: str, said: Verdict) -> list:
    """What a check cell shows after grading; nbgrader reads the points from the last one."""
    shown = {"text/html": said.html(name), "text/plain": said.text(name)}
    points = {"text/plain": repr(float(said.points or 0.0))}
    kinds = {"output_type": "display_data"}, {"output_type": "execute_result", "execution_count": None}
    return [
        from_dict({**kind, "metadata": {}, "data": data}) for kind, data in zip(kinds, (shown, points), strict=True)
    ]
