"""Part 3, activation memory: the exercise."""

from __future__ import annotations

import math

from autograder.exercise import Exercise, Mistake, call, refuse
from partrain_ref import memory

NAN, GB, GIB = math.nan, 1e9, 2.0**30
IN_GB = "Those are gigabytes (1e9 bytes). The function returns bytes."
IN_GIB = "Those are gibibytes (2^30 bytes). The function returns bytes."

EVERYTHING_DIVIDED = (
    "Everything is divided by the tensor-parallel devices there. Without sequence parallel each of them keeps all of "
    "the norms, dropouts and block inputs."
)


def _activations(
    seq,
    batch,
    hidden,
    heads,
    layers,
    tensor_parallel=1,
    sequence_parallel=False,
    recompute="none",
    *,
    full=lambda whole, t, sp: 2 * whole,
    scores_by=lambda t: t,
    inside_by=lambda t: t,
    pairs=lambda s, b, h, a: 5 * a * s**2 * b,
):
    """activation_bytes with room for slips in `full`, in the scores (`pairs`) and in what divides them and the 24."""
    whole, t = seq * batch * hidden, tensor_parallel
    if recompute == "full":
        return float(layers * full(whole, t, sequence_parallel))
    scores = pairs(seq, batch, hidden, heads) / scores_by(t) if recompute == "none" else 0
    return layers * (10 * whole / (t if sequence_parallel else 1) + 24 * whole / inside_by(t) + scores)


def _slip(**fixed):
    """A twin that fixes keyword arguments, or slips of `_activations`."""
    return lambda *args, **kwargs: _activations(*args, **{**kwargs, **fixed})


def _renamed(**names):
    """A twin that takes one kind of recomputation for another."""
    return lambda *args, **kwargs: _activations(
        *args, **{**kwargs, "recompute": names.get(kwargs.get("recompute", "none"), kwargs.get("recompute", "none"))}
    )


def _draw_activation_bytes(rng):
    def sizes(t):
        heads = int(t * rng.integers(2, 9))
        seq = int(t * rng.integers(16, 300))
        return seq, int(rng.integers(2, 9)), 64 * heads, heads, int(rng.integers(2, 60))

    t = [int(n) for n in rng.choice([2, 3, 4, 6, 8], size=6)]
    yield call(*sizes(1))
    yield call(*sizes(t[0]), tensor_parallel=t[0])
    yield call(*sizes(t[1]), tensor_parallel=t[1], sequence_parallel=True)
    yield call(*sizes(t[2]), tensor_parallel=t[2], recompute="selective")
    yield call(*sizes(t[3]), tensor_parallel=t[3], sequence_parallel=True, recompute="selective")
    yield call(*sizes(t[4]), tensor_parallel=t[4], recompute="full")
    yield call(*sizes(t[5]), tensor_parallel=t[5], sequence_parallel=True, recompute="full")


_GPT3 = (2048, 1, 12288, 96, 96)
FULL_DIVIDED = (
    "With full recomputation the input of each layer is divided by the tensor-parallel devices there. In this course "
    "each of them keeps it whole, whatever the parallelism."
)

BYTES_TWICE = "That is twice as much: 10, 24 and 5 count bytes already, 2 for each 16-bit number."

