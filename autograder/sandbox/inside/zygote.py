"""The zygote: warms a kernel once, then forks a ready child for each submission. It never reads a cell.

Behind the seal it is process 1 of its namespace: when it ends, all that students started ends with it.
"""

import json
import os
import select
import signal
import socket
import sys
import threading
import time

from . import child, frames, wall
from .warm import warm_kernel

SWEEP_SECONDS = 20


def main():
    """Serve one teacher's process over the descriptor named in the order, until that process is gone."""
    order = json.loads(sys.argv[1])
    sys.argv = ["kernel"]
    if order["uid"] is not None:
        wall.become(order["uid"])
    wall.hide_memory()
    wall.adopt_orphans()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    control = socket.socket(fileno=order["control"])
    sys.meta_path.insert(0, _NotHere(order["hidden"]))
    kernel = warm_kernel(order["modules"])
    threads = threading.active_count()
    frames.send(control, {"ready": True, "threads": threads, "uid": os.getuid(), "pid": os.getpid()})
    try:
        _serve(control, kernel, order)
    finally:
        _sweep(None, order["sealed"])
        os._exit(0)


class _NotHere:
    """Says of some packages that they are not installed. The seal hides them; without a seal this is all there is."""

    def __init__(self, names):
        self.names = frozenset(names)

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self.names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def _serve(control, kernel, order):
    wake, told = os.pipe()
    for end in (wake, told):
        os.set_blocking(end, False)
    signal.signal(signal.SIGCHLD, lambda *a: None)
    signal.set_wakeup_fd(told, warn_on_full_buffer=False)
    poll = select.poll()
    poll.register(control, select.POLLIN)
    poll.register(wake, select.POLLIN)
    current = None
    while True:
        ready = {number for number, _ in poll.poll()}
        if wake in ready:
            os.read(wake, 4096)
            if _reap(current):  # a child that has ended leaves nobody behind who could hold its socket open
                _sweep(current, order["sealed"])
                current = None
        if control.fileno() not in ready:
            continue
        passed = []
        try:
            said = frames.receive(control, descriptors=passed)
        except frames.Lost:
            return
        if said["do"] == "fork":
            current = _fork(passed[0], {**said, "sealed": order["sealed"]}, kernel, control, (wake, told))
        elif said["do"] == "interrupt" and current:
            os.kill(current, signal.SIGINT)
        elif said["do"] == "end":
            _sweep(current, order["sealed"])
            current = None
            frames.send(control, {"ended": True})


def _fork(descriptor, order, kernel, control, ends):
    pid = os.fork()
    if pid == 0:
        try:
            sock = socket.socket(fileno=descriptor)
            control.detach()
            child.run(sock, order, kernel)
        finally:
            os._exit(1)
    os.close(descriptor)
    return pid


def _reap(current):
    """Collect ended processes; whether the current child is among them."""
    found = False
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return found
        if pid == 0:
            return found
        found = found or pid == current


def _sweep(current, sealed):
    """End all that students started. Outside the seal: the child's group and whatever became ours."""
    deadline = time.monotonic() + SWEEP_SECONDS
    while time.monotonic() < deadline:
        _kill(current, sealed)
        _reap(None)
        if not _others(sealed):
            return
        time.sleep(0.001)


def _kill(current, sealed):
    try:
        if sealed:
            os.kill(-1, signal.SIGKILL)
            return
        for pid in _others(sealed):
            os.kill(pid, signal.SIGKILL)
        if current:
            os.killpg(current, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def _others(sealed):
    """Processes still there: of the namespace, or children of this process."""
    me = os.getpid()
    if sealed:
        return [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != me]
    try:
        with open(f"/proc/{me}/task/{me}/children") as file:
            return [int(pid) for pid in file.read().split()]
    except OSError:
        return []
