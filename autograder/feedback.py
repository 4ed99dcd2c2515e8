"""The feedback page: what students wrote is shown as text, nothing on it runs, and nothing is loaded from elsewhere."""

from __future__ import annotations

import copy
import re
from pathlib import Path

import bleach
from jinja2 import pass_context
from nbconvert.exporters import HTMLExporter
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat.v4 import new_output
from traitlets import default
from traitlets.config import Config

from autograder.ask import bare_name
from autograder.clean import AFTER, BASE64

TEMPLATES = Path(__file__).parent / "templates"
TEMPLATE = "course_feedback"
SHOWN = ["text/html", "image/svg+xml", "image/png", "image/jpeg", "text/markdown", "text/latex", "text/plain"]
NOT_SHOWN = "[Output not shown: this cell ran after the grader's own inputs had been used. Run it again to see it.]"
LOADED = re.compile(r"<script\b[^>]*(?:\bsrc=|text/x-mathjax-config)[^>]*>.*?</script>", re.DOTALL | re.IGNORECASE)
PICTURE_TYPES = ("image/png", "image/jpeg", "image/gif", "image/svg+xml")
ATTACHED = re.compile(r"attachment:([^)\s\"'>]+)")
TAGS = {
    *("a abbr b blockquote br code dd del details div dl dt em h1 h2 h3 h4 h5 h6 hr i img kbd li ol p pre s".split()),
    *("span strong sub summary sup table tbody td th thead tr ul".split()),
}


class FeedbackExporter(HTMLExporter):
    """Writes the page: the overview, then the notebook, without what a page for students must not hold."""

    exclude_input_prompt = True
    exclude_output_prompt = True

    @default("template_name")
    def _template_name_default(self):
        return TEMPLATE

    @property
    def default_config(self):
        return Config({"NbConvertBase": {"display_data_priority": SHOWN}})

    def _init_resources(self, resources):
        resources = super()._init_resources(resources)
        resources["bare_name"] = bare_name
        return resources

    def from_notebook_node(self, nb, resources=None, **kw):
        html, resources = super().from_notebook_node(without_later_outputs(nb), resources, **kw)
        return LOADED.sub("", html), resources


def without_later_outputs(nb):
    """A copy in which no cell that ran after hidden inputs were used shows what it printed or drew.

    A student's code can keep the inputs that a check called it with, and show them in a later cell in any disguise.
    """
    nb = copy.deepcopy(nb)
    for cell in nb.cells:
        if cell.metadata.pop(AFTER, False) and cell.get("outputs"):
            cell.outputs = [new_output("stream", name="stdout", text=NOT_SHOWN)]
    return nb


@pass_context
def safe_markdown(context, source: str) -> str:
    """nbconvert's `markdown2html`, then only harmless tags; a picture comes from the notebook or not at all."""
    cell = context.get("cell", {})
    attachments = usable(cell.get("attachments", {}))
    missing = {name for name in ATTACHED.findall(source) if name not in attachments}
    for name in missing:
        source = source.replace(f"attachment:{name}", "#missing")
    renderer = IPythonRenderer(escape=False, attachments=attachments)
    html = bleach.clean(MarkdownWithMath(renderer=renderer).render(source), TAGS, _allowed, protocols=PROTOCOLS)
    note = "".join(f"<p>[The picture {bleach.clean(name)} is not in the notebook.]</p>" for name in sorted(missing))
    return html + note


PROTOCOLS = {"http", "https", "mailto", "data"}


def _allowed(tag: str, name: str, value: str) -> bool:
    if name == "src":
        return tag == "img" and value.startswith(tuple(f"data:{mime};base64," for mime in PICTURE_TYPES))
    if name == "href":
        return tag == "a" and value.startswith(("http://", "https://", "mailto:", "#"))
    return name in ("alt", "title", "id", "class", "align", "start", "scope", "colspan", "rowspan")


def usable(attachments) -> dict:
    """Pictures pasted into a cell: only types that a page can show, and only what is base64."""
    rows = attachments.items() if isinstance(attachments, dict) else ()
    kept = {
        name: {m: d for m, d in body.items() if m in PICTURE_TYPES and isinstance(d, str) and BASE64.fullmatch(d)}
        for name, body in rows
        if isinstance(body, dict)
    }
    return {name: body for name, body in kept.items() if body}
