"""Panels: sliders, menus, switches and preset buttons bound to a pure figure, shown as its picture and its sentence.

A panel sets the value of an HTML widget and nothing else, so that notebooks with panels run without a screen and
compare byte for byte.
"""

import ipywidgets

from partrain.figures import svg


def whole(name, value, low, high, step=1, **options):
    """A slider over whole numbers; the name says the unit. With half=True two such sliders share a row."""
    return _dressed(ipywidgets.IntSlider(value, low, high, step), name, **options)


def real(name, value, low, high, step, digits=2, **options):
    """A slider over numbers with decimals."""
    slider = ipywidgets.FloatSlider(value, min=low, max=high, step=step, readout_format=f".{digits}f")
    return _dressed(slider, name, **options)


def one_of(name, value, choices, **options):
    """A slider over a list of numbers, such as powers of two."""
    slider = ipywidgets.SelectionSlider(options=[(f"{n:,}", n) for n in choices], value=value)
    return _dressed(slider, name, **options)


def menu(name, value, choices, **options):
    """A drop-down menu over texts, or over values that have a label: choices is a list, or a dict label -> value."""
    pairs = list(choices.items()) if isinstance(choices, dict) else [(str(choice), choice) for choice in choices]
    return _dressed(ipywidgets.Dropdown(options=pairs, value=value), name, **options)


def switch(name, value=False):
    """A box to tick: True or False. Several in a row share a line."""
    box = _dressed(ipywidgets.Checkbox(value, indent=False), name)
    box.layout.flex, box.layout.margin = "0 0 auto", "2px 24px 2px 2px"
    return box


def _dressed(control, name, half=False):
    # A slider's handle has no accessible name: ipywidgets 8.1.9 sets none on it and offers no attribute for it.
    # The tooltip at least replaces the label's title="null".
    control.description = control.tooltip = name
    if control.has_trait("continuous_update"):
        control.continuous_update = True
    control.layout = ipywidgets.Layout(width="auto", min_width="0", flex="1 1 380px" if half else "1 1 100%")
    return control


class Panel:
    """Controls bound to a figure.

    draw: a function of the controls' values, by name, that returns a Picture; what it raises is shown as a sentence.
    controls: name -> ipywidgets control. hidden: a function of the values -> names of the controls not to show.
    presets: the words on a button -> {control name: value}; pressing it sets those controls and draws once.
    """

    def __init__(self, draw, hidden=lambda values: (), presets=None, **controls):
        self._draw, self._hidden, self.controls = draw, hidden, controls
        self._waits = False  # while a button sets several controls
        self._height = 200  # pixels of the last picture, kept by a notice so that the page does not jump
        named_on_the_left = [c for c in controls.values() if not isinstance(c, ipywidgets.Checkbox)]
        widest = max((svg.text_width(control.description) for control in named_on_the_left), default=0)
        for control in named_on_the_left:
            control.style.description_width = f"{widest + 12:.0f}px"  # the longest name is never cut off
        self.html = ipywidgets.HTML(layout=ipywidgets.Layout(width="auto", margin="8px 0 0 0"))
        in_rows = ipywidgets.Layout(display="flex", flex_flow="row wrap", max_width="900px")
        self.buttons = {words: self._button(words, values) for words, values in (presets or {}).items()}
        rows = [list(controls.values()), list(self.buttons.values())]
        self.box = ipywidgets.VBox([*(ipywidgets.Box(row, layout=in_rows) for row in rows if row), self.html])
        self._update()
        self._default = self.picture
        for control in controls.values():
            control.observe(self._update, "value")

    def _button(self, words, values):
        button = ipywidgets.Button(description=words, tooltip=words, layout=ipywidgets.Layout(width="auto"))
        button.on_click(lambda _: self.set(**values))
        return button

    def set(self, **values):
        """Set several controls, and draw once."""
        self._waits = True
        try:
            for name, value in values.items():
                self.controls[name].value = value
        finally:
            self._waits = False
        self._update()

    def _update(self, change=None):
        if self._waits:
            return
        values = {name: control.value for name, control in self.controls.items()}
        try:
            self.picture = self._draw(**values)
            self._height = self.picture.height
        except Exception as error:  # a slider never answers with a traceback
            self.picture = svg.notice(str(error) or type(error).__name__, self._height)
        self.html.value = self.picture.html
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
