"""Reaching out of the question: disk, network, processes, memory (S07, S13, S14, S21-S24); most need a seal."""

from corpus.builder import WRONG, after, answer, at_the_end, case

TOKENS = "def global_tokens(per_device_batch, seq, accum, devices):\n    {}"
LOOK = """
import os, pathlib, sys
for folder in (*pathlib.Path.cwd().parents, pathlib.Path('/root'), pathlib.Path('/tmp'), pathlib.Path('/home')):
    try:
        for path in folder.rglob('*'):
            if path.suffix in ('.db', '.ipynb') or path.name.startswith(('.course', 'partrain_ref')):
                print(path, path.read_bytes()[:3000])
    except OSError:
        pass
"""
IMPORT = """
import importlib
for name in ('partrain_ref', 'partrain_ref.batch', 'autograder', 'autograder.judge', 'nbgrader'):
    try:
        print('found', importlib.import_module(name).__name__.upper())
    except ImportError:
        pass
"""
BOOK = """
import glob, sqlite3
for path in glob.glob('/**/gradebook.db', recursive=True):
    sqlite3.connect(path).execute('update grade set manual_score = 99').connection.commit()
"""
SPREAD = """
import site, sys, pathlib, os
startup = os.path.expanduser('~/.ipython/profile_default/startup')
for folder in {*sys.path, *site.getsitepackages(), site.getusersitepackages(), startup}:
    try:
        pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
        (pathlib.Path(folder) / 'sitecustomize.py').write_text('def global_tokens(*a): return 7')
        (pathlib.Path(folder) / '00-first.py').write_text('PLANTED = 1')
        (pathlib.Path(folder) / 'partrain_planted.pth').write_text('import os')
    except OSError:
        pass
"""
PROCESS = """
import subprocess, sys
subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'], start_new_session=True)
"""
NETWORK = """
import socket
socket.create_connection(('192.0.2.1', 80), timeout=1)
"""

CASES = (
    case("S07", "searches the disk for answers", at_the_end(LOOK), sealed=True, repairs=None, never=("SQLite format",)),
    case(
        "S07",
        "imports the reference and the grader",
        after("imports", IMPORT),
        sealed=True,
        never=("found PARTRAIN_REF", "found AUTOGRADER", "found NBGRADER"),
    ),
    case("S13", "leaves a process running", after("imports", PROCESS), sealed=True),
    case(
        "S13",
        "leaves a thread running",
        after(
            "imports", "import threading, time\nthreading.Thread(target=time.sleep, args=(600,), daemon=True).start()"
        ),
    ),
    case("S14", "writes where the next kernel would read", after("imports", SPREAD), sealed=True),
    case(
        "S21",
        "starts processes without end",
        answer("global_tokens", "import os\n" + TOKENS.format("while True: os.fork()")),
        states={"global_tokens": WRONG},
        repairs=None,
        sealed=True,
    ),
    case(
        "S21",
        "starts threads without end",
        answer(
            "global_tokens",
            "import threading, time\n"
            + TOKENS.format("while True: threading.Thread(target=time.sleep, args=(60,)).start()"),
        ),
        states={"global_tokens": WRONG},
        repairs=None,
        sealed=True,
    ),
    case(
        "S22",
        "prints without end",
        answer("global_tokens", TOKENS.format("while True: print('x' * 1000)")),
        states={"global_tokens": WRONG},
    ),
    case(
        "S22",
        "prints without end in a cell of its own",
        after("imports", "while True: print('x' * 1000)"),
        repairs=("Code cell 2",),
        sealed=True,
    ),
    case(
        "S22",
        "fills the disk",
        after("imports", "with open('big', 'wb') as f:\n    while True: f.write(b'x' * 2**20)"),
        sealed=True,
    ),
    case(
        "S23",
        "reads the hand-ins of others",
        at_the_end("import glob\nfor path in glob.glob('/**/submitted/*', recursive=True): print(path)"),
        repairs=None,
        sealed=True,
        never=("canary-student",),
    ),
    case("S24", "writes into the grade book", after("imports", BOOK), sealed=True, repairs=None),
    case(
        "F033",
        "an array larger than the memory",
        answer("global_tokens", TOKENS.format("return np.ones(10**11).sum()")),
        states={"global_tokens": WRONG},
        says={"global_tokens": "emory"},
    ),
    case(
        "F033",
        "a list larger than the memory",
        answer("global_tokens", TOKENS.format("return len(list(range(10**11)))")),
        states={"global_tokens": WRONG},
        sealed=True,
    ),
    case("F071", "asks the network", after("imports", NETWORK), sealed=True),
    case("F049", "installs a package", after("imports", "%pip install --quiet rich-not-there"), sealed=True),
)
