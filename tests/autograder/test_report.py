"""The class on one page and in tables: figures, advice, one student or five hundred; files for learning platforms."""

import csv

import pytest
from nbgrader.apps.api import NbGraderAPI
from tiny import hand_in_tiny, tiny_course

from autograder import report, tally, verdict
from autograder.book import read_verdict
from autograder.grade import grade
from autograder.platforms import CanvasCSV, MoodleCSV
from autograder.report import some
from autograder.tally import Part, Row, Slip

BODIES = {
    "anna": "return 2 * x",
    "bert": "return x * x",
    "cora": "return x * x",
    "dora": "raise NotImplementedError",
    "emil": "print(2 * x)",
}


@pytest.fixture(scope="module")
def graded(tmp_path_factory, repository):
    course, config = tiny_course(tmp_path_factory.mktemp("report") / "course", repository)
    for student, body in BODIES.items():
        hand_in_tiny(course, student, f"def double(x):\n    {body}")
    folder = hand_in_tiny(course, "fred", "").parent
    (folder / "tiny.ipynb").write_bytes(b"<html>")
    list(grade(course, config, "tiny"))
    with NbGraderAPI(config=config).gradebook as book:
        book.add_student("gwen", first_name="Gwen", last_name="Ash", email="gwen@example.org", lms_user_id="77")
        anna = book.find_student("anna")
        anna.first_name, anna.last_name, anna.email = "Anna", "=Berg", "anna@example.org"
        book.db.commit()
    return course, config


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


@pytest.fixture(scope="module")
def page(graded):
    course, config = graded
    return report.write(course, NbGraderAPI(config=config).coursedir.db_url)


def test_the_page_says_what_to_teach_again_and_who_needs_help(page):
    text = page.read_text(encoding="utf-8")
    assert "<strong>double</strong>: 3 of 5 have not got it right. Most often (2): squared: This is the square." in text
    assert all(f"<li>{student}: 0% of the points</li>" in text for student in ("bert", "cora", "dora", "emil"))
    assert "<strong>fred</strong>, everything: The file is not a notebook" in text
    assert "1 not submitted:\ngwen" in text and "20%" in text
    assert "<strong>Not submitted:</strong> gwen." in text and "At a glance" not in text
    assert 'aria-label="double: 1 of 6 right, 0 partly, 3 wrong"' in text


def test_the_page_needs_nothing_from_elsewhere(page):
    text = page.read_text(encoding="utf-8")
    assert not any(word in text for word in ("<script", "<link", "src=", "http:", "https:", "@import", "url("))


def test_the_table_holds_the_same_figures(page):
    header, row = rows_of(page.with_name("exercises.csv"))
    assert header == ["assignment", "exercise", *verdict.STATES, "commonest mistake", "students who made it"]
    assert row == ["tiny", "double", "1", "0", "3", "1", "1", "0", "squared: This is the square.", "2"]


def test_the_moodle_file(graded, tmp_path):
    config = graded[1]
    with NbGraderAPI(config=config).gradebook as book:
        MoodleCSV(config=config, to=str(tmp_path / "m.csv")).export(book)
    header, *rows = rows_of(tmp_path / "m.csv")
    assert header == ["First name", "Last name", "ID number", "Email address", "tiny"]
    assert rows[0] == ["Anna", "'=Berg", "anna", "anna@example.org", "2"]
    points = {row[2]: row[4] for row in rows}
    assert points == {"anna": "2", "bert": "0", "cora": "0", "dora": "0", "emil": "0", "fred": "", "gwen": ""}


def test_the_canvas_file(graded, tmp_path):
    config = graded[1]
    with NbGraderAPI(config=config).gradebook as book:
        CanvasCSV(config=config, to=str(tmp_path / "c.csv"), student=["gwen", "anna"]).export(book)
    header, possible, *rows = rows_of(tmp_path / "c.csv")
    assert header == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "tiny"]
    assert possible == ["    Points Possible", "", "", "", "", "2"]
    assert rows == [["'=Berg, Anna", "", "", "anna", "", "2"], ["Ash, Gwen", "77", "", "gwen", "", ""]]


def test_five_hundred_students_fit(graded, tmp_path, monkeypatch):
    course, config = graded
    many = [f"student-{number:03}" for number in range(500)]
    said = read_verdict(course.root, "bert", "tiny")
    monkeypatch.setattr(tally.book, "submitted", lambda root, name: many if name == "tiny" else [])
    monkeypatch.setattr(tally.book, "read_verdict", lambda root, student, name: {**said, "student": student})
    text = report.write(course, NbGraderAPI(config=config).coursedir.db_url).read_text(encoding="utf-8")
    assert "500 of 500 have not got it right" in text and "and 488 more" in text
    assert text.count("<tr>") < 520


def test_one_student_and_nobody(graded):
    one = Part("tiny", [read_verdict(graded[0].root, "anna", "tiny")], [], [], [])
    assert one.teach_first == [] and one.need_help == []
    assert Row("double", dict.fromkeys(verdict.STATES, 0), ()).share("right") == "–"
    assert some(["a"]) == "a" and some(list("abcdefghijklmn")) == "a, b, c, d, e, f, g, h, i, j, k, l and 2 more"


def test_several_parts_stand_together_at_the_top(graded, monkeypatch):
    course, config = graded
    for name in ("tinier", "tiny"):
        (course.root / "source" / name).mkdir(exist_ok=True)
    hand_ins = {"tiny": ["anna", "bert", "dora"], "tinier": ["bert", "anna"]}
    monkeypatch.setattr(tally.book, "submitted", lambda root, name: hand_ins[name])
    real = tally.book.read_verdict
    monkeypatch.setattr(tally.book, "read_verdict", lambda root, student, name: real(root, student, "tiny"))
    monkeypatch.setattr(type(course), "exercises", lambda self, name: {})
    text = report.write(course, NbGraderAPI(config=config).coursedir.db_url).read_text(encoding="utf-8")
    (course.root / "source" / "tinier").rmdir()
    glance = text[text.index("At a glance") : text.index("How many got it right")]
    assert '<a href="#tinier">tinier</a>' in glance and '<a href="#tiny">tiny</a>' in glance
    assert '<td class="count">3</td><td class="count">33%</td>' in glance, "of three hand-ins one is right"
    assert 'aria-label="tiny: 1 of 3 right, 0 partly, 1 wrong"' in glance and "double (1 of 3)" in glance
    assert "<strong>bert</strong> (tinier, tiny)." in glance and "<strong>dora</strong> (" not in glance


def test_the_worst_come_first():
    counts = [dict.fromkeys(verdict.STATES, 0) | {"wrong": wrong, "right": 9} for wrong in (1, 5, 0, 3, 4)]
    rows = [Row(f"e{number}", one, (Slip("w", ("a",)),)) for number, one in enumerate(counts)]
    assert [row.name for row in Part("p", [], [], rows, []).teach_first] == ["e1", "e4", "e3"]
