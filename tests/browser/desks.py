"""Two desks on one exchange: a student's and a teacher's JupyterLab, with nbgrader's pages, as they are clicked."""

from __future__ import annotations

import contextlib
from pathlib import Path

import lab
import nbformat
from playwright.sync_api import TimeoutError

from autograder.course import CONFIG_FILE, create, open_course

ERRORS = ".jp-OutputArea-output[data-mime-type*='error'], .jp-OutputArea-output[data-mime-type*='stderr']"


def course_on(exchange: Path, root: Path, repository: Path, course_id: str = "partrain"):
    """A new course folder that releases to and collects from `exchange`: (course, config)."""
    create(root, repository)
    exchange.mkdir(exist_ok=True)
    exchange.chmod(0o777)
    with (root / CONFIG_FILE).open("a", encoding="utf-8") as config:
        config.write(f"c.CourseDirectory.course_id = {course_id!r}\n")
        config.write(f"c.Exchange.root = {str(exchange)!r}\n")
        config.write(f"c.Exchange.cache = {str(root / 'cache')!r}\n")
    return open_course(root)


def students_settings(exchange: Path, cache: Path) -> str:
    """What a student's nbgrader must know: where the exchange is."""
    return f"c.Exchange.root = {str(exchange)!r}\nc.Exchange.cache = {str(cache)!r}\n"


def open_page_of_nbgrader(page, url: str, name: str) -> None:
    """JupyterLab, and from its menu one of nbgrader's pages."""
    page.goto(f"{url}/lab?token={lab.TOKEN}&reset")
    page.wait_for_selector(".jp-LauncherCard")  # the last that comes; what is opened before is put away again
    entry = page.locator(".lm-Menu-itemLabel").get_by_text(name, exact=True)
    for _ in range(5):  # a menu opened while the page is still settling closes again
        page.locator(".lm-MenuBar-item", has_text="Nbgrader").click()
        with contextlib.suppress(TimeoutError):
            entry.click(timeout=6000)
            return
        page.keyboard.press("Escape")
    raise AssertionError(f"the menu shows no {name}")


# ---- a student's desk ----------------------------------------------------------------------------------------------


def row(page, where: str, part: str):
    """The row of a part in one list of the Assignment List: released, fetched or submitted."""
    return page.locator(f"#{where}_assignments_list > .list_item", has_text=part)


def open_part(page, part: str) -> None:
    """Open the notebook of a fetched part, by its link in the Assignment List."""
    fetched = row(page, "fetched", part)
    fetched.locator(".assignment-notebooks-link").click()
    fetched.locator(".nested_list_item a").click()
    page.wait_for_selector(".jp-NotebookPanel .jp-Cell")
    page.wait_for_function(lab.IDLE)


def to_tab(page, name: str) -> None:
    page.locator(".lm-DockPanel-tabBar .lm-TabBar-tab", has_text=name).click()


def code_cell(page, text: str):
    """The code cell that holds `text`, scrolled into view; cells far away are not drawn."""
    cell = page.locator(".jp-Notebook .jp-CodeCell", has_text=text).first
    scroller = page.locator(".jp-WindowedPanel-outer").first
    scroller.evaluate("node => node.scrollTo(0, 0)")
    for _ in range(60):
        if cell.count() and cell.is_visible():
            cell.scroll_into_view_if_needed()
            return cell
        scroller.evaluate("node => node.scrollBy(0, 600)")
        page.wait_for_timeout(100)
    raise AssertionError(f"no cell shows {text!r}")


def replace_text(page, old: str, new: str) -> None:
    """Put `new` in the place of all that stands in the code cell that holds `old`, and save."""
    cell = code_cell(page, old)
    for _ in range(5):
        cell.locator(".cm-content").click()
        page.keyboard.press("Control+a")
        page.keyboard.insert_text(new)
        with contextlib.suppress(TimeoutError):
            page.locator(".jp-Notebook .cm-content", has_text=new).first.wait_for(timeout=6000)
            break
    save(page)


def save(page) -> None:
    for _ in range(5):
        page.keyboard.press("Control+s")
        with contextlib.suppress(TimeoutError):
            page.wait_for_function("() => !document.querySelector('.lm-TabBar-tab.jp-mod-dirty')", timeout=6000)
            return
    raise AssertionError("the notebook was not saved")


def kinds_of_output(notebook: Path) -> set[str]:
    """What kinds of output a saved notebook holds; "stderr" for what was written there."""
    cells = nbformat.read(notebook, as_version=4).cells
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    return {"stderr" if output.get("name") == "stderr" else output.output_type for output in outputs}


def validate(page) -> str:
    """What nbgrader's Validate button says of the open notebook."""
    page.locator(".validate-button").click()
    dialog = page.locator(".jp-Dialog", has_text="Validation Results")
    dialog.wait_for()
    said = dialog.inner_text()
    dialog.get_by_role("button", name="Ok").click()
    dialog.wait_for(state="detached")
    return said


# ---- a teacher's desk ----------------------------------------------------------------------------------------------


def formgrader(page, url: str):
    """Formgrader inside JupyterLab."""
    open_page_of_nbgrader(page, url, "Formgrader")
    return page.frame_locator("iframe[src*='formgrader']")


def line(frame, name: str):
    """One line of a table of Formgrader."""
    return frame.locator("#main-table tr", has_text=name)


def click_through(frame, button) -> str:
    """Click one of Formgrader's buttons, wait for its message, put it away; return it."""
    button.click()
    message = frame.locator("#success-modal, #error-modal")
    message.locator(".modal-body").wait_for()
    said = message.inner_text()
    assert "Success" in said, said
    message.get_by_role("button").last.click()
    message.wait_for(state="detached")
    return said


# ---- a feedback page -----------------------------------------------------------------------------------------------


def overview(feedback: Path) -> dict[str, list[str]]:
    """exercise -> what the table at the top says of it, read by a browser that is offline."""
    asked: list[str] = []
    with lab.browser(asked=asked) as page:
        page.goto(feedback.as_uri())
        rows = page.locator("table.overview tbody tr").all()
        told = {row.locator("th").inner_text(): row.locator("td").all_inner_texts() for row in rows}
    assert not asked, "a feedback page needs nothing of the web"
    return told
