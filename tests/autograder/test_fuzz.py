"""Random notebooks, bundles, outputs and texts: a verdict or a refusal every time, never an exception."""

import copy
import json
import tempfile
import time
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jinja2 import Environment

from autograder import verdict, wire
from autograder.assess import assess
from autograder.clean import clean_outputs
from autograder.feedback import safe_markdown
from autograder.intake import read
from autograder.match import Refusal
from autograder.mend import mend
from autograder.readable import readable, shortened
from autograder.wire import Bundle, NotData, Outcome, WireError, read_bundle
from partrain_ref.exercises import ASSIGNMENTS

FUZZ = settings(
    max_examples=120,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.just(10**400)
    | st.floats()
    | st.text(max_size=12)
    | st.sampled_from(["code", "markdown", "raw", "\x1b[2J", "<script>x</script>", "def f(:", "\ud800", "../../x"])
)
JUNK = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["cells", "source", "metadata", "nbgrader", "grade_id", "array", "set", "dict", "float", "x"]
            )
            | st.text(max_size=4),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


def graded(name, source, **about):
    cell = nbformat.v4.new_code_cell(source, id=name)
    base = {"grade_id": name, "grade": False, "solution": True, "locked": False, "schema_version": 3, "task": False}
    cell.metadata = {"nbgrader": {**base, **about}}
    return cell


CHECK = {"grade": True, "solution": False, "locked": True, "points": 4}
RELEASED = nbformat.v4.new_notebook(
    cells=[
        nbformat.v4.new_markdown_cell("# Part", id="title"),
        graded("avg-answer", "def avg(xs):\n    # your code here\n    raise NotImplementedError"),
        graded("avg-check", 'check("avg", avg)', **CHECK),
        graded("bub-answer", "bub = ...  # seconds"),
        graded("bub-check", 'check("bub", bub)', **CHECK),
    ]
)
HANDED_OUT = json.loads(nbformat.writes(RELEASED))
KEYS = st.sampled_from(["cell_type", "source", "metadata", "id", "outputs", "attachments", "execution_count", "input"])


@st.composite
def notebooks(draw):
    """The released notebook after some accidents: cells lost, doubled, moved, or with anything for a field."""
    content = copy.deepcopy(HANDED_OUT)
    for _ in range(draw(st.integers(1, 6))):
        cells = content["cells"]
        if not cells:
            break
        at, to = draw(st.integers(0, len(cells) - 1)), draw(st.integers(0, len(cells)))
        accident = draw(st.sampled_from(["lose", "double", "move", "field", "junk", "top"]))
        if accident == "lose":
            del cells[at]
        elif accident == "double":
            cells.insert(to, copy.deepcopy(cells[at]))
        elif accident == "move":
            cells.insert(min(to, len(cells) - 1), cells.pop(at))
        elif accident == "field" and isinstance(cells[at], dict):
            cells[at][draw(KEYS)] = draw(JUNK)
        elif accident == "junk":
            cells.insert(to, draw(JUNK))
        elif accident == "top":
            content[draw(st.sampled_from(["metadata", "nbformat", "nbformat_minor", "worksheets"]))] = draw(JUNK)
    return content


def mended_or_refused(content):
    try:
        nb, repairs = mend(content, RELEASED)
    except Refusal as refusal:
        assert str(refusal)[-1] in ".?"
        return None
    nbformat.validate(nb)
    nbformat.writes(nb).encode()
    names = [cell.metadata.nbgrader.grade_id for cell in nb.cells if "nbgrader" in cell.metadata]
    assert len(set(names)) == len(names) and {"avg-check", "bub-check"} <= set(names)
    for name in ("avg", "bub"):
        if f"{name}-answer" in names:
            assert names.index(f"{name}-answer") < names.index(f"{name}-check")
    assert all(isinstance(repair, str) and repair[-1] in ".?" for repair in repairs)
    return nb


