"""Colours, sizes and numbers with their units, shared by every figure.

The colours are Okabe and Ito's, which colour-blind readers can tell apart. Figures stand on a light
card of their own (PAPER), so that they read the same in a light theme, in a dark one and in print.
"""

import math
from numbers import Integral

INK = "#1a1a1a"  # text
QUIET = "#555555"  # axes and second-rank text; 7:1 against PAPER
RULE = "#b3b3b3"  # borders and grid lines
PAPER = "#ffffff"  # the card

BLUE = "#0072b2"
SKY = "#cfe4f3"  # a light fill that dark text can stand on
ORANGE = "#e69f00"
VERMILION = "#c44a00"  # darker than the original, so that text in it keeps 4.5:1 on PAPER
GREEN = "#007a5a"
PURPLE = "#a0467a"

SERIES = (BLUE, ORANGE, GREEN, PURPLE)  # the order in which series take their colours

WIDTH = 760  # pixels: the width a picture is drawn for
TEXT = 13  # pixels: ordinary text at that width
SMALL = 12  # pixels: the smallest text allowed
FONT = "Arial, Helvetica, 'DejaVu Sans', sans-serif"

NUMBER_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def number(value, digits=2):
    """A number as text: thousands set apart, `digits` decimals unless it is an int, 1e15 and more in powers of ten."""
    if isinstance(value, Integral):
        return f"{value:,}"
    value = float(value)
    return f"{value:,.{digits}f}" if abs(value) < 1e15 else f"{value:.{digits}e}"


def significant(value, digits=3):
    """A number as text with at least `digits` digits that count: 4,188, 120, 31.4, 1.88, 0.0503. Halves go up."""
    value = float(value)
    if value == 0 or not math.isfinite(value) or abs(value) >= 1e15:
        return f"{value:.3g}"
    places = max(0, digits - 1 - math.floor(math.log10(abs(float(f"{value:.{digits - 1}e}")))))
    up = math.floor(abs(value) * 10**places + 0.5 + 1e-9) / 10**places
    return f"{math.copysign(up, value):,.{places}f}"


def short(value, digits=2):
    """A number with as few decimals as it needs, `digits` at most: 33, 28.5, 107.25."""
    text = number(float(value), digits)
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text


def count(amount, unit):
    """A count with its unit, which is given in the singular: `count(1_048_576, "token")` is "1,048,576 tokens"."""
    return f"{amount:,} {plural(amount, unit)}"


def plural(amount, unit):
    """The unit, with an s unless the amount is one; a sibilant takes es."""
    if amount == 1:
        return unit
    return unit + ("es" if unit.endswith(("ch", "sh", "s", "x")) else "s")


def in_words(amount):
    """A small count as a word, a large one in digits: "two", "four", "16"."""
    return NUMBER_WORDS[amount] if 0 <= amount < len(NUMBER_WORDS) else f"{amount:,}"
