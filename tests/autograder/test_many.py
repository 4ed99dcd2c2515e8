"""Another subject's course, and five hundred hand-ins of it through one worker."""

import os
from pathlib import Path

import pytest
from tiny import hand_in_tiny, tiny_course

from autograder.grade import grade
from autograder.ledger import Ledger
from autograder.submission import Grader, HandIn
from autograder.workers import side_by_side

BODIES = ("return 2 * x", "return x * x", "raise NotImplementedError", "print(2 * x)")
WANTED = ("right", "wrong", "not started", "wrong")


@pytest.fixture
def course(tmp_path, repository):
    return tiny_course(tmp_path / "course", repository)


def test_another_subject_is_graded(course):
    for number, body in enumerate(BODIES):
        hand_in_tiny(course[0], f"s{number}", f"def double(x):\n    {body}")
    got = {result.student: result.verdict["exercises"]["double"] for result in grade(*course, "tiny")}
    assert [got[f"s{number}"]["state"] for number in range(4)] == list(WANTED)
    assert got["s1"]["mistake"] == "squared" and "This is the square." in got["s1"]["message"]
    assert "printed something" in got["s3"]["message"]


def test_five_hundred_hand_ins_through_one_worker_leave_it_as_it_was(course):
    waiting = []
    for number in range(500):
        path = hand_in_tiny(course[0], f"s{number:03d}", f"def double(x):\n    {BODIES[number % 4]}")
        waiting.append(HandIn(f"s{number:03d}", "tiny", path))
    with Ledger(*course, "tiny") as ledger:
        grader = Grader(course[1], "tiny", "tiny", ledger.sources("tiny"))
    sizes, others = [], set(family())  # a warm kernel of an earlier test may still be there, or end meanwhile
    for number, graded in enumerate(side_by_side(grader, waiting, jobs=1)):
        assert graded.log == "" and graded.hand_in.student == f"s{number:03d}"
        assert graded.verdict["exercises"]["double"]["state"] == WANTED[number % 4]
        if number in (50, 499):
            sizes.append({pid: (resident(pid), descriptors(pid)) for pid in family() if pid not in others})
    assert len(sizes[0]) == len(sizes[1]), "as many processes as before"
    first, last = (sorted(row.values()) for row in sizes)
    for (before, open_before), (after, open_after) in zip(first, last, strict=True):
        assert after < before * 1.1 + 2_000_000 and open_after <= open_before + 1


def family():
    """This process's children and theirs: the worker, its zygote."""
    found, waiting = [], [os.getpid()]
    while waiting:
        pid = waiting.pop()
        for task in Path(f"/proc/{pid}/task").glob("*/children"):
            children = [int(child) for child in task.read_text().split()]
            found += children
            waiting += children
    return found


def resident(pid):
    """Bytes of memory that only this process holds."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return sum(int(line.split()[1]) * 1024 for line in text.splitlines() if line.startswith("Private"))


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))
