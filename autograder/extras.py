"""What lies beside a handed-in notebook: named, never used. Files that were handed out are taken from the release."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

MOST_NAMES = 5
MOST_FILES = 50_000
LARGE = 10_000_000  # bytes from which the size is said
OURS = {"timestamp.txt", "submission_secret.txt"}
SKIPPED = {"__pycache__", ".ipynb_checkpoints"}


def extras(handed_in: Path, released: Path, skip: tuple[str, ...] = ()) -> list[str]:
    """What to say of the files beside the notebook: those that nobody asked for, and those that were changed.

    skip: endings of names that are not worth a word. Links are not followed, and no file is opened but those whose
    twin was handed out and is of the same size.
    """
    beside = [name for name in _names(handed_in) if name not in OURS and not name.endswith(skip)]
    strange = {name for name in beside if not (released / name).is_file()}
    handed_out = [name for name in beside if name not in strange and not name.endswith(".ipynb")]
    changed = sorted(name for name in handed_out if not _same(handed_in / name, released / name))
    said = []
    if strange:
        said.append(f"Extra files are not used: {_listed([_with_size(handed_in, name) for name in sorted(strange)])}.")
    if changed:
        said.append(f"Changed files are used as they were handed out: {_listed(changed)}.")
    return said


def remove_extras(folder: Path, released: Path, keep: tuple[str, ...] = ()) -> None:
    """Take out of a working copy whatever was not handed out; keep: endings of names that stay.

    ValueError for a folder that is no copy of the release: nothing else is ever emptied.
    """
    if not folder.is_absolute() or folder.name != released.name:
        raise ValueError(f"{folder} is not a working copy of {released}")
    for name in list(_names(folder)):
        path = folder / name
        if not (released / name).is_file() and name not in OURS and not name.endswith(keep):
            path.unlink(missing_ok=True)
    for place, _, _ in os.walk(folder, topdown=False):
        if place != str(folder) and not os.listdir(place):
            os.rmdir(place)


def _names(folder: Path) -> Iterator[str]:
    """Paths inside `folder`, links to folders among them; a folder without end is cut off."""
    count = 0
    for place, folders, files in os.walk(folder):
        links = [name for name in folders if os.path.islink(os.path.join(place, name))]
        folders[:] = [name for name in folders if name not in SKIPPED]
        for name in (*files, *links):
            yield os.path.relpath(os.path.join(place, name), folder)
            count += 1
            if count >= MOST_FILES:
                return


def _same(path: Path, twin: Path) -> bool:
    if path.is_symlink() or not path.is_file() or path.stat().st_size > 2 * twin.stat().st_size + 1000:
        return False
    return _lines(path) == _lines(twin)


def _lines(path: Path) -> bytes:
    return path.read_bytes().replace(b"\r\n", b"\n")


def _with_size(folder: Path, name: str) -> str:
    path = folder / name
    size = 0 if path.is_symlink() else path.stat().st_size
    return f"{name} ({size // 10**6:,} MB)" if size >= LARGE else name


def _listed(names: list[str]) -> str:
    shown = [name if len(name) <= 80 else name[:79] + "…" for name in names[:MOST_NAMES]]
    more = f" and {len(names) - MOST_NAMES:,} more" if len(names) > MOST_NAMES else ""
    return ", ".join(shown) + more
