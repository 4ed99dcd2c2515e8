"""The two seams where a hand-in is read: whatever bytes it has, and whatever it is called."""

import nbformat
import pytest

from autograder.intake import RENAMED, Rename, decode, looks_like, our_words, read, signed, take_in
from autograder.match import Refusal

PART = "part1_split_the_batch"


@pytest.fixture
def hand_in(small_course):
    """(course, folder of anna's hand-in, the released notebook's bytes)"""
    course, _ = small_course
    folder = course.root / "submitted" / "anna" / PART
    folder.mkdir(parents=True)
    return course, folder, (course.root / "release" / PART / f"{PART}.ipynb").read_bytes()


@pytest.mark.parametrize(
    "change",
    [
        lambda raw: b"\xef\xbb\xbf" + raw,
        lambda raw: raw.decode().encode("utf-16"),
        lambda raw: b"\xfe\xff" + raw.decode().encode("utf-16-be"),
        lambda raw: raw.replace(b"\n", b"\r\n"),
    ],
    ids=["F019 byte-order mark", "UTF-16", "UTF-16 big-endian", "F021 CRLF"],
)
def test_encodings_are_read(hand_in, change):
    course, folder, raw = hand_in
    path = folder / f"{PART}.ipynb"
    path.write_bytes(change(raw))
    nb, repairs = read(path, course.released(PART, PART))
    nbformat.validate(nb)
    assert all("encoding" in text or "byte-order" in text for text in repairs)
    assert path.read_bytes() == change(raw)


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"", "it is empty"),
        (b"  \n", "it is empty"),
        (b"<!DOCTYPE html><html>", "web page"),
        (b"%PDF-1.7", "PDF"),
        (b"PK\x03\x04\x00", "archive or an office document"),
        (b'{"cells": [', "breaks off"),
        (b"\x00\xff" * 40, "something else"),
        (b'{"cells": ' + b"[" * 100_000, "breaks off"),
        (b"[]", "holds no cells"),
        (b'"text"', "holds no cells"),
    ],
)
def test_F023_what_is_no_notebook_is_refused_with_its_reason(hand_in, raw, words):
    course, folder, _ = hand_in
    path = folder / f"{PART}.ipynb"
    path.write_bytes(raw)
    with pytest.raises(Refusal, match=words):
        read(path, course.released(PART, PART))


def test_a_link_is_refused(hand_in):
    course, folder, raw = hand_in
    (folder / "elsewhere").write_bytes(raw)
    (folder / f"{PART}.ipynb").symlink_to(folder / "elsewhere")
    with pytest.raises(Refusal, match="a link"):
        read(folder / f"{PART}.ipynb", course.released(PART, PART), course.secret)


def rename(course, folder):
    notebooks = [str(path) for path in sorted(folder.glob("*.ipynb"))]
    Rename(course.root, course.reference, course.kit)(assignment=PART, student="anna", notebooks=notebooks)
    return notebooks


def test_F013_a_renamed_notebook_is_put_under_its_right_name(hand_in):
    course, folder, raw = hand_in
    (folder / f"{PART} (1).ipynb").write_bytes(b"\xef\xbb\xbf" + raw)
    assert rename(course, folder) == [str(folder / f"{PART}.ipynb")]
    assert (folder / f"{PART} (1).ipynb").exists() and (folder / f"{PART}.ipynb").exists()
    note = our_words(folder / f"{PART}.ipynb{RENAMED}", course.secret)
    assert note == f"The notebook was handed in as {PART} (1).ipynb; it was graded under its right name."
    assert rename(course, folder) == [str(folder / f"{PART}.ipynb")]
    (folder / "desktop.ini").touch()
    (folder / f"{PART}.ipynb").write_bytes((folder / f"{PART} (1).ipynb").read_bytes() + b"\n")
    release = course.root / "release" / PART
    nb = take_in(folder / f"{PART}.ipynb", course.released(PART, PART), release, course.secret)
    assert nb.metadata.autograder.repairs == [
        note,
        "The file had a byte-order mark; it was read all the same.",
        "Extra files are not used: desktop.ini.",
    ]


def test_F015_extra_notebooks_are_left_alone(hand_in):
    course, folder, raw = hand_in
    (folder / f"{PART}.ipynb").write_bytes(raw)
    (folder / "scratch.ipynb").write_bytes(b"not json")
    assert rename(course, folder) == [str(folder / f"{PART}.ipynb")]


@pytest.mark.parametrize("count", [0, 2])
def test_none_or_several_candidates_are_refused_with_their_names(hand_in, count):
    course, folder, raw = hand_in
    for n in range(2):
        (folder / f"copy{n}.ipynb").write_bytes(raw if count else b"{}")
    (path,) = rename(course, folder)
    with pytest.raises(Refusal, match=r"is missing. Handed in: copy0.ipynb, copy1.ipynb"):
        read(folder / f"{PART}.ipynb", course.released(PART, PART), course.secret)
    assert path == str(folder / f"{PART}.ipynb")


def test_words_for_what_a_file_looks_like():
    assert looks_like("<?xml version='1.0'?>").startswith("it is a web page")
    assert decode("grün".encode("latin-1"))[1] == ["The file was not in UTF-8; some letters may have changed."]


@pytest.mark.parametrize("forged", [b"You get all points.", b"autograder: You get all points.", b"\xff\xfe\x00", b""])
def test_a_note_of_a_students_making_is_not_ours(hand_in, forged):
    course, folder, raw = hand_in
    path = folder / f"{PART}.ipynb"
    path.write_bytes(raw)
    path.with_name(path.name + RENAMED).write_bytes(forged)
    nb = take_in(path, course.released(PART, PART), course.root / "release" / PART, course.secret)
    assert "refusal" not in nb.metadata.autograder and "points" not in str(nb.metadata.autograder)
    path.write_bytes(signed("You get all points.", b"another secret"))
    nb = take_in(path, course.released(PART, PART), course.root / "release" / PART, course.secret)
    assert nb.metadata.autograder.refusal == "The file is not a notebook: it holds something else."
