"""A power cut while a file is being written: the k-th thing done to the disk is the last one, and only half done."""

import builtins
import contextlib
import io
import os
import threading

CALLS = tuple(
    name for name in ("fsync", "fdatasync", "rename", "replace", "truncate", "ftruncate") if hasattr(os, name)
)


class PowerCut(BaseException):
    """The machine is off. Not an Exception, so that no `except Exception` carries on after it."""


class Disk:
    """Counts what one thread does to the disk: opening a file to write, write, fsync, rename. `seen` is the count."""

    def __init__(self, cut_at=None):
        self.cut_at, self.seen, self.files, self.over = cut_at, 0, [], False
        self.thread = threading.get_ident()

    def event(self, half=lambda: None):
        """One more thing is done to the disk; at the power cut only `half` of it, and after it nothing."""
        if self.over or threading.get_ident() != self.thread:
            return
        self.seen += 1
        if self.cut_at is not None and self.seen >= self.cut_at:
            if self.seen == self.cut_at:
                half()
            raise PowerCut


@contextlib.contextmanager
def power_cut(functions, cut_at=None):
    """Inside this block the disk is watched, and dies at its `cut_at`-th event (None: never). Gives the Disk.

    `functions` are those that will write. In their module the names that stand for the disk are watched too: `open`,
    for which IPython has one of its own, and what was imported by name, such as `replace`.
    """
    disk = Disk(cut_at)
    by_id = {id(getattr(os, name)): _watch(getattr(os, name), disk) for name in CALLS}
    by_id |= {id(open): _watch_open(open, disk), id(os.open): _watch_os_open(os.open, disk)}
    by_id |= {id(os.write): _watch_os_write(os.write, disk)}
    spaces = [vars(os), vars(builtins), vars(io)]
    spaces += {id(f.__globals__): f.__globals__ for f in functions if hasattr(f, "__globals__")}.values()
    before = [
        (space, name, value)
        for space in spaces
        for name, value in space.items()
        if id(value) in by_id or (name == "open" and callable(value))
    ]
    try:
        for space, name, value in before:
            space[name] = by_id.get(id(value)) or _watch_open(value, disk)
        yield disk
    finally:
        disk.over = True
        for space, name, value in before:
            space[name] = value
        for file in disk.files:
            with contextlib.suppress(Exception):
                file.close()


class _File:
    """A file open for writing whose writes are counted; all else is the file's own."""

    def __init__(self, file, disk):
        self._file, self._disk = file, disk

    def write(self, data):
        self._disk.event(lambda: self._file.write(data[: len(data) // 2]))
        return len(data) if self._disk.over else self._file.write(data)

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def __getattr__(self, name):
        return getattr(self._file, name)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._file.close()

    def __iter__(self):
        return iter(self._file)


def _watch(function, disk):
    def watched(*args, **kwargs):
        disk.event()
        return function(*args, **kwargs)

    return watched


def _watch_open(function, disk):
    def watched(file, mode="r", *args, **kwargs):
        opened = function(file, mode, *args, **kwargs)
        if not set(str(mode)) & set("wax+") or threading.get_ident() != disk.thread:
            return opened
        disk.files.append(opened)
        disk.event()  # opening a file to write has emptied it already
        return _File(opened, disk)

    return watched


def _watch_os_open(function, disk):
    def watched(path, flags, *args, **kwargs):
        opened = function(path, flags, *args, **kwargs)
        if flags & (os.O_WRONLY | os.O_RDWR):
            disk.event()
        return opened

    return watched


def _watch_os_write(function, disk):
    def watched(file, data):
        disk.event(lambda: function(file, data[: len(data) // 2]))
        return function(file, data)

    return watched
