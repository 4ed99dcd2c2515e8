"""One child: set apart, limited, with its own folder; then it runs cells until it is ended."""

import base64
import gc
import os
import random
import signal
import sys

from . import frames, wall


def run(sock, order, kernel):
    """The whole life of a child; never returns. order: see the teacher's side, `warm.py`."""
    try:
        apart = _settle(sock, order, kernel)
        frames.send(sock, {"ready": True, "apart": apart})
        while True:
            request = frames.receive(sock)
            shown, reply = kernel.run(request["source"])
            frames.send(sock, {"id": request["id"], "shown": shown, "reply": reply, "ended": kernel.ended})
            if kernel.ended:
                break
    finally:
        os._exit(0)


def _settle(sock, order, kernel):
    os.setsid()
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    keep = sock.fileno()
    os.closerange(3, keep)
    os.closerange(keep + 1, 1 << 16)
    apart = _set_apart(order)
    folder, work = order["home"], os.path.join(order["home"], "work")
    os.makedirs(work, exist_ok=True)
    for name in (".config", ".config/matplotlib"):
        os.makedirs(os.path.join(folder, name), exist_ok=True)
    for path, body in frames.receive(sock)["files"]:
        target = os.path.join(folder, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "wb") as file:
            file.write(base64.b64decode(body))
    wall.limit(order["limits"])
    os.chdir(work)
    os.environ.update(HOME=folder, TMPDIR=order["scratch"], MPLCONFIGDIR=os.path.join(folder, ".config/matplotlib"))
    sys.path.insert(0, "")  # as in JupyterLab: what lies beside the notebook can be imported
    random.seed()
    if "numpy.random" in sys.modules:
        sys.modules["numpy.random"].seed()
    gc.enable()
    kernel.open()
    kernel.take_descriptors()
    return apart


def _set_apart(order):
    if not order["sealed"]:
        return False
    try:
        wall.set_apart(order["folders"])
    except OSError:
        return False
    return True
