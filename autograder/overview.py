"""The table at the top of a feedback page: one row for each graded cell, in words for the student."""

from __future__ import annotations

from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.preprocessors import NbGraderPreprocessor
from nbgrader.utils import is_grade

from autograder import book, verdict
from autograder.ask import bare_name
from autograder.course import CourseSettings

BY_HAND = "a person set the points"
UNKNOWN = "no verdict"


class Overview(CourseSettings, NbGraderPreprocessor):
    """After GetGrades: one row for each graded cell, for the table at the top of the page."""

    def preprocess(self, nb, resources):
        about = resources["nbgrader"]
        said = book.read_verdict(Path(self.root), about["student"], about["assignment"]) or {}
        with Gradebook(about["db_url"]) as grades:
            marked = grades.find_submission_notebook(about["notebook"], about["assignment"], about["student"])
            scores = {grade.name: (grade.auto_score, grade.manual_score, grade.score) for grade in marked.grades}
            comments = {bare_name(one.name): one.manual_comment for one in marked.comments if one.manual_comment}
        rows = {}
        for cell in filter(is_grade, nb.cells):
            name = bare_name(cell.metadata.nbgrader.grade_id)
            rows[name] = row(name, cell, said.get("exercises", {}).get(name), scores, comments.get(name, ""))
            if cell.cell_type == "code" and name in said.get("exercises", {}):  # the bare number is for nbgrader
                cell.outputs = [output for output in cell.outputs if output.output_type != "execute_result"]
        known = [one["points"] for one in rows.values() if one["points"] is not None]
        about["rows"] = rows
        about["points"] = verdict.number(round(sum(known) - about["late_penalty"], 2)) if known else None
        about["open"] = len(rows) - len(known)
        return nb, resources


def row(name: str, cell, said: dict | None, scores: dict[str, tuple], comment: str) -> dict:
    """What the page says of one graded cell; points is None where nobody has judged yet."""
    grade_id = cell.metadata.nbgrader.grade_id
    automatic, by_hand, score = scores[grade_id]
    state, message = (said["state"], said["message"]) if said else (UNKNOWN, "")
    if by_hand is not None:
        state, message = BY_HAND, "" if state in verdict.NO_POINTS_YET else message
    points = None if automatic is None and by_hand is None else round(score, 2)
    return {
        "name": name,
        "anchor": grade_id,
        "sign": verdict.SIGNS.get(state, "✎" if by_hand is not None else ""),
        "state": state,
        "points": points,
        "of": f"{'not yet' if points is None else verdict.number(points)} of "
        f"{verdict.number(float(cell.metadata.nbgrader.points))}",
        "message": message.splitlines(),
        "comment": comment,
    }
