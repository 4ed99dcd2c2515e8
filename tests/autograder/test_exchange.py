"""One exchange for several: two courses do not mix, and no account reads what another handed in."""

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

import pytest
from nbgrader.apps.api import NbGraderAPI

from autograder.book import submitted
from autograder.course import CONFIG_FILE, create, open_course
from autograder.demo import hand_in, must, samples, submit
from autograder.grade import grade

PART = "part1_split_the_batch"


def course_on(exchange, root, repository, course_id):
    create(root, repository)
    with (root / CONFIG_FILE).open("a", encoding="utf-8") as config:
        config.write(f"c.CourseDirectory.course_id = {course_id!r}\nc.Exchange.root = {str(exchange)!r}\n")
        config.write(f"c.Exchange.cache = {str(root / 'cache')!r}\n")
    course, config = open_course(root)
    api = NbGraderAPI(config=config)
    must(api.generate_assignment(PART), "generate")
    must(api.release_assignment(PART), "release")
    return course, config, api


def sample(course, name):
    return next(one for one in samples(course)[PART] if one.name == name)


def test_two_courses_on_one_exchange_do_not_mix(repository, tmp_path):
    exchange = tmp_path / "exchange"
    exchange.mkdir(mode=0o777)
    spring = course_on(exchange, tmp_path / "spring", repository, "spring")
    autumn = course_on(exchange, tmp_path / "autumn", repository, "autumn")
    for (course, config, _), name, who in ((spring, "all-right", "ann"), (autumn, "blank", "bo")):
        hand_in(course, PART, sample(course, name), tmp_path / who / PART)
        submit(config, PART, who, tmp_path / who)
    for (course, config, api), who, points in ((spring, "ann", 26), (autumn, "bo", 0)):
        must(api.collect(PART), "collect")
        assert submitted(course.root, PART) == [who]
        assert [result.verdict["points"] for result in grade(course, config, PART)] == [points]
        must(api.generate_feedback(PART), "feedback")
        must(api.release_feedback(PART), "release feedback")
    feedback = [list((exchange / name / "feedback").iterdir()) for name in ("spring", "autumn")]
    assert [len(pages) for pages in feedback] == [1, 1]
    assert feedback[0][0].read_text(encoding="utf-8") != feedback[1][0].read_text(encoding="utf-8")


# ---- accounts ------------------------------------------------------------------------------------------------------


@pytest.fixture
def two_accounts():
    """Two students' accounts of this machine, made and removed again."""
    if not sys.platform.startswith("linux"):
        pytest.skip("accounts are made on Linux only")
    if os.geteuid() != 0 or not shutil.which("useradd"):
        if os.environ.get("CI"):
            pytest.fail("only root can make accounts; in CI nothing is skipped")
        pytest.skip("two accounts on one exchange are tried by root only: sudo make test")
    names = [f"student-{os.getpid()}-{which}" for which in "ab"]
    try:
        for name in names:
            subprocess.run(["useradd", "--no-create-home", "--user-group", name], check=True)
        yield [pwd.getpwnam(name) for name in names]
    finally:
        for name in names:
            subprocess.run(["userdel", name], check=False)


def tries(account, *command):
    """What came of a command that the account runs."""
    who = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
    return subprocess.run(command, cwd="/", capture_output=True, text=True, check=False, **who)


def as_account(account, act):
    """Call `act` in a process of the account's; all that it imports is loaded already, since it may not read it."""
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(account.pw_gid)
            os.setuid(account.pw_uid)
            act()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0


def may_become_root() -> bool:
    sudo = shutil.which("sudo")
    return os.geteuid() != 0 and bool(sudo) and subprocess.run([sudo, "-n", "true"], check=False).returncode == 0


def test_no_account_reads_what_another_handed_in(repository, tmp_path, request):
    if may_become_root():
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__, "-k", "no_account_reads"]
        subprocess.run(["sudo", "-n", "env", "PYTHONDONTWRITEBYTECODE=1", *command], check=True)
        return
    two_accounts = request.getfixturevalue("two_accounts")
    place = Path(tempfile.mkdtemp(prefix="exchange-"))  # pytest's own folders are closed to other accounts
    place.chmod(0o755)
    try:
        exchange, home = place / "exchange", place / "home"
        exchange.mkdir()
        exchange.chmod(0o777)
        course, config, api = course_on(exchange, place / "course", repository, "partrain")
        hand_in(course, PART, sample(course, "all-right"), tmp_path / "teacher" / PART)
        submit(config, PART, "teacher", tmp_path / "teacher")  # loads what the students' processes need
        for account, name in zip(two_accounts, ("all-right", "blank"), strict=True):
            desk = home / account.pw_name
            hand_in(course, PART, sample(course, name), desk / PART)
            for path in (desk, *desk.rglob("*")):
                os.chown(path, account.pw_uid, account.pw_gid)
            desk.chmod(0o700)
            config.Exchange.cache = str(desk / "cache")
            as_account(account, lambda who=account.pw_name, desk=desk: submit(config, PART, who, desk))

        ann, bo = two_accounts
        inbound = exchange / "partrain" / "inbound"
        (hers,) = inbound.glob(f"{ann.pw_name}+*")
        assert hers.stat().st_uid == ann.pw_uid
        assert tries(bo, "cat", str(exchange / "partrain" / "outbound" / PART / f"{PART}.ipynb")).returncode == 0
        assert "Permission denied" in tries(bo, "ls", str(inbound)).stderr
        guessed = f"cat {inbound}/{ann.pw_name}+{PART}+*/{PART}.ipynb"
        assert tries(bo, "sh", "-c", guessed).returncode != 0
        assert "Permission denied" in tries(bo, "ls", str(home / ann.pw_name)).stderr
        assert "Permission denied" in tries(bo, "ls", str(course.root)).stderr
        assert "Permission denied" in tries(bo, "cat", str(course.root / "source" / PART / f"{PART}.ipynb")).stderr

        must(api.collect(PART), "collect")
        assert submitted(course.root, PART) == sorted(["teacher", ann.pw_name, bo.pw_name])
        points = {result.student: result.verdict["points"] for result in grade(course, config, PART)}
        assert points[ann.pw_name] == 26 and points[bo.pw_name] == 0
        must(api.generate_feedback(PART), "feedback")
        must(api.release_feedback(PART), "release feedback")
        assert "Permission denied" in tries(bo, "ls", str(exchange / "partrain" / "feedback")).stderr
    finally:
        shutil.rmtree(place)
