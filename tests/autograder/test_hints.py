"""The one sentence that explains a failure outside of the answer, and how an answer cell ended."""

from pathlib import Path

import pytest

from autograder.extras import extras, remove_extras
from autograder.hints import hint, names_bound, stopped_words

GONE = "The cell x-check had been changed; it was put back as handed out. What it had defined is gone: math."


@pytest.mark.parametrize(
    ("message", "sources", "answer", "repairs", "said"),
    [
        (
            "f stopped with NameError: name 'h' is not defined.",
            ["def f(): h()", "f", "h = 1"],
            0,
            [],
            "h is defined later, in code cell 3",
        ),
        ("f stopped with NameError: name 'h' is not defined.", ["def f(): h()", "f"], 0, [], ""),
        ("NameError: name 'math' is not defined", ["f"], 0, [GONE], GONE),
        (
            "f stopped with TypeError: 'int' object is not callable.",
            ["sum = 3", "def f(): return sum([1])"],
            1,
            [],
            "Code cell 1 gave sum another meaning",
        ),
        ("f stopped with TypeError: 'int' object is not callable.", ["sum = 3", "def f(): return 1(2)"], 1, [], ""),
        (
            "f stopped with AttributeError: 'int' object has no attribute 'mean'.",
            ["import numpy as np", "np = 3", "def f(): np.mean(1)"],
            2,
            [],
            "Code cell 2 gave np another meaning",
        ),
        ("f stopped with ZeroDivisionError.", ["sum = 3", "def f(): return sum(1)"], 1, [], ""),
        ("f stopped with TypeError.", ["sum = 3"], None, [], ""),
    ],
)
def test_hint(message, sources, answer, repairs, said):
    got = hint(message, sources, answer, repairs)
    assert got.startswith(said) and bool(got) == bool(said)


def test_names_bound():
    source = "import a.b, c as d\nfrom e import f\ng, (h, *i) = 1, (2, 3)\nfor j in []: k = 1\n"
    source += "class L: m = 1\ndef n(o): p = 1"
    assert names_bound(source) >= set("adfghijkLn") and not names_bound(source) & set("bceop")
    assert names_bound("%magic\nx = 1\ndef f(") == {"x", "f"}


@pytest.mark.parametrize(
    ("ename", "evalue", "exposed", "said"),
    [
        ("ValueError", "bad", False, "ValueError: bad"),
        ("ValueError", "7 4096 hidden", True, "ValueError"),
        ("Stolen_7_4096", "", True, "an error of its own kind"),
        ("NameError", "name 'helper' is not defined", True, "NameError: name 'helper' is not defined"),
        ("NameError", "name 'helper' is not defined. Hidden: 7", True, "NameError: name 'helper' is not defined"),
        ("NameError", "name 'x7x4096' is not defined", True, "NameError"),
        ("ModuleNotFoundError", "No module named 'helper'", True, "ModuleNotFoundError: No module named 'helper'"),
        (
            "SystemExit",
            "0",
            True,
            "The answer cell ends the program before that (exit, quit or sys.exit). Remove the call.",
        ),
    ],
)
def test_how_a_cell_ended_says_no_more_than_the_student_wrote(ename, evalue, exposed, said):
    assert stopped_words(ename, evalue, ["helper()"], exposed) == said


# ---- files beside the notebook ------------------------------------------------------------------------------------


def test_F015_extra_and_changed_files_are_named(tmp_path):
    released, handed_in = tmp_path / "release" / "p1", tmp_path / "autograded" / "p1"
    for folder in (released, handed_in):
        (folder / "kit").mkdir(parents=True)
        (folder / "kit" / "a.py").write_text("1\n2\n")
        (folder / "kit" / "b.py").write_text("1\n")
    (handed_in / "kit" / "a.py").write_bytes(b"1\r\n2\r\n")
    assert extras(handed_in, released) == []
    (handed_in / "kit" / "b.py").write_text("2\n")
    (handed_in / "timestamp.txt").write_text("now")
    (handed_in / "link").symlink_to("/")
    with (handed_in / "weights.bin").open("wb") as big:
        big.truncate(200_000_000)
    assert extras(handed_in, released) == [
        "Extra files are not used: link, weights.bin (200 MB).",
        "Changed files are used as they were handed out: kit/b.py.",
    ]
    remove_extras(handed_in, released)
    left = sorted(str(path.relative_to(handed_in)) for path in handed_in.rglob("*") if path.is_file())
    assert left == ["kit/a.py", "kit/b.py", "timestamp.txt"] and not (handed_in / "link").is_symlink()


def test_only_a_working_copy_is_emptied(tmp_path):
    (tmp_path / "kept").touch()
    for folder in (tmp_path, Path()):
        with pytest.raises(ValueError, match="is not a working copy"):
            remove_extras(folder, tmp_path / "release" / "p1")
    assert (tmp_path / "kept").exists()


def test_F017_many_files_are_counted(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    for n in range(12):
        (tmp_path / "a" / f"{n:02}").touch()
    assert extras(tmp_path / "a", tmp_path / "b") == ["Extra files are not used: 00, 01, 02, 03, 04 and 7 more."]
