"""The class on one page: what is right, which mistakes were made by how many, what could not be graded."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from autograder import verdict
from autograder.course import Course
from autograder.tally import Part, below_in_several, part

NAMES = 12  # students named in one place of the page; the table at its end and the CSV have all


def write(course: Course, db_url: str) -> Path:
    """Write report/index.html and report/exercises.csv in the course folder; the path of the page."""
    folder = course.root / "source"
    names = sorted(path.name for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
    parts = [one for one in (part(course, db_url, name) for name in names) if one]
    environment = Environment(loader=PackageLoader("autograder"), autoescape=True, undefined=StrictUndefined)
    environment.filters["some"] = some
    page = environment.get_template("report.html").render(
        parts=parts,
        struggling=below_in_several(parts),
        states=verdict.STATES,
        signs=verdict.SIGNS,
        number=verdict.number,
    )
    target = course.root / "report" / "index.html"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(page, encoding="utf-8", errors="replace")
    _table(target.with_name("exercises.csv"), parts)
    return target


def some(names: Sequence[str]) -> str:
    """Names in a line; of many, the first twelve and how many more."""
    more = len(names) - NAMES
    return ", ".join(names[:NAMES]) + (f" and {more} more" if more > 0 else "")


def _table(target: Path, parts: list[Part]) -> None:
    """The figures of the page as a table: one row an exercise, its commonest mistake last."""
    with target.open("w", encoding="utf-8", errors="replace", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["assignment", "exercise", *verdict.STATES, "commonest mistake", "students who made it"])
        for one in parts:
            for row in one.rows:
                slip = [row.slips[0].words, len(row.slips[0].students)] if row.slips else ["", 0]
                counts = (row.counts[state] for state in verdict.STATES)
                writer.writerow([one.assignment, row.name, *counts, *slip])
