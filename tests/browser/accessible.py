"""axe-core on what is ours in a page: the findings that keep somebody from reading or using it."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe

GRAVE = ("serious", "critical")
# ipywidgets gives the handle of a slider no name, and no way to give it one; the name stands beside it as text
NOT_OURS = ("aria-input-field-name", "noUi-handle")


def findings(page, inside: str = "body") -> list[str]:
    """`rule: element` for each serious or critical finding in the parts of the page that `inside` selects."""
    found = Axe().run(page, context={"include": [[inside]]}).response["violations"]
    grave = [one for one in found if one["impact"] in GRAVE]
    nodes = [(one["id"], node["html"]) for one in grave for node in one["nodes"]]
    return [f"{rule}: {html[:160]}" for rule, html in nodes if rule != NOT_OURS[0] or NOT_OURS[1] not in html]
