"""What an exercise is: one object from which examples, hidden cases, messages, report and self-test all come."""

from __future__ import annotations

import copy
import hashlib
import hmac
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from autograder import compare

DRAW_ATTEMPTS = 200


@dataclass(frozen=True)
class Call:
    """One call of a graded function. For a refusal, `why` says what is wrong with the input ("devices is 0")."""

    args: tuple = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    why: str = ""


def call(*args, **kwargs) -> Call:
    """`call(2, 4, accum=8)` reads like the call it stands for."""
    return Call(args, kwargs)


def refuse(why: str, *args, **kwargs) -> Call:
    """A call that must end in ValueError, with the reason in words that a student may see."""
    return Call(args, kwargs, why)


@dataclass(frozen=True)
class Mistake:
    """A wrong twin of the reference: a function of the same signature, or a wrong number or letter.

    Where one mistake is made in several ways, each way is a Mistake of the same name. An answer shows the mistake where
    it equals the twin's; where right and wrong have many forms, `made(call, answer)` tells it from the answer instead.
    """

    name: str
    twin: Any
    sentence: str
    unit: bool = False  # a slip of unit (GB for GiB, sequences for tokens), said before other mistakes
    made: Callable[[Call, Any], bool] | None = None


@dataclass(frozen=True)
class Exercise:
    """A graded question.

    kind: "function" (reference is a function), "number" (reference is its value, asked for to `digits` decimals)
    or "choice" (reference is the right letter).
    examples: calls shown to students; draw: hidden calls out of a numpy Generator; refusals: calls that must raise
    ValueError. tolerance: (relative, absolute). accepts(call, answer, reference) -> bool takes answers that are right
    in another way than the reference's. defines: the names a student defines, where that is not just `name`; reference
    and twins are then tuples of functions. scenario names a driver in the student kit that makes plain data of several
    calls of them; drive(reference or twin, call) does the same here. The first `shown_refusals` refusals are shown.
    """

    name: str
    reference: Any
    mistakes: tuple[Mistake, ...]
    points: float
    kind: str = "function"
    examples: tuple[Call, ...] = ()
    draw: Callable[[np.random.Generator], Iterable[Call]] | None = None
    refusals: tuple[Call, ...] = ()
    tolerance: tuple[float, float] = (1e-9, 1e-12)
    digits: int = 0
    unit: str = ""
    accepts: Callable[[Call, Any, Any], bool] | None = None
    shown_refusals: int = 2
    defines: tuple[str, ...] = ()
    scenario: str = ""
    drive: Callable[[Callable, Call], Any] | None = None

    @property
    def functions(self) -> tuple[str, ...]:
        return self.defines or (self.name,)

    @property
    def by_properties(self) -> bool:
        """Whether students check by a property that the kit tries, because no one answer is the right one."""
        return bool(self.accepts or self.scenario)

    def shows(self, one: Call) -> bool:
        """Whether this very call is one of the visible examples."""
        return any(one is example for example in self.examples)

    def run(self, function: Any, one: Call) -> Any:
        """What `function` (the reference or a twin) answers to one call; a number or letter answers with itself."""
        if self.kind != "function":
            return function
        one = replace(one, args=copy.deepcopy(one.args), kwargs=copy.deepcopy(one.kwargs))
        try:
            with np.errstate(all="ignore"):
                return self.drive(function, one) if self.drive else function(*one.args, **one.kwargs)
        except Exception as error:
            return compare.Raised(type(error).__name__)

    def right(self, answer: Any, reference: Any, one: Call) -> bool:
        """Whether plain data `answer` is as good as `reference` for this call."""
        if self.fraction(answer):
            return False
        return compare.difference(answer, reference, self.tolerance, self.digits_asked) is None or bool(
            self.accepts and _holds(self.accepts, one, answer, reference)
        )

    @property
    def digits_asked(self) -> int | None:
        return self.digits if self.kind == "number" else None

    @property
    def whole(self) -> bool:
        """Whether a count is asked for, so that no fraction will do."""
        return self.kind == "number" and self.digits == 0 and isinstance(self.reference, int)

    def fraction(self, answer: Any) -> bool:
        """Whether a count is asked for and this is none: 35,762.8 steps, however they would round."""
        number = answer.item() if isinstance(answer, np.ndarray) and answer.ndim == 0 else answer
        return self.whole and isinstance(number, float) and number % 1 != 0

    def hidden(self, key: bytes) -> tuple[Call, ...]:
        """The hidden calls of one student: the same key gives the same calls. Draws that blur mistakes are rejected."""
        if self.draw is None:
            return ()
        for attempt in range(DRAW_ATTEMPTS):
            seed = hmac.new(key, f"{self.name}:{attempt}".encode(), hashlib.sha256).digest()
            calls = tuple(self.draw(np.random.default_rng(list(seed))))
            if not self.blurred(calls):
                return calls
        raise ValueError(f"{self.name}: no draw out of {DRAW_ATTEMPTS} tells every mistake from the right answer")

    def blurred(self, calls: Iterable[Call]) -> list[str]:
        """Names of mistakes that these calls cannot tell from the right answer or from another mistake."""
        calls = tuple(calls)
        right = [self.run(self.reference, one) for one in calls]
        rows = [(m, [self.run(m.twin, one) for one in calls]) for m in self.mistakes]

        found = [m.name for m, row in rows if self._all_right(row, right, calls)]
        pairs = ((m, row, other, wrong) for i, (m, row) in enumerate(rows) for other, wrong in rows[:i])
        return found + [
            m.name for m, row, other, wrong in pairs if m.name != other.name and self._shows(other, row, wrong, calls)
        ]

    def mistake(self, answers: list, calls: Iterable[Call]) -> Mistake | None:
        """The first mistake that these answers show on every call, unless they are right on all; unit slips first."""
        calls = tuple(calls)
        if self._all_right(answers, [self.run(self.reference, one) for one in calls], calls):
            return None
        for mistake in sorted(self.mistakes, key=lambda m: not m.unit):
            wrong = [] if mistake.made else [self.run(mistake.twin, one) for one in calls]
            if self._shows(mistake, answers, wrong, calls):
                return mistake
        return None

    def _all_right(self, answers: list, right: list, calls: tuple[Call, ...]) -> bool:
        rows = zip(answers, right, calls, strict=True)
        return all(
            compare.same(answer, reference, self.tolerance, self.digits_asked)
            or (not isinstance(answer, compare.Raised) and self.right(answer, reference, one))
            for answer, reference, one in rows
        )

    def _shows(self, mistake: Mistake, answers: list, wrong: list, calls: tuple[Call, ...]) -> bool:
        """Whether answers show a mistake on every call; `wrong` is what its twin gives."""
        if mistake.made:
            rows = zip(answers, calls, strict=True)
            return all(not isinstance(a, compare.Raised) and _holds(mistake.made, one, a) for a, one in rows)
        return all(compare.same(a, w, self.tolerance, self.digits_asked) for a, w in zip(answers, wrong, strict=True))


def _holds(judgement: Callable, *about: Any) -> bool:
    """Whether an answer has a property; one of a form that the property cannot even look at does not have it."""
    try:
        return bool(judgement(*about))
    except Exception:
        return False


def draw_key(secret: bytes, assignment: str, student: str, exercise: str) -> bytes:
    """The key of one student's hidden inputs; the fields are length-prefixed, so that no two joins are alike."""
    fields = [field.encode() for field in (assignment, student, exercise)]
    return hmac.new(secret, b"".join(len(f).to_bytes(4, "big") + f for f in fields), hashlib.sha256).digest()
