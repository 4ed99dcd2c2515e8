"""The rows of a pipeline timeline: blocks of work, idle time, micro-batches in flight, and the axis of time."""

from partrain import style
from partrain.figures import svg

LEFT, RIGHT, TOP, BOTTOM = 88, 640, 64, 356  # pixels: the rows
ROW = 116  # pixels: the highest row
FLYING = (692, 698, 738)  # pixels: right of the number of micro-batches in flight, left and right of its bar
WAITS = 150  # pixels kept free on the right for what a device waits for, for ever
IDLE, FLIGHT = "#fdeccb", "#cdebdf"
TRACK = "#f3f3f3"  # behind the lanes of a device with several chunks
NOTHING = 1e-6  # time that counts as none


def timeline(facts, ran, own, time):
    """Everything above the table. facts: the numbers of the run; ran: a partrain.schedules.Run; own: whose order it is,
    or None; time: where the reader's own diamond stands, or None."""
    height = min(ROW, (BOTTOM - TOP) / facts.stages)
    scale = (RIGHT - LEFT - (WAITS if ran.stuck else 0)) / max(ran.total, facts.ideal)
    yield from _legend(own, facts.chunks)
    yield from _rows(facts, ran, height, scale)
    yield from () if ran.stuck else _ideal(facts, TOP + facts.stages * height, scale)
    yield from _blocks(ran, facts.chunks, height, scale)
    yield from _stuck(ran, height, scale)
    yield from _in_flight(facts, height)
    yield from _axis(ran, TOP + facts.stages * height, scale, time)


def _legend(own, chunks):
    for x, draw, words in ((0, _forward, "forward"), (110, _backward, "backward"), (232, _idle, "idle")):
        yield from draw([(LEFT + x, 14, 26, 18)])
        yield svg.text(LEFT + x + 33, 28, words)
    yield svg.text(LEFT + 6, 28, "F0", style.SMALL)
    yield svg.text(LEFT + 116, 28.5, "B0", style.SMALL, style.PAPER)
    if own:
        yield svg.text(RIGHT, 28, f"your {own}", style.SMALL, style.BLUE, "right", True)
    elif chunks > 1:
        yield svg.text(RIGHT, 28, "one lane a chunk, the first on top", style.SMALL, style.QUIET, "right")
    yield svg.text(FLYING[2], 28, "micro-batches", style.SMALL, style.QUIET, "right")
    yield svg.text(FLYING[2], 44, "in flight", style.SMALL, style.QUIET, "right")


def _boxes(boxes, fill, **attributes):
    """Many rectangles (x, y, width, height) as one element, which keeps a large timeline quick to draw."""
    moves = "".join(f"M{x:.2f} {y:.2f}h{w:.2f}v{h:.2f}h{-w:.2f}z" for x, y, w, h in boxes if w >= 0.01)
    more = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in attributes.items())
    return f'<path d="{moves}" fill="{fill}"{more}/>' if moves else ""


def _forward(boxes):
    """Light and as tall as the row."""
    yield _boxes(boxes, style.SKY, **_edges(boxes))


def _backward(boxes):
    """Dark, and lower than a forward."""
    yield _boxes([(x, y + _step(h), w, h - _step(h)) for x, y, w, h in boxes], style.BLUE, **_edges(boxes))


def _step(height):
    return min(8, height / 4)


def _edges(boxes):
    """White edges between blocks, where blocks are wide enough for them."""
    return {"stroke": style.PAPER, "stroke_width": 1} if min((w for _, _, w, _ in boxes), default=0) > 3 else {}


def _idle(boxes):
    """Pale, with diagonal lines; all of them are one element, and fewer where much is idle."""
    yield _boxes(boxes, IDLE)
    gap = 7 if sum(w for _, _, w, _ in boxes) < 1200 else 11
    moves = []
    for x, y, w, h in boxes:
        for at in range(gap, int(w + h) if w > 1 else 0, gap):
            low, high = max(0, at - h), min(w, at)  # where the line x + y = at enters and leaves
            moves.append(f"M{x + low:.1f} {y + at - low:.1f}l{high - low:.1f} {low - high:.1f}")
    yield f'<path d="{"".join(moves)}" stroke="{style.ORANGE}" fill="none"/>' if moves else ""


def _rows(facts, ran, height, scale):
    """The name of each device, and its idle time from the first start to the last end."""
    name = "device" if facts.chunks > 1 else "stage"
    pad = min(3, height / 8)
    idle = []
    for s, blocks in enumerate(ran.blocks):
        y = TOP + s * height
        slow = facts.pace[s] > 1
        label = f"{name} {s}"
        yield svg.text(LEFT - 10, y + height / 2 + 4.5, label, anchor="right", bold=slow)
        if slow and height >= 36:
            yield svg.text(LEFT - 10, y + height / 2 + 20, f"× {facts.pace[s]:g}", style.SMALL, style.QUIET, "right")
        if facts.chunks > 1:
            yield svg.rect(LEFT, y + pad, ran.total * scale, height - 2 * pad, TRACK)
        starts = [*(block[3] for block in blocks), ran.total]
        ends = [0.0, *(block[4] for block in blocks)]
        gaps = [(end, start) for end, start in zip(ends, starts) if start - end > NOTHING]
        idle += [(LEFT + a * scale, y + pad, (b - a) * scale, height - 2 * pad) for a, b in gaps]
    yield from _idle(idle)


