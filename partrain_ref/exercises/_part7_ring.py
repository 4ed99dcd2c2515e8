"""The exercise `ring_allreduce`: rings differ in direction and in chunks, so they are judged by what they must have in
common: outputs equal bit for bit and to the sum, bytes that add up exactly, and no device that sends much more.
"""

from __future__ import annotations

import math
from numbers import Real

import numpy as np

from autograder.exercise import Exercise, Mistake, call, refuse
from partrain_ref import clock

NAN = math.nan
ELEMENT = 8  # bytes of a float64
CLOSE = 1e-9  # of the largest entry: additions in another order


class Ring:
    """The answer of one call, read for judging. `sound`: one array of the right length and one number a device."""

    def __init__(self, one, answer):
        self.inputs = np.array(one.args[0], dtype=float)
        self.n, self.size = self.inputs.shape
        self.bytes, self.chunk = ELEMENT * self.size, ELEMENT * math.ceil(self.size / self.n)
        self.total = self.inputs.sum(axis=0)
        held, sent = answer if isinstance(answer, list | tuple) and len(answer) == 2 else (None, None)
        self.held = [_array(array) for array in _items(held)]
        self.sent = [number if _is_number(number) else NAN for number in _items(sent)]
        self.one_array = self._is_total(_array(held))
        self.sound = (
            [array.shape for array in self.held] == [self.total.shape] * self.n
            and len(self.sent) == self.n
            and bool(np.isfinite(self.sent).all())
        )

    def _is_total(self, array, total=None) -> bool:
        total = self.total if total is None else total
        return array.shape == total.shape and self._near(array, total).all()

    def _near(self, array, total):
        return np.abs(array - total) <= CLOSE * np.abs(self.inputs).sum(axis=0).max(initial=1e-3)

    def sums(self, share: float = 1) -> bool:
        """Every device holds the sum, or that share of it."""
        return self.sound and all(self._is_total(array, share * self.total) for array in self.held)

    def equal(self) -> bool:
        return len({array.astype(float).tobytes() for array in self.held}) == 1

    def counts(self, unit: float = 1) -> bool:
        """The bytes of a ring, counted in units of so many bytes."""
        sent = [unit * number for number in self.sent]
        mean = 2 * (self.n - 1) / self.n * self.bytes
        return (
            self.sound
            and sum(sent) == 2 * (self.n - 1) * self.bytes
            and all(number % ELEMENT == 0 and abs(number - mean) <= 2 * self.chunk for number in sent)
        )

    def each_sends(self, amount: float) -> bool:
        """Right sums, and so many bytes from each device. One device alone may also have sent nothing."""
        alone = self.n == 1 and self.sent == [0]
        return self.sums() and (alone or all(abs(number - amount) < 1e-6 for number in self.sent))


def _items(value) -> list:
    return list(value) if isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim) else []


def _is_number(value) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _array(value) -> np.ndarray:
    """A 1-D array of finite numbers, or an empty one for anything else."""
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        return np.empty(0)
    return array if array.ndim == 1 and np.isfinite(array).all() else np.empty(0)


def accepts(one, answer, reference) -> bool:
    """Equal outputs that are the sum, whole elements that add up to 2(n - 1)S, no device far from its share."""
    ring = Ring(one, answer)
    return ring.sums() and ring.equal() and ring.counts()


def _when(holds):
    return lambda one, answer: bool(holds(Ring(one, answer)))


def _with(held=None, sent=None):
    """A twin with the right sums or bytes, except for what is given: functions of (arrays, the reference's answer)."""

    def twin(arrays):
        right = clock.ring_allreduce(arrays)
        return held(arrays, right[0]) if held else right[0], sent(arrays, right[1]) if sent else right[1]

    return twin


def _each(amount, name, sentence):
    """A mistake in the bytes alone: every device sends amount(n, bytes of the array)."""
    twin = _with(sent=lambda arrays, sent: [amount(len(arrays), arrays[0].nbytes)] * len(arrays))
    return Mistake(name, twin, sentence, made=_when(lambda ring: ring.each_sends(amount(ring.n, ring.bytes))))


def _reduce_scatter_only(arrays):
    n = len(arrays)
    held = [np.array_split(np.array(array, dtype=float), n) for array in arrays]
    sent = [0] * n
    for step in range(n - 1):
        moving = [((d + 1) % n, (d - step) % n, held[d][(d - step) % n].copy()) for d in range(n)]
        for after, c, chunk in moving:
            held[after][c] = held[after][c] + chunk
            sent[after - 1] += chunk.nbytes
    return [np.concatenate(chunks) for chunks in held], sent


