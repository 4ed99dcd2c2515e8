"""A self-check: is the pipeline active, is the release fit to be released, do grade book and verdicts agree?"""

from __future__ import annotations

from collections.abc import Iterator

from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from autograder import book
from autograder.breakouts import places, try_all
from autograder.course import SECRET_FILE, Course
from autograder.exercise import Exercise, draw_key
from autograder.footing import Finding, configured, elsewhere, private, secret
from autograder.leaks import leaks_in
from autograder.sandbox import POOL, BoxError

LOOKED_FOR = 3  # students whose hidden inputs a release is searched for


def examine(course: Course, config: Config) -> Iterator[Finding]:
    """Everything that can be looked at, in an order that a teacher can follow."""
    yield configured(config)
    yield elsewhere(course)
    yield private(course)
    yield secret(course)
    db_url = CourseDirectory(config=config).db_url
    yield from kernel(course, db_url)
    for assignment in sorted(path.name for path in (course.root / "source").glob("*") if path.is_dir()):
        yield from exercises(course, assignment)
        if (course.root / "release" / assignment).is_dir():
            yield release(course, assignment, tuple(book.roster(db_url)[:LOOKED_FOR]))
            yield grades(course, db_url, assignment)
            yield strangers(course, db_url, assignment)


def kernel(course: Course, db_url: str) -> Iterator[Finding]:
    """Try to break out of a student's kernel, and say what held."""
    try:
        seal = POOL.level((course.reference,)).words
    except BoxError as error:
        yield Finding("the student's kernel", str(error), False)
        return
    unsealed = "unsealed: a separate process with a clean environment; the disk and the network are not hidden"
    yield Finding("the student's kernel", seal or unsealed)
    hidden = [course.root, course.root / SECRET_FILE, *book.doors(db_url)]
    for tried in try_all((course.reference,), places(*hidden)):
        said = {True: "held", False: "got through", None: "not tried: nothing holds it without a seal"}[tried.held]
        yield Finding(f"tried from a student's kernel: {tried.attempt.name}", said, tried.held is not False)


def exercises(course: Course, assignment: str) -> Iterator[Finding]:
    """The self-test of each exercise: the reference is right, every mistake is told apart."""
    bad = [sentence for e in course.exercises(assignment).values() for sentence in faults(e)]
    yield Finding(f"{assignment}: exercises", "; ".join(bad) or "each passes its self-test", not bad)


def faults(exercise: Exercise) -> list[str]:
    """What is wrong with an exercise, in words; empty where nothing is."""
    found = []
    try:
        calls = exercise.hidden(draw_key(b"doctor", "doctor", "doctor", exercise.name))
    except ValueError as error:
        return [str(error)]
    for one in (*exercise.examples, *calls):
        if type(exercise.run(exercise.reference, one)).__name__ == "Raised":
            found.append(f"{exercise.name}: the reference refuses a legal input")
    for one in exercise.refusals:
        if getattr(exercise.run(exercise.reference, one), "type_name", "") != "ValueError":
            found.append(f"{exercise.name}: the reference does not refuse where {one.why}")
    if exercise.kind == "function" and calls:
        right = [exercise.run(exercise.reference, one) for one in calls]
        if exercise.mistake(right, calls):
            found.append(f"{exercise.name}: the reference itself is taken for a mistake")
    return found


def release(course: Course, assignment: str, students: tuple[str, ...] = ()) -> Finding:
    """The released copy holds no solution, no output, no name of the reference and no hidden input of `students`."""
    leaks = sorted(set(leaks_in(course, assignment, students)))
    return Finding(f"{assignment}: release", "; ".join(leaks) or "nothing leaks", not leaks)


def grades(course: Course, db_url: str, assignment: str) -> Finding:
    """Each automatic score of the grade book is the verdict's."""
    what = f"{assignment}: grade book against verdicts"
    found, off = book.scores(db_url, assignment), []
    for student, row in found.items():
        said = book.read_verdict(course.root, student, assignment)
        if said is None:
            off.append(f"{student} has a score and no verdict")
            continue
        exercises = course.exercises(assignment)
        for name, verdict in said["exercises"].items():
            now = exercises[name].points if name in exercises else verdict["max_points"]
            if verdict["max_points"] != now:
                off.append(f"{student}, {name}: graded for {verdict['max_points']:g} points, now worth {now:g}")
            if row.get(name) != verdict["points"]:
                off.append(f"{student}, {name}: {row.get(name)} in the book, {verdict['points']} in the verdict")
    return Finding(what, "; ".join(off[:5]) or f"{len(found)} students, all the same", not off)


def strangers(course: Course, db_url: str, assignment: str) -> Finding:
    """Everybody who handed in is in the grade book; who was removed from it is named, for the folders remain."""
    known = set(book.roster(db_url))
    left = [student for student in book.submitted(course.root, assignment) if student not in known]
    graded = [student for student in left if book.read_verdict(course.root, student, assignment)]
    said = f"graded, but not in the grade book: {', '.join(graded[:5])}" if graded else "all in the grade book"
    return Finding(f"{assignment}: students who handed in", said, not graded)
