"""A student's round, as it is clicked: fetch, read, run, validate, submit, and read the feedback."""

import getpass

import desks
import lab
from nbgrader.apps.api import NbGraderAPI

from autograder.grade import grade
from autograder.verdict import STATES

PART = "part1_split_the_batch"
VOCABULARY = ("Test cell", "Grade cell", "grade_id", "Score:", "autograde", "Traceback")


def must(said):
    assert said["success"], said


def test_a_students_round(repository, tmp_path):
    exchange, desk = tmp_path / "exchange", tmp_path / "desk"
    course, config = desks.course_on(exchange, tmp_path / "course", repository)
    api = NbGraderAPI(config=config)
    must(api.generate_assignment(PART))
    must(api.release_assignment(PART))
    desk.mkdir()
    asked = []
    settings = desks.students_settings(exchange, tmp_path / "cache")
    with lab.lab(desk, settings) as url, lab.browser(asked=asked) as page:
        faults = []
        page.on("pageerror", lambda error: faults.append(str(error)))

        desks.open_page_of_nbgrader(page, url, "Assignment List")
        desks.row(page, "released", PART).get_by_role("button", name="Fetch").click()
        desks.open_part(page, PART)
        page.get_by_role("heading", name="Part 1 · Split the batch").wait_for()
        assert page.locator(".jp-WindowedPanel-outer").evaluate("node => node.scrollTop") == 0, "it opens at its top"
        assert page.locator(desks.ERRORS).count() == 0

        lab.run_all(page)
        for unfinished in ("tokens_per_update: not answered yet. Put a number", "global_tokens: not started yet."):
            desks.code_cell(page, unfinished)
        assert page.locator(desks.ERRORS).count() == 0
        desks.save(page)
        kinds = desks.kinds_of_output(desk / PART / f"{PART}.ipynb")
        assert "stream" in kinds and not kinds & {"error", "stderr"}, "Run All turns nothing red"

        desks.replace_text(page, "tokens_per_update = ...", "tokens_per_update = 524288")
        said = desks.validate(page)
        assert "tokens_per_update = 524288 is not it." in said and "small_run_tokens: not answered yet." in said
        assert "Traceback" not in said and "passed some but not all" not in said
        desks.replace_text(page, "tokens_per_update = 524288", "tokens_per_update = 8388608")
        desks.replace_text(page, "swaps_per_update = ...", "swaps_per_update = 2")
        assert "tokens_per_update" not in desks.validate(page)

        desks.to_tab(page, "Assignments")
        desks.row(page, "fetched", PART).get_by_role("button", name="Submit").click()
        desks.row(page, "submitted", PART).wait_for()

        must(api.collect(PART))
        graded = [result for result in grade(course, config, PART)]
        assert [result.student for result in graded] == [getpass.getuser()]
        assert graded[0].verdict["exercises"]["tokens_per_update"]["state"] == "right"
        assert graded[0].verdict["repairs"] == [], "JupyterLab's own way of saving is not called a slip"
        must(api.generate_feedback(PART))
        must(api.release_feedback(PART))

        page.locator("#refresh_assignments_list").click()
        submitted = desks.row(page, "submitted", PART)
        submitted.get_by_text("feedback available to fetch").wait_for()
        submitted.get_by_role("button", name="Fetch Feedback").click()
        submitted.get_by_text("view feedback").click()
        page.locator(".jp-DirListing-item", has_text=f"{PART}.html").dblclick()
        feedback = page.frame_locator(".jp-HTMLViewer iframe")
        told = feedback.locator("table.overview tr", has_text="tokens_per_update")
        assert "right" in told.inner_text() and "1 of 1" in told.inner_text()
        rows = feedback.locator("table.overview tbody tr").all_inner_texts()
        assert len(rows) == 11 and all(any(state in text for state in STATES) for text in rows)
        text = feedback.locator("body").inner_text()
        assert not [word for word in VOCABULARY if word in text]
        assert "Predict first" in text, "the notebook stands below the table"
        assert feedback.locator("img[alt]").count() > 0
        assert not asked and not faults
