"""Part 3, when the model doesn't fit: exercises, with the mistakes of the field as wrong twins.

Wrong numbers and their causes: the field's tables of misconceptions (forgotten fp32 copy, everything divided by N);
several are seen in public calculators, such as gradients that stay whole, or 34 sbh taken for full recomputation.
"""

from __future__ import annotations

import math

from autograder.exercise import Exercise, Mistake, call, refuse
from partrain_ref import memory
from partrain_ref.exercises._part3_activations import activation_bytes
from partrain_ref.exercises._part3_shards import shard, sharded_adam_step, unshard

NAN, GB, GIB = math.nan, 1e9, 2.0**30

# ---- bytes per parameter ------------------------------------------------------------------------------------------

WEIGHTS_ONLY = "That counts the weights alone. Training also keeps gradients and the state of the optimizer."
NO_OPTIMIZER = "That counts weights and gradients. The state of the optimizer is missing."
NO_MASTER = "The fp32 copy of the weights is missing: 4 bytes a parameter that belong to the optimizer state."
NO_GRADIENTS = "The gradients are not in that. They are kept from the backward pass until the update."
IN_GB = "Those are gigabytes (1e9 bytes). The function returns bytes."
IN_GIB = "Those are gibibytes (2^30 bytes). The function returns bytes."
IN_BITS = "Those are bits. A byte has 8 of them, and 16-bit numbers take 2 bytes."
RECIPE_IGNORED = "Not all bytes passed as arguments were used: parts of the default of 2 + 2 + 12 stand in their place."
GIB_FOR_GB = "That is in GiB (2^30 bytes). The question asks for GB (1e9 bytes)."
NOT_SHARDED = "Nothing is sharded in that: it is what a GPU holds in plain data parallel."
ALL_SHARDED = "Everything is divided by the number of GPUs there. Only stage 3 shards all three parts."
IN_BYTES = "Those are bytes. The question asks for GB (1e9 bytes)."
EIGHT_GPUS = "That is on 8 GPUs, as in the worked example. The question has 64."
NO_PARENTHESES = "Only a part of the sum is multiplied by the parameters. Put the sum in parentheses."
MULTIPLIED = "The sharded part was multiplied by the number of GPUs. Each GPU holds its share: divide."
SHARD_ALONE = "That is the sharded part alone. What the stage does not shard, each GPU keeps whole."

RECIPES = ((2, 4, 12), (2, 6, 12), (4, 4, 8), (2, 2, 8), (2, 4, 8), (2, 4, 14))  # weight, gradient, optimizer bytes


def _recipe(rng):
    picked = RECIPES[rng.integers(len(RECIPES))]
    return dict(zip(("weight_bytes", "grad_bytes", "optimizer_bytes"), picked, strict=True))


def _params(rng):
    return float(rng.integers(100, 9000)) * 1e6


def _in_other_units(function):
    """The three slips of unit that every function returning bytes shares."""
    return (
        Mistake("gigabytes", lambda *a, **k: function(*a, **k) / GB, IN_GB, unit=True),
        Mistake("gibibytes", lambda *a, **k: function(*a, **k) / GIB, IN_GIB, unit=True),
        Mistake("bits", lambda *a, **k: function(*a, **k) * 8, IN_BITS, unit=True),
    )


whole_state_gb = Exercise(
    "whole_state_gb",
    kind="number",
    reference=120.0,
    unit="GB (1e9 bytes)",
    points=1,
    mistakes=(
        Mistake("weights_only", 15.0, WEIGHTS_ONLY),
        Mistake("no_optimizer_state", 30.0, NO_OPTIMIZER),
        Mistake("master_copy_forgotten", 90.0, NO_MASTER),
        Mistake("eight_bytes", 60.0, "That is 8 bytes per parameter. The recipe of the question has more parts."),
        Mistake("gradients_forgotten", 105.0, NO_GRADIENTS),
        Mistake("ten_bytes", 75.0, "That is 10 bytes per parameter: no gradient and no fp32 copy of the weights."),
        Mistake("fp32_gradients", 135.0, "That is 18 bytes per parameter: here the gradients are 16-bit numbers."),
        Mistake("both_gradients", 150.0, "That is 20 bytes per parameter: it counts the gradients in two precisions."),
        Mistake("gibibytes", 111.8, GIB_FOR_GB, unit=True),
        Mistake("bytes", 120e9, IN_BYTES, unit=True),
        Mistake("bits", 960.0, IN_BITS, unit=True),
    ),
)

