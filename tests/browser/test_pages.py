"""The pages that the grader writes, in a browser that is offline: readable and accessible."""

import lab
import pytest
from accessible import findings

PART8 = "part8_plan_a_run"
PAGES = (f"feedback/half-done/{PART8}/{PART8}.html", "report/index.html")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_feedback_and_report_are_accessible(class_of, scheme):
    course, _ = class_of(PART8)
    asked = []
    with lab.browser(asked=asked) as page:
        page.emulate_media(color_scheme=scheme)
        for name in PAGES:
            page.goto((course.root / name).as_uri())
            assert page.locator("h1").first.is_visible()
            assert findings(page) == [], name
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing sticks out"
    assert not asked
