"""What a student sees in JupyterLab: calm, one picture a panel, sliders that answer the keyboard."""

from pathlib import Path

import desks
import lab
import pytest
from accessible import findings

NOTEBOOKS = sorted(path.stem for path in (Path(__file__).resolve().parents[2] / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_part_as_handed_out(students_folder, name):
    with lab.lab(students_folder) as url, lab.notebook(url, f"{name}/{name}.ipynb") as page:
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
            assert panel.locator("svg[role=img]").count() == 1
            before = panel.locator("svg[role=img]").get_attribute("aria-label")
            for handle in [h for h in panel.locator(".noUi-handle").all() if h.is_visible()]:
                handle.focus()
                for key in ("End", "Home"):
                    page.keyboard.press(key)
                    page.wait_for_timeout(250)
                    assert panel.locator("svg[role=img]").count() == 1, "exactly one picture, whatever the slider does"
            after = panel.locator("svg[role=img]").get_attribute("aria-label")
            assert after != before or before.startswith("Finish the cell above first")
        assert not faults
