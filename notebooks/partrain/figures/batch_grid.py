"""The micro-batches of one optimizer update: GPUs down, accumulation across, one all-reduce at the end."""

from partrain import style
from partrain.figures import svg

HEIGHT = 492  # pixels; always the same, so that nothing below the picture moves while a slider does
LEFT, TOP = 100, 66  # pixels: where the grid begins
GRID_WIDTH, GRID_HEIGHT = 496, 300  # pixels: the largest grid
CELL_WIDTH, CELL_HEIGHT = 100, 44  # pixels: the largest cell, so that a small run looks small
BAR = 18  # pixels: width of the all-reduce
TABLE = (24, 290, 298, 736)  # pixels: the totals: left of the name, right of the result, left and right of the formula


def batch_grid(gpus, micro_batch, accumulation, sequence_length):
    """Draw one update.

    gpus, micro_batch (sequences a GPU takes at a time), accumulation (micro-batches a GPU works through
    before the update) and sequence_length (tokens a sequence) are whole numbers of at least 1.
    """
    sequences = gpus * accumulation * micro_batch
    tokens = sequences * sequence_length
    make = "makes" if sequences == 1 else "make"
    sentence = (
        f"{style.count(gpus, 'GPU')} × {style.count(accumulation, 'micro-batch')} of "
        f"{style.count(micro_batch, 'sequence')} {make} {style.count(sequences, 'sequence')}, "
        f"{style.count(tokens, 'token')}, and one all-reduce per update."
    )
    width = min(CELL_WIDTH, GRID_WIDTH / accumulation)  # of one cell
    height = min(CELL_HEIGHT, GRID_HEIGHT / gpus)
    return svg.picture(
        sentence,
        HEIGHT,
        *_cells(gpus, micro_batch, accumulation, width, height),
        *_axes(gpus, accumulation, width, height),
        *_all_reduce(gpus, LEFT + accumulation * width, gpus * height),
        *_totals(gpus, micro_batch, accumulation, sequence_length),
    )


def _cells(gpus, micro_batch, accumulation, width, height):
    right, bottom = LEFT + accumulation * width, TOP + gpus * height
    yield svg.rect(LEFT, TOP, right - LEFT, bottom - TOP, style.SKY)
    pitch = width / micro_batch  # of one sequence
    if height >= 32 and pitch >= 4:  # room for a row of blocks, one a sequence, under the label
        for row in range(gpus):
            y = TOP + (row + 1) * height - 9
            yield svg.line(
                LEFT + 1, y, right, y, style.BLUE, stroke_width=10, stroke_dasharray=f"{svg.px(pitch - 2)} 2"
            )
    columns = [(LEFT + step * width, TOP, LEFT + step * width, bottom) for step in range(accumulation + 1)]
    rows = [(LEFT, TOP + row * height, right, TOP + row * height) for row in range(gpus + 1)]
    yield svg.lines(columns + rows, style.PAPER, stroke_width=svg.px(min(3, width / 5, height / 5)))
    label = _widest_that_fits(micro_batch, width, height)
    baseline = 17 if height >= 32 else height / 2 + 4.5
    for row in range(gpus if label else 0):
        for step in range(accumulation):
            x, y = LEFT + (step + 0.5) * width, TOP + row * height + baseline
            yield svg.text(x, y, label, style.SMALL, anchor="middle")


def _widest_that_fits(micro_batch, width, height):
    """A cell's label: with its unit, without, or none."""
    for label in (style.count(micro_batch, "sequence"), str(micro_batch)):
        if height >= 15 and svg.text_width(label, style.SMALL) <= width - 6:
            return label
    return ""


def _axes(gpus, accumulation, width, height):
    """Name the rows and columns; the first and last always, others where there is room."""
    yield svg.text(LEFT, 26, "time: the micro-batches of one update, one after another →", fill=style.QUIET)
    yield svg.text(LEFT - 10, TOP - 8, "micro-batch", style.SMALL, anchor="right")
    for step in _thinned(accumulation, width, 26):
        yield svg.text(LEFT + (step + 0.5) * width, TOP - 8, str(step), style.SMALL, anchor="middle")
    for row in _thinned(gpus, height, 15):
        yield svg.text(LEFT - 10, TOP + (row + 0.5) * height + 4.5, f"GPU {row}", style.SMALL, anchor="right")


def _thinned(amount, pitch, room):
    """Positions 0..amount-1 whose labels, `room` pixels each, do not touch; the first and the last are among them."""
    every = -(-room // pitch) if pitch < room else 1
    kept = [place for place in range(0, amount, int(every)) if (amount - 1 - place) * pitch >= room]
    return [*kept, amount - 1]


def _all_reduce(gpus, end, height):
    x = end + 10
    yield svg.rect(x, TOP, BAR, height, "#fbe5b6", stroke=style.ORANGE, stroke_width=1.5)
    yield svg.hatch(x, TOP, BAR, height, 9, style.VERMILION, stroke_width=1.5)
    yield svg.text(x + BAR + 10, TOP + 12, "one all-reduce", bold=True)
    note = ("averages the", "gradients") if gpus > 1 else ("of one GPU:", "nothing to send")
    for row, words in enumerate(note):
        yield svg.text(x + BAR + 10, TOP + 28 + 15 * row, words, style.SMALL, style.QUIET)


def _totals(gpus, micro_batch, accumulation, sequence_length):
    sequences = gpus * accumulation * micro_batch
    chain = " × ".join(
        [style.count(gpus, "GPU"), style.count(accumulation, "micro-batch"), style.count(micro_batch, "sequence")]
    )
    table = (
        ("sequences per update", f"= {chain}", style.number(sequences)),
        (
            "tokens per update",
            f"= {style.count(sequences, 'sequence')} × {style.count(sequence_length, 'token')}",
            style.number(sequences * sequence_length),
        ),
        ("all-reduces per update", "after the last micro-batch, however many there are", "1"),
    )
    name_x, result_x, formula_x, end = TABLE
    yield svg.line(name_x, 398, end, 398, style.RULE)
    for row, (name, formula, result) in enumerate(table):
        y = 422 + 26 * row
        yield svg.text(name_x, y, name)
        yield svg.text(formula_x, y, formula, fill=style.QUIET)
        yield svg.text(result_x, y, result, 15, anchor="right", bold=True)
