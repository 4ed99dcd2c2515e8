"""The house rules of notebooks, one test each, for every notebook in git."""

import ast
import re
from pathlib import Path
from statistics import mean, median

import nbformat
import pytest

from autograder.stubs import drop_regions
from partrain_ref.exercises import ASSIGNMENTS

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("*.ipynb"))
every = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def read(path):
    return nbformat.read(path, as_version=4)


def code(nb):
    return [cell for cell in nb.cells if cell.cell_type == "code"]


def lines(cell):
    return [line for line in cell.source.splitlines() if line.strip()]


def words(cell):
    return len(re.findall(r"\w[\w'’,.×-]*", cell.source))


def prose(nb):
    return "\n".join(cell.source for cell in nb.cells if cell.cell_type == "markdown")


def texts(nb):
    """Every text a reader can see in an output; pictures are left out."""
    for cell in code(nb):
        for output in cell.outputs:
            yield output.get("text", "")
            data = output.get("data", {})
            yield data.get("text/plain", "")
            yield re.sub(r'src="data:[^"]*"', "", data.get("text/html", ""))


def test_there_are_notebooks_and_each_has_exercises():
    assert [path.stem for path in NOTEBOOKS] == sorted(ASSIGNMENTS)


@every
def test_valid_and_at_most_200_kilobytes(path):
    nbformat.validate(read(path))
    assert path.stat().st_size <= 200_000


@every
def test_executed_from_top_to_bottom(path):
    counts = [cell.execution_count for cell in code(read(path))]
    assert counts == list(range(1, len(counts) + 1))


@every
def test_no_error_output_and_nothing_on_stderr(path):
    outputs = [output for cell in code(read(path)) for output in cell.outputs]
    assert not [o for o in outputs if o.output_type == "error" or o.get("name") == "stderr"]


@every
def test_metadata_is_plain(path):
    nb = read(path)
    assert set(nb.metadata) == {"kernelspec", "language_info"}
    assert nb.metadata.kernelspec.name == "python3" and dict(nb.metadata.language_info) == {"name": "python"}
    assert all(set(cell.metadata) <= {"nbgrader", "tags"} for cell in nb.cells)


@every
def test_no_times_paths_versions_or_wrapped_numbers_in_outputs(path):
    for text in texts(read(path)):
        assert not re.search(r"(?<![\w.])/(home|Users|root|tmp|usr|var)/|[A-Z]:\\", text)
        assert not re.search(
            r"\bnp\.(float|int|bool)\w*\(|\bat 0x[0-9a-f]+|\b\d{2}:\d{2}:\d{2}\b|\d{4}-\d{2}-\d{2}T", text
        )


@every
def test_forty_to_eighty_cells_in_a_good_mix(path):
    nb = read(path)
    ratio = (len(nb.cells) - len(code(nb))) / len(code(nb))
    assert 40 <= len(nb.cells) <= 80 and 0.7 <= ratio <= 1.4


@every
def test_cells_are_short(path):
    nb = read(path)
    assert 2 <= median(len(lines(cell)) for cell in code(nb)) <= 5
    for cell in code(nb):
        assert len(lines(cell)) <= (40 if cell.id.endswith("-answer") else 25), cell.id


@every
def test_prose_comes_in_small_pieces(path):
    counts = [words(cell) for cell in read(path).cells if cell.cell_type == "markdown"]
    assert 35 <= mean(counts) <= 85 and max(counts) <= 150


@every
def test_voice(path):
    text = re.sub(r"`[^`]*`|```.*?```", "", prose(read(path)), flags=re.DOTALL)
    assert not re.search(r"\bsimply\b|(?<![!=\[])!(?![=\[])", text, flags=re.IGNORECASE)


@every
def test_every_part_opens_and_closes_as_the_others(path):
    text = prose(read(path))
    for heading in (
        "By the end you can",
        "Predict first",
        "Your turn",
        "Check your understanding",
        "Common mistakes",
        "Sources",
    ):
        assert heading in text, heading
    assert re.search(r"minutes", text)


