"""What a student reads in the notebook: every message of `check`, and that it agrees with the grader's verdict."""

import math
import os
import subprocess
import sys

import numpy as np
import pytest

from autograder import compare, rounding
from partrain import check
from partrain.alike import alike, off, rounded
from partrain.check import EXAMPLES, NOT_GRADED_HERE, Unfinished
from partrain_ref.exercises import ASSIGNMENTS

EXERCISES = {exercise.name: exercise for exercises in ASSIGNMENTS.values() for exercise in exercises}
PLAIN = [pytest.param(e, id=name) for name, e in EXERCISES.items() if not e.accepts and not e.scenario]


def told(name, answer):
    """What check says: its printed line, or the text of what it raises."""
    try:
        check(name, answer)
    except Unfinished as error:
        return str(error)
    return ""


@pytest.mark.parametrize("exercise", PLAIN)
def test_the_reference_passes(exercise, capsys):
    check(exercise.name, exercise.reference)
    assert capsys.readouterr().out.startswith(f"{exercise.name}: right")


@pytest.mark.parametrize("exercise", PLAIN)
def test_every_mistake_gets_its_own_hint(exercise):
    for mistake in exercise.mistakes:
        assert mistake.sentence in told(exercise.name, mistake.twin), mistake.name


@pytest.mark.parametrize("exercise", PLAIN)
def test_not_started_is_said_calmly(exercise):
    def stub(*args, **kwargs):
        raise NotImplementedError

    text = told(exercise.name, stub if exercise.kind == "function" else ...)
    assert "not started yet" in text or "not answered yet" in text


def test_a_failed_check_is_a_few_lines_without_a_traceback():
    with pytest.raises(Unfinished) as failed:
        check("per_token_loss", lambda means, counts: sum(means) / len(means))
    lines = failed.value._render_traceback_()
    assert lines[0] == "`per_token_loss([2.0, 1.0], [100, 300])` gave 1.5."
    assert 1 < len(lines) <= 4 and not any("Traceback" in line for line in lines)


@pytest.mark.parametrize(
    ("name", "answer", "words"),
    [
        ("global_tokens", lambda *a: None, "Did you print instead of return?"),
        ("global_tokens", lambda *a: "256", "It returned a text; a number is asked for."),
        ("global_tokens", lambda a, b, c, d: [a * b * c * d], "One single number is asked for."),
        ("global_tokens", lambda *a: float("inf"), "Not every number in it is finite."),
        ("global_tokens", lambda *a: 1 / 0, "stopped with ZeroDivisionError: division by zero"),
        ("global_tokens", 256, "global_tokens is no longer a function."),
        ("global_tokens", lambda a, b, c, d: a * b * c * d, "it should raise ValueError, because devices is 0."),
        (
            "allreduce_mean",
            lambda grads: np.mean(grads, axis=0).reshape(-1, 1),
            "shape is (2, 1); shape (2,) is asked for.",
        ),
        ("tokens_per_update", "many", "must be one number"),
        ("tokens_per_update", True, "must be one number"),
        ("tokens_per_update", 17, "Asked for: tokens."),
        ("why_average", "e", "must be one of the letters a, b, c, d"),
        ("no_such_exercise", 1, "There is no exercise called"),
    ],
)
def test_messages(name, answer, words):
    assert words in told(name, answer)


def test_averaging_in_place_is_named():
    def in_place(grads):
        grads[0] += grads[1]
        grads[0] /= 2
        return grads[0]

    assert "changed its input" in told("allreduce_mean", in_place)


@pytest.mark.parametrize("answer", [8_388_608, 8_388_608.0, np.int64(8_388_608), np.array(8_388_608)])
def test_numbers_in_another_form_are_right(answer):
    assert told("tokens_per_update", answer) == ""


@pytest.mark.parametrize("answer", ["c", "C", " c "])
def test_letters_in_another_form_are_right(answer):
    assert told("why_average", answer) == ""


def test_no_expected_value_of_a_function_is_told():
    wrong = lambda *args, **kwargs: 12345.678  # noqa: E731
    assert told("per_token_loss", wrong) == "`per_token_loss([2.0, 1.0], [100, 300])` gave 12345.678."


