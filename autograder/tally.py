"""The figures of one part over the class: how many are in which state, which slips were made, who needs help."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from autograder import book, verdict
from autograder.course import Course

TEACH = 3  # exercises named as what to teach again first
HELP_BELOW = 0.5  # share of the points
JUDGED = (verdict.RIGHT, verdict.PARTLY, verdict.WRONG, verdict.NOT_STARTED)
REASONS = {
    "nothing": "returned nothing (printed instead?)",
    "raised": "stopped with an error",
    "type": "returned another type than asked for",
    "shape": "returned another shape than asked for",
    "not finite": "returned NaN or infinity",
    "examples only": "right on the visible examples only",
    "changed": "changed its input",
    "state": "different answers for the same input",
    "rounded": "rounded where the number itself is asked for",
    "value": "a wrong value that no known mistake explains",
    "refusals": "bad input gets through",
    "missing": "the name is not there when its check runs",
    "stopped": "stopped: out of time, or the program ended",
    "bundle": "more than one answer",
}


@dataclass(frozen=True)
class Slip:
    """One way of going wrong, and the students it happened to."""

    words: str
    students: tuple[str, ...]


@dataclass(frozen=True)
class Row:
    """One exercise: how many students are in each state, and the slips, commonest first."""

    name: str
    counts: dict[str, int]
    slips: tuple[Slip, ...]

    @property
    def judged(self) -> int:
        """Students whose answer was judged: right, partly right, wrong or not started."""
        return sum(self.counts[state] for state in JUDGED)

    @property
    def lost(self) -> int:
        """Students who started and have not got it right: what teaching it again could help."""
        return self.counts[verdict.WRONG] + self.counts[verdict.PARTLY]

    def share(self, state: str) -> str:
        """A state's share of the judged answers, "83%"."""
        return f"{100 * self.counts[state] / self.judged:.0f}%" if self.judged else "–"


@dataclass(frozen=True)
class Part:
    """One assignment of the report."""

    assignment: str
    verdicts: list[dict]
    not_submitted: list[str]
    rows: list[Row]
    ungraded: list[tuple[str, str, str]]  # student, exercise or "everything", reason

    @property
    def unsealed(self) -> bool:
        return any(verdict.unsealed(one) for one in self.verdicts)

    @property
    def teach_first(self) -> list[Row]:
        """At most three exercises that most students tried and did not get right, the worst first."""
        tried = [row for row in self.rows if row.lost]
        return sorted(tried, key=lambda row: -row.lost)[:TEACH]

    @property
    def shares(self) -> list[tuple[float, str]]:
        """Each student's points over the points of all that could be judged, fewest first, and the student."""
        return sorted((share, student) for share, student in map(_share, self.verdicts) if share is not None)

    @property
    def need_help(self) -> list[tuple[str, str]]:
        """Students with fewer than half of the points that could be judged, fewest first, and what they have."""
        return [(student, f"{100 * share:.0f}% of the points") for share, student in self.shares if share < HELP_BELOW]

    @property
    def mean_share(self) -> str:
        """The mean of the students' shares of the points, "83%"."""
        shares = [share for share, _ in self.shares]
        return f"{100 * sum(shares) / len(shares):.0f}%" if shares else "–"

    @property
    def counts(self) -> dict[str, int]:
        """How many answers are in each state, over all exercises."""
        return {state: sum(row.counts[state] for row in self.rows) for state in verdict.STATES}


def part(course: Course, db_url: str, assignment: str) -> Part | None:
    """The figures of one assignment, or None where nothing was handed in."""
    found = {s: book.read_verdict(course.root, s, assignment) for s in book.submitted(course.root, assignment)}
    verdicts = [found[student] for student in found if found[student]]
    if not verdicts:
        return None
    missing = [student for student in book.roster(db_url) if student not in found]
    exercises = course.exercises(assignment)
    names = list(dict.fromkeys([*exercises, *(name for one in verdicts for name in one["exercises"])]))
    rows = [_row(name, exercises.get(name), verdicts) for name in names]
    waiting = [(student, "everything", "Not graded yet.") for student, said in found.items() if not said]
    return Part(assignment, verdicts, missing, rows, waiting + [one for said in verdicts for one in _ungraded(said)])


def below_in_several(parts: list[Part]) -> list[tuple[str, list[str]]]:
    """Students below half of the points in two parts or more, those in most parts first, and the parts."""
    where: dict[str, list[str]] = {}
    for one in parts:
        for student, _ in one.need_help:
            where.setdefault(student, []).append(one.assignment)
    several = [(student, names) for student, names in where.items() if len(names) > 1]
    return sorted(several, key=lambda found: (-len(found[1]), found[0]))


def _share(said: dict) -> tuple[float | None, str]:
    """Points over the points of all that was judged, and the student."""
    most = sum(row["max_points"] for row in said["exercises"].values() if row["points"] is not None)
    return (said["points"] / most if most and said["points"] is not None else None), said["student"]


def _row(name: str, exercise, verdicts: list[dict]) -> Row:
    sentences = {m.name: m.sentence for m in exercise.mistakes} if exercise else {}
    counts, who = Counter(), {}
    for one in verdicts:
        said = one["exercises"].get(name)
        if not said:
            continue
        counts[said["state"]] += 1
        if said["state"] in (verdict.WRONG, verdict.PARTLY):
            label = said["mistake"]
            words = (
                f"{label.replace('_', ' ')}: {sentences.get(label, '')}" if label else REASONS.get(said["reason"], "")
            )
            who.setdefault(words, []).append(one["student"])
    slips = sorted(
        (Slip(words, tuple(students)) for words, students in who.items()), key=lambda slip: -len(slip.students)
    )
    return Row(name, {state: counts[state] for state in verdict.STATES}, tuple(slips))


def _ungraded(said: dict) -> list[tuple[str, str, str]]:
    bad = [(name, row["message"]) for name, row in said["exercises"].items() if row["state"] == verdict.UNGRADED]
    if bad and len(bad) == len(said["exercises"]):
        return [(said["student"], "everything", bad[0][1])]
    return [(said["student"], name, message) for name, message in bad]
