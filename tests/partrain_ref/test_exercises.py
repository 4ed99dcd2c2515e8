"""The self-test of every exercise, generated from its object: right gets all, each mistake is named."""

import copy
import math
from fractions import Fraction

import numpy as np
import pytest

from autograder import verdict, wire
from autograder.ask import value_calls
from autograder.assess import assess
from autograder.compare import Raised
from autograder.exercise import draw_key
from partrain_ref.exercises import ASSIGNMENTS

ALL = [pytest.param(e, part, id=f"{part}:{e.name}") for part, exercises in ASSIGNMENTS.items() for e in exercises]
FUNCTIONS = [p for p in ALL if p.values[0].kind == "function"]
SINGLE = [p for p in FUNCTIONS if not p.values[0].defines]  # one function, so that it can be wrapped
REFUSING = [p for p in SINGLE if p.values[0].refusals]
SECRET = b"a secret of the tests"


def graded(exercise, part, function, student="anna", form=lambda value: value):
    """The verdict on somebody whose function is `function`, through the same wire as a student's kernel uses."""
    calls = value_calls(exercise, SECRET, part, student)
    outcomes = []
    for one in (*calls, *exercise.refusals):
        answer = exercise.run(function, one)
        if isinstance(answer, Raised):
            outcomes.append({"raised": answer.type_name, "text": "", "changed": False, "printed": False})
        else:
            outcomes.append({"value": wire.encode(form(answer)), "changed": False, "printed": False})
    count = len(calls) + len(exercise.refusals)
    bundle = wire.read_bundle({"exercise": exercise.name, "outcomes": outcomes}, exercise.name, count)
    return assess(exercise, calls, bundle)


@pytest.mark.parametrize(("exercise", "part"), ALL)
def test_the_reference_gets_all_points(exercise, part):
    for student in ("anna", "bo", "chen"):
        assert graded(exercise, part, exercise.reference, student) == verdict.right(exercise.points)


@pytest.mark.parametrize(("exercise", "part"), ALL)
def test_every_mistake_gets_fewer_points_and_is_named(exercise, part):
    for mistake in exercise.mistakes:
        said = graded(exercise, part, mistake.twin)
        assert (said.state, said.points, said.mistake) == (verdict.WRONG, 0.0, mistake.name)
        assert mistake.sentence in said.message


@pytest.mark.parametrize(("exercise", "part"), ALL)
def test_there_are_at_least_two_mistakes_with_a_sentence_each(exercise, part):
    assert len({mistake.name for mistake in exercise.mistakes}) >= 2
    assert all(mistake.sentence.endswith(".") and mistake.sentence.strip() for mistake in exercise.mistakes)


FORMS = {
    "list for array": lambda v: v.tolist() if isinstance(v, np.ndarray) else v,
    "array for list": lambda v: np.array(v) if isinstance(v, list) and all(isinstance(x, float) for x in v) else v,
    "float for int": lambda v: float(v) if isinstance(v, int) and not isinstance(v, bool) else v,
    "0-d array for number": lambda v: np.array(v) if isinstance(v, int | float) and not isinstance(v, bool) else v,
    "tuple for list": lambda v: tuple(v) if isinstance(v, list) else v,
    "last bit": lambda v: math.nextafter(v, math.inf) if isinstance(v, float) else v,
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize(("exercise", "part"), ALL)
def test_right_in_another_form_is_right(exercise, part, form):
    assert graded(exercise, part, exercise.reference, form=form) == verdict.right(exercise.points)


@pytest.mark.parametrize(("exercise", "part"), REFUSING)
def test_right_values_without_refusals_earn_three_quarters(exercise, part):
    def careless(*args, **kwargs):
        try:
            return exercise.reference(*args, **kwargs)
        except ValueError:
            return 0

    said = graded(exercise, part, careless)
    assert (said.state, said.points) == (verdict.PARTLY, 0.75 * exercise.points)
    assert said.mistake is None


@pytest.mark.parametrize(("exercise", "part"), FUNCTIONS)
def test_a_blank_is_not_started(exercise, part):
    def stub(*args, **kwargs):
        raise NotImplementedError

    blank = tuple(stub for _ in exercise.defines) or stub
    assert graded(exercise, part, blank).state == verdict.NOT_STARTED


@pytest.mark.parametrize(("exercise", "part"), SINGLE)
def test_nothing_returned_is_said(exercise, part):
    said = graded(exercise, part, lambda *args, **kwargs: None)
    assert (said.state, said.points, said.reason) == (verdict.WRONG, 0.0, "nothing")
    assert "Did you print" in said.message


@pytest.mark.parametrize(("exercise", "part"), SINGLE)
def test_a_table_of_the_visible_answers_is_not_enough(exercise, part):
    seen = {}

    def learning(*args, **kwargs):
        return seen.setdefault(repr((args, kwargs)), exercise.reference(*args, **kwargs))

    for one in exercise.examples:
        exercise.run(learning, one)
    other = exercise.run(exercise.mistakes[0].twin, exercise.examples[0])

    def table(*args, **kwargs):
        return copy.deepcopy(seen.get(repr((args, kwargs)), other))

    assert graded(exercise, part, table).points == 0


@pytest.mark.parametrize(("exercise", "part"), FUNCTIONS)
def test_draws_differ_between_students_and_stay_for_one(exercise, part):
    def text(student, secret=SECRET):
        return wire.encode_calls(exercise.hidden(draw_key(secret, part, student, exercise.name)))

    assert text("anna") == text("anna")
    assert text("anna") != text("bo")
    assert text("anna") != text("anna", b"another course")


@pytest.mark.parametrize(("exercise", "part"), FUNCTIONS)
def test_the_examples_tell_every_mistake(exercise, part):
    """What the grader can name, a student can find out with `check`."""
    assert exercise.blurred(exercise.examples) == []


@pytest.mark.parametrize(("exercise", "part"), FUNCTIONS)
def test_inputs_are_never_changed_by_the_reference(exercise, part):
    for one in value_calls(exercise, SECRET, part, "anna"):
        before = wire.encode_calls((one,))
        exercise.run(exercise.reference, one)
        assert wire.encode_calls((one,)) == before


def test_a_fraction_is_read_as_its_number():
    from partrain.plain import pack

    assert pack(Fraction(188, 136)) == 188 / 136


def test_names_are_unique_across_the_course():
    names = [exercise.name for exercises in ASSIGNMENTS.values() for exercise in exercises]
    assert len(names) == len(set(names))
