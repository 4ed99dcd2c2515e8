"""Every panel at both ends of every slider, what it says, and what it says when it cannot draw."""

import itertools
import math

import pytest
from pictures import ends, is_calm

from partrain import panels
from partrain.figures.svg import Picture
from partrain.panels.panel import Panel, menu, one_of, switch, whole

VIEW = "application/vnd.jupyter.widget-view+json"
FACTORIES = [getattr(panels, name) for name in panels.__all__]
MOST_COMBINATIONS = 256  # of ends; of more, an even sample


@pytest.mark.parametrize("factory", FACTORIES)
def test_bundle_holds_widget_picture_and_sentence(factory):
    panel = factory()
    bundle = panel._repr_mimebundle_()
    assert set(bundle) == {VIEW, "image/svg+xml", "text/plain"}
    assert bundle[VIEW]["model_id"] == panel.box.model_id
    assert bundle["text/plain"] == is_calm(panel)


@pytest.mark.parametrize("factory", FACTORIES)
def test_bundle_shows_the_default_state_and_no_widget_id(factory):
    first, second = factory(), factory()
    before = first._repr_mimebundle_()
    for control in first.controls.values():
        control.value = ends(control)[1]
    for kind in ("image/svg+xml", "text/plain"):
        assert first._repr_mimebundle_()[kind] == before[kind] == second._repr_mimebundle_()[kind]
        assert first.box.model_id not in before[kind]


@pytest.mark.parametrize("factory", FACTORIES)
def test_every_slider_at_both_ends(factory):
    for name in factory().controls:
        panel = factory()
        for end in ends(panel.controls[name]):
            panel.controls[name].value = end
            assert is_calm(panel)