def _blocks(ran, chunks, height, scale):
    """The blocks; a device with several chunks has a lane for each, the first one on top."""
    pad = min(3, height / 8)
    lane = (height - 2 * pad) / chunks
    rows = {"F": [], "B": []}
    for s, blocks in enumerate(ran.blocks):
        for letter, chunk, i, start, end in blocks:
            box = (LEFT + start * scale, TOP + s * height + pad + chunk * lane, (end - start) * scale, lane)
            rows[letter].append((box, i))
    for letter, draw, colour in (("F", _forward, style.INK), ("B", _backward, style.PAPER)):
        yield from draw(_merged([box for box, _ in rows[letter]]))
        yield from _labels(letter, rows[letter], colour)


def _merged(boxes):
    """Boxes too narrow to be seen one by one, joined with their neighbours."""
    if min((w for _, _, w, _ in boxes), default=9) > 3:
        return boxes
    joined = []
    for x, y, w, h in boxes:
        if joined and joined[-1][1] == y and x - joined[-1][0] - joined[-1][2] < 0.01:
            x0, _, w0, _ = joined.pop()
            x, w = x0, w0 + w
        joined.append((x, y, w, h))
    return joined


def _labels(letter, rows, colour):
    """Letter and micro-batch, or the micro-batch alone, or nothing: the most that fits into every block."""
    narrowest, lowest = min((w for (_, _, w, _), _ in rows), default=0), min((h for (*_, h), _ in rows), default=0)
    step = _step(lowest) if letter == "B" else 0
    most = max((i for _, i in rows), default=0)
    head = next((h for h in (letter, "") if svg.text_width(f"{h}{most}", style.SMALL) <= narrowest - 2), None)
    if head is None or lowest - step < 13:
        return
    for (x, y, w, h), i in rows:
        middle = y + (h + (_step(h) if letter == "B" else 0)) / 2
        yield svg.text(x + w / 2, middle + 4.5, f"{head}{i}", style.SMALL, colour, "middle")


def _stuck(ran, height, scale):
    """What a device waits for, for ever."""
    for s, (letter, _, i) in ran.stuck.items():
        words = f"waits to run {letter}{i}"
        width = svg.text_width(words, style.SMALL, True) + 8
        x = min(LEFT + (ran.blocks[s][-1][-1] if ran.blocks[s] else 0) * scale + 6, RIGHT - width)
        y = TOP + (s + 0.5) * height
        yield svg.rect(x, y - 8, width, 16, style.PAPER)
        yield svg.text(x + 4, y + 4.5, words, style.SMALL, style.VERMILION, bold=True)


def _in_flight(facts, height):
    """A bar for the most micro-batches in flight on each device."""
    number, left, right = FLYING
    most = max(*facts.in_flight, facts.microbatches)
    for s, count in enumerate(facts.in_flight):
        y, thick = TOP + s * height + height / 2, min(24, height - 6)
        yield svg.text(number, y + 4.5, style.short(count), anchor="right", bold=True)
        yield svg.rect(left, y - thick / 2, (right - left) * count / most, thick, FLIGHT, stroke=style.GREEN)


def _ideal(facts, y, scale):
    """Where the update would end without idle time; blocks are drawn over the line."""
    x, words = LEFT + facts.ideal * scale, f"ideal {style.short(facts.ideal)}"
    half = svg.text_width(words, style.SMALL) / 2
    yield svg.line(x, TOP - 10, x, y + 6, style.VERMILION, stroke_width=2, stroke_dasharray="6 3")
    yield svg.text(min(max(x, LEFT + half), RIGHT - half), TOP - 14, words, style.SMALL, style.VERMILION, "middle")


def _axis(ran, y, scale, time):
    """The axis under the rows, with its unit and the end of the update."""
    yield svg.line(LEFT, y, RIGHT, y, style.QUIET)
    yield svg.text(LEFT, y + 21, "0", style.SMALL, style.QUIET)
    words = "time → (unit: one forward of one micro-batch on one stage)"
    yield svg.text((LEFT + RIGHT) / 2, y + 21, words, style.SMALL, style.QUIET, "middle")
    if ran.total and not ran.stuck:
        x = LEFT + ran.total * scale
        yield svg.line(x, y, x, y + 6, style.INK, stroke_width=2)
        yield svg.text(x, y + 21, style.short(ran.total), anchor="right", bold=True)
    if time is not None:
        x = min(max(LEFT + time * scale, LEFT), RIGHT + 8)
        yield svg.shape([(x - 7, y), (x, y - 7), (x + 7, y), (x, y + 7)], style.VERMILION, stroke=style.PAPER)
