"""Part 3, the pieces of an array and the optimizer that lives in them: exercises."""

from __future__ import annotations

import math

import numpy as np

from autograder.exercise import Exercise, Mistake, call, refuse
from partrain_ref import memory

NAN, EPS = math.nan, 1e-8


def _draw_shard(rng):
    for size, devices in ((7, 3), (10, 4), (6, 3), (int(rng.integers(2, 4)), 5), (4, 1)):
        yield call(rng.normal(size=size).round(4), devices)
    yield call(rng.integers(1, 50, size=9), 4)  # whole numbers are numbers too


def _cut(flat, devices, size):
    return [flat[d * size : (d + 1) * size] for d in range(devices)]


def _up(flat, devices):
    return math.ceil(len(flat) / devices)


def _fill(piece, size, front=False):
    return np.pad(piece, (size - len(piece), 0) if front else (0, size - len(piece)))


def _rest_to_last(flat, devices):
    size = len(flat) // devices
    return [*_cut(flat, devices - 1, size), flat[(devices - 1) * size :]]


NOT_FILLED = "The pieces are not equally long. Fill the end with zeros, so that every device holds as much."

shard = Exercise(
    "shard",
    reference=memory.shard,
    points=4,
    examples=(
        call(np.array([1.0, 2.0, 3.0, 4.0, 5.0]), 2),
        call(np.arange(1.0, 11.0), 4),
        call(np.arange(1.0, 7.0), 3),  # divides evenly: nothing to fill
    ),
    draw=_draw_shard,
    refusals=(
        refuse("devices is 0", np.ones(4), 0),
        refuse("flat is empty", np.ones(0), 2),
        refuse("flat has two dimensions", np.ones((2, 2)), 2),
        refuse("an entry is NaN", np.array([1.0, NAN]), 2),
        refuse("an entry is infinite", np.array([1.0, math.inf]), 2),
        refuse("devices is 1.5", np.ones(4), 1.5),
    ),
    mistakes=(
        Mistake(
            "rest_dropped",
            lambda flat, devices: _cut(flat, devices, len(flat) // devices),
            "The size was divided and rounded down, so the last entries are in no piece. Round up.",
        ),
        Mistake("not_filled", lambda flat, devices: _cut(flat, devices, _up(flat, devices)), NOT_FILLED),
        Mistake("not_filled", lambda flat, devices: np.array_split(flat, devices), NOT_FILLED),
        Mistake("not_filled", _rest_to_last, NOT_FILLED),
        Mistake(
            "filled_in_every_piece",
            lambda flat, devices: [_fill(p, _up(flat, devices)) for p in np.array_split(flat, devices)],
            "Zeros stand at the end of several pieces. Only the end of the whole array is filled.",
        ),
        Mistake(
            "filled_in_front",
            lambda flat, devices: _cut(
                _fill(flat, devices * _up(flat, devices), front=True), devices, _up(flat, devices)
            ),
            "The zeros stand in front. They belong behind the last entry.",
        ),
        Mistake(
            "dealt_out",
            lambda flat, devices: list(_fill(flat, devices * _up(flat, devices)).reshape(-1, devices).T),
            "The entries are dealt out in turn, like cards. Each device gets a run of neighbours.",
        ),
        Mistake(
            "one_entry_too_long",
            lambda flat, devices: _cut(
                _fill(flat, devices * (len(flat) // devices + 1)), devices, len(flat) // devices + 1
            ),
            "Where the size divides evenly, the pieces are one entry too long. Round up only where something is left.",
        ),
        Mistake(
            "devices_as_length",
            lambda flat, devices: _cut(_fill(flat, devices * _up(flat, devices)), _up(flat, devices), devices),
            "The number of devices became the length of a piece. It is the number of pieces.",
        ),
        Mistake(
            "whole_copies",
            lambda flat, devices: [flat.copy() for _ in range(devices)],
            "Every device has the whole array there. Each one holds its piece only.",
        ),
    ),
)


def _draw_unshard(rng):
    for size, devices in ((7, 3), (10, 4), (6, 3), (int(rng.integers(2, 4)), 5), (4, 1)):
        flat = rng.normal(size=size).round(4)
        flat[[size // 2, -1]] = 0.0  # a true zero inside, and one at the end
        yield call(memory.shard(flat, devices), size)
    yield call(memory.shard(rng.normal(size=9).round(4), 4), 9)


ZEROS_DROPPED = (
    "Zeros were taken away by their value. An entry of the array can be zero too: only its size says where it ends."
)

unshard = Exercise(
    "unshard",
    reference=memory.unshard,
    points=4,
    examples=(
        call([np.array([1.0, 0.0, 3.0]), np.array([4.0, 0.0, 0.0])], 5),
        call([np.array([1.0, 2.0]), np.array([3.0, 4.0]), np.array([5.0, 0.0])], 5),
    ),
    draw=_draw_unshard,
    refusals=(
        refuse("there are no pieces", [], 3),
        refuse("size is more than the pieces hold", [np.ones(2), np.ones(2)], 5),
        refuse("the pieces are not equally long", [np.ones(3), np.ones(2)], 5),
        refuse("size is 0", [np.ones(2), np.ones(2)], 0),
        refuse("size is 2.5", [np.ones(2), np.ones(2)], 2.5),
        refuse("a piece holds NaN", [np.ones(2), np.array([NAN, 1.0])], 4),
        refuse("the pieces are empty", [np.ones(0), np.ones(0)], 1),
    ),
    mistakes=(
        Mistake(
            "padding_left",
            lambda pieces, size: np.concatenate(pieces),
            "The zeros that filled the last piece are still there. Cut the array off at its size.",
        ),
        Mistake("zeros_dropped", lambda p, size: np.concatenate(p)[np.concatenate(p) != 0], ZEROS_DROPPED),
        Mistake("zeros_dropped", lambda p, size: np.trim_zeros(np.concatenate(p), "b"), ZEROS_DROPPED),
        Mistake(
            "dealt_out",
            lambda pieces, size: np.stack(pieces).T.ravel()[: int(size)],
            "The entries were taken from the pieces in turn. The pieces follow each other whole.",
        ),
        Mistake(
            "cut_in_front",
            lambda pieces, size: np.concatenate(pieces)[-int(size) :],
            "The array was cut off in front. The zeros that fill up stand at its end.",
        ),
        Mistake(
            "first_piece_only",
            lambda pieces, size: np.array(pieces[0]),
            "That is the piece of the first device. The others belong to the array too.",
        ),
    ),
)


def _adam_inputs(rng, size, devices, step, lr):
    """Weights, gradients and moments of a run under way; some gradients are so small that eps matters."""
    scale = np.where(np.arange(size) % 3 == 1, 1e-6, 1.0)
    grads = [(rng.normal(size=size) * scale).round(9) for _ in range(devices)]
    m = rng.normal(size=size) * scale * 0.1 if step else np.zeros(size)
    v = rng.uniform(0.05, 0.5, size=size) * scale**2 if step else np.zeros(size)
    moments = list(zip(memory.shard(m, devices), memory.shard(v, devices), strict=True))
    return call(rng.normal(size=size).round(4), grads, moments, step, lr)


def _draw_sharded_adam_step(rng):
    lr = round(float(rng.uniform(0.005, 0.05)), 4)
    yield _adam_inputs(rng, 7, 3, 0, lr)
    yield _adam_inputs(rng, 6, 2, int(rng.integers(1, 6)), lr)
    yield _adam_inputs(rng, int(rng.integers(9, 11)), 4, int(rng.integers(7, 90)), lr)
    yield _adam_inputs(rng, 3, 1, 2, lr)
    yield _adam_inputs(rng, 2, 3, 1, lr)  # more devices than weights


def _adam(
    gradient=lambda grads: np.mean(grads, axis=0),
    offset=1,
    betas=(0.9, 0.999),
    root=lambda v: np.sqrt(v) + EPS,
    sign=-1.0,
    keep=lambda old, new, hat, n: list(zip(*(memory.shard(part, n) for part in new), strict=True)),
    join=lambda moved, n, weights: moved,
):
    """An Adam in one piece with room for slips; `keep` makes its moments, `join` its weights. offset None: no bias
    correction; otherwise the power of beta is step + offset."""

    def twin(weights, grads, moments, step, lr):
        n, size = len(grads), len(weights)
        g = gradient(grads)
        old = [np.concatenate([pair[i] for pair in moments])[:size] for i in (0, 1)]
        new = [beta * part + (1 - beta) * g**power for beta, part, power in zip(betas, old, (1, 2), strict=True)]
        with np.errstate(all="ignore"):
            rest = [1.0 if offset is None else 1 - np.float64(beta) ** (step + offset) for beta in betas]
            hat = [part / one for part, one in zip(new, rest, strict=True)]
            moved = weights + sign * lr * hat[0] / root(hat[1])
        return join(moved, n, weights), keep(old, new, hat, n)

    return twin


def _own_gradients(grads):
    """Each piece from the gradient of the device that holds it."""
    pieces = [memory.shard(grad, len(grads))[d] for d, grad in enumerate(grads)]
    return np.concatenate(pieces)[: len(grads[0])]


def _pairs(parts, n):
    return list(zip(*(memory.shard(part, n) for part in parts), strict=True))


def _padded(weights, n, *_):
    return np.concatenate(memory.shard(weights, n))


def _first_piece_new(moved, n, weights):
    """What device 0 holds when nobody sends it the other new pieces."""
    size = -(-len(weights) // n)
    return np.concatenate([moved[:size], weights[size:]])


def _steps_in_a_row(weights, grads, moments, step, lr):
    for grad in grads:
        weights, moments = memory.sharded_adam_step(weights, [grad] * len(grads), moments, step, lr)
    return weights, moments


def _averaged_after_the_step(weights, grads, moments, step, lr):
    steps = [memory.sharded_adam_step(weights, [grad] * len(grads), moments, step, lr) for grad in grads]
    kept = [tuple(np.mean([after[d] for _, after in steps], axis=0)) for d in range(len(grads))]
    return np.mean([moved for moved, _ in steps], axis=0), kept


NOT_GATHERED = "The weights are not gathered. Every device needs all of the new weights for its next forward pass."
WHOLE_MOMENTS = "All of both moments are there for every device, so no memory is saved. Each keeps its own pieces."

sharded_adam_step = Exercise(
    "sharded_adam_step",
    reference=memory.sharded_adam_step,
    points=6,
    examples=(
        call(
            np.array([1.0, 2.0, 3.0]),
            [np.array([0.5, 1e-6, -1.0]), np.array([1.5, 3e-6, 0.0])],
            [(np.zeros(2), np.zeros(2)), (np.zeros(2), np.zeros(2))],
            0,
            0.1,
        ),
        call(
            np.array([1.0, -1.0, 0.5]),
            [np.array([1.0, 2e-6, -2.0]), np.array([0.0, 4e-6, 1.0])],
            [(np.array([0.1, 2e-7]), np.array([0.02, 1e-13])), (np.array([-0.3, 0.0]), np.array([0.05, 0.0]))],
            3,
            0.01,
        ),
    ),
    draw=_draw_sharded_adam_step,
    refusals=(
        refuse("there are no gradients", np.ones(3), [], [], 0, 0.1),
        refuse(
            "the moments are whole, not pieces", np.ones(4), [np.ones(4)] * 2, [(np.ones(4), np.ones(4))] * 2, 0, 0.1
        ),
        refuse(
            "there are fewer moments than gradients", np.ones(4), [np.ones(4)] * 2, [(np.ones(2), np.ones(2))], 0, 0.1
        ),
        refuse("a gradient is too short", np.ones(4), [np.ones(4), np.ones(3)], [(np.ones(2), np.ones(2))] * 2, 0, 0.1),
        refuse("a gradient has one entry", np.ones(4), [np.ones(1)] * 2, [(np.ones(2), np.ones(2))] * 2, 0, 0.1),
        refuse("a gradient holds NaN", np.ones(2), [np.ones(2), np.array([1, NAN])], [(np.ones(1),) * 2] * 2, 0, 0.1),
        refuse("a weight is infinite", np.array([1, math.inf]), [np.ones(2)] * 2, [(np.ones(1),) * 2] * 2, 0, 0.1),
        refuse("step is -1", np.ones(2), [np.ones(2)] * 2, [(np.ones(1),) * 2] * 2, -1, 0.1),
        refuse("step is 1.5", np.ones(2), [np.ones(2)] * 2, [(np.ones(1),) * 2] * 2, 1.5, 0.1),
        refuse("lr is 0", np.ones(2), [np.ones(2)] * 2, [(np.ones(1),) * 2] * 2, 0, 0),
        refuse("lr is NaN", np.ones(2), [np.ones(2)] * 2, [(np.ones(1),) * 2] * 2, 0, NAN),
    ),
    mistakes=(
        Mistake(
            "gradients_summed",
            _adam(gradient=lambda grads: np.sum(grads, axis=0)),
            "The gradients of the devices were added up. Adam's moments are those of their mean.",
        ),
        Mistake(
            "averaged_twice",
            _adam(gradient=lambda grads: np.mean(grads, axis=0) / len(grads)),
            "The gradients were divided by the number of devices twice. The mean over the devices is divided once.",
        ),
        Mistake(
            "own_gradients",
            _adam(gradient=_own_gradients),
            "Each device used its own gradient for its piece. It needs its piece of the mean over all devices.",
        ),
        Mistake(
            "own_gradients",
            _adam(gradient=lambda grads: _own_gradients(grads) / len(grads)),
            "Each device used its own gradient for its piece. It needs its piece of the mean over all devices.",
        ),
        Mistake(
            "averaged_too_late",
            _averaged_after_the_step,
            "Each gradient made a step, and the results were averaged. Average the gradients first, then step once.",
        ),
        Mistake(
            "steps_in_a_row",
            _steps_in_a_row,
            "The gradients made one step each, one after the other. There is one step, along their mean.",
        ),
        Mistake(
            "first_device_only",
            _adam(gradient=lambda grads: np.array(grads[0])),
            "Only the gradient of the first device was used. The step goes along the mean of all.",
        ),
        Mistake(
            "no_bias_correction",
            _adam(offset=None),
            "The bias correction is missing: both moments start at zero and are too small in the first steps.",
        ),
        Mistake(
            "steps_from_1",
            _adam(offset=0),
            "The power in the bias correction is one too low. Steps count from 0; the first uses beta to the power 1.",
        ),
        Mistake(
            "steps_too_far",
            _adam(offset=2),
            "The power in the bias correction is one too high. Steps count from 0; the first uses beta to the power 1.",
        ),
        Mistake(
            "eps_inside_the_root",
            _adam(root=lambda v: np.sqrt(v + EPS)),
            "eps stands inside the root there. It is added after the root is taken.",
        ),
        Mistake(
            "eps_forgotten",
            _adam(root=np.sqrt),
            "eps is missing below the fraction. Where a gradient is very small, or zero, it matters.",
        ),
        Mistake(
            "root_forgotten",
            _adam(root=lambda v: v + EPS),
            "The root is missing: line 4 divides by √v̂, not by v̂.",
        ),
        Mistake("betas_swapped", _adam(betas=(0.999, 0.9)), "The two betas are swapped: 0.9 is for the first moment."),
        Mistake("uphill", _adam(sign=1.0), "The weights moved along the gradient. A step goes against it."),
        Mistake("not_gathered", _adam(join=lambda moved, n, weights: memory.shard(moved, n)), NOT_GATHERED),
        Mistake("not_gathered", _adam(join=lambda moved, n, weights: memory.shard(moved, n)[0]), NOT_GATHERED),
        Mistake("not_gathered", _adam(join=_first_piece_new), NOT_GATHERED),
        Mistake(
            "padding_left",
            _adam(join=_padded),
            "The weights still hold the zeros that filled the last piece. Cut them off at the size of the weights.",
        ),
        Mistake("whole_moments", _adam(keep=lambda old, new, hat, n: [tuple(new)] * n), WHOLE_MOMENTS),
        Mistake(
            "whole_moments", _adam(keep=lambda old, new, hat, n: [tuple(_padded(p, n) for p in new)] * n), WHOLE_MOMENTS
        ),
        Mistake("whole_moments", _adam(keep=lambda old, new, hat, n: tuple(new)), WHOLE_MOMENTS),
        Mistake(
            "moments_swapped",
            _adam(keep=lambda old, new, hat, n: _pairs(new[::-1], n)),
            "The pairs came back as (v, m). In each pair m stands first.",
        ),
        Mistake(
            "moments_not_returned",
            lambda *a: memory.sharded_adam_step(*a)[0],
            "Only the weights came back. Return (weights, moments): the next step needs the new moments.",
        ),
        Mistake(
            "moments_from_zero",
            lambda weights, grads, moments, step, lr: memory.sharded_adam_step(
                weights, grads, [(0 * m, 0 * v) for m, v in moments], step, lr
            ),
            "The moments that came in were not used. A step goes on from those of the step before.",
        ),
        Mistake(
            "old_moments",
            _adam(keep=lambda old, new, hat, n: _pairs(old, n)),
            "The moments came back as they were. The next step needs the new ones.",
        ),
        Mistake(
            "corrected_moments",
            _adam(keep=lambda old, new, hat, n: _pairs(hat, n)),
            "The moments came back with the bias correction in them. Keep the plain ones: each step corrects afresh.",
        ),
    ),
)
