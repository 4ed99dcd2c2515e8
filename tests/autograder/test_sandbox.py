"""The box: what it shows of the teacher's machine, that its limits hold, that nothing of it stays. Warm and cold."""

import os
import signal
import time
from pathlib import Path

import pytest
from box_kinds import KINDS, opened, text

from autograder.sandbox import Limits
from autograder.sandbox.pool import Pool

FORKED = ("warm", "unsealed")


@pytest.fixture(scope="module", params=KINDS)
def box(request, tmp_path_factory):
    kit = tmp_path_factory.mktemp("kit") / "beside.py"
    kit.write_text("value = 42\n")
    with opened(request.param, [(kit, "kit/beside.py")], Limits(cell_seconds=3)) as box:
        yield box


@pytest.mark.parametrize("name", ["partrain_ref", "autograder", "autograder.exercise", "tests.conftest"])
def test_neither_reference_nor_grader_can_be_imported(box, name):
    ran = box.run(f"import {name}")
    assert ran.status == "error" and ran.outputs[-1].ename == "ModuleNotFoundError"


def test_environment_and_folder_name_nothing_of_the_teacher(box, repository):
    ran = box.run("import os, sys\nprint(dict(os.environ), os.getcwd(), sys.argv, sys.executable, sys.prefix)")
    assert str(repository) not in text(ran)
    assert "PYTEST" not in text(ran) and "NBGRADER" not in text(ran) and "JPY_PARENT_PID" not in text(ran)
    known = {"HOME", "PATH", "TMPDIR", "MPLCONFIGDIR", "LANG", "USER", "PWD"}
    leaked = box.run(f"print([n for n in os.environ if n in {sorted(set(os.environ) - known)!r}])")
    allowed = {"OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "LC_ALL", "LC_CTYPE", "TZ", "PAGER", "GIT_PAGER", "TERM"}
    assert set(eval(text(leaked))) <= allowed | {"OPENBLAS_NUM_THREADS", "PYTHONIOENCODING", "MPLBACKEND"}


def test_what_lies_beside_the_notebook_can_be_imported(box):
    assert text(box.run("from kit.beside import value\nprint(value)")) == "42\n"


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("print(1)", "1\n"),
        ("import asyncio\nawait asyncio.sleep(0)\nprint('awaited')", "awaited\n"),
        ("!echo from a shell", "from a shell"),
        ("import sys\nsys.exit()", ""),
    ],
)
def test_cells_run_as_in_a_notebook(box, source, wanted):
    assert wanted in text(box.run(source))
    assert text(box.run("print('alive')")) == "alive\n"


def test_input_fails_at_once(box):
    started = time.monotonic()
    assert box.run("input('name? ')").outputs[-1].ename == "StdinNotImplementedError"
    assert time.monotonic() - started < 3


def test_a_figure_is_drawn(box):
    ran = box.run("import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()")
    assert any("image/png" in output.get("data", {}) for output in ran.outputs)


def test_S19_an_endless_loop_is_stopped_and_the_kernel_lives_on(box):
    box.run("kept = 7")
    ran = box.run("while True: pass")
    assert ran.status == "timed out" and ran.outputs[-1].ename in ("KeyboardInterrupt", "TimeLimit")
    assert text(box.run("print(kept)")) == "7\n"


@pytest.mark.parametrize("kind", FORKED)
def test_S20_a_loop_that_swallows_interrupts_is_killed(kind):
    with opened(kind, [], Limits(cell_seconds=2)) as box:
        loop = "import time\nwhile True:\n    try:\n        time.sleep(60)\n    except BaseException:\n        pass"
        assert box.run(loop).status == "died"
        assert box.run("1").status == "died"


ENDS = {
    "os._exit": "import os\nos._exit(0)",
    "a segmentation fault": "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)",
    "a null pointer": "import ctypes\nctypes.string_at(0)",
    "abort": "import os\nos.abort()",
    "a closed socket": "import os\nos.closerange(0, 1000)",
    "exit()": "exit()",
}


@pytest.mark.parametrize("source", ENDS.values(), ids=ENDS)
def test_a_kernel_that_ends_is_noticed(source):
    with opened("warm", [], Limits()) as box:
        started = time.monotonic()
        assert box.run(source).status == "died"
        assert time.monotonic() - started < 10


@pytest.mark.parametrize("kind", KINDS)
def test_F033_memory_is_limited(kind):
    with opened(kind, [], Limits(memory=2 * 2**30)) as box:
        assert box.run("x = bytearray(8 * 2**30)").outputs[-1].ename == "MemoryError"
        assert text(box.run("print('alive')")) == "alive\n"


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_may_not_grow_beyond_its_limit(kind):
    with opened(kind, [], Limits(file_size=2**20)) as box:
        ran = box.run("with open('big', 'wb') as f:\n    f.write(bytes(2**22))")
        assert ran.status in ("error", "died")
        if ran.status == "error":
            assert ran.outputs[-1].ename == "OSError"