stage1_gb = Exercise(
    "stage1_gb",
    kind="number",
    reference=31.40625,
    digits=1,
    unit="GB (1e9 bytes) on each GPU",
    points=1,
    mistakes=(
        Mistake("all_sharded", 1.9, "Everything is divided by 64 there: that is stage 3. Stage 1 shards one part."),
        Mistake("master_copy_forgotten", 30.9, "In the sharded part " + NO_MASTER[0].lower() + NO_MASTER[1:]),
        Mistake("one_stage_too_far", 16.6, "The gradients are sharded there too. That is stage 2."),
        Mistake("gradients_forgotten", 16.4, NO_GRADIENTS),
        Mistake("not_sharded", 120.0, NOT_SHARDED),
        Mistake("sharded_part_alone", 1.4, SHARD_ALONE),
        Mistake("master_copy_whole", 60.9, "The fp32 copy of the weights is optimizer state: stage 1 shards it too."),
        Mistake("fp32_gradients", 46.4, "That counts 4 bytes for a gradient: here the gradients are 16-bit numbers."),
        Mistake("devices_multiplied", 5790.0, MULTIPLIED),
        Mistake(
            "whole_part_alone", 30.0, "That is what stays whole. Each GPU also holds its share of the optimizer state."
        ),
        Mistake("eight_gpus", 41.2, EIGHT_GPUS),
        Mistake("eight_gpus", 41.3, EIGHT_GPUS),
        Mistake("gibibytes", 29.2, GIB_FOR_GB, unit=True),
        Mistake("bytes", 31.40625e9, IN_BYTES, unit=True),
        Mistake("bytes", 31.4e9, IN_BYTES, unit=True),
    ),
)

stage3_gb = Exercise(
    "stage3_gb",
    kind="number",
    reference=1.875,
    digits=2,
    unit="GB (1e9 bytes) on each GPU",
    points=1,
    mistakes=(
        Mistake("stage_1", 31.41, "Only the optimizer state is sharded there. That is stage 1."),
        Mistake("stage_1", 31.4, "Only the optimizer state is sharded there. That is stage 1."),
        Mistake("one_stage_short", 16.64, "The weights are whole there. That is stage 2; stage 3 shards them too."),
        Mistake("one_stage_short", 16.6, "The weights are whole there. That is stage 2; stage 3 shards them too."),
        Mistake("eight_gpus", 15.0, EIGHT_GPUS),
        Mistake("twelve_bytes", 1.41, "Only 12 of the 16 bytes of a parameter are in that."),
        Mistake("gradients_forgotten", 1.64, NO_GRADIENTS),
        Mistake(
            "weights_only", 0.23, "That is the share of the weights alone. Gradients and optimizer state count too."
        ),
        Mistake("not_sharded", 120.0, NOT_SHARDED),
        Mistake("one_decimal", 1.9, "That is rounded to one decimal. The question asks for two."),
        Mistake("cut_off", 1.87, "That is cut off after the second decimal. Round it."),
        Mistake("gibibytes", 1.75, GIB_FOR_GB, unit=True),
        Mistake("bytes", 1.875e9, IN_BYTES, unit=True),
        Mistake("bytes", 1.88e9, IN_BYTES, unit=True),
    ),
)


def _draw_model_state_bytes(rng):
    yield call(_params(rng))
    for _ in range(3):
        yield call(_params(rng), **_recipe(rng))
    yield call(int(rng.integers(1000, 99999)), grad_bytes=4)


def _state(wrong):
    """A twin of model_state_bytes from its bytes per parameter."""
    return lambda params, weight_bytes=2, grad_bytes=2, optimizer_bytes=12: (
        params * wrong(weight_bytes, grad_bytes, optimizer_bytes)
    )


