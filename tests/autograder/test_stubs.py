import pytest

from autograder.stubs import drop_regions, is_stub, without_marks

FUNCTION = '''def double(x):
    """Twice x."""
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION
'''
STUB = '''def double(x):
    """Twice x."""
    # your code here
    raise NotImplementedError'''


def test_an_indented_region_becomes_the_place_to_write():
    assert drop_regions(FUNCTION) == STUB


def test_a_region_at_the_margin_is_dropped():
    source = "tokens = ...  # tokens\n### BEGIN SOLUTION\ntokens = 256\n### END SOLUTION"
    assert drop_regions(source) == "tokens = ...  # tokens"


@pytest.mark.parametrize(
    "source",
    ["### BEGIN SOLUTION\nx", "### BEGIN SOLUTION\n### BEGIN SOLUTION\n### END SOLUTION", "x\n### END SOLUTION"],
)
def test_regions_that_do_not_close_are_refused(source):
    with pytest.raises(RuntimeError):
        drop_regions(source)


@pytest.mark.parametrize(
    "source",
    [
        STUB,
        STUB + "\n\n",
        STUB.replace("# your code here", "# I do not know yet"),
        STUB.replace("Twice x.", "Zweimal x."),
        STUB.replace("\n", "\r\n"),
        "# later\n" + STUB,
    ],
)
def test_blanks_comments_and_docstring_do_not_make_an_answer(source):
    assert is_stub(source, STUB)


@pytest.mark.parametrize("source", ["", "def double(x):\n    return 0", STUB + "\nprint(1)", "def double(x:"])
def test_anything_else_is_an_answer(source):
    assert not is_stub(source, STUB)


@pytest.mark.parametrize("source", ["x = " + "+".join("1" * 20_000), "(" * 50_000, "-" * 50_000 + "1", "x = '\x00'"])
def test_what_is_too_deep_to_be_looked_into_is_no_stub(source):
    assert not is_stub(source, "x = ...") and is_stub(source, source)


def test_a_solution_without_its_marks_reads_as_somebody_wrote_it():
    source = "def half(x):\n    ### BEGIN SOLUTION\n    return x / 2\n    ### END SOLUTION"
    assert without_marks(source) == "def half(x):\n    return x / 2"
