"""Text that is read and does not steer: without terminal codes and invisible characters, and not too much of it."""

from __future__ import annotations

import re
import unicodedata
from html.parser import HTMLParser

MAX_LINES = 200
MAX_LINE = 400
MAX_TEXT = 20_000
CODES = re.compile(
    r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?"  # titles and links
    r"|(?:\x1b\[|\x9b)[0-9;:<=>?]*[ -/]*[@-~]?"  # colours and movements
    r"|\x1b[ -/]*[0-~]?"  # the rest
)


def readable(text: str) -> str:
    """`text` without terminal codes and other characters that steer instead of being read."""
    text = CODES.sub("", text).replace("\r\n", "\n").replace("\t", "    ")
    text = "\n".join(line.rsplit("\r", 1)[-1] for line in text.split("\n"))  # a progress bar's last state
    return "".join(ch for ch in text if ch == "\n" or ch.isprintable())


def visible(source: str) -> str:
    """Source text with its control characters as signs that can be seen, so that they steer nothing."""
    return "".join(_sign(ch) if ch != "\n" and unicodedata.category(ch) in ("Cc", "Cs") else ch for ch in source)


def _sign(ch: str) -> str:
    code = ord(ch)
    return " " * 4 if ch == "\t" else chr(0x2400 + code) if code < 0x20 else "\u2421" if code == 0x7F else "\ufffd"


def in_a_line(text: str, most: int = 600) -> str:
    """A sentence that may hold names of files and keys of anybody's making."""
    return shortened(" ".join(readable(text).split()), most)


def shortened(text: str, most: int = MAX_TEXT) -> str:
    """`text` cut to a size that a page can show; what was cut off is said."""
    lines = text.split("\n")
    cut = [line if len(line) <= MAX_LINE else f"{line[:MAX_LINE]}… [{len(line):,} characters]" for line in lines]
    kept = "\n".join(cut[:MAX_LINES])
    if len(lines) > MAX_LINES:
        kept += f"\n[cut after {MAX_LINES} of {len(lines):,} lines]"
    return kept if len(kept) <= most else kept[: most - 1] + "…"


class _Visible(HTMLParser):
    def __init__(self):
        super().__init__()
        self.parts, self.hidden = [], 0

    def handle_starttag(self, tag, attrs):
        self.hidden += tag in ("script", "style")
        if tag in ("br", "p", "div", "tr", "li", "h1", "h2", "h3"):
            self.parts.append("\n")
        elif tag in ("td", "th"):
            self.parts.append("  ")

    def handle_endtag(self, tag):
        self.hidden -= tag in ("script", "style") and self.hidden > 0

    def handle_data(self, data):
        if not self.hidden:
            self.parts.append(data)


def visible_text(html: str) -> str:
    """The words of a piece of HTML, without its tags."""
    parser = _Visible()
    try:
        parser.feed(html[:200_000])
        parser.close()
    except Exception:  # half-open markup of somebody's making
        return ""
    return "".join(parser.parts).strip()
