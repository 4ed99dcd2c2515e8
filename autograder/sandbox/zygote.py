"""The teacher's end of one zygote: start it, let it fork, interrupt, end. What runs in it is the package `inside`."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from autograder.sandbox import seal
from autograder.sandbox.box import BoxError
from autograder.sandbox.inside import frames
from autograder.sandbox.surroundings import clean_environment, font_caches, import_path

START = """
import sys
sys.path.append({0!r})
sys.path.extend({1!r})
from _sandbox.zygote import main
sys.path.remove({0!r})
main()
"""
MODULES = ("numpy", "matplotlib.pyplot", "ipywidgets")
END_SECONDS = 30


class _Starter:
    """bubblewrap ends when the thread that started it does, so one that stays starts them all.

    The zygote itself has become another user since and ends when nobody is left at its socket.
    """

    def __init__(self):
        self._threads, self._process = None, None

    def run(self, work, *arguments):
        if self._process != os.getpid():  # a thread does not survive a fork
            self._threads, self._process = ThreadPoolExecutor(1, thread_name_prefix="zygotes"), os.getpid()
        return self._threads.submit(work, *arguments).result()


_STARTER = _Starter()


class Zygote:
    """One warm process from which children are forked, one at a time."""

    def __init__(self, level: seal.Level, hidden: tuple[str, ...], seconds: float):
        self.level = level
        self.folder = Path(tempfile.mkdtemp(prefix="box-"))
        self._process = None
        self._errors = (self.folder / "errors").open("w+b")
        self._control, theirs = socket.socketpair()
        try:
            self._process = _STARTER.run(self._start, theirs, hidden)
            theirs.close()
            self.about = frames.receive(self._control, seconds)
            shutil.rmtree(self.folder, ignore_errors=True)  # all is loaded; so nothing stays if we are killed
        except (frames.Lost, OSError) as error:
            why = self._why() or error
            self.close()
            raise BoxError(f"the kernel did not start: {why}") from None

    def fork(self, order: dict) -> socket.socket:
        """A new child's own socket. order: what the child must know; see `inside.child`."""
        ours, theirs = socket.socketpair()
        try:
            frames.send(self._control, {"do": "fork", **order}, [theirs.fileno()])
        except frames.Lost:
            ours.close()
            raise
        finally:
            theirs.close()
        return ours

    def interrupt(self) -> None:
        """As the stop button does."""
        frames.send(self._control, {"do": "interrupt"})

    def end_child(self) -> bool:
        """End the child and all that it started; False where the zygote did not confirm it and must go too."""
        try:
            frames.send(self._control, {"do": "end"})
            return frames.receive(self._control, END_SECONDS) == {"ended": True}
        except frames.Lost:
            return False

    def alive(self) -> bool:
        """Whether its process is there."""
        return self._process is not None and self._process.poll() is None

    def close(self) -> None:
        """End it with everything it started; remove its folder."""
        self._control.close()  # it ends when nobody is left to talk to
        if self._process:
            try:
                self._process.wait(5)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._errors.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _start(self, theirs: socket.socket, hidden: tuple[str, ...]) -> subprocess.Popen:
        shutil.copytree(
            Path(__file__).parent / "inside",
            self.folder / "inside" / "_sandbox",
            ignore=shutil.ignore_patterns("__pycache__"),
        )
        level, places = self.level, import_path()
        command: list[str] = []
        home, inside = self.folder / "home", str(self.folder / "inside")
        if level.bubblewrap:
            command = seal.command(level, self.folder, hidden)
            inside, places = seal.INSIDE, [seal.neutral(number) for number in range(len(places))]
        else:
            (home / ".config" / "matplotlib").mkdir(parents=True)
            for fonts in font_caches():
                shutil.copy(fonts, home / ".config" / "matplotlib")
        order = {
            "control": theirs.fileno(),
            "uid": level.uid,
            "sealed": level.bubblewrap,
            "modules": MODULES,
            "hidden": [*seal.NEVER_SEEN, *hidden],
        }
        # the real interpreter, not the environment's link to it, so that sys.executable names no repository
        python = os.path.realpath(sys.executable)
        words = [*command, python, "-I", "-S", "-c", START.format(inside, places), json.dumps(order)]
        return subprocess.Popen(
            words,
            env=os.environ if level.bubblewrap else clean_environment(home),
            cwd="/" if level.bubblewrap else home,
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=self._errors,
            stderr=self._errors,
        )

    def _why(self) -> str:
        """The last line that a zygote which did not start has left."""
        if self._errors.closed:
            return ""
        self._errors.seek(0)
        lines = self._errors.read().decode("utf-8", "replace").strip().splitlines()
        return lines[-1][:300] if lines else ""
