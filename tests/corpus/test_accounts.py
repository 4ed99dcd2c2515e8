"""Every number is held by a submission, by a test that exists, or is named as none of a grader's business."""

import ast

import pytest

from corpus.accounts import ELSEWHERE, FIELD, HOSTILE, NOT_OURS
from corpus.test_corpus import CASES
from partrain_ref.exercises import ASSIGNMENTS

IN_CORPUS = {case.number for case in CASES}


@pytest.mark.parametrize("number", [*HOSTILE, *FIELD])
def test_every_number_is_accounted_for_once(number):
    places = [number in IN_CORPUS, number in ELSEWHERE, number in NOT_OURS]
    assert sum(places[1:]) <= 1 and any(places)


@pytest.mark.parametrize("number", ELSEWHERE)
def test_the_named_test_exists(number, repository):
    path, name = ELSEWHERE[number].split("::")
    tree = ast.parse((repository / path).read_text(encoding="utf-8"))
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_no_number_is_made_up():
    known = {*HOSTILE, *FIELD, "intake"}
    assert IN_CORPUS | set(ELSEWHERE) | set(NOT_OURS) <= known and len(HOSTILE) == 40 and len(FIELD) == 75


def test_the_readme_tells_the_figures(repository):
    text = " ".join((repository / "README.md").read_text(encoding="utf-8").split())
    numbers = IN_CORPUS - {"intake"}
    assert f"{len(CASES)} submissions for {len(numbers)} numbered cases" in text
    mistakes = [mistake for exercises in ASSIGNMENTS.values() for e in exercises for mistake in e.mistakes]
    names = {(e.name, mistake.name) for exercises in ASSIGNMENTS.values() for e in exercises for mistake in e.mistakes}
    assert f"{len(mistakes):,} wrong answers under {len(names)} names" in text
