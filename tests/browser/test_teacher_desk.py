"""A teacher's round in Formgrader, as it is clicked: generate, release, collect, autograde, mark, feedback."""

import json

import desks
import lab
from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory

from autograder.book import read_verdict
from autograder.demo import hand_in, samples, submit

PART = "part8_plan_a_run"
WRITTEN = "why_this_plan"
STUDENT = "all-right"
COMMENT = "Say which of the two links is slower."


def test_a_teachers_round(repository, tmp_path):
    course, config = desks.course_on(tmp_path / "exchange", tmp_path / "course", repository)
    asked = []
    with lab.lab(course.root) as url, lab.browser(width=1500, asked=asked) as page:
        frame = desks.formgrader(page, url)
        part = desks.line(frame, PART)
        desks.click_through(frame, part.locator(".assign a"))
        released = (course.root / "release" / PART / f"{PART}.ipynb").read_text(encoding="utf-8")
        assert "BEGIN SOLUTION" not in released and "raise NotImplementedError" in released, "our steps made it"
        desks.click_through(frame, part.locator(".release a"))

        sample = next(one for one in samples(course)[PART] if one.name == STUDENT)
        hand_in(course, PART, sample, tmp_path / "desk" / PART)
        submit(config, PART, STUDENT, tmp_path / "desk")
        desks.click_through(frame, part.locator(".collect a"))

        part.locator(".num-submissions a", has_text="1").click()
        student = desks.line(frame, STUDENT)
        desks.click_through(frame, student.locator(".autograde a"))
        student.get_by_text("needs manual grading").wait_for()
        assert "22 / 27" in student.inner_text()
        assert read_verdict(course.root, STUDENT, PART)["exercises"][WRITTEN]["state"] == "waits for a person"

        mark(frame, page, "4", COMMENT)
        frame.get_by_role("link", name="Manual Grading").first.click()
        frame.get_by_role("link", name=PART).wait_for()

        frame.get_by_role("link", name="Manage Assignments").click()
        desks.click_through(frame, part.locator(".generate-feedback a"))
        desks.click_through(frame, part.locator(".release-feedback a"))
        assert not [one for one in asked if "mathjax" not in one.lower()]

    feedback = course.root / "feedback" / STUDENT / PART / f"{PART}.html"
    told = desks.overview(feedback)
    assert told[WRITTEN] == ["✎ a person set the points", "4 of 5", f"Your teacher: {COMMENT}"]
    assert told["replicas"][:2] == ["✓ right", "4 of 4"]
    assert [path.read_bytes() for path in (tmp_path / "exchange" / "partrain" / "feedback").iterdir()] == [
        feedback.read_bytes()
    ]
    with Gradebook(CourseDirectory(config=config).db_url) as book:
        assert book.find_submission(PART, STUDENT).score == 26
    assert json.loads(feedback.with_name("verdict.json").read_text(encoding="utf-8"))["points"] == 22


def mark(frame, page, points: str, comment: str) -> None:
    """Give the written answer its points and a comment, on Formgrader's page for one hand-in."""
    frame.get_by_role("link", name="Manual Grading").click()
    frame.get_by_role("link", name=PART).click()
    frame.get_by_role("link", name=PART).last.click()
    frame.get_by_role("link", name="Submission #1").click()
    score = frame.locator(f"#{WRITTEN}")
    score.wait_for()
    assert "fits: right, 4 of 4 points" in frame.get_by_role("main").inner_text(), "the verdicts stand in the page"
    saved = lambda what: page.expect_response(lambda got: what in got.url and got.request.method == "PUT")  # noqa: E731
    with saved("/grade/"):
        score.fill(points)
        score.press("Tab")
    with saved("/comment/"):
        frame.locator(f"#{WRITTEN}-comment").fill(comment)
        frame.locator(f"#{WRITTEN}-comment").press("Tab")
