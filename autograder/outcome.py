"""What a run says at its end, line by line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from autograder import verdict
from autograder.grade import Result
from autograder.regrade import AGAIN, Regraded


def graded(assignment: str, results: Sequence[Result]) -> Iterator[str]:
    """What came of a class run."""
    fresh = [result for result in results if not result.skipped]
    yield f"{assignment}: {len(results)} hand-ins, {len(fresh)} graded now, {len(results) - len(fresh)} before."
    for result in results:
        if result.ungraded:
            first = result.verdict["exercises"][result.ungraded[0]]["message"]
            everything = len(result.ungraded) == len(result.verdict["exercises"])
            what = "everything" if everything else ", ".join(result.ungraded)
            yield f"could not be graded: {result.student}, {what}: {first}"
    if any(verdict.unsealed(result.verdict) for result in results):
        yield "Graded unsealed: student code ran in a separate process, not in a sealed one."


def regraded(assignment: str, results: Sequence[Regraded], dry_run: bool) -> Iterator[str]:
    """What came of judging recorded answers again, and what to do next."""
    judged = [result for result in results if result.recorded and not result.unread]
    changed = [result for result in judged if result.changes]
    moved = [result for result in changed if any(change.moves for change in result.changes)]
    again = [result for result in judged if result.again]
    reasons = {f"{name} {why}" for result in judged for name, why in result.kept.items() if why != AGAIN}
    for reason in sorted(reasons):
        yield f"{reason}; its verdicts stay as they are."
    yield (
        f"{assignment}: {len(judged)} hand-ins judged again, {len(changed)} changed ({len(moved)} in points), "
        f"{len(again)} must be run again."
    )
    if refused := sum(not result.recorded for result in results):
        yield f"Without recorded answers, and as they were: {refused}."
    if again:
        yield f"To run all hand-ins again: autograder grade {assignment} --again"
    if dry_run:
        yield "Nothing was written."
    elif changed:
        yield f"To tell the students: nbgrader generate_feedback {assignment} --force"
