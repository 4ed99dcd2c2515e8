"""Small pieces of SVG as text: the same numbers give the same bytes; no ids, no dates.

Lengths are pixels at a picture width of style.WIDTH; y grows downwards.
"""

from dataclasses import dataclass, replace
from xml.sax.saxutils import escape, quoteattr

from partrain import style

ANCHORS = {"left": "start", "middle": "middle", "right": "end"}


@dataclass(frozen=True)
class Picture:
    """An SVG, the one sentence that says what it shows (also its text alternative), and its height in pixels."""

    svg: str
    sentence: str
    height: int = 200
    caption: bool = True  # whether the sentence also stands below the picture

    @property
    def html(self):
        """The picture and its sentence. The outer box is as narrow as the window, the picture scrolls inside it."""
        below = escape(self.sentence) if self.caption else "&#160;"
        return (
            f'<div style="width: 0; min-width: min(100%, {style.WIDTH}px)">'
            f'<div style="overflow-x: auto">{self.svg}</div>'
            f'<p style="margin: 8px 0; line-height: 1.4">{below}</p></div>'
        )

    def _repr_mimebundle_(self, include=None, exclude=None):
        """As the last line of a cell, a picture shows itself."""
        return {"text/html": self.html, "text/plain": self.sentence}


def picture(sentence, height, *parts):
    """Put parts on a card of style.WIDTH by `height` pixels that carries the sentence as its text alternative.

    The picture has a shape and no size of its own: an exported page shows it as an image, which on paper then fits.
    """
    width = style.WIDTH
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label={quoteattr(sentence)} '
        f'viewBox="0 0 {width} {height}" font-family="{style.FONT}" '
        f'font-size="{style.TEXT}" '
        f'style="width: 100%; min-width: 560px; max-width: {width}px; height: auto; display: block">'
    )
    card = rect(0.5, 0.5, width - 1, height - 1, style.PAPER, stroke=style.RULE, rx=4)
    return Picture("\n".join([opening, card, *parts, "</svg>"]), sentence, height)


def notice(sentence, height):
    """A card of the given height that shows a sentence and nothing else, for a state that cannot be drawn."""
    lines = [text(24, 40 + 20 * row, line) for row, line in enumerate(wrap(sentence, style.WIDTH - 48))]
    return replace(picture(sentence, max(height, 60 + 20 * len(lines)), *lines), caption=False)


def rect(x, y, width, height, fill, **attributes):
    """A filled rectangle; a further attribute stroke_width is written stroke-width."""
    return f'<rect x="{px(x)}" y="{px(y)}" width="{px(width)}" height="{px(height)}" fill="{fill}"{_more(attributes)}/>'


def line(x1, y1, x2, y2, stroke=style.INK, **attributes):
    """A straight line."""
    return f'<line x1="{px(x1)}" y1="{px(y1)}" x2="{px(x2)}" y2="{px(y2)}" stroke="{stroke}"{_more(attributes)}/>'


def lines(segments, stroke, **attributes):
    """Many straight lines (x1, y1, x2, y2) as one element, which keeps a large grid quick to draw."""
    moves = "".join(f"M{px(x1)} {px(y1)}L{px(x2)} {px(y2)}" for x1, y1, x2, y2 in segments)
    return f'<path d="{moves}" stroke="{stroke}" fill="none"{_more(attributes)}/>' if moves else ""


def curve(points, stroke, **attributes):
    """A line through (x, y) points, not filled."""
    moves = "L".join(f"{px(x)} {px(y)}" for x, y in points)
    return f'<path d="M{moves}" stroke="{stroke}" fill="none"{_more(attributes)}/>'


def dot(x, y, radius, fill, **attributes):
    """A filled circle."""
    return f'<circle cx="{px(x)}" cy="{px(y)}" r="{px(radius)}" fill="{fill}"{_more(attributes)}/>'


def dots(points, radius, fill):
    """Filled circles at (x, y) points as one element, which keeps many of them quick to draw."""
    spots = "".join(f"M{px(x)} {px(y)}h0" for x, y in points)
    return (
        f'<path d="{spots}" stroke="{fill}" stroke-width="{px(2 * radius)}" stroke-linecap="round"/>' if spots else ""
    )


def window(x, y, width, height, *parts):
    """Parts cut off at the edges of a rectangle (a clip path would need an id); they keep the picture's coordinates."""
    box = f'x="{px(x)}" y="{px(y)}" width="{px(width)}" height="{px(height)}"'
    return f'<svg {box} viewBox="{px(x)} {px(y)} {px(width)} {px(height)}">{"".join(parts)}</svg>'


def shape(points, fill, **attributes):
    """A filled polygon through (x, y) points: a triangle, a diamond."""
    return f'<polygon points="{" ".join(f"{px(x)},{px(y)}" for x, y in points)}" fill="{fill}"{_more(attributes)}/>'


def hatch(x, y, width, height, gap, stroke, **attributes):
    """Diagonal lines `gap` apart inside a rectangle, cut at its edges (a pattern would need an id)."""
    segments = []
    reach = gap
    while reach < width + height:
        low, high = max(0, reach - height), min(width, reach)  # where the line x + y = reach enters and leaves
        segments.append((x + low, y + reach - low, x + high, y + reach - high))
        reach += gap
    return lines(segments, stroke, **attributes)


def text(x, y, words, size=style.TEXT, fill=style.INK, anchor="left", bold=False):
    """One line of text whose baseline is at y; anchor says which part of it stands at x."""
    weight = ' font-weight="bold"' if bold else ""
    place = f' text-anchor="{ANCHORS[anchor]}"' if anchor != "left" else ""
    return f'<text x="{px(x)}" y="{px(y)}" font-size="{px(size)}" fill="{fill}"{weight}{place}>{escape(words)}</text>'


def text_width(words, size=style.TEXT, bold=False):
    """An estimate, rather too wide than too narrow, of the width of a text in pixels."""
    return len(words) * size * (0.62 if bold else 0.57)


def wrap(words, width, size=style.TEXT):
    """The words cut into lines that fit a width in pixels."""
    rows = [""]
    for word in words.split():
        longer = f"{rows[-1]} {word}".strip()
        if rows[-1] and text_width(longer, size) > width:
            rows.append(word)
        else:
            rows[-1] = longer
    return rows


def spread(wanted, gap, low, high):
    """Move sorted positions apart until neighbours are `gap` pixels apart, inside low..high, each way as far."""
    last = len(wanted) - 1
    down = [min(place, high - gap * (last - index)) for index, place in enumerate(wanted)]
    for index in range(len(wanted)):
        down[index] = max(down[index], down[index - 1] + gap if index else low)
    up = [max(place, low + gap * index) for index, place in enumerate(wanted)]
    for index in reversed(range(len(wanted))):
        up[index] = min(up[index], up[index + 1] - gap if index < last else high)
    return [(lower + upper) / 2 for lower, upper in zip(down, up, strict=True)]


def px(value):
    """A length as text with at most two decimals, so that no float noise gets into a stored picture."""
    return f"{round(float(value), 2) + 0.0:.2f}".rstrip("0").rstrip(".")


def _more(attributes):
    return "".join(f" {name.replace('_', '-')}={quoteattr(str(value))}" for name, value in attributes.items())