@pytest.mark.parametrize("factory", FACTORIES)
def test_all_combinations_of_ends(factory):
    panel = factory()
    combinations = itertools.product(*(ends(control) for control in panel.controls.values()))
    every = -(-(2 ** len(panel.controls)) // MOST_COMBINATIONS) | 1  # odd, so that every end is taken
    for values in itertools.islice(combinations, 0, None, every):
        panel.set(**dict(zip(panel.controls, values, strict=True)))
        assert is_calm(panel)


@pytest.mark.parametrize("factory", FACTORIES)
def test_every_preset_button_sets_what_it_says(factory):
    panel = factory()
    for words, button in panel.buttons.items():
        button.click()
        assert is_calm(panel), words


@pytest.mark.parametrize("factory", FACTORIES)
def test_sliders_are_live_and_their_names_have_room(factory):
    for control in factory().controls.values():
        assert getattr(control, "continuous_update", True)
        if hasattr(control, "options") or hasattr(control, "min"):  # a switch has its name on the right
            assert float(control.style.description_width.removesuffix("px")) > 7.4 * len(control.description)
        assert control.tooltip == control.description


def test_sentences_of_part_1():
    assert panels.batch_grid().picture.sentence == (
        "8 GPUs × 8 micro-batches of 4 sequences make 256 sequences, 1,048,576 tokens, and one all-reduce per update."
    )
    assert panels.token_weighting().picture.sentence == (
        "Per token the loss is 1.25. The mean of the two means is 1.50, which is 0.25 too high."
    )


def test_absent_micro_batches_have_no_sliders():
    panel = panels.token_weighting()
    shown = lambda: {name for name, control in panel.controls.items() if control.layout.display != "none"}  # noqa: E731
    assert shown() == {"micro_batches", "tokens_0", "loss_0", "tokens_1", "loss_1"}
    panel.controls["micro_batches"].value = 4
    assert shown() == set(panel.controls)


def test_no_tokens_at_all_is_said_calmly_and_the_page_does_not_jump():
    panel = panels.token_weighting()
    height = panel.picture.height
    for control in (panel.controls["tokens_0"], panel.controls["tokens_1"]):
        control.min = control.value = 0  # the sliders begin at 10; whoever moves them lower still meets no traceback
    assert is_calm(panel).startswith("There are no tokens at all")
    assert panel.picture.height == height
    panel.controls["tokens_0"].value = 100
    assert is_calm(panel).startswith("Per token the loss is 2.00.")


def unwritten(mean_losses, token_counts):
    raise NotImplementedError


def interrupted(mean_losses, token_counts):
    raise RuntimeError("<b>first line</b>\nsecond line")


@pytest.mark.parametrize(
    ("student", "said"),
    [
        (unwritten, "is not written yet."),
        (interrupted, "stopped with RuntimeError: <b>first line</b> second line."),
        (lambda losses: 1.0, "stopped with TypeError"),
        (lambda losses, counts: None, "returned nothing."),
        (lambda losses, counts: ..., "returned nothing."),
        (lambda losses, counts: "1.25", "returned a value of type str, not a number."),
        (lambda losses, counts: True, "returned a value of type bool, not a number."),
        (lambda losses, counts: [1.25], "returned a value of type list, not a number."),
        (lambda losses, counts: math.nan, "returned nan, not a finite number."),
        (lambda losses, counts: -math.inf, "returned -inf, not a finite number."),
        (lambda losses, counts: 10**400, "returned inf, not a finite number."),
    ],
)
def test_unfinished_student_function(student, said):
    panel = panels.token_weighting(student)
    sentence = is_calm(panel)
    assert sentence.startswith(f"Finish the cell above first: per_token_loss {said}")
    assert "mean of means 1.50" in panel.picture.svg
    assert "per token" not in panel.picture.svg.replace("loss per token", "")
    assert "<b>" not in panel.html.value


def test_finished_student_function_moves_the_needle(capsys):
    def per_token_loss(mean_losses, token_counts):
        print("called")
        total = sum(n * loss for n, loss in zip(token_counts, mean_losses, strict=True)) / sum(token_counts)
        mean_losses.clear()  # a panel hands out copies
        return total

    panel = panels.token_weighting(per_token_loss)
    assert panel.picture == panels.token_weighting().picture
    panel.controls["tokens_0"].value = 300
    assert is_calm(panel) == "Per token the loss is 1.50. The mean of the two means is 1.50 too: here both agree."
    assert capsys.readouterr() == ("", "")


def test_wrong_student_function_is_drawn_and_not_corrected():
    panel = panels.token_weighting(lambda losses, counts: 500)
    assert is_calm(panel).startswith("Your loss per token is 500.00, but then the tokens do not all weigh the same.")
    assert "1.25" not in panel.html.value


def test_what_a_figure_raises_becomes_its_sentence():
    def draw(side):
        if side > 2:
            raise ValueError("side is <3>: too long")
        return Picture("<svg></svg>", "A square.", 300)

    panel = Panel(draw, side=whole("Side (m)", 1, 1, 3))
    panel.controls["side"].value = 3
    assert is_calm(panel) == "side is <3>: too long"
    assert panel.picture.height == 300
    assert "<3>" not in panel.html.value


def test_menus_switches_and_buttons_draw_once():
    drawn = []

    def draw(**values):
        drawn.append(values)
        return Picture("<svg></svg>", "A state.", 300)

    panel = Panel(
        draw,
        presets={"both": {"kind": "long", "filled": True}},
        kind=menu("Kind", "short", ["short", "long"]),
        recipe=menu("Recipe", 16, {"mixed (16 bytes)": 16, "pure (8 bytes)": 8}),
        filled=switch("Filled"),
        size=one_of("Size (m)", 7.5, [0.5, 7.5]),
    )
    assert drawn == [{"kind": "short", "recipe": 16, "filled": False, "size": 7.5}]
    panel.buttons["both"].click()
    assert drawn[1:] == [{"kind": "long", "recipe": 16, "filled": True, "size": 7.5}]
    panel.controls["filled"].value = False
    assert len(drawn) == 3 and drawn[-1]["filled"] is False
    assert [box.children for box in panel.box.children[:2]] == [
        tuple(panel.controls.values()),
        tuple(panel.buttons.values()),
    ]
