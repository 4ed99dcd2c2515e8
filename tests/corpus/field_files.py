"""Submissions as files (F001-F029): slips of editors, browsers and learning platforms."""

from corpus.builder import (
    RIGHT,
    UNGRADED,
    WRONG,
    answer,
    at_the_end,
    beginning,
    case,
    cells,
    content,
    edit,
    file,
    folder,
    named,
    raw,
)
from corpus.hostile_notebook import pasted, split

WIDGETS = {"application/vnd.jupyter.widget-state+json": {"abc": {"model_name": "IntSliderModel"}}}
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
PART = "part1_split_the_batch"


def no_metadata(cell):
    cell["metadata"] = {}


def no_ids(cell):
    cell.pop("id")


def old_format(hand_in):
    """Format 3: worksheets, `input`, prompt numbers."""
    made = []
    for cell in hand_in.cells:
        old = {"cell_type": cell["cell_type"], "metadata": cell["metadata"]}
        old |= (
            {"input": cell["source"], "outputs": [], "language": "python"}
            if "outputs" in cell
            else {"source": cell["source"]}
        )
        made.append(old)
    hand_in.content = {"nbformat": 3, "nbformat_minor": 0, "metadata": {"name": ""}, "worksheets": [{"cells": made}]}


def swapped(first, second):
    def change(hand_in):
        a, b = hand_in.at(first), hand_in.at(second)
        hand_in.cells[a], hand_in.cells[b] = hand_in.cells[b], hand_in.cells[a]

    return change


def moved_to_the_end(cell_id):
    return lambda hand_in: hand_in.cells.append(hand_in.cells.pop(hand_in.at(cell_id)))


def same_ids(hand_in):
    hand_in.cell("title")["id"] = "objectives"


def twice(hand_in):
    hand_in.last.append(lambda path: (path / "copy.ipynb").write_bytes((path / "mine.ipynb").read_bytes()))


def linked(path):
    (path / f"{PART}.ipynb").rename(path / "elsewhere")
    (path / f"{PART}.ipynb").symlink_to(path / "elsewhere")


def link_to_the_book(path):
    (path / "data.csv").symlink_to(path.parents[2] / "gradebook.db")


def sparse(path):
    with (path / "weights.bin").open("wb") as big:
        big.truncate(200 * 2**20)


def tiny_files(path):
    (path / "many").mkdir()
    for n in range(10_000):
        (path / "many" / f"{n}").touch()


def retyped(hand_in):
    """Somebody typed the whole notebook into a new one: no ids, no metadata, own headings."""
    kept = [cell for cell in hand_in.cells if cell["cell_type"] == "code"]
    hand_in.content["cells"] = [
        {"cell_type": "code", "source": cell["source"], "metadata": {}, "outputs": [], "execution_count": 1}
        for cell in kept
    ]