model_state_bytes = Exercise(
    "model_state_bytes",
    reference=memory.model_state_bytes,
    points=4,
    examples=(
        call(7.5e9),
        call(2e9, weight_bytes=2, grad_bytes=4, optimizer_bytes=12),
        call(1000, weight_bytes=2, grad_bytes=2, optimizer_bytes=4),
    ),
    draw=_draw_model_state_bytes,
    refusals=(
        refuse("params is 0", 0),
        refuse("grad_bytes is negative", 7.5e9, grad_bytes=-2),
        refuse("params is NaN", NAN),
        refuse("params is infinite", math.inf),
        refuse("weight_bytes is 0", 7.5e9, weight_bytes=0),
        refuse("optimizer_bytes is NaN", 7.5e9, optimizer_bytes=NAN),
        refuse("params is True", True),
    ),
    mistakes=(
        Mistake("weights_only", _state(lambda w, g, o: w), WEIGHTS_ONLY),
        Mistake("no_optimizer_state", _state(lambda w, g, o: w + g), NO_OPTIMIZER),
        Mistake("master_copy_forgotten", _state(lambda w, g, o: w + g + o - 4), NO_MASTER),
        Mistake("gradients_forgotten", _state(lambda w, g, o: w + o), NO_GRADIENTS),
        Mistake("weights_forgotten", _state(lambda w, g, o: g + o), "The weights themselves are not in that."),
        Mistake("recipe_ignored", _state(lambda w, g, o: 16), RECIPE_IGNORED),
        Mistake("recipe_ignored", _state(lambda w, g, o: 4 + o), RECIPE_IGNORED),
        Mistake("recipe_ignored", _state(lambda w, g, o: w + g + 12), RECIPE_IGNORED),
        Mistake(
            "master_copy_twice",
            _state(lambda w, g, o: w + g + o + 4),
            "That is 4 bytes too many for each parameter: the master copy is in the optimizer's bytes already.",
        ),
        Mistake(
            "no_parentheses",
            lambda params, weight_bytes=2, grad_bytes=2, optimizer_bytes=12: (
                params * weight_bytes + grad_bytes + optimizer_bytes
            ),
            NO_PARENTHESES,
        ),
        Mistake(
            "no_parentheses",
            lambda params, weight_bytes=2, grad_bytes=2, optimizer_bytes=12: (
                params * (weight_bytes + grad_bytes) + optimizer_bytes
            ),
            NO_PARENTHESES,
        ),
        *_in_other_units(memory.model_state_bytes),
    ),
)

# ---- sharding the state -------------------------------------------------------------------------------------------


def _shared(w, g, o, n, stage):
    """Bytes per parameter on each of n devices."""
    return (w / n if stage >= 3 else w) + (g / n if stage >= 2 else g) + (o / n if stage >= 1 else o)


def _sharded_alone(w, g, o, n, stage):
    return sum(part / n for part, at in ((o, 1), (g, 2), (w, 3)) if stage >= at) if stage else w + g + o