activation_bytes = Exercise(
    "activation_bytes",
    reference=memory.activation_bytes,
    points=4,
    examples=(
        call(*_GPT3),
        call(*_GPT3, tensor_parallel=8),
        call(*_GPT3, tensor_parallel=8, sequence_parallel=True),
        call(2048, 4, 1024, 16, 24, tensor_parallel=4, recompute="selective"),
        call(2048, 4, 1024, 16, 24, tensor_parallel=4, recompute="full"),
        call(2048, 4, 1024, 16, 24, tensor_parallel=4, sequence_parallel=True, recompute="full"),
    ),
    draw=_draw_activation_bytes,
    refusals=(
        refuse("tensor_parallel = 8 does not divide heads = 12", 1024, 1, 768, 12, 12, tensor_parallel=8),
        refuse("recompute is 'some'", 1024, 1, 768, 12, 12, recompute="some"),
        refuse(
            "sequence_parallel is on and tensor_parallel = 4 does not divide seq = 1022",
            *(1022, 1, 768, 12, 12),
            tensor_parallel=4,
            sequence_parallel=True,
        ),
        refuse("layers is 0", 1024, 1, 768, 12, 0),
        refuse("batch is 1.5", 1024, 1.5, 768, 12, 12),
        refuse("seq is NaN", NAN, 1, 768, 12, 12),
        refuse("hidden is negative", 1024, 1, -768, 12, 12),
        refuse("heads is True", 1024, 1, 768, True, 12),
        refuse("tensor_parallel is 0", 1024, 1, 768, 12, 12, tensor_parallel=0),
        refuse(
            "the heads do not divide, with full recomputation", 1024, 1, 768, 12, 2, tensor_parallel=8, recompute="full"
        ),
    ),
    mistakes=(
        Mistake(
            "one_layer",
            lambda seq, batch, hidden, heads, layers, **k: _activations(seq, batch, hidden, heads, 1, **k),
            "That is one layer. Every layer keeps its activations until its backward pass.",
        ),
        Mistake(
            "one_layer",
            lambda seq, batch, hidden, heads, layers, **k: _activations(
                *(seq, batch, hidden, heads), 1 if k.get("recompute") == "full" else layers, **k
            ),
            "That is one layer. With full recomputation every layer keeps its input.",
        ),
        Mistake(
            "heads_forgotten",
            _slip(pairs=lambda s, b, h, a: 5 * s**2 * b),
            "The heads are missing in the attention scores: 5as/h. Each head has scores of its own.",
        ),
        Mistake(
            "scores_for_tokens",
            _slip(pairs=lambda s, b, h, a: 5 * a * s * b),
            "The s of 5as/h is missing. There is a score for each pair of tokens, not for each token.",
        ),
        Mistake(
            "scores_not_over_hidden",
            _slip(pairs=lambda s, b, h, a: 5 * a * s**2 * b * h),
            "The attention scores are not divided by the hidden size: 5as/h.",
        ),
        Mistake(
            "scores_forgotten",
            _renamed(none="selective"),
            "The attention scores are missing: the term 5 a s / h. Only selective and full recomputation drop it.",
        ),
        Mistake("everything_divided", _slip(sequence_parallel=True), EVERYTHING_DIVIDED),
        Mistake(
            "everything_divided",
            lambda *a, **k: _activations(*a, **{**k, "sequence_parallel": True}, full=lambda w, t, sp: 2 * w / t),
            EVERYTHING_DIVIDED,
        ),
        Mistake(
            "sequence_parallel_ignored",
            _slip(sequence_parallel=False),
            "sequence_parallel changes nothing there. It shares out the norms, dropouts and block inputs as well.",
        ),
        Mistake(
            "tensor_parallel_ignored",
            _slip(tensor_parallel=1),
            "tensor_parallel changes nothing there. It shares out what is inside attention and MLP.",
        ),
        Mistake(
            "scores_not_divided",
            _slip(scores_by=lambda t: 1),
            "Each device keeps all attention scores there. Every device has its own heads, and only their scores.",
        ),
        Mistake(
            "inside_not_divided",
            _slip(inside_by=lambda t: 1),
            "Only the attention scores are shared out there. Tensor parallel also divides the 24 inside the blocks.",
        ),
        Mistake(
            "full_in_numbers",
            _slip(full=lambda whole, t, sp: whole),
            "With full recomputation that counts numbers. An input is kept as a 16-bit number, which takes 2 bytes.",
        ),
        Mistake("full_divided", _slip(full=lambda whole, t, sp: 2 * whole / t), FULL_DIVIDED),
        Mistake("full_divided", _slip(full=lambda whole, t, sp: 2 * whole / (t if sp else 1)), FULL_DIVIDED),
        Mistake(
            "recompute_ignored",
            _renamed(selective="none", full="none"),
            "recompute changes nothing there. Selective drops the scores, full keeps only the input of each layer.",
        ),
        Mistake(
            "selective_ignored",
            _renamed(selective="none"),
            "Selective recomputation changes nothing there. It does not keep the attention scores.",
        ),
        Mistake(
            "full_ignored",
            _renamed(full="none"),
            "Full recomputation changes nothing there. It keeps nothing but the input of each layer.",
        ),
        Mistake(
            "full_as_selective",
            _renamed(full="selective"),
            "Full recomputation drops only the attention scores there. It keeps nothing but the input of each layer.",
        ),
        Mistake(
            "selective_as_full",
            _renamed(selective="full"),
            "Selective recomputation keeps only layer inputs there. It drops the attention scores and nothing else.",
        ),
        Mistake(
            "full_keeps_nothing",
            _slip(full=lambda whole, t, sp: 0),
            "Full recomputation keeps nothing at all there. It starts again from the input of each layer.",
        ),
        Mistake(
            "batch_forgotten",
            lambda seq, batch, *a, **k: _activations(seq, 1, *a, **k),
            "That is one sequence. The micro-batch holds several.",
        ),
        Mistake(
            "bytes_counted_twice",
            lambda *a, **k: 2 * memory.activation_bytes(*a, **k),
            BYTES_TWICE,
            unit=True,
        ),
        Mistake(
            "bytes_counted_twice",
            lambda *a, **k: (1 if k.get("recompute") == "full" else 2) * memory.activation_bytes(*a, **k),
            BYTES_TWICE,
            unit=True,
        ),
        Mistake(
            "gigabytes",
            lambda *a, **k: memory.activation_bytes(*a, **k) / GB,
            IN_GB,
            unit=True,
        ),
        Mistake(
            "gibibytes",
            lambda *a, **k: memory.activation_bytes(*a, **k) / GIB,
            IN_GIB,
            unit=True,
        ),
    ),
)
