"""The seal: every attempt to break out is held, and each attempt does get through where there is no wall."""

import dataclasses
import os
import socket
import subprocess
import sys

import pytest

from autograder.attempts import ATTEMPTS
from autograder.breakouts import places, try_all
from autograder.sandbox import POOL, BoxError, Limits, seal
from autograder.sandbox.pool import Pool

HARMLESS = (  # these may be made without a wall too: they only look
    "files of the repository",
    "a server on this machine",
    "a socket of this machine",
    "other processes",
)


def test_this_machine_can_seal():
    """Where it cannot, the tests of the seal say nothing; install bubblewrap and allow user namespaces."""
    assert POOL.level(("partrain_ref",)).words, "no bubblewrap here, or it may not make namespaces"


@pytest.fixture(scope="module")
def tried(repository):
    found = try_all(("partrain_ref",), places(repository, repository / "partrain_ref"))
    return {one.attempt.name: one.held for one in found}


@pytest.mark.parametrize("name", [attempt.name for attempt in ATTEMPTS])
def test_it_holds(tried, name):
    assert tried[name] is True


@pytest.fixture(scope="module")
def unsealed():
    pool = Pool()
    pool._levels = [seal.UNSEALED]
    yield pool
    pool.close()


def test_without_a_seal_the_harmless_attempts_get_through(unsealed, repository):
    chosen = [dataclasses.replace(a, unsealed=True) for a in ATTEMPTS if a.name.startswith(HARMLESS)]
    found = list(try_all(("partrain_ref",), places(repository), chosen, unsealed))
    assert len(found) == len(HARMLESS) and [one.held for one in found] == [False] * len(HARMLESS)


def test_without_a_seal_the_others_are_not_made(unsealed, repository):
    found = {one.attempt.name: one.held for one in try_all(("partrain_ref",), places(repository), ATTEMPTS, unsealed)}
    for attempt in ATTEMPTS:
        assert found[attempt.name] is (True if attempt.unsealed else None)


def test_an_attempt_that_fails_is_not_taken_for_a_wall(repository):
    broken = dataclasses.replace(ATTEMPTS[0], cell="1 / 0")
    (found,) = try_all(("partrain_ref",), [], [broken])
    assert found.held is False


def test_an_ordinary_users_sandbox_holds_too(repository, monkeypatch):
    """Its namespaces are made as an ordinary user must. Two things bind an ordinary user but not root, who tests."""
    monkeypatch.setattr(seal.os, "geteuid", lambda: 1000)
    pool = Pool()
    for_root = ("more processes than allowed", "the memory and the descriptors of the process that forks kernels")
    chosen = [attempt for attempt in ATTEMPTS if attempt.name not in for_root]
    try:
        assert pool.level(("partrain_ref",)) == seal.Level("sealed", True, None)
        found = list(try_all(("partrain_ref",), places(repository), chosen, pool))
        assert [one.attempt.name for one in found if one.held is not True] == []
    finally:
        pool.close()


def test_S15_packages_installed_beside_the_others_are_hidden(tmp_path, monkeypatch):
    """As after `pip install .`: the reference lies among the packages, and still cannot be imported or read."""
    place = tmp_path / "site-packages"
    for name in ("reference", "beside"):
        (place / name).mkdir(parents=True)
        (place / name / "__init__.py").write_text("value = 1\n")
    (place / "reference-1.0.dist-info").mkdir()
    monkeypatch.setattr(sys, "path", [*sys.path, str(place)])
    pool = Pool()
    try:
        with pool.box([], Limits(), ("reference",)) as box:
            code = (
                "import beside, glob\nprint(beside.value)\nfor p in glob.glob('/opt/*/reference/*'):\n"
                "    print(p, 'value' in open(p).read())\nprint(glob.glob('/opt/*/reference*/*'))"
            )
            ran = box.run(code)
            assert ran.outputs[0].text.startswith("1\n") and "True" not in ran.outputs[0].text
            assert box.run("import reference").outputs[-1].ename == "ModuleNotFoundError"
    finally:
        pool.close()


def test_a_machine_without_bubblewrap_is_unsealed_and_says_so(monkeypatch):
    monkeypatch.setattr(seal.shutil, "which", lambda name: None)
    pool = Pool()
    try:
        with pool.box([], Limits()) as box:
            assert box.seal == "" and box.run("print(1)").status == "ok"
    finally:
        pool.close()


def test_a_bubblewrap_that_may_not_make_namespaces_leads_to_the_next_level(tmp_path, monkeypatch):
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    pool = Pool()
    try:
        assert pool.level() == seal.UNSEALED
    finally:
        pool.close()


def test_sealed_only_means_no_kernel_rather_than_one_without_a_seal(monkeypatch):
    monkeypatch.setattr(seal.shutil, "which", lambda name: None)
    pool = Pool(sealed_only=True)
    with pytest.raises(BoxError, match="cannot be sealed off here"), pool.box([], Limits()):
        pass


def test_a_zygote_that_does_not_start_later_lowers_no_wall(tmp_path, monkeypatch):
    pool = Pool()
    try:
        assert pool.level().bubblewrap
        pool.close()
        broken = tmp_path / "bwrap"
        broken.write_text("#!/bin/sh\nexit 1\n")
        broken.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
        with pytest.raises(BoxError):
            pool.level()
    finally:
        pool.close()


def test_when_the_teachers_process_is_killed_nothing_of_its_kernels_stays():
    code = (
        "from autograder.sandbox import open_box, Limits\nimport sys\n"
        "with open_box([], Limits()) as box:\n"
        "    box.run(\"import subprocess; subprocess.Popen(['sleep', '654.321'], start_new_session=True)\")\n"
        "    print('ready', flush=True)\n    sys.stdin.read()\n"
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", code], text=True, **pipes) as process:
        assert process.stdout.readline() == "ready\n" and running("654.321")
        process.kill()
    for _ in range(100):
        if not running("654.321"):
            break
        subprocess.run(["sleep", "0.1"], check=True)
    assert not running("654.321")


def running(word):
    return subprocess.run(["pgrep", "-f", f"sleep {word}"], capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize(
    "frame", [b"\xff\xff\xff\xff", b"\0\0\0\5[[[[[", b"\0\0\0\2{}", b"\0\0\0\2[]", b"\0\1\0\0" + b"[" * 65536]
)
def test_a_reply_that_cannot_be_read_is_a_lost_cell(frame):
    """Whatever student code writes into its own socket."""
    with POOL.box([], Limits(), ("partrain_ref",)) as box:
        ran = box.run(
            "import gc, socket\nfor s in gc.get_objects():\n"
            f"    if isinstance(s, socket.socket):\n        s.sendall({frame!r})\n        break"
        )
        assert ran.status == "died" and box.run("1").status == "died"


def test_a_forged_reply_is_not_taken_for_a_later_cells():
    with POOL.box([], Limits(), ("partrain_ref",)) as box:
        box.run(
            "import gc, socket, json\n"
            "body = json.dumps({'id': '0' * 16, 'shown': [], 'reply': {'status': 'ok'}}).encode()\n"
            "for s in gc.get_objects():\n    if isinstance(s, socket.socket):\n"
            "        s.sendall(len(body).to_bytes(4, 'big') + body)\n        break"
        )
        assert box.run("print('honest')").status == "died"


def test_the_server_of_the_attempts_is_a_real_one():
    """The attempt on the network means something: the same connection works from here."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname(), 2).close()