def test_the_examples_file_is_up_to_date(repository):
    from autograder.authoring import EXAMPLES_FILE, examples_text
    from autograder.course import find_repository

    stored = (repository / "notebooks" / "partrain" / EXAMPLES_FILE).read_text(encoding="utf-8")
    assert stored == examples_text(*find_repository(repository)), "run `make notebooks`"


def test_the_right_number_or_letter_is_not_in_the_examples_file():
    for name, exercise in EXERCISES.items():
        if exercise.kind != "function":
            public = EXAMPLES[name]
            assert "reference" not in public and "answer" not in public
            assert all(mistake["answer"] != exercise.reference for mistake in public["mistakes"])


def test_outside_the_pipeline_check_fails_and_says_which_configuration_is_missing(repository):
    code = "from partrain import check\ncheck('tokens_per_update', 8388608)"
    env = {**os.environ, "NBGRADER_EXECUTION": "autograde", "PYTHONPATH": str(repository / "notebooks")}
    ran = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert ran.returncode != 0 and NOT_GRADED_HERE in ran.stderr


FORMS = [
    (256, 256.0, np.int64(256), np.array(256), "256", True, None, [256], 256.0001, float("nan")),
    (
        np.array([1.0, 2.0]),
        [1.0, 2.0],
        (1, 2),
        np.array([[1.0, 2.0]]),
        [1.0, 2.5],
        [1.0],
        "x",
        None,
        np.array([1.0, np.inf]),
    ),
    ([1, 2, 3], (1, 2, 3), np.array([1, 2, 3]), [1, 2], {1, 2, 3}, "abc", None),
    ({"a", "b"}, ["b", "a"], ("a", "b"), {"a"}, "ab", None),
    (True, np.True_, 1, "True", None),
]


@pytest.mark.parametrize("row", FORMS, ids=["int", "array", "list", "set", "bool"])
def test_student_and_grader_have_one_table_of_forms(row):
    """`alike` in the kit and `compare` in the grader do not import each other; they must say the same."""
    from autograder import wire
    from partrain.plain import pack

    wanted, tolerance = row[0], (1e-9, 1e-12)
    for answer in row:
        plain = wire.decode(pack(answer))
        judged = compare.difference(plain, wanted, tolerance)
        assert (off(answer, wanted, tolerance) is None) == (judged is None), answer
        assert alike(answer, wanted, tolerance) == compare.same(plain, wanted, tolerance), answer


def test_a_cell_that_uses_an_unfinished_function_waits_calmly(capsys):
    from partrain import once_written

    with once_written():
        raise NotImplementedError
    with once_written():
        _ = None + 1
    said = capsys.readouterr().out.splitlines()
    assert " ".join(said[:2]) == "This cell waits for your function above. Write it, then run this cell again."
    assert " ".join(said[2:]).startswith(
        "This cell waits for your function above; it stopped with TypeError: unsupported"
    )


def test_what_a_check_says_is_cut_into_lines_between_words_and_keeps_its_own_line_ends():
    from partrain.unfinished import COLUMNS, Unfinished, in_lines

    said = "per_token_loss([2.0, 1.0], [100, 300]) gave 1.5.\n" + "That is the mean of the means. " * 5 + "x" * 90
    lines = in_lines(said)
    assert lines[0] == said.splitlines()[0] and lines[-1] == "x" * 90
    assert all(len(line) <= COLUMNS for line in lines[:-1])
    assert " ".join(lines).split() == said.split()
    assert Unfinished(said)._render_traceback_() == lines


@pytest.mark.parametrize("answer", [3, 3.0, 3.14, 3.15, np.float64(3.1), np.array([3.1, 2.7]), True, "3.14", [3.1]])
@pytest.mark.parametrize("wanted", [math.pi, 3, np.array([math.pi, math.e]), "pi"])
def test_grader_and_kit_agree_on_what_looks_rounded(answer, wanted):
    if np.shape(answer) in ((), np.shape(wanted)):  # both ask for the shape first
        assert bool(rounded(answer, wanted)) == rounding.rounded(answer, wanted)
