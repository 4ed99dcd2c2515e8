"""Figures: the numbers are plain arithmetic, the SVG is well formed, and no text lies on another."""

import itertools
import xml.etree.ElementTree as ElementTree

import pytest
from pictures import is_sound, texts

from partrain import style
from partrain.figures import svg
from partrain.figures.batch_grid import batch_grid
from partrain.figures.token_weighting import token_weighting

GRIDS = list(itertools.product([1, 2, 7, 8, 9, 21, 64], [1, 4, 16], [1, 2, 5, 8, 19, 32], [8, 4096, 16384]))
COUNTS = [counts for size in (1, 2, 3, 4) for counts in itertools.product([0, 10, 400], repeat=size) if any(counts)]
BATCHES = [
    (list(counts), list(losses)) for counts in COUNTS for losses in itertools.product([0.0, 4.0], repeat=len(counts))
]


def results(picture):
    """The results of the table under the picture: its only texts of 15 pixels."""
    nodes = ElementTree.fromstring(picture.svg).iter("{http://www.w3.org/2000/svg}text")
    return [node.text for node in nodes if node.get("font-size") == "15"]


@pytest.mark.parametrize("numbers", GRIDS[::5])
def test_batch_grid_is_sound(numbers):
    is_sound(batch_grid(*numbers))
    assert batch_grid(*numbers) == batch_grid(*numbers)


@pytest.mark.parametrize(("gpus", "micro_batch", "accumulation", "sequence_length"), GRIDS[::7])
def test_batch_grid_numbers(gpus, micro_batch, accumulation, sequence_length):
    picture = batch_grid(gpus, micro_batch, accumulation, sequence_length)
    sequences = gpus * micro_batch * accumulation
    assert results(picture) == [f"{sequences:,}", f"{sequences * sequence_length:,}", "1"]
    assert picture.svg.count("one all-reduce</text>") == 1


def test_batch_grid_sentence():
    assert batch_grid(8, 4, 8, 4096).sentence == (
        "8 GPUs × 8 micro-batches of 4 sequences make 256 sequences, 1,048,576 tokens, and one all-reduce per update."
    )
    assert batch_grid(1, 1, 1, 8).sentence == (
        "1 GPU × 1 micro-batch of 1 sequence makes 1 sequence, 8 tokens, and one all-reduce per update."
    )


def test_batch_grid_labels_every_cell_with_room():
    assert texts(batch_grid(2, 4, 3, 8)).count("4 sequences") == 6
    assert texts(batch_grid(8, 4, 8, 8)).count("4") == 64 + 1  # and micro-batch 4
    assert len(batch_grid(64, 16, 32, 8).svg) < 12_000  # drawn in few elements, so that a slider stays quick


@pytest.mark.parametrize("batch", BATCHES[::3])
def test_token_weighting_is_sound(batch):
    is_sound(token_weighting(*batch))
    assert token_weighting(*batch) == token_weighting(*batch)


@pytest.mark.parametrize("given", [0.0, 1.25, 1.3, 4.0, 500, -3.0, 999_999.0, 1e300])
def test_a_given_number_is_drawn_wherever_it_lies(given):
    picture = token_weighting([100, 300], [2.0, 1.0], given)
    is_sound(picture)
    assert results(picture) == ["1.50", f"{given:.2e}" if given > 1e6 else f"{given:,.2f}"]


@pytest.mark.parametrize(("counts", "losses"), BATCHES[::5])
def test_token_weighting_numbers(counts, losses):
    per_token = sum(n * loss for n, loss in zip(counts, losses, strict=True)) / sum(counts)
    of_means = sum(losses) / len(losses)
    picture = token_weighting(counts, losses)
    words = texts(picture)
    assert f"per token {per_token:.2f}" in words and f"mean of means {of_means:.2f}" in words
    assert results(picture) == [f"{of_means:.2f}", f"{per_token:.2f}"]


@pytest.mark.parametrize(
    ("counts", "losses", "said"),
    [
        ([100, 300], [2.0, 1.0], "1.25. The mean of the two means is 1.50, which is 0.25 too high."),
        ([300, 100, 100], [2.0, 1.0, 1.0], "1.60. The mean of the three means is 1.33, which is 0.27 too low."),
        ([200, 200], [2.0, 1.0], "1.50. The mean of the two means is 1.50 too: here both agree."),
        ([1000, 1001], [1.0, 1.01], "1.01. The mean of the two means is 1.00, which is 0.01 too low."),
        ([1000, 1001], [2.0, 1.0], "1.50. The mean of the two means is 1.50, which is less than 0.01 too high."),
        ([0, 300], [float("nan"), 1.0], "1.00. The mean of the one mean is 1.00 too: here both agree."),
        ([0, 300], [2.0, 1.0], "1.00. The mean of the two means is 1.50, which is 0.50 too high."),
    ],
)
def test_token_weighting_sentence(counts, losses, said):
    assert token_weighting(counts, losses).sentence == f"Per token the loss is {said}"


@pytest.mark.parametrize(
    ("counts", "losses"),
    [([0, 0], [1.0, 2.0]), ([], []), ([1] * 5, [1.0] * 5), ([1, 2], [1.0]), ([-1, 2], [1, 1]), ([1], [float("nan")])],
)
def test_token_weighting_refuses_with_a_sentence(counts, losses):
    with pytest.raises(ValueError, match=r"\.$"):
        token_weighting(counts, losses)


def test_spread_keeps_its_distance_and_its_room():
    for wanted in itertools.combinations_with_replacement([0, 3, 50, 97, 100], 4):
        places = svg.spread(wanted, 20, 10, 90)
        assert all(b - a >= 20 - 1e-9 for a, b in itertools.pairwise(places))
        assert places[0] >= 10 - 1e-9 and places[-1] <= 90 + 1e-9
    assert svg.spread([50, 50], 20, 0, 100) == [40, 60]


def test_numbers_carry_their_units():
    assert style.count(1_048_576, "token") == "1,048,576 tokens"
    assert style.count(1, "micro-batch") == "1 micro-batch"
    assert style.count(2, "micro-batch") == "2 micro-batches"
    assert style.number(1234.5) == "1,234.50" and style.number(1e300) == "1.00e+300"


def luminance(colour):
    channels = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("colour", [style.INK, style.QUIET, style.BLUE, style.VERMILION, style.GREEN, style.PURPLE])
def test_text_colours_have_contrast(colour):
    assert (luminance(style.PAPER) + 0.05) / (luminance(colour) + 0.05) >= 4.5
