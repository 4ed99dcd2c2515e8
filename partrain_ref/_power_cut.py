"""A power cut while one of our own functions writes a file: opening it, a write, an fsync or the rename is the last."""

from __future__ import annotations

import builtins
import os
import threading
from collections.abc import Callable
from contextlib import contextmanager
from unittest import mock


class PowerCut(BaseException):
    """The machine is off."""


class _Watched:
    """A file open for writing; each write is an event."""

    def __init__(self, file, event: Callable[[], None]):
        self.file, self.event = file, event

    def write(self, text):
        self.event()
        return self.file.write(text)

    def __getattr__(self, name):
        return getattr(self.file, name)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.file.close()


@contextmanager
def power_cut(at: int | None):
    """The `at`-th open-to-write, write, fsync or rename of this thread is its last; gives the list of those seen."""
    seen: list[int] = []
    thread = threading.get_ident()
    real_open, real_fsync, real_replace = builtins.open, os.fsync, os.replace

    def event() -> None:
        if threading.get_ident() == thread:
            seen.append(len(seen) + 1)
            if at is not None and len(seen) >= at:
                raise PowerCut

    def watched_open(file, mode="r", *args, **kwargs):
        opened = real_open(file, mode, *args, **kwargs)
        if "w" not in mode or threading.get_ident() != thread:
            return opened
        try:
            event()  # the file is empty by now
        except PowerCut:
            opened.close()
            raise
        return _Watched(opened, event)

    def fsync(descriptor):
        event()
        return real_fsync(descriptor)

    def replace(source, target):
        event()
        return real_replace(source, target)

    with (
        mock.patch("builtins.open", watched_open),
        mock.patch("os.fsync", fsync),
        mock.patch("os.replace", replace),
    ):
        yield seen
