"""The class run: hand-ins graded side by side, written down by one; it can be killed at any moment and goes on.

One pure function (hand-in -> graded notebook and verdict) is mapped over an executor; only this process writes.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.util import Finalize
from pathlib import Path
from typing import TextIO

from traitlets.config import Config

from autograder import book, verdict
from autograder.course import Course, CourseError
from autograder.intake import Rename
from autograder.ledger import STAGE, Ledger, hand_in
from autograder.sandbox import POOL
from autograder.settle import fingerprint
from autograder.submission import Graded, Grader, HandIn

try:
    import fcntl
except ImportError:  # Windows: nothing keeps two runs apart there
    fcntl = None

NO_NOTEBOOK = "No notebook was handed in."
BROKE = "The grader could not grade this hand-in; the log says where it stopped."
ENDED = "A grading process ended while it worked on this hand-in."


@dataclass(frozen=True)
class Result:
    """What came of one hand-in. `skipped` where an earlier run had graded it already; log only where it went wrong."""

    student: str
    verdict: dict
    skipped: bool = False
    log: str = ""

    @property
    def ungraded(self) -> list[str]:
        rows = self.verdict["exercises"].items()
        return [name for name, row in rows if row["state"] == verdict.UNGRADED]


def cores() -> int:
    """How many hand-ins can be graded side by side here."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def grade(
    course: Course,
    config: Config,
    assignment: str,
    again: bool = False,
    jobs: int = 0,
    students: list[str] | None = None,
) -> Iterator[Result]:
    """Grade all hand-ins of an assignment, one result at a time as they are ready.

    again: also those that have a verdict already; a newer hand-in than the graded one is graded anew in any case.
    jobs: how many side by side, 0 for as many as there are cores. students: only these.
    """
    with _alone(course.root, assignment), Ledger(course, config, assignment) as ledger:
        points = book.graded_cells(ledger.book, assignment)
        if not points:
            raise CourseError(
                f"{assignment} was not released yet; run `nbgrader generate_assignment {assignment}` first."
            )
        (notebook,) = ledger.notebooks()
        everybody = book.submitted(course.root, assignment) if students is None else students
        waiting = []
        for student in everybody:
            said = None if again else _graded_before(course.root, student, assignment)
            if said:
                yield Result(student, said, skipped=True)
            elif one := _found(ledger, student, notebook):
                waiting.append(one)
            else:
                yield Result(student, ledger.refuse(student, points, NO_NOTEBOOK))
        if waiting:
            grader = Grader(config, assignment, notebook, ledger.sources(notebook))
            for graded in side_by_side(grader, waiting, jobs or cores(), ledger.let_go):
                yield _written(ledger, graded, points)


def _written(ledger: Ledger, graded: Graded, points: dict[str, float]) -> Result:
    student, log = graded.hand_in.student, graded.log
    if not log:
        try:
            ledger.keep(graded)
            return Result(student, graded.verdict)
        except OSError as error:  # a full disk, a folder that cannot be written: said once, then the next one
            log = f"{student}: {error}"
    return Result(student, ledger.refuse(student, points, BROKE), log=log)


def _found(ledger: Ledger, student: str, notebook: str) -> HandIn | None:
    """The hand-in, put under its right name where the notebook was renamed."""
    names = [str(path) for path in sorted(ledger.submitted(student).glob("*.ipynb"))]
    if not names:
        return None
    Rename(ledger.course.root, ledger.course.reference, ledger.course.kit)(ledger.assignment, student, names)
    return hand_in(ledger, student, notebook)


def _graded_before(root: Path, student: str, assignment: str) -> dict | None:
    """The verdict on exactly this hand-in, if there is one."""
    said, handed_in = book.read_verdict(root, student, assignment), book.handed_in(root, student, assignment)
    same = said and handed_in == fingerprint(root / "submitted" / student / assignment)
    return said if same else None


# ---- side by side -------------------------------------------------------------------------------------------------

_grader: Grader | None = None  # in a worker: the steps, made once before it was forked
_lock: TextIO | None = None  # held by the class run alone; a worker that outlives it must not hold it on


def side_by_side(
    grader: Grader, waiting: list[HandIn], jobs: int, before_fork: Callable[[], None] = lambda: None
) -> Iterator[Graded]:
    """Graded hand-ins as they are ready. Where a worker process ends, the hand-in that did it is found, and said."""
    if len(waiting) == 1:  # as when Formgrader's button is pressed: this process's own warm kernel is quicker
        yield grader.grade(waiting[0])
        return
    left = {one.student: one for one in waiting}
    jobs = min(jobs, len(left))
    while left:
        before_fork()
        executor, patience = _workers(grader, jobs), 0
        try:
            for graded in _ready(executor, list(left.values()), jobs):
                del left[graded.hand_in.student]
                yield graded
            patience = 10
        except BrokenProcessPool:
            if jobs == 1:
                first = next(iter(left.values()))
                del left[first.student]
                yield Graded(first, log=f"{first.student}: {ENDED}")
            jobs = 1  # one at a time from here, in order, so that the next end can be laid at somebody's door
        finally:
            _stop(executor, patience)


def _ready(executor: Executor, waiting: list[HandIn], jobs: int) -> Iterator[Graded]:
    if jobs == 1:
        for one in waiting:
            yield executor.submit(_work, one).result()
        return
    futures: list[Future] = [executor.submit(_work, one) for one in waiting]
    for future in as_completed(futures):
        yield future.result()


def _workers(grader: Grader, jobs: int) -> ProcessPoolExecutor:
    fork = sys.platform == "linux"  # elsewhere a fork of a process that has used the system's libraries is not safe
    context = multiprocessing.get_context("fork" if fork else "spawn")
    return ProcessPoolExecutor(jobs, context, _become_worker, (grader, os.getpid()))


def _become_worker(grader: Grader, parent: int) -> None:
    global _grader
    _grader = grader
    if _lock and not _lock.closed:
        os.close(_lock.fileno())
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the teacher's Ctrl-C is the parent's affair
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    Finalize(None, POOL.close, exitpriority=10)  # a worker's own `atexit` is never called


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


def _work(one: HandIn) -> Graded:
    return _grader.grade(one)


def _stop(executor: ProcessPoolExecutor, patience: float) -> None:
    """End the workers; with patience, in seconds, they may tidy up themselves."""
    processes = list((executor._processes or {}).values())
    executor.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.join(patience)
        if process.is_alive():
            process.kill()


@contextmanager
def _alone(root: Path, assignment: str):
    """One class run of an assignment at a time."""
    folder = root / STAGE
    folder.mkdir(exist_ok=True)
    global _lock
    with (folder / f"{assignment}.lock").open("w") as lock:
        try:
            if fcntl:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise CourseError(f"Another run is grading {assignment} in this course; wait until it is done.") from None
        _lock = lock
        yield
