"""Panels: sliders bound to a pure figure, shown as its picture and, under it, its sentence.

Each factory returns a Panel; make it the last line of a cell. A panel sets the value of an HTML widget and
nothing else, so that notebooks with panels run without a screen and compare byte for byte.
"""

import contextlib
import io
import math
from html import escape

import ipywidgets

from partrain import style
from partrain.figures import svg
from partrain.figures.batch_grid import batch_grid as draw_batch_grid
from partrain.figures.token_weighting import token_weighting as draw_token_weighting

MOST_MICRO_BATCHES = 4


def whole(name, value, low, high, step=1, **options):
    """A slider over whole numbers; the name says the unit. With half=True two such sliders share a row."""
    return _dressed(ipywidgets.IntSlider(value, low, high, step), name, **options)


def real(name, value, low, high, step, digits=2, **options):
    """A slider over numbers with decimals."""
    slider = ipywidgets.FloatSlider(value, min=low, max=high, step=step, readout_format=f".{digits}f")
    return _dressed(slider, name, **options)


def one_of(name, value, choices, **options):
    """A slider over a list of whole numbers, such as powers of two."""
    slider = ipywidgets.SelectionSlider(options=[(f"{n:,}", n) for n in choices], value=value)
    return _dressed(slider, name, **options)


def _dressed(slider, name, half=False):
    # The handle itself has no accessible name: ipywidgets 8.1.9 sets none on it and offers no attribute for it.
    # The tooltip at least replaces the label's title="null".
    slider.description = slider.tooltip = name
    slider.continuous_update = True
    slider.layout = ipywidgets.Layout(width="auto", min_width="0", flex="1 1 380px" if half else "1 1 100%")
    return slider


class Panel:
    """Controls bound to a figure.

    draw: a function of the controls' values, by name, that returns a Picture; what it raises is shown as a sentence.
    controls: name -> ipywidgets control. hidden: a function of the values -> names of the controls not to show.
    """

    def __init__(self, draw, hidden=lambda values: (), **controls):
        self._draw, self._hidden, self.controls = draw, hidden, controls
        self._height = 200  # pixels of the last picture, kept by a notice so that the page does not jump
        widest = max(svg.text_width(control.description) for control in controls.values())
        for control in controls.values():
            control.style.description_width = f"{widest + 12:.0f}px"  # the longest name is never cut off
        self.html = ipywidgets.HTML(layout=ipywidgets.Layout(width="auto", margin="8px 0 0 0"))
        in_rows = ipywidgets.Layout(display="flex", flex_flow="row wrap", max_width="900px")
        self.box = ipywidgets.VBox([ipywidgets.Box(list(controls.values()), layout=in_rows), self.html])
        self._update()
        self._default = self.picture
        for control in controls.values():
            control.observe(self._update, "value")

    def _update(self, change=None):
        values = {name: control.value for name, control in self.controls.items()}
        try:
            self.picture = self._draw(**values)
            self._height = self.picture.height
        except Exception as error:  # a slider never answers with a traceback
            self.picture = svg.notice(str(error) or type(error).__name__, self._height)
        self.html.value = (  # the outer box is as narrow as the window, the picture scrolls inside it
            f'<div style="width: 0; min-width: min(100%, {style.WIDTH}px)">'
            f'<div style="overflow-x: auto">{self.picture.svg}</div>'
            f'<p style="margin: 8px 0; line-height: 1.4">{escape(self.picture.sentence)}</p></div>'
        )
        absent = set(self._hidden(values))
        for name, control in self.controls.items():  # after the picture, which the reader waits for
            control.layout.display = "none" if name in absent else None

    def _repr_mimebundle_(self, include=None, exclude=None):
        """The widget, and for readers without a kernel the picture and sentence of the default state."""
        view = "application/vnd.jupyter.widget-view+json"
        return {
            view: self.box._repr_mimebundle_()[view],
            "image/svg+xml": self._default.svg,
            "text/plain": self._default.sentence,
        }


def batch_grid():
    """Part 1: how many sequences and tokens go into one update."""
    return Panel(
        draw_batch_grid,
        gpus=whole("GPUs", 8, 1, 64),
        micro_batch=whole("Micro-batch (sequences)", 4, 1, 16),
        accumulation=whole("Accumulation (micro-batches)", 8, 1, 32),
        sequence_length=one_of("Sequence length (tokens)", 4096, [2**power for power in range(3, 15)]),
    )


def token_weighting(student=None):
    """Part 1: mean of means against per token; `student` is a per_token_loss(mean_losses, token_counts)."""

    def draw(micro_batches, **values):
        counts = [values[f"tokens_{index}"] for index in range(micro_batches)]
        losses = [values[f"loss_{index}"] for index in range(micro_batches)]
        if student is None or not any(counts):
            return draw_token_weighting(counts, losses)
        answer, unfinished = ask_student(student, "per_token_loss", list(losses), list(counts))
        return draw_token_weighting(counts, losses, answer, unfinished=unfinished)

    def hidden(values):
        return [
            f"{quantity}_{index}"
            for index in range(values["micro_batches"], MOST_MICRO_BATCHES)
            for quantity in ("tokens", "loss")
        ]

    sliders = {}
    for index, (tokens, loss) in enumerate([(100, 2.0), (300, 1.0), (200, 1.5), (400, 0.5)]):
        sliders[f"tokens_{index}"] = whole(f"Micro-batch {index} (tokens)", tokens, 0, 400, 10, half=True)
        sliders[f"loss_{index}"] = real(f"Micro-batch {index} (mean loss)", loss, 0, 4, 0.05, half=True)
    count = whole("Micro-batches (count)", 2, 2, MOST_MICRO_BATCHES)
    return Panel(draw, hidden, micro_batches=count, **sliders)


def ask_student(function, name, *arguments):
    """Call a student's function quietly: (its number, None), or (None, the sentence that says what is missing)."""
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            answer = function(*arguments)
    except NotImplementedError:
        return None, _finish(name, "is not written yet")
    except Exception as error:
        reason = " ".join(str(error).split())[:80]
        return None, _finish(name, f"stopped with {type(error).__name__}" + (f": {reason}" if reason else ""))
    if answer is None or answer is ...:
        return None, _finish(name, "returned nothing")
    try:
        if isinstance(answer, (bool, str, bytes)) or getattr(answer, "shape", ()) != ():
            raise TypeError
        value = float(answer)
    except OverflowError:
        value = math.inf
    except Exception:
        return None, _finish(name, f"returned a value of type {type(answer).__name__}, not a number")
    return (value, None) if math.isfinite(value) else (None, _finish(name, f"returned {value}, not a finite number"))


def _finish(name, what):
    return f"Finish the cell above first: {name} {what}."