# One wrong idea, one name: bytes per parameter on each of n devices, (w, g, o, n, stage) -> bytes.
STAGE_SLIPS = (
    ("all_sharded", lambda w, g, o, n, stage: (w + g + o) / (n if stage else 1), ALL_SHARDED),
    ("all_sharded", lambda w, g, o, n, stage: (w + g + o) / n, ALL_SHARDED),
    ("not_sharded", lambda w, g, o, n, stage: w + g + o, NOT_SHARDED),
    (
        "one_stage_too_far",
        lambda w, g, o, n, stage: _shared(w, g, o, n, stage + 1),
        "One part too many is sharded. Stage 0 shards nothing, stage 1 the optimizer state, stage 2 the gradients too.",
    ),
    (
        "one_stage_too_far",
        lambda w, g, o, n, stage: _shared(w, g, o, n, stage + 1 if stage else 0),
        "One part too many is sharded. Stage 0 shards nothing, stage 1 the optimizer state, stage 2 the gradients too.",
    ),
    (
        "one_stage_short",
        lambda w, g, o, n, stage: _shared(w, g, o, n, stage - 1),
        "One part too few is sharded. Stage 1 shards the optimizer state, stage 2 the gradients too, stage 3 all.",
    ),
    (
        "not_cumulative",
        lambda w, g, o, n, stage: (
            (w / (n if stage == 3 else 1) + g / (n if stage == 2 else 1)) + o / (n if stage == 1 else 1)
        ),
        "Each stage shards one part there. A stage also shards all that the stages below it shard.",
    ),
    (
        "weights_first",
        lambda w, g, o, n, stage: _shared(o, g, w, n, stage),
        "The weights are sharded first there. Stage 1 shards the optimizer state; the weights come last, at stage 3.",
    ),
    (
        "gradients_first",
        lambda w, g, o, n, stage: _shared(w, o, g, n, stage),
        "The gradients are sharded first there. Stage 1 shards the optimizer state, stage 2 the gradients too.",
    ),
    ("master_copy_forgotten", lambda w, g, o, n, stage: _shared(w, g, o - 4, n, stage), NO_MASTER),
    (
        "master_copy_whole",
        lambda w, g, o, n, stage: _shared(w, g, o - 4, n, stage) + 4,
        "The fp32 copy of the weights stays whole there. It is optimizer state, so stage 1 shards it too.",
    ),
    ("gradients_forgotten", lambda w, g, o, n, stage: _shared(w, 0, o, n, stage), NO_GRADIENTS),
    ("recipe_ignored", lambda w, g, o, n, stage: _shared(2, 2, 12, n, stage), RECIPE_IGNORED),
    ("recipe_ignored", lambda w, g, o, n, stage: _shared(w, g, 12, n, stage), RECIPE_IGNORED),
    ("recipe_ignored", lambda w, g, o, n, stage: _shared(2, 2, o, n, stage), RECIPE_IGNORED),
    ("devices_multiplied", lambda w, g, o, n, stage: _shared(w, g, o, 1 / n, stage), MULTIPLIED),
    ("sharded_part_alone", _sharded_alone, SHARD_ALONE),
    (
        "all_devices",
        lambda w, g, o, n, stage: _shared(w, g, o, n, stage) * n,
        "That is what all devices hold together. The question asks for one of them.",
    ),
)
BAD_STAGES = (
    ("stage is 4", 64, 4, {}),
    ("devices is 0", 0, 1, {}),
    ("stage is -1", 64, -1, {}),
    ("stage is 1.5", 64, 1.5, {}),
    ("devices is 2.5", 2.5, 1, {}),
    ("devices is True", True, 1, {}),
    ("optimizer_bytes is 0", 64, 1, {"optimizer_bytes": 0}),
    ("grad_bytes is NaN", 64, 1, {"grad_bytes": NAN}),
)


def _with_slip(wrong, combine):
    """A twin of zero_bytes_per_device or largest_model: combine(first argument, wrong bytes per parameter)."""
    return lambda first, devices, stage, weight_bytes=2, grad_bytes=2, optimizer_bytes=12: combine(
        first, wrong(weight_bytes, grad_bytes, optimizer_bytes, devices, stage)
    )


def _draw_stages(rng, first):
    for stage in rng.permutation(4):
        yield call(first(rng), int(rng.integers(3, 200)), int(stage), **_recipe(rng))
    yield call(first(rng), int(rng.integers(2, 9)), int(rng.integers(1, 3)))
    yield call(first(rng), 1, int(rng.integers(1, 4)), **_recipe(rng))
    yield call(first(rng), float(rng.integers(2, 9)), int(rng.integers(1, 3)))  # 8.0 counts as whole


zero_bytes_per_device = Exercise(
    "zero_bytes_per_device",
    reference=memory.zero_bytes_per_device,
    points=4,
    examples=(
        call(7.5e9, 64, 1),
        call(7.5e9, 64, 2, weight_bytes=2, grad_bytes=4, optimizer_bytes=12),
        call(7.5e9, 64, 3),
        call(1.5e9, 8, 0, weight_bytes=2, grad_bytes=2, optimizer_bytes=4),
    ),
    draw=lambda rng: _draw_stages(rng, _params),
    refusals=(
        *(refuse(why, 7.5e9, devices, stage, **recipe) for why, devices, stage, recipe in BAD_STAGES),
        refuse("params is 0", 0, 64, 1),
        refuse("params is infinite", math.inf, 64, 1),
    ),
    mistakes=(
        *(
            Mistake(name, _with_slip(wrong, lambda params, each: params * each), sentence)
            for name, wrong, sentence in STAGE_SLIPS
        ),
        *_in_other_units(memory.zero_bytes_per_device),
    ),
)

