"""From opening JupyterLab to submitting, without touching the mouse."""

import json

import desks
import lab
from nbgrader.apps.api import NbGraderAPI

PART = "part1_split_the_batch"
ANSWER = "tokens_per_update = 64 * 2 * 16 * 4_096"

# what the focus is on, and what stands there
FOCUSED = """() => { const on = document.activeElement;
    return on.className + ' ' + (on.innerText || on.getAttribute('aria-label') || ''); }"""


def tab_to(page, text: str, most: int = 20, key: str = "Tab") -> None:
    """Press Tab until the focus is on something that shows `text` or is of that class."""
    seen = []
    for _ in range(most):
        page.keyboard.press(key)
        seen.append(page.evaluate(FOCUSED))
        if text in seen[-1]:
            return
    raise AssertionError(f"{most} times {key}, and never at {text!r}: {[one[:60] for one in seen]}")


def open_by_its_name(page, url: str, name: str, appears: str) -> None:
    """Open JupyterLab and, from its list of commands, one of nbgrader's pages."""
    page.goto(f"{url}/lab?token={lab.TOKEN}&reset")
    page.wait_for_selector(".jp-LauncherCard")
    palette = page.locator(".lm-CommandPalette-input")
    for _ in range(5):  # keys go astray while the page is still settling
        page.keyboard.press("Control+Shift+C")
        palette.wait_for()
        if page.evaluate(FOCUSED).startswith("lm-CommandPalette-input"):
            break
        page.wait_for_timeout(1000)
    page.keyboard.type(name)
    page.locator(".lm-CommandPalette-item.lm-mod-active", has_text=name).wait_for()
    page.keyboard.press("Enter")
    page.locator(appears).wait_for()


def run_until(page, text: str, most: int = 40) -> None:
    """Run cell after cell with Shift+Enter until the next one shows `text`."""
    for _ in range(most):
        page.keyboard.press("Shift+Enter")
        page.wait_for_function(lab.IDLE)
        chosen = page.locator(".jp-Cell.jp-mod-active")
        if text in chosen.inner_text():
            return
    raise AssertionError(f"no cell shows {text!r}")


def test_from_opening_to_submitting(repository, tmp_path):
    exchange, desk = tmp_path / "exchange", tmp_path / "desk"
    _, config = desks.course_on(exchange, tmp_path / "course", repository)
    api = NbGraderAPI(config=config)
    for said in (api.generate_assignment(PART), api.release_assignment(PART)):
        assert said["success"], said
    desk.mkdir()
    settings = desks.students_settings(exchange, tmp_path / "cache")
    with lab.lab(desk, settings) as url, lab.browser() as page:
        press = page.keyboard.press
        open_by_its_name(page, url, "Assignment List", "#released_assignments_list .list_item")
        tab_to(page, "Fetch")
        press("Enter")
        desks.row(page, "fetched", PART).wait_for()
        tab_to(page, PART)
        press("Enter")
        page.locator("#fetched_assignments_list .nested_list_item a").wait_for()
        tab_to(page, PART)
        press("Enter")
        page.wait_for_selector(".jp-NotebookPanel .jp-Cell.jp-mod-active")
        page.wait_for_function(lab.IDLE)

        run_until(page, "panels.batch_grid()")
        press("Control+Enter")
        picture = page.locator(".jp-Cell.jp-mod-active svg[role=img]")
        before = picture.get_attribute("aria-label")
        tab_to(page, "noUi-handle", most=4)
        press("ArrowRight")
        page.wait_for_function('before => !document.querySelector(`svg[aria-label="${before}"]`)', arg=before)
        assert before.startswith("8 GPUs") and picture.get_attribute("aria-label").startswith("9 GPUs")
        tab_to(page, "jp-Cell", most=4, key="Shift+Tab")

        run_until(page, "tokens_per_update = ...")
        press("Enter")
        press("Control+a")
        page.keyboard.type(ANSWER)
        press("Shift+Enter")
        press("Control+Enter")
        page.locator(".jp-Cell.jp-mod-active", has_text="tokens_per_update: right.").wait_for()
        press("Escape")
        desks.save(page)

        press("Control+Shift+[")
        page.locator("#fetched_assignments_list").wait_for()
        tab_to(page, "Submit", most=40)
        press("Enter")
        desks.row(page, "submitted", PART).wait_for()
    (handed_in,) = (exchange / "partrain" / "inbound").glob(f"*/{PART}.ipynb")
    cells = json.loads(handed_in.read_text(encoding="utf-8"))["cells"]
    assert ANSWER in ["".join(cell["source"]) for cell in cells]
