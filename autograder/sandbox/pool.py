"""Zygotes between submissions: kept warm for a while, used by one submission at a time, ended when idle."""

from __future__ import annotations

import atexit
import logging
import os
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager

from autograder.sandbox import seal
from autograder.sandbox.box import Box, BoxError, Files, Limits
from autograder.sandbox.cold import ColdBox
from autograder.sandbox.warm import WarmBox
from autograder.sandbox.zygote import Zygote

IDLE_SECONDS = 60


class Pool:
    """The zygotes of one process.

    hidden: packages that students must not see. sealed_only: rather no kernel than one without a seal.
    """

    def __init__(self, idle_seconds: float = IDLE_SECONDS, sealed_only: bool = False):
        self.idle_seconds, self.sealed_only = idle_seconds, sealed_only
        self._lock = threading.Lock()
        self._idle: dict[tuple[str, ...], list[Zygote]] = {}
        self._timer: threading.Timer | None = None
        self._levels: list[seal.Level] | None = None

    @contextmanager
    def box(self, files: Files, limits: Limits, hidden: tuple[str, ...] = ()) -> Iterator[Box]:
        """A fresh box with these files beside the notebook. BoxError where none can be had."""
        if not hasattr(os, "fork"):
            with closing(ColdBox(files, limits)) as box:
                yield box
            return
        zygote = self._take(hidden, limits)
        sound = False
        try:
            box = WarmBox(zygote, files, limits)
            try:
                yield box
            finally:
                sound = box.close()
        finally:
            self._put(hidden, zygote, sound)

    def level(self, hidden: tuple[str, ...] = (), limits: Limits | None = None) -> seal.Level:
        """How far the wall goes on this machine; found out by starting a zygote."""
        if not hasattr(os, "fork"):
            return seal.UNSEALED
        zygote = self._take(hidden, limits or Limits())
        self._put(hidden, zygote, True)
        return zygote.level

    def close(self) -> None:
        """End all idle zygotes."""
        with self._lock:
            zygotes = [zygote for kept in self._idle.values() for zygote in kept]
            self._idle.clear()
            if self._timer:
                self._timer.cancel()
        for zygote in zygotes:
            zygote.close()

    def _take(self, hidden: tuple[str, ...], limits: Limits) -> Zygote:
        while True:
            with self._lock:
                kept = self._idle.get(hidden)
                zygote = kept.pop() if kept else None
            if zygote is None:
                return self._start(hidden, limits)
            if zygote.alive():
                return zygote
            zygote.close()

    def _start(self, hidden: tuple[str, ...], limits: Limits) -> Zygote:
        """A new zygote at the best level that this machine can do.

        That level is kept to: a later zygote that does not start is an error, and no reason to lower the wall.
        """
        failed = BoxError("student code cannot be sealed off here")
        for level in self._levels or seal.levels():
            if self.sealed_only and not level.bubblewrap:
                continue
            try:
                zygote = Zygote(level, hidden, limits.start_seconds)
            except BoxError as error:
                logging.getLogger(__name__).info("not %s: %s", level.words or "unsealed", error)
                failed = error
                continue
            self._levels = [level]
            return zygote
        raise failed

    def _put(self, hidden: tuple[str, ...], zygote: Zygote, sound: bool) -> None:
        if not sound or not zygote.alive():
            zygote.close()
            return
        with self._lock:
            self._idle.setdefault(hidden, []).append(zygote)
            if self._timer:
                self._timer.cancel()
            self._timer = threading.Timer(self.idle_seconds, self.close)
            self._timer.daemon = True
            self._timer.start()


def _forget() -> None:
    """In a process forked from this one: its zygotes are not ours to talk to."""
    POOL.__init__(POOL.idle_seconds, POOL.sealed_only)


POOL = Pool()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
atexit.register(POOL.close)
open_box = POOL.box
