"""The wall around one child: namespaces of its own, no capabilities, limits. Linux calls through ctypes.

Every function says whether it could; a child that could not be set apart says so, and its zygote is not used again.
"""

import ctypes
import os
import resource
import signal
import sys

NEWNS, NEWIPC, NEWUSER, NEWNET, NEWUTS = 0x00020000, 0x08000000, 0x10000000, 0x40000000, 0x04000000
MS_NOSUID, MS_NODEV, MS_REC, MS_PRIVATE = 2, 4, 16384, 1 << 18
SET_DUMPABLE, SET_SUBREAPER, CAPBSET_DROP, SET_NO_NEW_PRIVS = 4, 36, 24, 38
CAPABILITY_VERSION_3 = 0x20080522
STUDENT = 1000

libc = ctypes.CDLL(None, use_errno=True)


def _call(name, *arguments):
    if getattr(libc, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def hide_memory():
    """No other process may look into this one's memory or descriptors."""
    if sys.platform == "linux":
        _call("prctl", SET_DUMPABLE, 0, 0, 0, 0)


def adopt_orphans():
    """Processes whose parent ends become children of this one, so that they can be found and ended."""
    if sys.platform == "linux":
        _call("prctl", SET_SUBREAPER, 1, 0, 0, 0)


def become(uid):
    """Give up root for good."""
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def set_apart(own_folders):
    """Namespaces of the child's own, and empty folders: {path: bytes they may hold}. OSError where it cannot be."""
    uid, gid = os.getuid(), os.getgid()
    _call("prctl", SET_DUMPABLE, 1, 0, 0, 0)  # else its own identity map would not be its own to write
    _call("unshare", NEWUSER | NEWNS | NEWIPC | NEWNET | NEWUTS)
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{STUDENT} {uid} 1"),
        ("gid_map", f"{STUDENT} {gid} 1"),
    ):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)
    _call("mount", None, b"/", None, MS_REC | MS_PRIVATE, None)
    for path, size in own_folders.items():
        options = f"size={size},nr_inodes=20000,mode=0700,uid={STUDENT},gid={STUDENT}".encode()
        _call("mount", b"tmpfs", path.encode(), b"tmpfs", MS_NOSUID | MS_NODEV, options)
    _forbid_nesting()
    _drop_capabilities()


def _forbid_nesting():
    for kind in ("user", "mnt", "pid", "ipc", "net", "uts", "cgroup"):
        with open(f"/proc/sys/user/max_{kind}_namespaces", "w") as file:
            file.write("0")


def _drop_capabilities():
    for capability in range(64):
        if libc.prctl(CAPBSET_DROP, capability, 0, 0, 0) != 0:
            break
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0)
    _call("capset", header, (ctypes.c_uint32 * 6)())
    _call("prctl", SET_NO_NEW_PRIVS, 1, 0, 0, 0)


def limit(limits):
    """Limits of this process and all that it starts; those that the system does not know are left out."""
    for name, value in (
        ("RLIMIT_AS", limits["memory"]),
        ("RLIMIT_FSIZE", limits["file_size"]),
        ("RLIMIT_NPROC", limits["processes"]),
        ("RLIMIT_CPU", limits["cpu_seconds"]),
        ("RLIMIT_CORE", 0),
        ("RLIMIT_MSGQUEUE", 0),
        ("RLIMIT_MEMLOCK", 65536),
    ):
        if value is None or not hasattr(resource, name):
            continue
        try:
            resource.setrlimit(getattr(resource, name), (value, value))
        except (ValueError, OSError):
            continue
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a file that grows too large is an OSError, not the end
