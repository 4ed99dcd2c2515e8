"""Part 3's figures and panels: their numbers are the reference's, at every end they stay readable and calm."""

import itertools
import math

import pytest
from pictures import ends, is_calm, is_sound, texts

from partrain import panels, style
from partrain.figures.activation_bars import activation_bars
from partrain.figures.memory_bars import memory_bars
from partrain.panels.part3 import RECIPES
from partrain_ref import memory

MIXED = (2, 2, 12)
STATES = list(
    itertools.product([1.25e8, 7.5e9, 1e12], [1, 8, 2048], range(4), [MIXED, (2, 6, 12), (2, 2, 4)], [16e9, 80e9])
)
LAYERS = list(
    itertools.product(
        [512, 2048, 131072], [1, 16], [1024, 25600], [8, 160], [1, 8], [False, True], ["none", "selective", "full"]
    )
)


@pytest.mark.parametrize("numbers", STATES[::5])
def test_memory_bars_is_sound(numbers):
    for unit, yours in itertools.product(("GB", "GiB"), (None, 0.0, -5e9, 3.1e10, 1e30)):
        picture = memory_bars(*numbers, unit, yours)
        is_sound(picture)
        assert picture == memory_bars(*numbers, unit, yours)


@pytest.mark.parametrize(("unit", "size"), [("GB", 1e9), ("GiB", 2**30)])
@pytest.mark.parametrize("numbers", STATES[::3])
def test_memory_bars_has_the_numbers_of_the_reference(numbers, unit, size):
    params, gpus, stage, recipe, gpu_bytes = numbers
    picture = memory_bars(*numbers, unit)
    for at in range(4):
        state = memory.zero_bytes_per_device(params, gpus, at, *recipe)
        shown = f"{style.significant(state / size)} {unit}"
        assert shown in texts(picture)
        if at == stage:
            assert f"take {shown} on each GPU" in picture.sentence
            assert ("fits into" in picture.sentence) == (state <= gpu_bytes)
    assert texts(picture).count("✓ fits") == sum(
        memory.zero_bytes_per_device(params, gpus, at, *recipe) <= gpu_bytes for at in range(4)
    )


def test_the_recipes_say_what_they_hold():
    for words, recipe in RECIPES.items():
        total, _, rest = words.partition(" = ")
        assert int(total) == memory.model_state_bytes(1, *recipe)
        assert rest.startswith(" + ".join(map(str, recipe)))


def test_the_button_sets_7_5_billion_on_64_gpus():
    panel = panels.memory_bars()
    panel.controls["stage"].value = 1
    panel.controls["gib"].value = True
    panel.buttons["7.5B on 64 GPUs"].click()
    assert [f"{n} GB" in texts(panel.picture) for n in ("120", "31.4", "16.6", "1.88")] == [True] * 4
    assert is_calm(panel) == (
        "Stage 1 on 64 GPUs: 7.5 billion parameters at 2 + 2 + 12 bytes take 31.4 GB on each GPU, "
        "which fits into its 80 GB."
    )
    panel.buttons["GPT-2 1.5B on 1 GPU"].click()
    assert "take 24.0 GB on each GPU" in is_calm(panel)


WAYS = (
    {},
    {"tensor_parallel": 0},
    {"tensor_parallel": 0, "sequence_parallel": True},
    {"tensor_parallel": 0, "recompute": "selective"},
    {"tensor_parallel": 0, "sequence_parallel": True, "recompute": "selective"},
    {"recompute": "full"},
)


@pytest.mark.parametrize("numbers", LAYERS[::7])
def test_activation_bars_is_sound(numbers):
    for yours in (None, -1e9, 5.79e8, 1e30):
        picture = activation_bars(*numbers, yours)
        is_sound(picture)
        assert picture == activation_bars(*numbers, yours)


@pytest.mark.parametrize("numbers", LAYERS[::5])
def test_activation_bars_has_the_numbers_of_the_reference(numbers):
    *sizes, t, sequence_parallel, recompute = numbers
    picture = activation_bars(*numbers)
    for way in WAYS:
        how = {**way, **({"tensor_parallel": t} if "tensor_parallel" in way else {})}
        assert f"{style.significant(memory.activation_bytes(*sizes, 1, **how) / 1e9)} GB" in texts(picture)
    chosen = memory.activation_bytes(*sizes, 1, t, sequence_parallel, recompute)
    assert picture.sentence.startswith(f"One layer keeps {style.significant(chosen / 1e9)} GB on ")


def test_a_layer_of_gpt_3():
    picture = panels.activation_bars().picture
    assert picture.sentence == "One layer keeps 0.579 GB on each of 8 devices; attention scores are 43% of it."
    shown = ("2.87", "0.579", "0.359", "0.327", "0.107", "0.0503")
    assert all(f"{n} GB" in texts(picture) for n in shown)
    assert "≈ 870 tokens" in picture.svg


def test_heads_that_cannot_be_shared_out_are_said():
    panel = panels.activation_bars()
    panel.controls["heads"].value = 12
    assert is_calm(panel) == "12 heads cannot be shared out over 8 devices: 8 does not divide 12."
    with pytest.raises(ValueError, match="2,050 tokens"):
        activation_bars(2050, 1, 1024, 8, 4, True, "none")


def unwritten(*arguments, **named):
    raise NotImplementedError


@pytest.mark.parametrize(
    ("factory", "right", "name", "same"),
    [
        (panels.memory_bars, memory.zero_bytes_per_device, "zero_bytes_per_device", "as high as the bar"),
        (panels.activation_bars, memory.activation_bytes, "activation_bytes", "as long as the bar"),
    ],
)
def test_panels_ask_the_readers_own_function(factory, right, name, same):
    assert is_calm(factory(unwritten)) == f"Finish the cell above first: {name} is not written yet."
    assert is_calm(factory(lambda *a, **k: math.nan)).startswith(f"Finish the cell above first: {name} returned nan")
    wrong = factory(lambda *a, **k: 2 * right(*a, **k))
    assert is_calm(wrong).startswith(f"Your {name} gives ") and "but its bar has another" in is_calm(wrong)
    assert "◆" in wrong.picture.svg
    panel = factory(right)
    for control in panel.controls.values():
        control.value = ends(control)[1]
        assert same in is_calm(panel)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (120, "120"),
        (31.40625, "31.4"),
        (41.25, "41.3"),
        (1.875, "1.88"),
        (9.996, "10.0"),
        (0.0503, "0.0503"),
        (4187.5, "4,188"),
        (0, "0"),
        (-1.875, "-1.88"),
        (1e30, "1e+30"),
    ],
)
def test_three_digits_that_count(value, text):
    assert style.significant(value) == text