ALL_TOGETHER = "There all GPUs together hold everything once. Only stage 3 shards all three parts."

largest_model = Exercise(
    "largest_model",
    reference=memory.largest_model,
    points=4,
    examples=(
        call(80e9, 8, 1, weight_bytes=2, grad_bytes=2, optimizer_bytes=8),
        call(80e9, 8, 2, weight_bytes=2, grad_bytes=4, optimizer_bytes=12),
        call(32e9, 64, 3),
        call(32e9, 64, 0),
    ),
    draw=lambda rng: _draw_stages(rng, lambda rng: float(rng.integers(16, 200)) * 1e9),
    refusals=(
        *(refuse(why, 80e9, devices, stage, **recipe) for why, devices, stage, recipe in BAD_STAGES),
        refuse("gpu_bytes is 0", 0, 64, 1),
        refuse("gpu_bytes is NaN", NAN, 64, 1),
    ),
    mistakes=(
        *(
            Mistake(
                name,
                _with_slip(wrong, lambda gpu_bytes, each: gpu_bytes / each),
                ALL_TOGETHER if name == "all_sharded" else sentence,
            )
            for name, wrong, sentence in STAGE_SLIPS
        ),
        Mistake(
            "weights_only",
            _with_slip(lambda w, g, o, n, stage: w, lambda gpu_bytes, each: gpu_bytes / each),
            WEIGHTS_ONLY,
        ),
        Mistake(
            "multiplied",
            _with_slip(_shared, lambda gpu_bytes, each: gpu_bytes * each),
            "The memory was multiplied by the bytes per parameter. Ask how often those bytes fit into it.",
        ),
        Mistake(
            "memory_pooled",
            lambda gpu_bytes, devices, *a, **k: memory.largest_model(gpu_bytes, devices, *a, **k) * devices,
            "The memory of all devices was added up, and the state shared out as well: that counts the sharing twice.",
        ),
        Mistake(
            "billions",
            lambda *a, **k: memory.largest_model(*a, **k) / 1e9,
            "Those are billions of parameters. The function returns parameters.",
            unit=True,
        ),
        *(
            Mistake(
                f"{name}_for_bytes",
                lambda *a, size=size, **k: memory.largest_model(*a, **k) * size,
                f"The memory is in bytes, but the share of one parameter was counted in {name}.",
                unit=True,
            )
            for name, size in (("gigabytes", GB), ("gibibytes", GIB), ("bits", 1 / 8))
        ),
    ),
)

# ---- what sharding sends ------------------------------------------------------------------------------------------


def _draw_zero_traffic(rng):
    for stage in rng.permutation(4):
        yield call(_params(rng), int(rng.integers(3, 300)), int(stage))
    yield call(_params(rng), 2, int(rng.integers(1, 4)))
    yield call(_params(rng), 1, int(rng.integers(0, 4)))


FREE = "Stage 3 costs no more than plain data parallel there. Count how often a step has to gather the weights."


def _passes(stage):
    return 3 if stage == 3 else 2


