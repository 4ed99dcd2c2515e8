"""A part that was worked through in VS Code: its own way of writing notebooks changes no grade."""

import json

import nbformat
import pytest

from autograder.demo import hand_in, samples
from autograder.grade import grade

PART = "part1_split_the_batch"


def as_vs_code_writes(text: str, ends: str) -> str:
    """Other indentation, kernel and language, a mark on each code cell, tags gone, ids its own; line ends as given."""
    nb = json.loads(text)
    nb["metadata"]["kernelspec"] = {"display_name": ".venv (3.12.3)", "language": "python", "name": "venv"}
    nb["metadata"]["language_info"] = {
        "codemirror_mode": {"name": "ipython", "version": 3},
        "file_extension": ".py",
        "mimetype": "text/x-python",
        "name": "python",
        "nbconvert_exporter": "python",
        "pygments_lexer": "ipython3",
        "version": "3.12.3",
    }
    for number, cell in enumerate(nb["cells"]):
        cell["id"] = f"{number:08x}"
        cell["metadata"].pop("tags", None)
        if cell["cell_type"] == "code":
            cell["metadata"]["vscode"] = {"languageId": "python"}
        cell["source"] = "".join(cell["source"]).replace("\n", ends).splitlines(keepends=True)
    return json.dumps(nb, indent=2).replace("\n", ends)


def graded(course, config, student):
    (result,) = [one for one in grade(course, config, PART) if one.student == student]
    assert not result.skipped
    return result.verdict


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_a_hand_in_from_vs_code_is_graded_as_any_other(small_course, ends):
    course, config = small_course
    sample = next(one for one in samples(course)[PART] if one.name == "half-done")
    folder = course.root / "submitted" / sample.name / PART
    hand_in(course, PART, sample, folder)
    before = graded(course, config, sample.name)
    path = folder / f"{PART}.ipynb"
    path.write_bytes(as_vs_code_writes(path.read_text(encoding="utf-8"), ends).encode())
    nbformat.read(path, as_version=4)
    after = graded(course, config, sample.name)
    assert {one["state"] for one in before["exercises"].values()} >= {"right", "not started"}
    assert after["exercises"] == before["exercises"]
    assert after["repairs"] == ["The notebook names the kernel venv; the course's own was used."]
