"""The feedback page: a table that a student can read, then the notebook; nothing of nbgrader's, nothing of the web."""

import re

import nbformat
import pytest
from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory

from autograder import overview
from autograder.book import read_verdict

PART8 = "part8_plan_a_run"


def page(course, student, part):
    return (course.root / "feedback" / student / part / f"{part}.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("student", ["all-right", "half-done", "blank"])
def test_the_table_says_what_the_verdicts_say(class_of, student):
    course, _ = class_of(PART8)
    text = page(course, student, PART8).replace("<wbr>", "")
    rows = re.findall(r'<th scope="row"><a href="#([\w-]+)">(\w+)</a></th>\s*<td class="state">. ([\w ]+)</td>', text)
    said = read_verdict(course.root, student, PART8)["exercises"]
    assert [(name, state) for _, name, state in rows] == [(name, one["state"]) for name, one in said.items()]
    assert all(f'id="{anchor}"' in text for anchor, _, _ in rows)
    assert ("1 answer waits for a person" in text) == (student != "blank")


def test_it_asks_nothing_of_the_web_and_runs_nothing(class_of):
    course, _ = class_of(PART8)
    text = page(course, "half-done", PART8)
    assert "default-src 'none'" in text and "<script" not in text and "<link" not in text
    assert not re.findall(r'(?:src|srcset)="(?!data:)[^"]*"|@import|url\(', text)
    assert "No response." not in text, "nbgrader's own remark is no teacher's"


def test_what_a_person_did_is_told_apart(class_of):
    cell = nbformat.v4.new_markdown_cell(metadata={"nbgrader": {"grade_id": "why", "points": 5}})
    waits = {"state": "waits for a person", "message": "A person reads this answer."}
    wrong = {"state": "wrong", "message": "one\ntwo"}
    row = overview.row("why", cell, waits, {"why": (None, None, 0.0)}, "")
    assert (row["points"], row["of"], row["message"]) == (None, "not yet of 5", ["A person reads this answer."])
    row = overview.row("why", cell, waits, {"why": (None, 4.5, 4.5)}, "Well put.")
    assert (row["state"], row["of"], row["message"]) == (overview.BY_HAND, "4.5 of 5", [])
    row = overview.row("why", cell, wrong, {"why": (0.0, 1.0, 1.0)}, "")
    assert (row["state"], row["message"]) == (overview.BY_HAND, ["one", "two"])
    row = overview.row("why", cell, None, {"why": (0.0, None, 0.0)}, "")
    assert row["state"] == overview.UNKNOWN


def test_the_grade_books_points_are_the_pages(class_of):
    course, config = class_of(PART8)
    with Gradebook(CourseDirectory(config=config).db_url) as book:
        score = book.find_submission(PART8, "half-done").score
    assert f"<strong>{score:g} of 27 points</strong>" in page(course, "half-done", PART8)
