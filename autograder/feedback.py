"""The feedback page: what students wrote is shown as text, nothing on it runs, and nothing is loaded from elsewhere."""

from __future__ import annotations

import copy
import re
from functools import lru_cache
from pathlib import Path

import bleach
from jinja2 import BytecodeCache, pass_context
from nbconvert.exporters import HTMLExporter
from nbconvert.filters import Highlight2HTML, clean_html
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
IMAGE = re.compile(r"""<img\b(?:[^"'>]|"[^"]*"|'[^']*')*>""", re.IGNORECASE)
NO_WORDS = "No description has been provided for this image"
ATTACHED = re.compile(r"attachment:([^)\s\"'>]+)")
TAGS = {
    *("a abbr b blockquote br code dd del details div dl dt em h1 h2 h3 h4 h5 h6 hr i img kbd li ol p pre s".split()),
    *("span strong sub summary sup table tbody td th thead tr ul".split()),
}


class _Compiled(BytecodeCache):
    """Templates compiled once: nbgrader makes a new exporter, with an environment of its own, for every hand-in."""

    def __init__(self):
        self._kept = {}

    def load_bytecode(self, bucket):
        bucket.code = self._kept.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket):
        self._kept[bucket.key, bucket.checksum] = bucket.code


_COMPILED = _Compiled()


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

    def default_filters(self):
        yield from super().default_filters()
        yield "highlight_code", once_highlighted

    def _create_environment(self):
        environment = super()._create_environment()
        environment.bytecode_cache = _COMPILED
        return environment

    def from_notebook_node(self, nb, resources=None, **kw):
        # past HTMLExporter's own: it parses the finished page and writes it anew, half of the whole time
        page = super(HTMLExporter, self).from_notebook_node
        html, resources = page(without_later_outputs(nb), self._init_resources(resources), **kw)
        return LOADED.sub("", IMAGE.sub(_described, html)), resources


def _described(image: re.Match) -> str:
    """An <img> that has a text alternative."""
    tag = image[0]
    return tag if re.search(r"\salt=", tag) else f'<img alt="{NO_WORDS}"{tag[4:]}'


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
    attachments = usable(context.get("cell", {}).get("attachments", {}))
    return _rendered(source) if not attachments else _render(source, attachments)


def _render(source: str, attachments: dict) -> str:
    missing = {name for name in ATTACHED.findall(source) if name not in attachments}
    for name in missing:
        source = source.replace(f"attachment:{name}", "#missing")
    renderer = IPythonRenderer(escape=False, attachments=attachments)
    html = bleach.clean(MarkdownWithMath(renderer=renderer).render(source), TAGS, _allowed, protocols=PROTOCOLS)
    note = "".join(f"<p>[The picture {bleach.clean(name)} is not in the notebook.]</p>" for name in sorted(missing))
    return html + note


@lru_cache(maxsize=2048)
def _rendered(source: str) -> str:
    """The lesson's own text is the same on every page of a class: made clean once."""
    return _render(source, {})


@lru_cache(maxsize=2048)
def _clean_text(text: str) -> str:
    return clean_html(text)


def once_cleaned(element) -> str:
    """nbconvert's `clean_html`, remembered: most code cells too are the same on every page."""
    return _clean_text(element.decode() if isinstance(element, bytes) else str(element))


@lru_cache(maxsize=2048)
def _highlighted(source: str) -> str:
    return Highlight2HTML()(source)


def once_highlighted(source: str, language=None, metadata=None) -> str:
    """nbconvert's `highlight_code`, remembered as well."""
    return _highlighted(source)


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
