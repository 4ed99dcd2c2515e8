"""One box ahead of need: while a submission runs, the kernel for the next one starts on another core."""

from __future__ import annotations

import atexit
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from autograder.sandbox.box import Box, Limits

IDLE_SECONDS = 60


class Pool:
    """Keeps at most one spare box, always fresh: no box is ever used twice."""

    def __init__(self, idle_seconds: float = IDLE_SECONDS):
        self.idle_seconds = idle_seconds
        self._lock = threading.Lock()
        self._spare: tuple[tuple, Future] | None = None
        self._timer: threading.Timer | None = None
        self._starter = ThreadPoolExecutor(1, thread_name_prefix="spare")

    def take(self, files: list[tuple[Path, str]], limits: Limits) -> Box:
        """A box with these files beside the notebook; another one like it is started in the background."""
        key = (limits, tuple((path, inside, path.stat().st_mtime_ns) for path, inside in files))
        with self._lock:
            spare, self._spare = self._spare, None
        box = self._ready(spare) if spare and spare[0] == key else None
        if spare and box is None:
            spare[1].add_done_callback(_close)
        box = box or Box(files, limits)
        with self._lock:
            if self._spare is None:
                self._spare = (key, self._starter.submit(Box, files, limits))
                self._rearm()
        return box

    def close(self) -> None:
        """End the spare box, if there is one."""
        with self._lock:
            spare, self._spare = self._spare, None
            if self._timer:
                self._timer.cancel()
        if spare:
            spare[1].add_done_callback(_close)
            spare[1].exception()  # waits until it has started, and so until it is closed

    def _ready(self, spare: tuple[tuple, Future]) -> Box | None:
        try:
            box = spare[1].result()
        except Exception:  # it did not start; the caller starts one itself and hears why not
            return None
        return box if box.alive() else None

    def _rearm(self) -> None:
        if self._timer:
            self._timer.cancel()
        self._timer = threading.Timer(self.idle_seconds, self.close)
        self._timer.daemon = True
        self._timer.start()


def _close(started: Future) -> None:
    if started.exception() is None:
        started.result().close()


POOL = Pool()
atexit.register(POOL.close)


@contextmanager
def open_box(files: list[tuple[Path, str]], limits: Limits):
    """A box for the time of a `with` block."""
    box = POOL.take(files, limits)
    try:
        yield box
    finally:
        box.close()
