"""Every hostile and every field case: one class run over all of them, then one test for each."""

import json
import re
from functools import cache
from html.parser import HTMLParser

import pytest
from markupsafe import escape

from autograder import verdict, wire
from autograder.ask import value_calls
from autograder.sandbox import POOL
from corpus import (
    field_content,
    field_files,
    field_runs,
    hostile_checker,
    hostile_notebook,
    hostile_reach,
    hostile_values,
)
from corpus.builder import UNGRADED
from corpus.classrun import CANARY, run

MODULES = (hostile_values, hostile_checker, hostile_notebook, hostile_reach, field_files, field_runs, field_content)
CASES = [case for module in MODULES for case in module.CASES]


@cache
def sealed_here():
    return POOL.level().bubblewrap


def needs_seal(case):
    """Cases that only a sealed kernel holds are left out where none can be had; nothing else may be skipped."""
    if case.sealed and not sealed_here():
        pytest.skip("student code cannot be sealed off here")


@pytest.fixture(scope="module")
def class_run(request, tmp_path_factory, repository):
    """The class run over all cases whose tests were asked for."""
    asked = (getattr(item, "callspec", None) for item in request.session.items)
    chosen = [spec.params["case"] for spec in asked if spec and "case" in spec.params]
    cases = [case for case in CASES if any(case is one for one in chosen) and (sealed_here() or not case.sealed)]
    return run(tmp_path_factory.mktemp("corpus") / "course", repository, cases)


def test_names_are_different():
    names = [(case.part, case.name) for case in CASES]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.number} {case.about}")
def test_case(case, class_run):
    needs_seal(case)
    said = class_run.verdict(case)
    rows = said["exercises"]
    wrong = {name: row for name, row in rows.items() if row["state"] not in case.states_of(name)}
    assert not wrong, said["repairs"]
    for name, row in rows.items():
        earned = {verdict.RIGHT: row["max_points"], verdict.PARTLY: row["max_points"] * verdict.PARTLY_SHARE}
        nothing = None if row["state"] in verdict.NO_POINTS_YET else 0.0
        assert row["points"] == earned.get(row["state"], nothing), name
    assert class_run.scores(case) == {name: row["points"] for name, row in rows.items()}
    for name, words in case.says.items():
        for some in (words,) if isinstance(words, str) else words:
            assert some in rows[name]["message"]
    assert {name: rows[name]["mistake"] for name in case.mistakes} == case.mistakes
    repairs = said["repairs"]
    for words in case.repairs or ():
        assert any(words in repair for repair in repairs), repairs
    assert case.repairs is None or bool(repairs) == bool(case.repairs), repairs
    page = class_run.page(case)
    shown = page + json.dumps(said)
    for words in case.never:
        assert words not in shown
    for words in case.shown:
        assert words in page
    for row in rows.values():
        assert len(row["message"]) < 700 and all(ch == "\n" or ch.isprintable() for ch in row["message"])


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.number} {case.about}")
def test_feedback_is_fit_to_be_shown(case, class_run):
    needs_seal(case)
    page = class_run.page(case)
    said = class_run.verdict(case)
    own_words = "".join(path.read_text("utf-8", "replace") for path in class_run.submitted(case).glob("*.ipynb"))
    own_words = own_words.replace('\\"', '"')
    assert len(page) < 3_000_000
    assert parsed(page).bad == []
    assert "\x1b" not in page and "\x9b" not in page and "\x00" not in page
    for words in (
        CANARY,
        class_run.course.secret.decode(),
        str(class_run.course.root),
        "record import",
        wire.MIME + '"',
    ):
        assert words in own_words or words not in page + json.dumps(said), words
    for name, row in said["exercises"].items():
        if row["state"] != verdict.WAITS and name != "why_this_plan":
            assert f"{name}: {row['state']}" in page
    boxes = re.findall(r"<div[^>]*\brole=[\"']note[\"']", page)
    assert len(boxes) == len([name for name in said["exercises"] if name != "why_this_plan"])  # ours, and no other


class Page(HTMLParser):
    """Collects what a page must not do: handlers, scripts of a student's, frames, things loaded from elsewhere."""

    def __init__(self):
        super().__init__()
        self.bad = []

    def handle_starttag(self, tag, attrs):
        attrs = {name: value or "" for name, value in attrs}
        self.bad += [f"{tag} {name}" for name in attrs if name.startswith("on")]
        self.bad += [
            f"{tag} {name}"
            for name in ("src", "href", "data", "srcdoc")
            if re.match(r"\s*(javascript|vbscript):", attrs.get(name, ""), re.I)
        ]
        if tag in ("iframe", "frame", "object", "embed", "base", "form"):
            self.bad.append(tag)
        if tag in ("img", "link", "source", "video", "audio", "script") and re.match(
            r"\s*(https?:)?//", attrs.get("src", attrs.get("href", ""))
        ):
            self.bad.append(f"{tag} loads {attrs.get('src', attrs.get('href', ''))}")
        self.in_script = tag in ("script", "style")

    def handle_data(self, data):
        if getattr(self, "in_script", False) and re.search(r"steal|stolen", data):
            self.bad.append("a student's script or style")

    def handle_endtag(self, tag):
        self.in_script = False


def parsed(page):
    parser = Page()
    parser.feed(page)
    return parser


def test_what_must_stay_untouched_is_untouched(class_run):
    """Submitted bytes, release, source, configuration and secret; a renamed notebook may be put beside the original."""
    changed = {path for path in class_run.before if class_run.before[path] != class_run.after.get(path)}
    new = {path for path in class_run.after if path not in class_run.before}
    assert changed == set()
    assert {path for path in new if "F013" not in path} == set()


def test_the_report_is_fit_to_be_shown(class_run):
    page = (class_run.course.root / "report" / "index.html").read_text(encoding="utf-8")
    assert parsed(page).bad == [] and "<script" not in page and "\x1b" not in page
    ungraded = [case.name for case in CASES if case.states == UNGRADED and (case.part, case.name) in class_run.results]
    assert all(escape(name) in page for name in ungraded)


def test_feedback_was_made_for_everybody(class_run):
    assert all(said["success"] for said in class_run.feedback.values()), class_run.feedback


def test_nothing_hidden_is_shown(class_run):
    """No feedback page holds the packed hidden arrays of its student, and none names the reference's module."""
    for case in CASES:
        if (case.part, case.name) not in class_run.results:
            continue
        page = class_run.page(case)
        for exercise in class_run.course.exercises(case.part).values():
            if exercise.kind == "function":
                for one in value_calls(exercise, class_run.course.secret, case.part, case.name)[
                    len(exercise.examples) :
                ]:
                    packed = re.findall(r'"base64":"([^"]+)"', wire.encode_calls((one,)))
                    assert not any(text in page for text in packed if len(text) > 16)
