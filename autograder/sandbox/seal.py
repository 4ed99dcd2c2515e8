"""The seal: the bubblewrap command that a zygote is started under, and how far a machine can go.

Inside, nothing of the course, the repository, the grade book or the teacher's home exists; there is no network; what is
installed is read-only and lies at a neutral place, without the packages that students must not see.
"""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from autograder.sandbox.box import Limits
from autograder.sandbox.surroundings import font_caches, import_path, passed_on

PACKAGES = "/opt/packages"
INSIDE = "/opt/inside"
HOME = "/home/student"
SCRATCH = "/tmp"
NOBODY = 65534
NEVER_SEEN = ("autograder", "nbgrader")
ETC = ("ld.so.cache", "localtime", "fonts", "alternatives", "ssl/certs", "mime.types")
PASSWD = "student:x:1000:1000:student:/home/student:/bin/sh\n"
SMALL = 64 * 2**20  # bytes of the two shared scratch folders


@dataclass(frozen=True)
class Level:
    """How far the wall goes. words: for verdicts and reports; "" where there is no seal."""

    words: str
    bubblewrap: bool
    uid: int | None  # whom the zygote becomes where it is started by root


UNSEALED = Level("", False, None)


def levels() -> list[Level]:
    """What this machine may be able to do, best first; starting a zygote shows which of them it can."""
    if not shutil.which("bwrap") or sys.platform != "linux":
        return [UNSEALED]
    if os.geteuid() == 0:
        return [Level("sealed", True, NOBODY), Level("sealed, without a limit of processes", True, None), UNSEALED]
    return [Level("sealed", True, None), UNSEALED]


def command(level: Level, folder: Path, hidden: tuple[str, ...]) -> list[str]:
    """bubblewrap with everything that a zygote sees. folder: private, holds `inside` and the little of /etc we make."""
    (folder / "passwd").write_text(PASSWD)
    (folder / "group").write_text("student:x:1000:\n")
    empty = folder / "empty"  # a folder without an __init__ would import, as a namespace
    empty.mkdir()
    (empty / "__init__.py").write_text("raise ModuleNotFoundError(f'No module named {__name__!r}', name=__name__)\n")
    prefix = os.path.realpath(sys.base_prefix)
    # fmt: off
    words = [
        "bwrap", "--die-with-parent", "--as-pid-1", "--new-session",
        "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
        "--hostname", "student", "--clearenv", "--chdir", "/",
        "--ro-bind", "/usr", "/usr",
    ]
    # fmt: on
    if os.geteuid() == 0:
        words += ["--cap-drop", "ALL"]
        for capability in ("CAP_SETUID", "CAP_SETGID", "CAP_SYS_ADMIN"):  # the zygote gives them up at once
            words += ["--cap-add", capability]
    else:
        words += ["--unshare-user"]
    for place in (prefix, INSIDE, PACKAGES, "/etc/ssl/certs"):  # else their parents are root's alone
        for parent in reversed(Path(place).parents[:-1]):
            words += ["--dir", str(parent)]
    for name in ("bin", "sbin", "lib", "lib32", "lib64"):
        path = Path("/", name)
        if path.is_symlink():
            words += ["--symlink", os.readlink(path), str(path)]
        elif path.is_dir():
            words += ["--ro-bind", str(path), str(path)]
    if not prefix.startswith("/usr/"):
        words += ["--ro-bind", prefix, prefix]
    for name in ETC:
        words += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    for name in ("passwd", "group"):
        words += ["--ro-bind", str(folder / name), f"/etc/{name}"]
    words += ["--proc", "/proc", "--dev", "/dev"]
    for place in ("/dev/shm", SCRATCH, HOME):
        words += ["--perms", "1777", "--size", str(SMALL), "--tmpfs", place]
    words += ["--dir", f"{HOME}/.config", "--dir", f"{HOME}/.config/matplotlib"]
    for fonts in font_caches():
        words += ["--ro-bind", fonts, f"{HOME}/.config/matplotlib/{os.path.basename(fonts)}"]
    words += ["--ro-bind", str(folder / "inside"), INSIDE]
    for number, place in enumerate(import_path()):
        words += ["--ro-bind", place, neutral(number)]
        for covered in unseen(Path(place), (*NEVER_SEEN, *hidden)):
            target = f"{neutral(number)}/{covered.name}"
            words += ["--ro-bind", str(empty) if covered.is_dir() else os.devnull, target]
    for name, value in environment().items():
        words += ["--setenv", name, value]
    return words


def neutral(number: int) -> str:
    return f"{PACKAGES}{number or ''}"


def unseen(place: Path, names: tuple[str, ...]) -> list[Path]:
    """What must not be seen of one folder of packages: these packages, what tells of them, and paths to elsewhere."""
    tops = {name.partition(".")[0] for name in names}
    return [
        path
        for path in sorted(place.iterdir())
        if path.name in tops
        or path.name.startswith("__editable__")
        or path.suffix in (".pth", ".egg-link")
        or (path / "direct_url.json").is_file()  # installed from a folder of the teacher's, and says which
        or path.name.partition("-")[0] in tops
    ]


def environment() -> dict[str, str]:
    """The environment behind the seal."""
    return {
        **passed_on(),
        "PATH": f"{os.path.realpath(sys.base_prefix)}/bin:/usr/local/bin:/usr/bin:/bin",
        "HOME": HOME,
        "TMPDIR": SCRATCH,
        "MPLCONFIGDIR": f"{HOME}/.config/matplotlib",
        "USER": "student",
    }


def own_folders(limits: Limits) -> dict[str, int]:
    """Folders that each child has to itself, and the bytes they may hold."""
    return {HOME: limits.disk, SCRATCH: SMALL, "/dev/shm": SMALL}
