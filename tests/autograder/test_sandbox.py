"""The box: what it shows of the teacher's machine, and that its limits hold."""

import os
import time
from pathlib import Path

import pytest

from autograder.sandbox import Limits, open_box


@pytest.fixture(scope="module")
def box(tmp_path_factory):
    kit = tmp_path_factory.mktemp("kit") / "beside.py"
    kit.write_text("value = 42\n")
    with open_box([(kit, "kit/beside.py")], Limits(cell_seconds=3)) as box:
        yield box


def text(ran):
    return "".join(output.get("text", "") for output in ran.outputs)


@pytest.mark.parametrize("name", ["partrain_ref", "autograder", "autograder.exercise", "tests.conftest"])
def test_neither_reference_nor_grader_can_be_imported(box, name):
    ran = box.run(f"import {name}")
    assert ran.status == "error" and ran.outputs[-1].ename == "ModuleNotFoundError"


def test_environment_and_folder_name_nothing_of_the_teacher(box, repository, monkeypatch):
    ran = box.run("import os, sys\nprint(dict(os.environ), os.getcwd(), sys.argv, sys.executable, sys.prefix)")
    assert str(repository) not in text(ran)
    assert "PYTEST" not in text(ran) and "NBGRADER" not in text(ran) and "JPY_PARENT_PID" not in text(ran)
    known = {"HOME", "PATH", "TMPDIR", "MPLCONFIGDIR", "LANG"}
    leaked = box.run(f"print([n for n in os.environ if n in {sorted(set(os.environ) - known)!r}])")
    allowed = {"OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "LC_ALL", "LC_CTYPE", "TZ", "PAGER", "GIT_PAGER", "TERM"}
    assert set(eval(text(leaked))) <= allowed | {"OPENBLAS_NUM_THREADS", "PYTHONIOENCODING"}


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
    assert box.run("while True: pass").status == "timed out"
    assert text(box.run("print(kept)")) == "7\n"


def test_S20_a_loop_that_swallows_interrupts_is_killed():
    with open_box([], Limits(cell_seconds=2)) as box:
        loop = "import time\nwhile True:\n    try:\n        time.sleep(60)\n    except BaseException:\n        pass"
        assert box.run(loop).status == "died"


@pytest.mark.parametrize(
    "source", ["import os\nos._exit(0)", "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)"]
)
def test_a_kernel_that_ends_is_noticed(source):
    with open_box([], Limits()) as box:
        assert box.run(source).status == "died"


def test_F033_memory_is_limited():
    with open_box([], Limits(memory=2 * 2**30)) as box:
        assert box.run("x = bytearray(8 * 2**30)").outputs[-1].ename == "MemoryError"
        assert text(box.run("print('alive')")) == "alive\n"


def test_nothing_is_left_when_a_box_is_closed():
    with open_box([], Limits()) as box:
        pid = int(text(box.run("import os, subprocess\nprint(subprocess.Popen(['sleep', '600']).pid)")))
        folder = box.folder
    assert not folder.exists()
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline and os.path.exists(f"/proc/{pid}"):
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        if state == "Z":
            break
        time.sleep(0.1)
    else:
        assert not os.path.exists(f"/proc/{pid}")


def test_a_spare_box_is_fresh_and_used_once():
    from autograder.sandbox.pool import Pool

    pool, limits = Pool(), Limits()
    first = pool.take([], limits)
    first.run("left = 1\nimport sys\nsys.modules['left'] = 1")
    spare = pool._spare[1].result()
    second = pool.take([], limits)
    try:
        assert second is spare and second is not first
        assert second.run("left").outputs[-1].ename == "NameError"
        assert second.run("import left").outputs[-1].ename == "ModuleNotFoundError"
    finally:
        first.close()
        second.close()
        third = pool._spare[1].result()
        pool.close()
    assert not third.folder.exists() and not third.alive()


def test_a_spare_box_with_other_files_is_not_used(tmp_path):
    from autograder.sandbox.pool import Pool

    kit, pool = tmp_path / "kit.py", Pool()
    kit.write_text("value = 1\n")
    first = pool.take([(kit, "kit.py")], Limits())
    old = pool._spare[1].result()
    kit.write_text("value = 22\n")
    second = pool.take([(kit, "kit.py")], Limits())
    try:
        assert second is not old
        assert text(second.run("import kit\nprint(kit.value)")) == "22\n"
    finally:
        first.close()
        second.close()
        pool.close()
    assert not old.folder.exists()


def test_an_idle_spare_box_is_ended():
    from autograder.sandbox.pool import Pool

    pool = Pool(idle_seconds=0.1)
    first = pool.take([], Limits())
    first.close()
    deadline = time.monotonic() + 20
    while pool._spare and time.monotonic() < deadline:
        time.sleep(0.1)
    assert pool._spare is None
