"""What is said of an answer: its state, its points, one message; as JSON, as text and as HTML."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from html import escape

RIGHT, PARTLY, WRONG = "right", "partly", "wrong"
NOT_STARTED, UNGRADED, WAITS = "not started", "could not be graded", "waits for a person"
STATES = (RIGHT, PARTLY, WRONG, NOT_STARTED, UNGRADED, WAITS)
NO_POINTS_YET = (UNGRADED, WAITS)

SIGNS = {RIGHT: "✓", PARTLY: "◐", WRONG: "✗", NOT_STARTED: "○", UNGRADED: "?", WAITS: "…"}
AS_HANDED_OUT = "Not started yet: the answer cell is as it was handed out."
PARTLY_SHARE = 0.75  # of the points for right values; the rest is for refusing bad input


@dataclass(frozen=True)
class Verdict:
    """One exercise of one student. points is None where nobody has judged yet.

    mistake: the name of a recognised mistake of the exercise; reason: in which way it is off, one of "nothing",
    "raised", "type", "shape", "not finite", "mistake", "examples only", "changed", "state", "value", "refusals",
    "missing", "stopped", "bundle" or "".
    """

    state: str
    points: float | None
    max_points: float
    mistake: str | None = None
    message: str = ""
    reason: str = ""

    def as_json(self) -> dict:
        return asdict(self)

    @property
    def headline(self) -> str:
        if self.points is None:
            return f"{self.state} (of {number(self.max_points)} points)"
        return f"{self.state}, {number(self.points)} of {number(self.max_points)} points"

    def text(self, name: str) -> str:
        return "\n".join(filter(None, [f"{name}: {self.headline}", self.message]))

    def html(self, name: str) -> str:
        lines = "".join(f"<p style='margin:0.3em 0 0 0'>{escape(line)}</p>" for line in self.message.splitlines())
        return (
            "<div role='note' style='border:1px solid #8a8a8a;border-left:6px solid #8a8a8a;border-radius:4px;"
            "padding:0.5em 0.8em;max-width:46em;background:#fafafa;color:#1a1a1a;font-family:sans-serif'>"
            f"<strong>{SIGNS[self.state]} {escape(name)}: {escape(self.headline)}</strong>{lines}</div>"
        )


def number(value: float) -> str:
    """4.0 as 4, 4.5 as 4.5."""
    return f"{value:g}"


def right(max_points: float, message: str = "") -> Verdict:
    return Verdict(RIGHT, max_points, max_points, None, message)


def partly(max_points: float, message: str) -> Verdict:
    return Verdict(PARTLY, round(max_points * PARTLY_SHARE, 4), max_points, None, message)


def wrong(max_points: float, message: str, mistake: str | None = None, reason: str = "value") -> Verdict:
    return Verdict(WRONG, 0.0, max_points, mistake, message, reason)


def not_started(max_points: float, message: str = AS_HANDED_OUT) -> Verdict:
    return Verdict(NOT_STARTED, 0.0, max_points, None, message)


def ungraded(max_points: float, message: str) -> Verdict:
    return Verdict(UNGRADED, None, max_points, None, message, "bundle")


def waits(max_points: float, message: str = "A person reads this answer.") -> Verdict:
    return Verdict(WAITS, None, max_points, None, message)


def summary(student: str, part: str, verdicts: dict[str, Verdict], sealed: bool, repairs: list[str]) -> dict:
    """The content of verdict.json. points is null where no exercise could be graded."""
    known = [v.points for v in verdicts.values() if v.points is not None]
    return {
        "student": student,
        "part": part,
        "points": round(sum(known), 4) if known else None,
        "max_points": sum(v.max_points for v in verdicts.values()),
        "sealed": sealed,
        "repairs": repairs,
        "exercises": {name: verdict.as_json() for name, verdict in verdicts.items()},
    }


def unsealed(said: dict) -> bool:
    """Whether student code ran outside a seal; where nothing could be graded, none ran."""
    return not said["sealed"] and said["points"] is not None
