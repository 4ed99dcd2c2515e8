"""What tests of figures and panels look at: the texts of a picture, whether it is sound, whether a panel is calm."""

import itertools
import re
import xml.etree.ElementTree as ElementTree

from partrain import style
from partrain.figures import svg


def texts(picture):
    """Every text in the picture."""
    return [
        "".join(node.itertext()) for node in ElementTree.fromstring(picture.svg).iter() if node.tag.endswith("text")
    ]


def boxes(picture):
    """(words, left, top, right, bottom) of every text, by estimate."""
    for node in ElementTree.fromstring(picture.svg).iter("{http://www.w3.org/2000/svg}text"):
        x, y, size = (float(node.get(name)) for name in ("x", "y", "font-size"))
        width = svg.text_width(node.text, size, node.get("font-weight") == "bold")
        left = x - width * {"start": 0, "middle": 0.5, "end": 1}[node.get("text-anchor", "start")]
        assert size >= style.SMALL
        yield node.text, left, y - 0.75 * size, left + width, y + 0.2 * size


def is_sound(picture):
    """Well formed, with its sentence as text alternative, without ids, and no text on another or over the edge."""
    root = ElementTree.fromstring(picture.svg)
    assert root.get("role") == "img" and root.get("aria-label") == picture.sentence
    assert not any("id" in node.attrib for node in root.iter())
    assert not re.search(r"\bnan\b|\binf\b|-0\b(?!\.)|np\.", picture.svg)
    placed = list(boxes(picture))
    for words, left, top, right, bottom in placed:
        assert left >= 4 and top >= 4 and right <= style.WIDTH - 4 and bottom <= picture.height - 4, words
    for one, two in itertools.combinations(placed, 2):
        apart = one[3] <= two[1] or two[3] <= one[1] or one[4] <= two[2] or two[4] <= one[2]
        assert apart, (one, two)


def ends(control):
    """The first and last value of a slider or menu, both values of a switch."""
    if hasattr(control, "options"):
        return control.options[0][1], control.options[-1][1]
    return (control.min, control.max) if hasattr(control, "min") else (False, True)


def is_calm(panel):
    """The panel shows a well-formed picture with its sentence under it, and no traceback. Returns the sentence."""
    picture = panel.picture
    root = ElementTree.fromstring(picture.svg)
    assert root.get("aria-label") == picture.sentence
    assert picture.svg in panel.html.value
    assert panel.html.value.index("</svg>") < panel.html.value.index("<p ")
    assert "Traceback" not in panel.html.value
    return picture.sentence
