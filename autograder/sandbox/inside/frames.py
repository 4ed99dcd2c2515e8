"""One JSON object a frame, its length in front: how the two sides of the wall talk.

The teacher's side reads what student code may have written, so every length and form is checked there.
"""

import json
import select
import socket
import struct
import time

LENGTH = struct.Struct(">I")
MAX_BYTES = 64_000_000
ENCODE = json.JSONEncoder(ensure_ascii=False, default=str).encode  # bound here: student code may change `json`
DECODE = json.JSONDecoder().decode
SILENT = "silent for too long"


class Lost(Exception):
    """The other side is gone, is silent for too long, or says something that cannot be read."""


def pack(content):
    """One object as it goes over the wire."""
    body = ENCODE(content).encode("utf-8", "replace")
    return LENGTH.pack(len(body)) + body


def send(sock, content, descriptors=()):
    """Send one object, or one that is packed already, and descriptors with it."""
    frame = content if isinstance(content, bytes) else pack(content)
    try:
        if descriptors:
            socket.send_fds(sock, [frame[: LENGTH.size]], descriptors)
            frame = frame[LENGTH.size :]
        sock.sendall(frame)
    except OSError as error:
        raise Lost(f"the other side is gone: {error}") from None


def receive(sock, seconds=None, max_bytes=MAX_BYTES, descriptors=None):
    """The next object; Lost where there is none within `seconds`. Descriptors that came along go into the list."""
    deadline = None if seconds is None else time.monotonic() + seconds
    head = _exactly(sock, LENGTH.size, deadline, descriptors)
    (size,) = LENGTH.unpack(head)
    if size > max_bytes:
        raise Lost("the other side says more than can be read")
    try:
        return DECODE(_exactly(sock, size, deadline).decode("utf-8"))
    except (ValueError, RecursionError):
        raise Lost("the other side says something that cannot be read") from None


def _exactly(sock, size, deadline, descriptors=None):
    parts = []
    while size:
        if deadline is not None and not _readable(sock, deadline - time.monotonic()):
            raise Lost(SILENT)
        try:
            if descriptors is not None:
                part, found, _, _ = socket.recv_fds(sock, size, 4)
                descriptors.extend(found)
            else:
                part = sock.recv(min(size, 1 << 20))
        except OSError as error:
            raise Lost(f"the other side is gone: {error}") from None
        if not part:
            raise Lost("the other side is gone")
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _readable(sock, seconds):
    poll = select.poll()
    poll.register(sock, select.POLLIN)
    return bool(poll.poll(max(0, seconds) * 1000))