def _partial(ring: Ring) -> bool:
    """Every entry of the sum is on some device, and no device has them all."""
    if ring.n == 1:
        return True
    found = [ring._near(array, ring.total) for array in ring.held] if ring.sound else []
    return bool(found) and np.any(found, axis=0).all() and not any(f.all() for f in found)


def _remainder_lost(arrays):
    """Chunks of size // n elements; what is left over at the end stays as it was."""
    n, whole = len(arrays), len(arrays[0]) // len(arrays) * len(arrays)
    held, sent = clock.ring_allreduce([a[:whole] for a in arrays]) if whole else ([a[:0] for a in arrays], [0] * n)
    return [np.concatenate([h, a[whole:]]) for h, a in zip(held, arrays, strict=True)], sent


def _lost(ring: Ring) -> bool:
    whole = ring.size // ring.n * ring.n
    near = [ring._near(array, ring.total) for array in ring.held] if ring.sound else []
    left_over = [not n[whole:].any() for n in near] if whole < ring.size else [True]
    return bool(near) and all(n[:whole].all() for n in near) and all(left_over)


def _padded(arrays):
    held, _ = clock.ring_allreduce(arrays)
    n, chunk = len(arrays), ELEMENT * math.ceil(len(arrays[0]) / len(arrays))
    return held, [2 * (n - 1) * chunk] * n


def _own_order(arrays, held):
    """Each device adds up in an order of its own, starting with itself."""
    return [sum((arrays[(d + k) % len(arrays)] for k in range(1, len(arrays))), arrays[d]) for d in range(len(arrays))]


def _root(arrays, sent):
    n, size = len(arrays), arrays[0].nbytes
    return [(n - 1) * size, *[size] * (n - 1)]


def _root_sends(ring: Ring) -> bool:
    most = (ring.n - 1) * ring.bytes
    return ring.sums() and sum(ring.sent) == 2 * most and (max(ring.sent) == most)