@every
def test_one_name_from_heading_to_check(path):
    nb = read(path)
    by_id = {cell.id: (at, cell) for at, cell in enumerate(nb.cells)}
    exercises = {e.name: e for e in ASSIGNMENTS[path.stem]}
    for name, exercise in exercises.items():
        at, answer = by_id[f"{name}-answer"]
        check_at, check = by_id[f"{name}-check"]
        assert check_at == at + 1, name
        assert check.source.startswith(f'check("{name}", '), name
        assert answer.metadata.nbgrader.grade_id == answer.id and check.metadata.nbgrader.grade_id == check.id
        assert check.metadata.nbgrader.points == exercise.points, name
        assert check.metadata.get("tags") == ["raises-exception"], name
        assert "### BEGIN SOLUTION" in answer.source and "### END SOLUTION" in answer.source, name
        assert all(f"def {f}(" in answer.source for f in exercise.functions if exercise.kind == "function"), name
        assert name in "\n".join(cell.source for cell in nb.cells[:at] if cell.cell_type == "markdown"), name
    graded = [
        cell.id
        for cell in nb.cells
        if cell.metadata.get("nbgrader", {}).get("grade") and not cell.metadata.nbgrader.solution
    ]
    assert graded == [f"{name}-check" for name in exercises], "the order of the exercises is the notebook's"


@every
def test_cell_ids_are_unique_words(path):
    ids = [cell.id for cell in read(path).cells]
    assert len(set(ids)) == len(ids)
    assert all(
        re.fullmatch(r"[a-z0-9][a-z0-9_-]{2,63}", cell_id) and not re.fullmatch(r"[0-9a-f]{8}", cell_id)
        for cell_id in ids
    )


@every
def test_stubs_speak(path):
    """A function's docstring says what comes back and what must be refused."""
    for cell in code(read(path)):
        if cell.id.endswith("-answer") and "def " in cell.source:
            for node in ast.parse(cell.source).body:
                if isinstance(node, ast.FunctionDef):
                    text = ast.get_docstring(node) or ""
                    assert "Return" in text and ("ValueError" in text or "ef" in text), node.name


@every
def test_stubs_fit_a_narrow_window(path):
    for cell in code(read(path)):
        if cell.id.endswith("-answer"):
            assert [line for line in drop_regions(cell.source).splitlines() if len(line) > 80] == [], cell.id


@every
def test_a_question_stands_above_every_panel(path):
    nb = read(path)
    for at, cell in enumerate(nb.cells):
        if cell.cell_type == "code" and re.search(r"^panels\.\w+\(", cell.source, flags=re.MULTILINE):
            before = next(c.source for c in reversed(nb.cells[:at]) if c.cell_type == "markdown")
            assert "?" in before, cell.id


@every
def test_panels_carry_picture_and_sentence(path):
    for cell in code(read(path)):
        if re.search(r"^panels\.\w+\(", cell.source, flags=re.MULTILINE):
            (output,) = cell.outputs
            data = output.data
            assert data["image/svg+xml"].startswith("<svg") and 'role="img"' in data["image/svg+xml"]
            assert data["text/plain"].strip().endswith(".")


@every
def test_pictures_have_a_text_alternative(path):
    for cell in code(read(path)):
        for output in cell.outputs:
            data = output.get("data", {})
            assert "image/png" not in data, "show a plot as an HTML <img alt=…>"
            for tag in re.findall(r"<img\b[^>]*>", data.get("text/html", "")):
                assert re.search(r'alt="[^"]{20,}"', tag)


@every
def test_nothing_that_hangs_or_needs_the_network(path):
    text = "\n".join(cell.source for cell in code(read(path)))
    for word in (
        "interact(",
        "interactive(",
        "interactive_output",
        "Output(",
        "%matplotlib",
        "urllib",
        "requests",
        "!pip",
    ):
        assert word not in text, word
    assert not re.search(r"!\[[^\]]*\]\(http|<img[^>]+src=[\"']http|<script", prose(read(path)))


@every
def test_the_reference_is_not_named(path):
    assert "partrain_ref" not in path.read_text(encoding="utf-8")
