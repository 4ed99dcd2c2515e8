"""Side by side: one pure function over an executor of worker processes, each with its own warm kernel.

A cluster's executor could take this one's place; nothing here writes, and nothing knows of the grade book.
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
from multiprocessing.util import Finalize

from autograder.sandbox import POOL
from autograder.submission import Graded, Grader, HandIn

ENDED = "A grading process ended while it worked on this hand-in."

_grader: Grader | None = None  # in a worker: the steps, made once before it was forked
held: set[int] = set()  # descriptors of the class run's own: a worker that outlives it must not hold them on


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
    for descriptor in held:
        os.close(descriptor)
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