def test_processor_time_is_limited():
    with opened("warm", [], Limits(cpu_seconds=1, cell_seconds=20)) as box:
        assert box.run("while True: pass").status == "died"


def test_what_a_cell_may_show_is_limited_and_the_rest_is_said_to_be_missing():
    with opened("warm", [], Limits(cell_seconds=60)) as box:
        ran = box.run("for _ in range(40):\n    print('x' * 1_000_000)\nprint('end')")
        assert ran.status == "ok" and 20_000_000 < len(text(ran)) < 25_000_000
        assert "characters more than are kept" in ran.outputs[-1].text
        assert text(box.run("print('alive')")) == "alive\n"


def test_output_of_programs_and_raw_writes_is_kept():
    with opened("warm", [], Limits()) as box:
        assert text(box.run("import os\nos.system('echo one')")) == "one\n"
        assert text(box.run("os.write(1, b'two')")) == "two"
        assert (
            text(box.run("import subprocess, sys\n_ = subprocess.run(['echo', 'three'], stdout=sys.stdout)"))
            == "three\n"
        )
        ran = box.run("pid = os.fork()\nif pid == 0:\n    print('four')\n    os._exit(0)\n_ = os.waitpid(pid, 0)")
        assert text(ran) == "four\n"


@pytest.mark.parametrize("kind", FORKED)
def test_nothing_is_left_when_a_box_is_closed(kind):
    with opened(kind, [], Limits()) as box:
        marker = f"left-{os.getpid()}-{kind}"
        box.run(f"import subprocess\nsubprocess.Popen(['sh', '-c', 'sleep 600 # {marker}'], start_new_session=True)")
        assert marker in processes()
        folder = box.folder
    assert folder is None or not folder.exists()
    deadline = time.monotonic() + 10
    while marker in processes() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert marker not in processes()


def processes():
    """All command lines of this machine."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(path.read_bytes().decode("utf-8", "replace"))
        except OSError:
            continue
    return "\n".join(found)


def test_a_box_is_fresh_and_its_zygote_is_used_again():
    pool = Pool()
    try:
        with pool.box([], Limits()) as first:
            first.run("left = 1\nimport sys, builtins, numpy\nsys.modules['left'] = 1\nbuiltins.left = numpy.left = 2")
            zygote = first.zygote
        with pool.box([], Limits()) as second:
            assert second.zygote is zygote
            assert second.run("left").outputs[-1].ename == "NameError"
            assert second.run("import left").outputs[-1].ename == "ModuleNotFoundError"
            assert second.run("import numpy\nnumpy.left").outputs[-1].ename == "AttributeError"
    finally:
        pool.close()
    assert not zygote.alive()


def test_a_zygote_that_has_died_is_replaced():
    pool = Pool()
    try:
        with pool.box([], Limits()) as first:
            os.kill(zygote_pid(first.zygote), signal.SIGKILL)
            first.zygote._process.wait(10)
            assert first.run("1").status == "died", "process 1 of the namespace has ended, and all others with it"
        with pool.box([], Limits()) as second:
            assert text(second.run("print(2)")) == "2\n"
    finally:
        pool.close()


def test_random_numbers_differ_between_students():
    seen = set()
    for _ in range(2):
        with opened("warm", [], Limits()) as box:
            seen.add(text(box.run("import random, numpy\nprint(random.random(), numpy.random.rand())")))
    assert len(seen) == 2 and len({one.split()[1] for one in seen}) == 2


def test_files_beside_the_notebook_are_read_anew(tmp_path):
    kit, pool = tmp_path / "kit.py", Pool()
    try:
        for value in (1, 22):
            kit.write_text(f"value = {value}\n")
            with pool.box([(kit, "kit.py")], Limits()) as box:
                assert text(box.run("import kit\nprint(kit.value)")) == f"{value}\n"
    finally:
        pool.close()


def test_an_idle_zygote_is_ended():
    pool = Pool(idle_seconds=0.1)
    with pool.box([], Limits()) as box:
        zygote = box.zygote
    deadline = time.monotonic() + 20
    while zygote.alive() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not zygote.alive()


def test_a_zygote_is_one_thread_and_its_memory_does_not_grow():
    pool = Pool()
    try:
        sizes = []
        for number in range(40):
            with pool.box([], Limits()) as box:
                box.run("x = bytearray(10_000_000)")
                if number in (9, 39):
                    status = Path(f"/proc/{zygote_pid(box.zygote)}/status").read_text()
                    sizes.append(int(status.split("VmRSS:")[1].split()[0]))
                    assert box.zygote.about["threads"] == 1
        assert sizes[1] < sizes[0] * 1.05
    finally:
        pool.close()


def zygote_pid(zygote):
    """The process id outside of the namespace: bubblewrap's child, or the process itself."""
    pid = zygote._process.pid
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return int(children[0]) if zygote.level.bubblewrap else pid
