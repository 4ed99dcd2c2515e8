"""Outputs and texts of students as a page shows them."""

import base64
import os
import re
import sys
import tempfile

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from autograder.clean import AFTER, MAX_OUTPUTS, MAX_PICTURE, clean_outputs, fit, repairs_cell
from autograder.feedback import LOADED, NO_WORDS, NOT_SHOWN, FeedbackExporter, safe_markdown, without_later_outputs
from autograder.readable import MAX_LINE, in_a_line, readable, shortened, visible, visible_text


def shown(**data):
    made = clean_outputs(
        [new_output("display_data", {name.replace("_", "/", 1): value for name, value in data.items()})]
    )
    return made[0].data if made else None


def test_S37_markup_is_shown_as_its_words():
    html = "<div onclick='a()'>five <b>tokens</b></div><script>steal()</script><style>*{}</style>"
    assert shown(text_html=html) == {"text/plain": "five tokens"}
    assert shown(text_html=html, text_plain="<IPython.core.display.HTML object>") == {"text/plain": "five tokens"}
    assert shown(text_html=html, text_plain="a table") == {"text/plain": "a table"}
    assert shown(**{"application_javascript": "steal()"}) is None


def test_S37_a_picture_cannot_run_or_load_anything():
    svg = "<svg onload='steal()'><script>steal()</script></svg>"
    picture = shown(**{"image_svg+xml": svg, "text_plain": 'Two "bars".'})["text/html"]
    packed = base64.b64encode(svg.encode()).decode()
    assert picture == f'<img alt="Two &quot;bars&quot;." src="data:image/svg+xml;base64,{packed}">'
    assert shown(image_png='AAAA" onerror="steal()') is None
    assert "not kept" in shown(image_png="A" * (MAX_PICTURE + 4))["text/html"]


def test_S38_terminal_codes_are_gone_and_lines_cut():
    assert readable("\x1b[2J\x1b[31mred\x1b[0m \x1b]0;owned\x07\x9b2Jx\x00\u202e") == "red x"
    assert readable("10%\r50%\r100%\ndone") == "100%\ndone"
    assert readable("a\tb\r\nc") == "a    b\nc"
    assert shortened("x" * 1_000_000) == "x" * MAX_LINE + "… [1,000,000 characters]"
    assert shortened("a\n" * 300).endswith("[cut after 200 of 301 lines]")
    assert visible_text("a<br>b<td>c") == "a\nb  c" and visible_text("<") == "<"


@pytest.mark.parametrize("place", [tempfile.gettempdir(), sys.prefix, os.path.dirname(os.__file__), "/srv/course"])
def test_paths_of_the_grader_are_shortened(place):
    text = f'File "{place}/box-ab12/beside/partrain/record.py", line 3; cwd {place}'
    assert fit(text, ("/srv/course",)) == 'File "…/record.py", line 3; cwd …'


def test_errors_keep_their_name_and_the_end_of_their_traceback():
    lines = [f"\x1b[31mline {n}\x1b[0m" for n in range(300)]
    (error,) = clean_outputs([new_output("error", ename="ValueError", evalue="\x1b[1mbad", traceback=lines)])
    assert (error.ename, error.evalue) == ("ValueError", "bad") and len(error.traceback) == 40
    assert "\x1b" not in "".join(error.traceback)


def test_too_many_outputs_are_cut():
    made = clean_outputs([new_output("stream", name="stdout", text=str(n)) for n in range(100)])
    assert len(made) == MAX_OUTPUTS + 1 and made[-1].data["text/plain"] == "[cut: 100 outputs in all]"


def test_repairs_are_listed_as_plain_words():
    cell = repairs_cell(["The file was *bold* <b>.", "[x](javascript:a())"])
    nbformat.validate(new_notebook(cells=[cell]))
    assert markdown(cell.source).count("<li>") == 2 and "<b>" not in markdown(cell.source)
    assert "*bold*" in markdown(cell.source)


def test_S38_control_characters_in_source_are_signs():
    assert visible("a\tb\x1b[2J\x00\x9b\x7f\nc") == "a    b␛[2J␀\ufffd␡\nc"


def test_a_name_of_anybodys_making_stays_in_its_line():
    assert in_a_line("Extra files: \x1b[2Ja\nb\udc80.txt") == "Extra files: a b.txt"
    assert len(in_a_line("x " * 9_000)) <= 600


# ---- the feedback page --------------------------------------------------------------------------------------------


def markdown(source, **attachments):
    return safe_markdown({"cell": {"attachments": attachments}}, source)


def test_S37_text_cells_keep_their_form_and_lose_what_runs():
    links = "[l](javascript:z()) [k](https://a.b)"
    html = markdown(f"# T\n\n*a* | `<b>`\n\n{links}\n\n<script>x()</script> <img src=x onerror=y()>")
    assert "<em>a</em>" in html and "<code>&lt;b&gt;</code>" in html and 'href="https://a.b"' in html
    assert "<script" not in html and "<img>" in html and "javascript:" not in html


def test_F027_pasted_pictures_are_shown_and_missing_ones_named():
    png = {"image/png": "AAAA"}
    assert 'src="data:image/png;base64,AAAA"' in markdown("![](attachment:fig.png)", **{"fig.png": png})
    assert "The picture gone.png is not in the notebook" in markdown("![](attachment:gone.png)")
    assert "src" not in markdown("![](attachment:x.png)", **{"x.png": {"text/html": "<script>"}})
    assert "https" not in markdown("![](https://elsewhere.example/x.png)")


def test_outputs_after_hidden_inputs_are_not_shown():
    nb = new_notebook(
        cells=[
            new_code_cell("1", outputs=[new_output("stream", name="stdout", text="before")]),
            new_code_cell(
                "2", outputs=[new_output("stream", name="stdout", text="kept inputs")], metadata={AFTER: True}
            ),
            new_code_cell("3", metadata={AFTER: True}),
        ]
    )
    seen = without_later_outputs(nb)
    assert [[out.text for out in cell.outputs] for cell in seen.cells] == [["before"], [NOT_SHOWN], []]
    assert nb.cells[1].outputs[0].text == "kept inputs" and AFTER in nb.cells[1].metadata


def test_the_page_loads_nothing():
    assert LOADED.sub("", 'a<script src="https://x/y.js"> </script>b<script>own</script>') == "ab<script>own</script>"
    page, _ = FeedbackExporter(template_name="classic").from_notebook_node(
        new_notebook(cells=[new_markdown_cell("hi")])
    )
    assert "hi" in page and "<script src=" not in page


def test_every_picture_on_the_page_has_words():
    pictures = '<img src="data:image/png;base64,AA"> <img src="data:image/png;base64,BB" alt="a > b"> ![mine](#c)'
    page, _ = FeedbackExporter(template_name="classic").from_notebook_node(
        new_notebook(cells=[new_markdown_cell(pictures)])
    )
    told = [re.findall(r'\balt="([^"]*)"', tag) for tag in re.findall(r"""<img\b(?:[^"'>]|"[^"]*")*>""", page)]
    assert told == [[NO_WORDS], ["a > b"], ["mine"]]
