"""The warm box: a child forked from a zygote; driven a cell at a time over a socket of its own."""

from __future__ import annotations

import base64
import importlib.util
import py_compile
import secrets
import shutil
import tempfile
from functools import lru_cache
from pathlib import Path

from autograder.sandbox import seal
from autograder.sandbox.box import BoxError, Files, Limits, Ran
from autograder.sandbox.inside import frames
from autograder.sandbox.outputs import outputs_of
from autograder.sandbox.zygote import Zygote

GRACE_SECONDS = 3  # after an interrupt, before the child is ended


class WarmBox:
    """One submission's kernel."""

    def __init__(self, zygote: Zygote, files: Files, limits: Limits):
        self.zygote, self.limits = zygote, limits
        self.folder = None if zygote.level.bubblewrap else Path(tempfile.mkdtemp(prefix="box-"))
        self._gone = False
        home = str(self.folder or seal.HOME)
        order = {
            "home": home,
            "scratch": str(self.folder or seal.SCRATCH),
            "folders": seal.own_folders(limits),
            "limits": {
                "memory": limits.memory,
                "file_size": limits.file_size,
                "cpu_seconds": limits.cpu_seconds,
                "processes": limits.processes if self.seal else None,
            },
        }
        try:
            self._sock = zygote.fork(order)
            frames.send(self._sock, _packed(tuple(stamped(files))))
            self.apart = frames.receive(self._sock, limits.start_seconds)["apart"]
        except (frames.Lost, KeyError, TypeError) as error:
            self._gone = True
            self.close()
            raise BoxError(f"the kernel did not start: {error}") from None

    @property
    def seal(self) -> str:
        """How it is sealed off, in words; "" where it is not."""
        return self.zygote.level.words

    def run(self, source: str) -> Ran:
        """Run one cell; never raises for anything that the cell does."""
        if self._gone:
            return Ran("died")
        number, slow = secrets.token_hex(8), False
        try:
            frames.send(self._sock, {"id": number, "source": source})
            try:
                said = frames.receive(self._sock, self.limits.cell_seconds)
            except frames.Lost as lost:
                if str(lost) != frames.SILENT:
                    raise
                slow = True
                self.zygote.interrupt()
                said = frames.receive(self._sock, GRACE_SECONDS)
            return self._ran(said, number, slow)
        except (frames.Lost, Forged):
            self._gone = True
            return Ran("died")

    def alive(self) -> bool:
        """Whether the child is there."""
        return not self._gone and self.zygote.alive()

    def close(self) -> bool:
        """End the child with everything it started; whether the zygote may be used again."""
        sound = self.zygote.alive() and self.zygote.end_child()
        if hasattr(self, "_sock"):
            self._sock.close()
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)
        return sound and (getattr(self, "apart", False) or not self.seal)

    def _ran(self, said, number: str, slow: bool) -> Ran:
        if not isinstance(said, dict) or said.get("id") != number or not isinstance(said.get("reply"), dict):
            raise Forged
        reply = said["reply"]
        count = reply.get("execution_count")
        count = count if type(count) is int else None
        outputs = outputs_of(said.get("shown"))
        if said.get("ended"):
            self._gone = True
            return Ran("died", outputs, count)
        if slow:
            return Ran("timed out", outputs, count)
        failed = any(output.output_type == "error" for output in outputs)
        return Ran("error" if failed else "ok", outputs, count)


class Forged(Exception):
    """A reply that does not answer the request."""


def stamped(files: Files):
    """Files with the time of their last change, so that a newer one is read anew."""
    return ((str(path), inside, path.stat().st_mtime_ns) for path, inside in files)


@lru_cache(maxsize=32)
def _packed(files: tuple) -> bytes:
    """[path below the home, base64] of every file, modules also compiled: a child then need not do it."""
    packed = []
    for path, inside, _ in files:
        packed.append([f"work/{inside}", _encoded(Path(path))])
        if path.endswith(".py"):
            with tempfile.TemporaryDirectory() as folder:
                try:
                    made = py_compile.compile(
                        path,
                        cfile=f"{folder}/made",
                        dfile=inside,
                        doraise=True,
                        invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
                    )
                except py_compile.PyCompileError:
                    continue
                packed.append([f"work/{importlib.util.cache_from_source(inside)}", _encoded(Path(made))])
    return frames.pack({"files": packed})


def _encoded(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()
