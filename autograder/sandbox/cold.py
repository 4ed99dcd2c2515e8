"""The cold box: a fresh ipykernel process for each submission, where no zygote can be forked.

Not sealed: from its environment and working folder neither the repository nor the course nor the grade book can be
found or imported; the disk as such is not hidden from it.
"""

from __future__ import annotations

import asyncio
import copy
import logging
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from concurrent.futures import Future
from pathlib import Path

from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import DeadKernelError
from nbformat.v4 import new_code_cell, new_notebook

from autograder.sandbox.box import BoxError, Limits, Ran
from autograder.sandbox.surroundings import BOOTSTRAP, clean_environment, font_caches, import_path

PING_SECONDS = 3


class _Kernel(AsyncKernelManager):
    """A kernel reached through Unix sockets in a private folder, without any installed kernel description."""

    @property
    def kernel_spec(self):
        return self.spec


class ColdBox:
    """One kernel and its folders. `run` may be called from any thread, also inside a running event loop."""

    seal = ""

    def __init__(self, files: list[tuple[Path, str]], limits: Limits):
        """files: (source file, path inside the working folder) of all that lies beside the notebook."""
        self.limits = limits
        self.folder = Path(tempfile.mkdtemp(prefix="box-"))
        self.work, self.home = self.folder / "work", self.folder / "home"
        for path in (self.work, self.home / ".config" / "matplotlib"):
            path.mkdir(parents=True)
        for source, inside in files:
            target = self.work / inside
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
        for fonts in font_caches():
            shutil.copy(fonts, self.home / ".config" / "matplotlib")
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True, name="box")
        self._thread.start()
        try:
            self._wait(self._start(), limits.start_seconds)
        except Exception as error:
            self.close()
            raise BoxError(f"the kernel did not start: {type(error).__name__}") from error

    def run(self, source: str) -> Ran:
        """Run one cell; never raises for anything that the cell does."""
        return self._wait(self._run(source), None)

    def alive(self) -> bool:
        """Whether the kernel is there."""
        return not self._loop.is_closed() and self._wait(self._km.is_alive(), PING_SECONDS)

    def close(self) -> None:
        """End the kernel with all its processes and remove its folders."""
        try:
            self._wait(self._stop(), 10)
        except Exception:  # it is being thrown away; what matters is that nothing of it stays
            logging.getLogger(__name__).debug("a box did not close cleanly", exc_info=True)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)
        if not self._loop.is_running():
            self._loop.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _wait(self, coroutine, seconds):
        future: Future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        return future.result(seconds)

    async def _start(self) -> None:
        arguments = [str(self.limits.memory), str(self.limits.file_size), ":".join(import_path())]
        kernel = ["-f", "{connection_file}", "--HistoryManager.enabled=False", "--log-level=50"]
        # the real interpreter, not the environment's link to it, so that sys.executable names no repository
        python = os.path.realpath(sys.executable)
        km = _Kernel(
            transport="ipc", ip=str(self.folder / "s"), connection_file=str(self.folder / "kernel.json"), kernel_name=""
        )
        km.spec = KernelSpec(argv=[python, "-I", "-S", "-c", BOOTSTRAP, *arguments, *kernel], language="python")
        self._km = km
        client = NotebookClient(
            new_notebook(),
            km=km,
            timeout=self.limits.cell_seconds,
            startup_timeout=self.limits.start_seconds,
            allow_errors=True,
            interrupt_on_timeout=True,
            iopub_timeout=PING_SECONDS,
            error_on_timeout={"ename": "TimeLimit", "evalue": "", "traceback": []},
        )
        client.log.setLevel(logging.CRITICAL)
        self._client = client
        await client.async_start_new_kernel(env=clean_environment(self.home), cwd=str(self.work))
        await client.async_start_new_kernel_client()

    async def _run(self, source: str) -> Ran:
        client = self._client
        cell = new_code_cell(source)
        client.nb.cells = [cell]
        started = time.monotonic()
        try:
            await client.async_execute_cell(cell, 0)
        except DeadKernelError:
            return Ran("died", copy.deepcopy(cell.outputs))
        except Exception:  # an output that nbclient cannot take, a lost channel: the cell is lost, the run is not
            return Ran("died" if not await self._answers() else "error", copy.deepcopy(cell.outputs))
        outputs = copy.deepcopy(cell.outputs)
        if time.monotonic() - started >= self.limits.cell_seconds:
            return Ran("timed out" if await self._answers() else "died", outputs, cell.execution_count)
        failed = any(output.output_type == "error" for output in outputs)
        return Ran("error" if failed else "ok", outputs, cell.execution_count)

    async def _answers(self) -> bool:
        """Whether the kernel still takes a cell after a time-out; one that swallowed the interrupt does not."""
        for _ in range(2):
            try:
                if not await self._km.is_alive():
                    return False
                await self._km.interrupt_kernel()
                msg_id = self._client.kc.execute("pass", silent=True)
                deadline = time.monotonic() + PING_SECONDS
                while time.monotonic() < deadline:
                    reply = await self._client.kc.get_shell_msg(timeout=PING_SECONDS)
                    if reply["parent_header"].get("msg_id") == msg_id:
                        return reply["content"]["status"] == "ok"
            except Exception:
                continue
        return False

    async def _stop(self) -> None:
        client, km = getattr(self, "_client", None), getattr(self, "_km", None)
        if client and client.kc:
            client.kc.stop_channels()
        if km and km.has_kernel:
            group = getattr(km.provisioner, "pgid", None)
            await km.shutdown_kernel(now=True)
            if group and hasattr(os, "killpg"):
                try:
                    os.killpg(group, signal.SIGKILL)
                except (ProcessLookupError, PermissionError):
                    pass
