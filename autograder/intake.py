"""Intake: the submitted bytes, before anything else sees them. Slips are repaired and listed; the rest is refused.

Works on a copy: what the student handed in stays as it is. Two seams of nbgrader are used, because a preprocessor comes
too late: `Rename` (pre_convert_hook) and `IntakeExporter` (exporter_class), whose `from_filename` sees the raw bytes.
"""

from __future__ import annotations

import copy
import hashlib
import hmac
import json
import logging
import shutil
from pathlib import Path

from nbconvert.exporters import NotebookExporter
from nbformat import NotebookNode

from autograder.course import Course, CourseError, CourseSettings
from autograder.extras import extras, remove_extras
from autograder.match import Refusal
from autograder.mend import mend
from autograder.readable import in_a_line

MAX_BYTES = 60_000_000
RENAMED = ".renamed"  # ends the name of the note that says what a notebook was called
SIGNED = b"autograder: "
MAX_WORDS = 4000  # bytes


class IntakeExporter(CourseSettings, NotebookExporter):
    """Reads submissions leniently; where nothing can be read, hands on the released notebook with the reason."""

    def from_filename(self, filename, resources=None, **kw):
        if not getattr(self.parent, "_sanitizing", False):
            return super().from_filename(filename, resources=resources, **kw)
        path = Path(filename)
        about = resources["nbgrader"]
        released = self.course.released(about["assignment"], about["notebook"])
        resources["metadata"] = NotebookNode(name=path.stem, path=str(path.parent))
        release = self.course.root / "release" / about["assignment"]
        self._keep_what_was_released(self.course.root / "autograded" / about["student"] / about["assignment"], release)
        nb = take_in(path, released, release, self.course.secret)
        return self.from_notebook_node(nb, resources, **kw)

    def _keep_what_was_released(self, working_copy: Path, release: Path) -> None:
        """nbgrader copies whatever lies beside a notebook, and feedback copies it again; extra files end here."""
        try:
            if working_copy.is_dir():
                remove_extras(working_copy, release, keep=(".json",))
        except OSError:
            self.log.exception("extra files in %s", working_copy)


def take_in(path: Path, released: NotebookNode, release: Path | None = None, secret: bytes = b"") -> NotebookNode:
    """The notebook in `path`, mended, or the released one marked as refused; its note is in the metadata.

    release: the folder that was handed out; then files beside the notebook that are not of it are named too. secret:
    the course's, by which the notes of `Rename` are told from a student's.
    """
    renamed = our_words(path.with_name(path.name + RENAMED), secret)
    try:
        nb, repairs = read(path, released, secret)
        note = {"repairs": repairs}
    except Refusal as refusal:
        nb, note = copy.deepcopy(released), {"repairs": [], "refusal": str(refusal)}
    except Exception:  # hostile beyond what we thought of: one student's state, never the end of a class run
        logging.getLogger(__name__).exception("intake of %s", path)
        nb, note = copy.deepcopy(released), {"repairs": [], "refusal": "The notebook cannot be read."}
    if renamed:
        note["repairs"] = [renamed, *note["repairs"]]
    if release is not None:
        told = bool(renamed or our_words(path, secret))
        note["repairs"] += _beside(path, release, told)
    said = {"repairs": [in_a_line(repair) for repair in note["repairs"]]}
    if "refusal" in note:
        said["refusal"] = in_a_line(note["refusal"])
    nb.metadata["autograder"] = said  # last, for a copy is taken
    return nb


def _beside(path: Path, release: Path, told: bool) -> list[str]:
    """What is said of other files; notebooks that a note or a refusal names already are not named again."""
    try:
        return extras(path.parent, release, skip=(RENAMED, ".ipynb") if told else (RENAMED,))
    except OSError:
        logging.getLogger(__name__).exception("files beside %s", path)
        return []


def signed(text: str, secret: bytes) -> bytes:
    """Words of ours in a file that lies among a student's: nobody without the course secret can write it."""
    body = text.encode("utf-8", "replace")
    return SIGNED + hmac.new(secret, body, hashlib.sha256).hexdigest().encode() + b"\n" + body


def our_words(path: Path, secret: bytes) -> str:
    """What a file signed by us says; "" for any other file, and where there is none."""
    if path.is_symlink() or not path.is_file():
        return ""
    with path.open("rb") as file:
        raw = file.read(MAX_WORDS)
    body = raw.partition(b"\n")[2]
    text = body.decode("utf-8", "replace")
    return text if body and hmac.compare_digest(raw, signed(text, secret)) else ""


def read(path: Path, released: NotebookNode, secret: bytes = b"") -> tuple[NotebookNode, list[str]]:
    """The notebook in `path`, mended by comparison with the released one, and its repairs in words. Or Refusal."""
    if path.is_symlink() or not path.is_file():
        raise Refusal("The notebook is a link or not a file; hand in the notebook itself.")
    if path.stat().st_size > MAX_BYTES:
        raise Refusal(f"The notebook is larger than {MAX_BYTES // 10**6} MB. Clear its outputs and hand it in again.")
    if words := our_words(path, secret):
        raise Refusal(words)
    raw = path.read_bytes()
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
            self._write(target.with_name(target.name + RENAMED), note)
            return
        how = "none of them is" if not fitting else "more than one of them could be"
        names = ", ".join(path.name for path in others)
        self._write(target, f"{name}.ipynb is missing. Handed in: {names}; {how} this part.")

    def _write(self, path: Path, words: str) -> None:
        path.unlink(missing_ok=True)  # a student's own file of this name, or a link to elsewhere
        path.write_bytes(signed(in_a_line(words), self.course.secret))

    def _fits(self, path: Path, assignment: str, name: str) -> bool:
        try:
            read(path, self.course.released(assignment, name))
        except (Refusal, CourseError):
            return False
        except Exception:
            return False
        return True
