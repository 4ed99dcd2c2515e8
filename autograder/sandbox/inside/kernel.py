"""A kernel without sockets and threads: ipykernel's in-process kernel, mended to behave as in JupyterLab.

It collects what a cell shows as messages of the Jupyter protocol; the teacher's side makes outputs of them. It is built
in the zygote, before the fork, so it may hold no thread and no open loop.
"""

import asyncio
import os
import signal
import sys
import threading

from ipykernel.inprocess.ipkernel import InProcessKernel
from ipykernel.iostream import BackgroundSocket, IOPubThread, OutStream
from jupyter_client.session import Session
from traitlets import default
from traitlets.config import Config

SHOWN = ("stream", "display_data", "execute_result", "error", "update_display_data", "clear_output")
MAX_CELL = 24_000_000  # characters that one cell may show; what comes later is dropped
MAX_RAW = 4_000_000  # bytes of what subprocesses print
FLUSH_AT = 100_000


class Collected(Session):
    """A session that sends nothing: what a cell shows is kept in a list."""

    def __init__(self, **traits):
        super().__init__(key=b"", **traits)
        self.shown, self.size, self.reply = [], 0, {}

    def send(self, stream, msg_or_type, content=None, *args, **kwargs):
        if isinstance(msg_or_type, dict):
            kind, content = msg_or_type["header"]["msg_type"], msg_or_type["content"]
        else:
            kind = msg_or_type
        if kind == "execute_reply":
            self.reply = content
        elif kind in SHOWN:
            self.size += _size(kind, content)
            if self.size <= MAX_CELL:
                self.shown.append({"msg_type": kind, "content": content})
        return {"content": content}

    def take(self):
        """What was shown since the last time, and the reply."""
        shown, self.shown = self.shown, []
        dropped, self.size = max(0, self.size - MAX_CELL), 0
        if dropped:
            text = f"\n[the cell showed {dropped:,} characters more than are kept]\n"
            shown.append({"msg_type": "stream", "content": {"name": "stderr", "text": text}})
        reply, self.reply = self.reply, {}
        return shown, reply


def _size(kind, content):
    if kind == "stream":
        return len(content["text"])
    return sum(len(part) if isinstance(part, str) else len(repr(part)) for part in content.get("data", {}).values())


class NoLoop:
    """Takes the place of the publisher's loop: streams are flushed when the cell ends."""

    def call_later(self, delay, function, *args):
        pass


class Publisher(IOPubThread):
    """An IOPub stand-in without thread and socket: work that others schedule is done at once."""

    def __init__(self, session):
        self.socket, self.session, self.thread = None, session, None
        self.io_loop = NoLoop()
        self.background_socket = BackgroundSocket(self)

    def schedule(self, work):
        work()

    def flush(self, timeout=None):
        pass


class Stream(OutStream):
    """stdout or stderr; does not let a loop that prints fill the memory."""

    held = 0

    def write(self, string):
        written = super().write(string)
        self.held += written or 0
        if self.held > FLUSH_AT:
            self.flush()
        return written

    def _flush(self):
        self.held = 0
        super()._flush()


class MainThreadOnly:
    """Stands where ipykernel looks for the thread of its shell channel."""

    def __init__(self):
        self.parent_thread = threading.main_thread()

    def __bool__(self):
        return False


class Kernel(InProcessKernel):
    """One student's kernel."""

    _supports_kernel_subshells = False

    def __init__(self, **traits):
        quiet = Config(HistoryManager={"enabled": False})  # history would be a thread and a file
        super().__init__(session=Collected(), config=quiet, **traits)
        self.shell_channel_thread = MainThreadOnly()

    @default("iopub_thread")
    def _our_iopub_thread(self):
        return Publisher(self.session)

    @default("stdout")
    def _our_stdout(self):
        return Stream(self.session, self.iopub_thread, "stdout", watchfd=False)

    @default("stderr")
    def _our_stderr(self):
        return Stream(self.session, self.iopub_thread, "stderr", watchfd=False)

    async def execute_request(self, stream, ident, parent):
        await super(InProcessKernel, self).execute_request(stream, ident, parent)

    def open(self):
        """Take over this process's printing, and run cells on a loop of its own."""
        from tornado.ioloop import IOLoop

        self._raw, self._before = [], (sys.stdout, sys.stderr)
        self._loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self._loop)
        self.io_loop = IOLoop.current()
        for stream in (self.stdout, self.stderr):
            stream._master_pid = os.getpid()
        sys.stdout, sys.stderr = self.stdout, self.stderr

    def close(self):
        """Undo `open`: nothing of the loop stays."""
        sys.stdout, sys.stderr = self._before
        self.io_loop = None
        self._loop.close()
        asyncio.set_event_loop(None)

    def take_descriptors(self):
        """Descriptors 1 and 2 become files that are read after each cell: what subprocesses print."""
        for stream, name, number in ((self.stdout, "stdout", 1), (self.stderr, "stderr", 2)):
            stream._original_stdstream_copy = number
            raw = _unnamed_file()
            os.dup2(raw, number)
            self._raw.append((name, raw))
        os.register_at_fork(after_in_child=_print_plainly)

    def run(self, source):
        """Run one cell: what it showed, and the reply ("status", "execution_count")."""
        content = {"code": source, "silent": False, "store_history": True, "allow_stdin": False}
        header = {"msg_id": os.urandom(8).hex(), "msg_type": "execute_request", "session": self.session.session}
        request = {"header": header, "content": content, "metadata": {}, "parent_header": {}, **header}
        self.set_parent([], request)
        for stream in (self.stdout, self.stderr):
            stream.set_parent(request)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            self._loop.run_until_complete(self.execute_request(self.shell_stream, [], request))
        except KeyboardInterrupt:  # it arrived between two statements of ours; the cell has ended
            pass
        finally:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        self._read_raw()
        return self.session.take()

    @property
    def ended(self):
        """Whether the cell called exit() or quit(), which ends a kernel."""
        return bool(self.shell.exit_now)

    def _read_raw(self):
        """What subprocesses and raw writes left on descriptors 1 and 2."""
        for name, raw in self._raw:
            size = os.fstat(raw).st_size
            if size:
                text = os.pread(raw, min(size, MAX_RAW), 0).decode("utf-8", "replace")
                os.ftruncate(raw, 0)
                os.lseek(raw, 0, os.SEEK_SET)
                self.session.send(None, "stream", {"name": name, "text": text})


def _unnamed_file():
    if hasattr(os, "memfd_create"):
        return os.memfd_create("out", 0)
    import tempfile

    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def _print_plainly():
    """In a process that student code forked: print to the descriptors, which the kernel reads."""
    sys.stdout = open(1, "w", encoding="utf-8", buffering=1, closefd=False)
    sys.stderr = open(2, "w", encoding="utf-8", buffering=1, closefd=False)
