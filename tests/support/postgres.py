"""A PostgreSQL server of the tests' own: started for them, reached by one unix socket only, gone afterwards."""

import os
import pwd
import re
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest

USER = "teacher"
START_SECONDS = 60
PROGRAMS = ("initdb", "pg_ctl", "createdb")
PLACES = ("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql*/bin")


def binaries():
    """The folder of the newest server's programs. Without one the tests are skipped, but never in CI."""
    found = shutil.which("initdb")
    folders = [path for place in PLACES for path in Path("/").glob(place[1:])]
    folders += [Path(found).resolve().parent] if found else []
    if whole := [folder for folder in folders if all((folder / program).exists() for program in PROGRAMS)]:
        return max(whole, key=lambda folder: [int(number) for number in re.findall(r"\d+", str(folder))])
    missing = "no PostgreSQL server is installed here (`make system` does it): the grade book in PostgreSQL is UNTESTED"
    if os.environ.get("CI"):
        pytest.fail(missing)
    pytest.skip(missing)


@contextmanager
def server():
    """url(name): makes an empty database and returns its address, in the form that people write it."""
    programs, who = binaries(), _somebody()
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))  # short: a socket's path may have 107 characters
    if who:
        shutil.chown(folder, who.pw_uid, who.pw_gid)
    as_who = {"user": who.pw_uid, "group": who.pw_gid, "extra_groups": []} if who else {}

    def run(program, *words):
        command = [programs / program, *words]
        with (folder / "log").open("a") as log:
            done = subprocess.run(command, cwd=folder, stdout=log, stderr=log, check=False, **as_who)
        assert done.returncode == 0, (folder / "log").read_text()

    def url(name):
        run("createdb", "--host", folder, "--username", USER, name)
        return f"postgresql://{USER}@/{name}?host={folder}"

    data = folder / "data"
    try:
        run("initdb", "--pgdata", data, "--username", USER, "--auth", "trust", "--encoding", "UTF8", "--no-sync")
        options = f"-c listen_addresses='' -c unix_socket_directories='{folder}' -c fsync=off"
        run("pg_ctl", "start", "--wait", "--timeout", str(START_SECONDS), "--pgdata", data, "--options", options)
        try:
            yield url
        finally:
            run("pg_ctl", "stop", "--wait", "--mode", "immediate", "--pgdata", data)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _somebody():
    """Whom the server runs as: PostgreSQL refuses to be root. None where we are nobody special already."""
    if os.geteuid():
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    pytest.fail("neither postgres nor nobody is a user of this machine, and PostgreSQL does not run as root")