@FUZZ
@given(notebooks())
def test_a_notebook_after_accidents_is_mended_or_refused_the_same_each_time(content):
    first = mended_or_refused(copy.deepcopy(content))
    second = mended_or_refused(content)
    assert first == second
    if first is not None:  # what was mended once needs no other mending
        assert [c.source for c in mended_or_refused(json.loads(nbformat.writes(first))).cells] == [
            c.source for c in first.cells
        ]


@FUZZ
@given(JUNK)
def test_any_json_is_mended_or_refused(content):
    mended_or_refused(content)


@FUZZ
@given(
    st.binary(max_size=200)
    | notebooks().map(lambda content: json.dumps(content).encode("utf-8", "replace"))
    | st.tuples(st.sampled_from([b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"{", b"["]), st.binary(max_size=50)).map(
        b"".join
    )
)
def test_any_bytes_are_read_or_refused(data):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "p1.ipynb"
        path.write_bytes(data)
        try:
            nb, _ = read(path, RELEASED)
        except Refusal as refusal:
            assert str(refusal)
        else:
            nbformat.validate(nb)
            nbformat.writes(nb).encode()
        assert path.read_bytes() == data


# ---- bundles ------------------------------------------------------------------------------------------------------

FORMS = st.recursive(
    SCALARS
    | st.just({"float": "nan"})
    | st.fixed_dictionaries(
        {
            "array": st.fixed_dictionaries(
                {
                    "dtype": st.sampled_from(["<f8", "<i8", "|b1", "O", "<f2", "V8"]),
                    "shape": st.lists(st.integers(-1, 9_000_000), max_size=4),
                    "base64": st.sampled_from(["", "AAAAAAAA8D8=", "AAAAAAAA8D8AAAAAAAD4fw==", "!", "A" * 40]),
                }
            )
        }
    )
    | st.just({"other": "Always"}),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.fixed_dictionaries({"set": st.lists(inner, max_size=3)})
        | st.fixed_dictionaries({"dict": st.lists(st.lists(inner, min_size=2, max_size=2), max_size=3)})
    ),
    max_leaves=8,
)
ROW = st.fixed_dictionaries({"value": FORMS, "changed": st.booleans(), "printed": st.booleans()}) | JUNK
EVERY = [exercise for exercises in ASSIGNMENTS.values() for exercise in exercises]


@FUZZ
@given(JUNK | st.fixed_dictionaries({"exercise": st.just("avg"), "outcomes": st.lists(ROW, min_size=2, max_size=2)}))
def test_any_bundle_is_read_or_refused(raw):
    try:
        bundle = read_bundle(raw, "avg", 2)
    except WireError as error:
        assert str(error)
    else:
        assert isinstance(bundle, Bundle) and (bundle.missing or len(bundle.outcomes) == 2)


@pytest.mark.parametrize(
    "raw",
    [
        {"array": {"dtype": "<f8", "shape": [8_000_000] * 8, "base64": ""}},
        {"array": {"dtype": "<f8", "shape": [0, 8_000_000, 8_000_000], "base64": ""}},
        {"set": [[]]},
        {"dict": [[{"dict": []}, 1]]},
        10 ** (10**5),
        [[[[[[[[[[[[[[[1]]]]]]]]]]]]]]],
    ],
    ids=["huge shape", "empty but huge", "set of lists", "dict of dicts", "many digits", "deep"],
)
def test_a_bundle_made_to_hurt_is_over_at_once(raw):
    row = {"value": raw, "changed": False, "printed": False}
    started = time.monotonic()
    try:
        read_bundle({"exercise": "avg", "outcomes": [row]}, "avg", 1)
    except WireError:
        pass
    assert time.monotonic() - started < 1


def decoded(raw):
    try:
        return wire.decode(raw)
    except WireError:
        return NotData("nonsense")


ANSWERS = FORMS.map(decoded) | st.sampled_from(
    [np.zeros(0), np.ones((2, 2)), np.array(1.0), 0, -1, 1e308, [[]], {}, set()]
)


