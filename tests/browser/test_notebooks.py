"""What a student sees in JupyterLab: calm, one picture a panel, sliders that answer the keyboard."""

import contextlib
from pathlib import Path

import desks
import lab
import pytest
from accessible import findings
from playwright.sync_api import TimeoutError

NOTEBOOKS = sorted(path.stem for path in (Path(__file__).resolve().parents[2] / "notebooks").glob("*.ipynb"))


@pytest.fixture(scope="module")
def desk(students_folder):
    """One JupyterLab and one browser for all parts."""
    with lab.lab(students_folder) as url, lab.browser() as page:
        yield url, page.context


@pytest.fixture
def opened(desk):
    """name of a part -> its page, in a tab and with a kernel of its own; neither is left to the next part."""
    url, context = desk
    page = context.new_page()

    def open_part(name):
        lab.open_notebook(page, url, f"{name}/{name}.ipynb")
        return page

    yield open_part
    page.close()
    lab.end_kernels(url)


def press(page, panel, key):
    """Press it, and wait for another picture in the panel; at an end of a slider none comes."""
    picture = panel.locator("svg[role=img]").element_handle()
    page.keyboard.press(key)
    with contextlib.suppress(TimeoutError):
        picture.wait_for_element_state("hidden", timeout=250)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_part_as_handed_out(students_folder, opened, name):
    page = opened(name)
    faults = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    lab.run_all(page)
    desks.save(page)
    kinds = desks.kinds_of_output(students_folder / name / f"{name}.ipynb")
    assert "stream" in kinds and not kinds & {"error", "stderr"}, "Run All turns nothing red"
    assert findings(page, ".jp-OutputArea-output") == []
    last = page.locator(".jp-CodeCell .jp-InputPrompt").last.inner_text()
    assert any(ch.isdigit() for ch in last), "Run All goes to the end"
    panels = page.locator(".jp-OutputArea-output:has(.noUi-handle)")
    assert panels.count() > 0
    for panel in panels.all():
        picture = panel.locator("svg[role=img]")
        assert picture.count() == 1
        before = picture.get_attribute("aria-label")
        for handle in [h for h in panel.locator(".noUi-handle").all() if h.is_visible()]:
            handle.focus()
            for key in ("End", "Home"):
                press(page, panel, key)
                assert picture.count() == 1, "exactly one picture, whatever the slider does"
        page.wait_for_timeout(250)
        assert picture.count() == 1, "nor does a second one come later"
        after = picture.get_attribute("aria-label")
        assert after != before or before.startswith("Finish the cell above first")
    assert not faults