MISTAKES = (
    Mistake(
        "elements",
        _with(sent=lambda arrays, sent: [number // ELEMENT for number in sent]),
        "The second result counts elements. On the wire each element of a float64 array takes 8 bytes.",
        unit=True,
        made=_when(lambda ring: ring.sums() and ring.counts(ELEMENT)),
    ),
    Mistake(
        "bits",
        _with(sent=lambda arrays, sent: [8 * number for number in sent]),
        "The second result counts bits. A byte has 8 of them.",
        unit=True,
        made=_when(lambda ring: ring.sums() and ring.counts(1 / 8)),
    ),
    Mistake(
        "one_array_for_all",
        lambda arrays: (np.sum(arrays, axis=0), clock.ring_allreduce(arrays)[1]),
        "The sum came back once. Return a list with one array for each device: what that device holds at the end.",
        made=_when(lambda ring: ring.one_array),
    ),
    Mistake(
        "mean",
        _with(held=lambda arrays, held: [array / len(arrays) for array in held]),
        "That is the mean over the devices. This all-reduce adds up; dividing is left to whoever needs a mean.",
        made=_when(lambda ring: ring.sums(1 / ring.n)),
    ),
    Mistake(
        "only_reduce_scatter",
        _reduce_scatter_only,
        "The devices hold partial sums: each has completed some chunk, and none has them all. That is the first half, "
        "the reduce-scatter. In the second half the completed chunks go round the ring.",
        made=_when(lambda ring: _partial(ring) and sum(ring.sent) <= (ring.n - 1) * ring.bytes),
    ),
    Mistake(
        "one_device_only",
        _with(held=lambda arrays, held: [held[0], *[array.copy() for array in arrays[1:]]]),
        "One device holds the sum, and the others do not. After an all-reduce every device holds it.",
        made=_when(lambda ring: ring.sound and _complete(ring) == 1),
    ),
    Mistake(
        "remainder_lost",
        _remainder_lost,
        "The elements left over at the end were not added up. The number of devices need not divide the number of "
        "elements: let some chunks be longer, or some be empty.",
        made=_when(_lost),
    ),
    Mistake(
        "padding_counted",
        _padded,
        "The padding was counted. Zeros that fill up the last chunks are not part of the array: let chunks be of "
        "unequal length instead, or leave the zeros out of the bytes.",
        made=_when(
            lambda ring: ring.sums() and sum(ring.sent) == 2 * (ring.n - 1) * ring.n * ring.chunk  # n chunks, padded
        ),
    ),
    Mistake(
        "all_through_one_device",
        _with(sent=_root),
        "The bytes add up, but one device sends (n - 1) whole arrays: it collects, adds and hands out. In a ring every "
        "device sends about the same.",
        made=_when(_root_sends),
    ),
    _each(
        lambda n, size: 2 * n * size,
        "whole_arrays_2n_times",
        "The bytes are those of 2n whole arrays from each device. A step sends one chunk, and there are n - 1 steps in "
        "each half.",
    ),
    _each(
        lambda n, size: 2 * (n - 1) * size,
        "whole_arrays_each_step",
        "Each device is counted with a whole array in each of the 2(n - 1) steps, or with what all devices send "
        "together. A device sends one chunk in a step.",
    ),
    _each(
        lambda n, size: (n - 1) * size,
        "whole_array_to_everyone",
        "The bytes are those of n - 1 whole arrays from each device, as if each sent its array to every other.",
    ),
    _each(
        lambda n, size: size,
        "one_whole_array",
        "The bytes are those of one whole array from each device. Count chunk by chunk, in both halves of the ring.",
    ),
    _each(
        lambda n, size: 2 * size,
        "n_steps",
        "The bytes are those of two whole arrays from each device: n steps in each half. After n - 1 steps a chunk has "
        "been everywhere.",
    ),
    Mistake(
        "half_of_it",
        _with(sent=lambda arrays, sent: [number / 2 for number in sent]),
        "The bytes add up to half of what a ring sends. Either one of its two halves was not counted, or an element "
        "was taken for 4 bytes.",
        made=_when(lambda ring: ring.sums() and sum(ring.sent) == (ring.n - 1) * ring.bytes),
    ),
    Mistake(
        "bytes_from_the_formula",
        _with(sent=lambda arrays, sent: [2 * (len(a) - 1) / len(a) * a[0].nbytes for a in [arrays]] * len(arrays)),
        "Those bytes are 2(n - 1)/n of the array for every device alike. Where n does not divide the elements, the "
        "chunks are not equally long: add up what each device sends, step by step.",
        made=_when(lambda ring: ring.sums() and _by_formula(ring)),
    ),
    Mistake(
        "devices_not_equal",
        _with(held=_own_order),
        "Each device is close to the sum, but they are not equal in the last bits. Each chunk is added up once, along "
        "the ring, and then handed on as it is. Copies of a model that differ in the last bits drift apart.",
        made=_when(lambda ring: ring.sums() and ring.counts()),
    ),
)


def _complete(ring: Ring) -> int:
    return sum(ring._is_total(array) for array in ring.held)


def _by_formula(ring: Ring) -> bool:
    mean = 2 * (ring.n - 1) / ring.n * ring.bytes
    return len(set(ring.sent)) == 1 and abs(ring.sent[0] - mean) < 1


def _draw(rng):
    for n, size in (
        (4, 12),
        (3, int(rng.integers(7, 9))),
        (5, 3),
        (int(rng.integers(6, 8)), int(rng.integers(15, 18))),
    ):
        yield call([rng.normal(size=size) for _ in range(n)])
    yield call([rng.normal(size=5).round(3) for _ in range(2)])
    yield call([rng.normal(size=int(rng.integers(2, 6)))])


_HUNDREDS = [np.array([1.0, 2.0, 3.0]), np.array([10.0, 20.0, 30.0]), np.array([100.0, 200.0, 300.0])]
_TENTHS = [
    np.array([0.1, 0.7, 0.1, 0.4, 1.0]),
    np.array([0.2, 0.1, 0.3, 0.1, 2.0]),
    np.array([0.3, 0.2, 0.6, 0.2, 0.5]),
]

ring_allreduce = Exercise(
    "ring_allreduce",
    reference=clock.ring_allreduce,
    points=6,
    examples=(call(_HUNDREDS), call(_TENTHS), call([np.array([float(d + 1)] * 3) for d in range(5)])),
    draw=_draw,
    accepts=accepts,
    tolerance=(0.0, 0.0),  # other forms are for `accepts` to judge: in the last bit devices must agree
    refusals=(
        refuse("arrays is empty", []),
        refuse("one array is shorter", [np.ones(4), np.ones(3)]),
        refuse("an array of one element meets one of three", [np.ones(3), np.ones(1)]),
        refuse("the arrays have no elements", [np.ones(0), np.ones(0)]),
        refuse("an entry is NaN", [np.ones(3), np.array([1.0, NAN, 1.0])]),
        refuse("an entry is infinite", [np.array([1.0, math.inf]), np.ones(2)]),
        refuse("the arrays are two-dimensional", [np.ones((2, 2)), np.ones((2, 2))]),
    ),
    mistakes=MISTAKES,
)