zero_traffic = Exercise(
    "zero_traffic",
    reference=memory.zero_traffic,
    points=4,
    examples=(call(7.5e9, 64, 0), call(7.5e9, 64, 1), call(7.5e9, 64, 2), call(1e9, 4, 3)),
    draw=_draw_zero_traffic,
    refusals=(
        *(refuse(why, 7.5e9, devices, stage) for why, devices, stage, recipe in BAD_STAGES if not recipe),
        refuse("params is 0", 0, 64, 1),
        refuse("params is NaN", NAN, 64, 1),
    ),
    mistakes=(
        Mistake("sharding_is_free", lambda params, n, stage: 2 * params * (n - 1) / n, FREE),
        Mistake("sharding_is_free", lambda params, n, stage: 2.0 * params, FREE),
        Mistake(
            "all_reduce_at_stage_3",
            lambda params, n, stage: (4 if stage == 3 else 2) * params * (n - 1) / n,
            "That is four passes at stage 3, as with an all-reduce. A device needs only its shard of the gradients.",
        ),
        Mistake(
            "ring_factor_forgotten",
            lambda params, n, stage: float(_passes(stage) * params),
            "The factor (N − 1)/N is missing: a device does not send itself its own share.",
        ),
        Mistake(
            "all_devices",
            lambda params, n, stage: _passes(stage) * params * (n - 1),
            "That is what all devices send together. The question asks for one device.",
        ),
        Mistake(
            "one_pass",
            lambda params, n, stage: (_passes(stage) - 1) * params * (n - 1) / n,
            "One pass is missing. Gradients are scattered once, and weights (or the averaged gradients) are gathered.",
        ),
        Mistake(
            "one_pass",
            lambda params, n, stage: params * (n - 1) / n,
            "That is one pass, whatever the stage. Count the passes of a step again.",
        ),
        Mistake(
            "all_reduce_in_one_pass",
            lambda params, n, stage: (_passes(stage) if stage else 1) * params * (n - 1) / n,
            "Plain data parallel sends one pass there. An all-reduce is two: a reduce-scatter and an all-gather.",
        ),
        Mistake(
            "billions",
            lambda params, n, stage: _passes(stage) * params * (n - 1) / n / 1e9,
            "Those are billions of parameters. The function returns parameters.",
            unit=True,
        ),
        Mistake(
            "dearer_from_stage_1",
            lambda params, n, stage: (3 if stage else 2) * params * (n - 1) / n,
            "Stages 1 and 2 cost more than plain data parallel there. They send what an all-reduce sends: two passes.",
        ),
        Mistake(
            "dearer_from_stage_1",
            lambda params, n, stage: (2 if stage < 2 else 3) * params * (n - 1) / n,
            "Stages 1 and 2 cost more than plain data parallel there. They send what an all-reduce sends: two passes.",
        ),
        Mistake(
            "one_share",
            lambda params, n, stage: _passes(stage) * params / n,
            "That is one share for each pass. A ring sends a share in every one of its N − 1 rounds.",
        ),
        Mistake(
            "counted_double",
            lambda params, n, stage: 2 * _passes(stage) * params * (n - 1) / n,
            "That is twice as much: bytes at 2 for each, or what is sent and received. Count the parameters sent.",
            unit=True,
        ),
    ),
)

# ---- choices ------------------------------------------------------------------------------------------------------

which_bytes = Exercise(
    "which_bytes",
    kind="choice",
    reference="b",
    points=1,
    mistakes=(
        Mistake(
            "fp32_gradients",
            "a",
            "That puts a gradient where the copy of the weight belongs. In this recipe the gradients have 2 bytes, "
            "counted apart from the 12.",
        ),
        Mistake(
            "sixteen_bit_numbers",
            "c",
            "That keeps the state in 16 bits. Small updates would be lost in rounding: the state is kept in fp32.",
        ),
        Mistake(
            "activations",
            "d",
            "That counts activations. They depend on batch and sequence, not on the number of parameters alone.",
        ),
    ),
)

what_sharding_costs = Exercise(
    "what_sharding_costs",
    kind="choice",
    reference="d",
    points=1,
    mistakes=(
        Mistake(
            "sharding_is_free",
            "a",
            "That is stages 1 and 2. At stage 3 the weights are shared out too, and have to be gathered for every use.",
        ),
        Mistake(
            "less_to_send",
            "b",
            "A small share in memory does not mean little traffic: what a device does not hold, it has to receive.",
        ),
        Mistake(
            "grows_with_devices",
            "c",
            "One device does not send more and more: in a ring, its traffic only comes closer to a limit.",
        ),
    ),
)

EXERCISES = (
    whole_state_gb,
    model_state_bytes,
    stage1_gb,
    stage3_gb,
    zero_bytes_per_device,
    largest_model,
    shard,
    unshard,
    sharded_adam_step,
    zero_traffic,
    activation_bytes,
    which_bytes,
    what_sharding_costs,
)