CASES = (
    case(
        "F001",
        "a check pasted twice, with another id",
        pasted("global_tokens-check"),
        repairs=("The cell global_tokens-check appears 2 times; it was run once",),
    ),
    case(
        "F003",
        "an answer split without its metadata",
        split("data_parallel_grad-answer", 14, with_metadata=False),
        repairs=("data_parallel_grad-answer is in 2 cells",),
    ),
    case(
        "F003",
        "an answer split between its statements",
        split("global_tokens-answer", 0),
        repairs=("The answer global_tokens-answer is in 2 cells",),
    ),
    case("F007", "all metadata gone", cells(no_metadata)),
    case("F007", "all metadata and ids gone", cells(no_metadata), cells(no_ids)),
    case("F007", "typed into a new notebook", retyped),
    case("F009", "two cells of one id", same_ids),
    case("F011", "widget state without its state", content(lambda nb: nb["metadata"].update(widgets=WIDGETS))),
    case("F013", "renamed by the browser", named(f"{PART} (1).ipynb"), repairs=(f"handed in as {PART} (1).ipynb",)),
    case(
        "F013",
        "two copies and neither has the name",
        named("mine.ipynb"),
        twice,
        states=UNGRADED,
        says={"global_tokens": "copy.ipynb, mine.ipynb; more than one of them could be this part"},
    ),
    case(
        "F013",
        "only another part's notebook",
        lambda h: h.content.update(
            cells=[{"cell_type": "code", "source": "1", "metadata": {}, "outputs": [], "execution_count": None}]
        ),
        named("other.ipynb"),
        states=UNGRADED,
        says={"global_tokens": "other.ipynb; none of them is"},
    ),
    case(
        "F015",
        "a scratch notebook and desktop litter",
        file("scratch.ipynb", b"not json"),
        file("desktop.ini", b"[x]"),
        file(".DS_Store", b"\0"),
        repairs=("desktop.ini", "scratch.ipynb"),
    ),
    case("F017", "a file of 200 MB beside the notebook", folder(sparse), repairs=("weights.bin",)),
    case("F017", "ten thousand tiny files", folder(tiny_files), repairs=("9,995 more",)),
    case("F019", "a byte-order mark", raw(lambda data: b"\xef\xbb\xbf" + data), repairs=("byte-order mark",)),
    case("F019", "UTF-16", raw(lambda data: data.decode().encode("utf-16")), repairs=("UTF-16",)),
    case("F021", "CRLF in the file", raw(lambda data: data.replace(b"\n", b"\r\n"))),
    case("F021", "CRLF in every cell", cells(lambda cell: cell.update(source=cell["source"].replace("\n", "\r\n")))),
    case(
        "F021",
        "CRLF in a stub",
        lambda h: edit("per_token_loss-answer", h.stubs["per_token_loss-answer"].replace("\n", "\r\n"))(h),
        states={"per_token_loss": "not started"},
    ),
    case("F023", "no bytes", raw(lambda data: b""), states=UNGRADED, says={"global_tokens": "it is empty"}),
    case(
        "F023",
        "a web page",
        raw(lambda data: b"<!DOCTYPE html><html><script>steal()</script></html>"),
        states=UNGRADED,
        says={"global_tokens": "it is a web page"},
        never=("steal()",),
    ),
    case(
        "F023",
        "half of the file",
        raw(lambda data: data[: len(data) // 2]),
        states=UNGRADED,
        says={"global_tokens": "it breaks off"},
    ),
    case(
        "F023",
        "an archive",
        raw(lambda data: b"PK\x03\x04\x14\x00" + data),
        states=UNGRADED,
        says={"global_tokens": "an archive or an office document"},
    ),
    case(
        "F023",
        "deep nesting",
        raw(lambda data: b'{"cells":' + b"[" * 200_000),
        states=UNGRADED,
        says={"global_tokens": "it breaks off"},
    ),
    case("F023", "a number of many digits", raw(lambda data: b'{"cells": [' + b"9" * 100_000 + b"]}"), states=UNGRADED),
    case(
        "F025",
        "an import in a locked cell",
        edit("tokens_per_update-check", "import math\ncheck('tokens_per_update', tokens_per_update)"),
        answer("small_run_tokens", "small_run_tokens = math.prod([4, 8, 2, 4])"),
        states={"small_run_tokens": WRONG},
        says={"small_run_tokens": ("name 'math' is not defined", "tokens_per_update-check")},
        repairs=("The cell tokens_per_update-check had been changed",),
    ),
    case(
        "F025",
        "a check that was faked",
        edit("global_tokens-check", "4.0"),
        answer("global_tokens", "def global_tokens(*args): return 7"),
        states={"global_tokens": WRONG},
        repairs=("The cell global_tokens-check had been changed",),
    ),
    case(
        "F027",
        "a picture pasted into a text cell",
        at_the_end(
            "![](attachment:fig.png) ![](attachment:gone.png)",
            kind="markdown",
            attachments={"fig.png": {"image/png": PNG}},
        ),
        shown=(PNG[:40],),
    ),
    case(
        "F074",
        "points of a check made larger",
        lambda h: h.cell("global_tokens-check")["metadata"]["nbgrader"].update(points=4000, locked=False),
    ),
    case(
        "F100",
        "another kernel name",
        content(
            lambda nb: nb["metadata"].update(kernelspec={"name": "myenv311", "display_name": "Mine", "language": "R"})
        ),
        repairs=("myenv311",),
    ),
    case("F100", "no kernel at all", content(lambda nb: nb.update(metadata={}))),
    case("intake", "an old format", old_format, repairs=("old format",)),
    case(
        "intake",
        "a newer format than any",
        content(lambda nb: nb.update(nbformat=7, nbformat_minor=1)),
        repairs=("newer format",),
    ),
    case("intake", "a format that is no number", content(lambda nb: nb.update(nbformat="four", nbformat_minor=None))),
    case(
        "intake",
        "nbgrader metadata that contradicts the release",
        lambda h: h.cell("global_tokens-answer")["metadata"].update(
            nbgrader={"grade_id": "allreduce_mean-answer", "grade": "yes", "schema_version": 99}
        ),
    ),
    case(
        "intake",
        "nbgrader metadata too old",
        cells(lambda cell: cell["metadata"].get("nbgrader", {}).update(schema_version=1)),
    ),
    case(
        "intake",
        "a check above its answer",
        swapped("global_tokens-check", "global_tokens-answer"),
        repairs=("The cell global_tokens-check stood above its answer",),
    ),
    case(
        "intake",
        "an answer moved to the end",
        moved_to_the_end("global_tokens-answer"),
        states={"global_tokens": RIGHT},
        repairs=("global_tokens-check stood above its answer",),
    ),
    case(
        "intake",
        "outputs of fifty megabytes",
        cells(
            lambda cell: (
                cell.get("cell_type") == "code"
                and cell.update(outputs=[{"output_type": "stream", "name": "stdout", "text": "x" * 800_000}])
            )
        ),
    ),
    case(
        "intake",
        "outputs that are nonsense",
        cells(lambda cell: cell.get("cell_type") == "code" and cell.update(outputs={"a": 1}, execution_count="many")),
    ),
    case(
        "intake",
        "the notebook is a link",
        folder(linked),
        states=UNGRADED,
        says={"global_tokens": "The notebook is a link"},
        repairs=("elsewhere",),
    ),
    case(
        "intake",
        "a link to the grade book beside it",
        folder(link_to_the_book),
        repairs=("data.csv",),
        never=("SQLite format",),
    ),
    case(
        "intake",
        "sources as lists of lines",
        cells(lambda cell: cell.update(source=cell["source"].splitlines(keepends=True))),
    ),
    case(
        "intake",
        "letters that UTF-8 does not know",
        beginning("global_tokens", "# gruen"),
        raw(lambda data: data.replace(b"gruen", b"gr\xfcn")),
        repairs=("not in UTF-8",),
    ),
    case(
        "intake",
        "letters beyond the plane and lone halves",
        beginning("global_tokens", "# \U0001f600 grün"),
        raw(lambda data: data.replace(b"gr\\u00fcn", b"\\ud800")),
    ),
    case(
        "intake",
        "five thousand cells and more",
        content(lambda nb: nb["cells"].extend([{"cell_type": "markdown", "source": "", "metadata": {}}] * 6000)),
        states=UNGRADED,
        says={"global_tokens": "more than 5,000 cells"},
    ),
    case(
        "intake",
        "null characters in an answer",
        beginning("global_tokens", "# \x00"),
        repairs=("Null characters",),
    ),
    case("intake", "control characters in an answer", beginning("global_tokens", "# \x1b[2J \x9b \x7f")),
    case("intake", "keys twice in the JSON", raw(lambda data: b'{"cells": [],' + data.lstrip()[1:])),
)