@pytest.mark.parametrize("exercise", EVERY, ids=lambda exercise: exercise.name)
def test_any_answer_gets_a_verdict(exercise):
    calls = (
        (*exercise.examples[:1], *exercise.hidden(b"fuzz")[:1]) if exercise.kind == "function" else (exercise_call(),)
    )

    @settings(FUZZ, max_examples=12)
    @given(st.lists(ANSWERS, min_size=len(calls), max_size=len(calls)), st.booleans())
    def any_answer(values, changed):
        outcomes = [Outcome(value, changed=changed) for value in values]
        outcomes += [Outcome(raised="ValueError")] * len(exercise.refusals)
        said = assess(exercise, calls, Bundle(exercise.name, outcomes=tuple(outcomes)))
        assert said.state in verdict.STATES and 0 <= said.points <= exercise.points
        assert said.state == verdict.RIGHT or said.message
        assert said.html(exercise.name).count("<p") == len(said.message.splitlines())

    any_answer()


def exercise_call():
    from autograder.exercise import Call

    return Call()


# ---- what is shown ------------------------------------------------------------------------------------------------

OUTPUTS = st.lists(
    JUNK
    | st.fixed_dictionaries({"output_type": st.just("stream"), "name": JUNK, "text": JUNK})
    | st.fixed_dictionaries({"output_type": st.just("error"), "ename": JUNK, "evalue": JUNK, "traceback": JUNK})
    | st.fixed_dictionaries(
        {
            "output_type": st.sampled_from(["display_data", "execute_result"]),
            "data": st.dictionaries(
                st.sampled_from(["text/plain", "text/html", "image/png", "image/svg+xml", "application/x"]), JUNK
            ),
            "metadata": JUNK,
        }
    ),
    max_size=5,
)


@FUZZ
@given(OUTPUTS | JUNK)
def test_any_outputs_become_valid_and_harmless(outputs):
    made = clean_outputs(outputs)
    cell = nbformat.v4.new_code_cell("1", outputs=made)
    nbformat.validate(nbformat.v4.new_notebook(cells=[cell]))
    text = json.dumps(made)
    assert "\\u001b" not in text and "\\u009b" not in text
    assert not any("<script" in output.get("data", {}).get("text/html", "") for output in made)


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.bad = []

    def handle_starttag(self, tag, attrs):
        self.bad += (
            [tag] if tag in ("script", "style", "iframe", "object", "embed", "form", "svg", "meta", "link") else []
        )
        for name, value in attrs:
            remote = name == "src" and not (value or "").startswith("data:image/")
            runs = (
                name.startswith("on") or name == "style" or ("javascript" in (value or "").lower() and name == "href")
            )
            self.bad += [f"{tag} {name}"] if remote or runs else []


PIECES = st.lists(
    st.sampled_from(
        "<script> </script> <img src=x onerror=a()> ![a](http://x/y.png) ![a](attachment:b.png) [l](javascript:a()) "
        "[l]: javascript:a() [l] `code <b>` ``` <!-- --> <svg onload=a()> <a href='&#106;avascript:a()'>x</a> "
        "<style>*{} $x<y$ <iframe src=//x> | a | <details><summary> ![a][r] [r]: http://x/z.png &lt;script&gt;".split(
            " "
        )
    )
    | st.text(max_size=8)
    | st.just("\n\n"),
    max_size=12,
).map(" ".join)


@FUZZ
@given(PIECES)
def test_any_text_cell_becomes_harmless_html(source):
    environment = Environment(autoescape=False)
    environment.filters["md"] = safe_markdown
    html = environment.from_string("{{ source | md }}").render(source=source, cell={"attachments": {}})
    parser = Tags()
    parser.feed(html)
    assert parser.bad == []


@FUZZ
@given(st.text(max_size=300) | st.sampled_from(["\x1b]0;t\x07x", "a\rb", "\x9b31mred", "\x1b(B", "\u202egnp"]))
def test_readable_text_has_no_codes_and_stays_short(text):
    said = readable(text)
    assert all(ch == "\n" or ch.isprintable() for ch in said)
    assert readable(said) == said
    assert len(shortened(said * 50, 600)) <= 600
