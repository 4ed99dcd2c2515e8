"""Intake: the submitted bytes, before anything else sees them. Slips are repaired and listed; the rest is refused.

Works on a copy: what the student handed in stays as it is. Two seams of nbgrader are used, because a preprocessor comes
too late: `Rename` (pre_convert_hook) and `IntakeExporter` (exporter_class), whose `from_filename` sees the raw bytes.
"""

from __future__ import annotations

import copy
import json
import shutil
from pathlib import Path

from nbconvert.exporters import NotebookExporter
from nbformat import NotebookNode

from autograder.course import Course, CourseError, CourseSettings
from autograder.extras import extras, remove_extras
from autograder.match import Refusal
from autograder.mend import mend

MAX_BYTES = 60_000_000
RENAMED = ".renamed"  # ends the name of the note that says what a notebook was called
PLACEHOLDER = b"autograder: "


class IntakeExporter(CourseSettings, NotebookExporter):
    """Reads submissions leniently; where nothing can be read, hands on the released notebook with the reason."""

    def from_filename(self, filename, resources=None, **kw):
        if not getattr(self.parent, "_sanitizing", False):
            return super().from_filename(filename, resources=resources, **kw)
        path = Path(filename)
        about = resources["nbgrader"]
        released = self.course.released(about["assignment"], about["notebook"])
        resources["metadata"] = NotebookNode(name=path.stem, path=str(path.parent))
        try:
            nb, repairs = read(path, released)
            note = {"repairs": repairs}
        except Refusal as refusal:
            nb, note = copy.deepcopy(released), {"repairs": [], "refusal": str(refusal)}
        except Exception:  # hostile beyond what we thought of: one student's state, never the end of a class run
            self.log.exception("intake of %s", path)
            nb, note = copy.deepcopy(released), {"repairs": [], "refusal": "The notebook cannot be read."}
        renamed = path.with_name(path.name + RENAMED)
        nb.metadata["autograder"] = note
        if renamed.exists():
            note["repairs"] = [renamed.read_text(encoding="utf-8"), *note["repairs"]]
        note["repairs"] += self._beside(path, about["assignment"])
        return self.from_notebook_node(nb, resources, **kw)

    def _beside(self, path: Path, assignment: str) -> list[str]:
        """What is said of other files; the working copy, which students get back, keeps only what was handed out."""
        released = self.course.root / "release" / assignment
        copy_of_it = Path(self.parent.writer.build_directory)
        try:
            if copy_of_it.is_dir() and copy_of_it != path.parent:
                remove_extras(copy_of_it, released, keep=(".json",))
            told = path.with_name(path.name + RENAMED).exists() or path.read_bytes()[:20].startswith(PLACEHOLDER)
            return extras(path.parent, released, skip=(RENAMED, ".ipynb") if told else (RENAMED,))
        except OSError as error:
            self.log.warning("files beside %s: %s", path, error)
            return []


def read(path: Path, released: NotebookNode) -> tuple[NotebookNode, list[str]]:
    """The notebook in `path`, mended by comparison with the released one, and its repairs in words. Or Refusal."""
    if path.is_symlink() or not path.is_file():
        raise Refusal("The notebook is a link or not a file; hand in the notebook itself.")
    if path.stat().st_size > MAX_BYTES:
        raise Refusal(f"The notebook is larger than {MAX_BYTES // 10**6} MB. Clear its outputs and hand it in again.")
    raw = path.read_bytes()
    if raw.startswith(PLACEHOLDER):
        raise Refusal(raw.removeprefix(PLACEHOLDER).decode("utf-8", "replace"))
    text, repairs = decode(raw)
    try:
        content = json.loads(text)
        if "\\ud" in text or "\\uD" in text:  # halves of letters, which no file can hold
            content = json.loads(json.dumps(content, ensure_ascii=False).encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        raise Refusal(f"The file is not a notebook: {looks_like(text)}.") from None
    nb, more = mend(content, released)
    return nb, repairs + more


def decode(raw: bytes) -> tuple[str, list[str]]:
    """Text of a notebook in whatever encoding an editor gave it, and what was repaired."""
    for mark, encoding in ((b"\xef\xbb\xbf", "UTF-8"), (b"\xff\xfe", "UTF-16-LE"), (b"\xfe\xff", "UTF-16-BE")):
        if raw.startswith(mark):
            said = "a byte-order mark" if encoding == "UTF-8" else f"the encoding {encoding}"
            return raw[len(mark) :].decode(encoding, "replace"), [f"The file had {said}; it was read all the same."]
    try:
        return raw.decode("utf-8"), []
    except UnicodeDecodeError:
        return raw.decode("latin-1"), ["The file was not in UTF-8; some letters may have changed."]


def looks_like(text: str) -> str:
    """What a file that is no notebook seems to be, in a few words."""
    start = text.lstrip()[:200].lower()
    if not start:
        return "it is empty"
    if start.startswith(("<!doctype", "<html", "<?xml")):
        return "it is a web page, saved under a notebook's name"
    if start.startswith("%pdf"):
        return "it is a PDF"
    if start.startswith("pk\x03\x04"):
        return "it is an archive or an office document"
    if start.startswith("{"):
        return "it breaks off, or was damaged on the way"
    return "it holds something else"


class Rename:
    """pre_convert_hook: a renamed notebook is put under its right name beside the original."""

    def __init__(self, root, reference: str, kit: str):
        self.course = Course(Path(root), reference, kit)

    def __call__(self, assignment: str, student: str, notebooks: list[str]) -> None:
        wanted = sorted(path.stem for path in (self.course.root / "release" / assignment).glob("*.ipynb"))
        here = {Path(notebook).stem: Path(notebook) for notebook in notebooks}
        for name in wanted:
            if name in here or not here:
                continue
            others = [path for stem, path in here.items() if stem not in wanted]
            target = others[0].with_name(f"{name}.ipynb") if others else None
            if target is None:
                continue
            self._put(assignment, name, others, target)
            notebooks.append(str(target))
        notebooks[:] = [path for path in notebooks if not wanted or Path(path).stem in wanted]

    def _put(self, assignment: str, name: str, others: list[Path], target: Path) -> None:
        fitting = [path for path in others if self._fits(path, assignment, name)]
        if len(fitting) == 1:
            shutil.copyfile(fitting[0], target)
            note = f"The notebook was handed in as {fitting[0].name}; it was graded under its right name."
            target.with_name(target.name + RENAMED).write_text(note, encoding="utf-8")
            return
        how = "none of them is" if not fitting else "more than one of them could be"
        names = ", ".join(path.name for path in others)
        target.write_bytes(PLACEHOLDER + f"{name}.ipynb is missing. Handed in: {names}; {how} this part.".encode())

    def _fits(self, path: Path, assignment: str, name: str) -> bool:
        try:
            read(path, self.course.released(assignment, name))
        except (Refusal, CourseError):
            return False
        except Exception:
            return False
        return True
