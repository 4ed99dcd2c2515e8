"""Where a kernel's messages go: into a list. Stand-ins for ipykernel's session, publisher and streams."""

import threading

from ipykernel.iostream import BackgroundSocket, IOPubThread, OutStream
from jupyter_client.session import Session

SHOWN = ("stream", "display_data", "execute_result", "error", "update_display_data", "clear_output")
MAX_CELL = 24_000_000  # characters that one cell may show; what comes later is dropped
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
