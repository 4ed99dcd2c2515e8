"""What `check` tries on a ring all-reduce. Rings differ in direction and in chunks; these rules hold for all."""

import math

import numpy as np

ELEMENT = 8  # bytes of a float64
CLOSE = 1e-9  # of the largest entry: the order of the additions is free


def ring_allreduce(functions, arrays):
    """None where all is well, else what is not: first the arrays, then the bytes."""
    given = [array.copy() for array in arrays]
    answer = functions[0](arrays)
    if any(not np.array_equal(*pair) for pair in zip(given, arrays)):
        return "It changed its input. Work on copies: the devices still need their own arrays."
    if answer is None:
        return "It returned nothing (None). Did you print instead of return?"
    if not isinstance(answer, (tuple, list)) or len(answer) != 2:
        return "Two results are asked for: the list of arrays, and the list of bytes."
    n, size = len(arrays), len(arrays[0])
    where = f"With {n} devices and {size} elements"
    return _of_arrays(answer[0], np.array(given), where) or _of_bytes(answer[1], n, size, where)


def _of_arrays(held, given, where):
    n, total = len(given), given.sum(axis=0)
    if n > 1 and isinstance(held, np.ndarray) and held.shape == total.shape:
        return "The sum came back once. Return a list with one array for each device: what it holds at the end."
    if not isinstance(held, (list, tuple, np.ndarray)) or len(held) != n:
        return f"{where}, the first result must be a list of {n} arrays, one for each device."
    shapes = [np.shape(array) for array in held]
    if shapes != [total.shape] * n:
        return f"{where}, the arrays at the end have the shapes {shapes}; each device holds {total.size} elements."
    near = CLOSE * np.abs(given).sum(axis=0).max(initial=1e-3)
    summed = [bool(np.abs(array - total).max() <= near) for array in np.array(held, dtype=float)]
    if not any(summed) and np.abs(n * np.array(held) - total).max() <= near:
        return "That is the mean over the devices. This all-reduce adds up."
    if not all(summed):
        return (
            f"{where}, these do not hold the sum of all arrays: {_devices(summed)}. {_why(held, total, near)}".strip()
        )
    if len({np.array(array, dtype=float).tobytes() for array in held}) > 1:
        return (
            f"{where}, every device is close to the sum, but they are not equal in the last bits. Add a chunk up once, "
            "along the ring, and hand it on as it is."
        )
    return None


def _devices(summed):
    return ", ".join(f"device {d}" for d, right in enumerate(summed) if not right)


def _why(held, total, near):
    """What the wrong arrays look like, if that can be told."""
    found = np.abs(np.array(held, dtype=float) - total) <= near
    if found.any(axis=0).all() and not found.all(axis=1).any():
        return "Each element is summed on some device: that is the first half of the ring. Hand the sums round."
    whole = total.size // len(held) * len(held)
    if whole < total.size and found[:, :whole].all():
        return f"Elements from {whole} on are left over: chunks need not be equally long."
    return ""


def _of_bytes(sent, n, size, where):
    sent = list(sent) if isinstance(sent, (list, tuple, np.ndarray)) and np.ndim(sent) == 1 else None
    if sent is None or len(sent) != n:
        return f"{where}, the second result must be a list of {n} numbers: the bytes that each device sent."
    asked, total, chunk = 2 * (n - 1) * size * ELEMENT, sum(sent), math.ceil(size / n) * ELEMENT
    together = f"{where}, the arrays are right, and the devices together sent {total:g}"
    if total * ELEMENT == asked and asked:
        return f"{together}: those are elements. An element of a float64 array takes 8 bytes."
    if total == 8 * asked and asked:
        return f"{together}: those are bits. A byte has 8 of them."
    if any(number % ELEMENT for number in sent):
        return (
            f"{where}, the bytes {[float(s) for s in sent]} are not all whole elements of 8 bytes. Count what is sent."
        )
    if total != asked:
        return f"{together} bytes. {_too_much(sent, n, size * ELEMENT, chunk)}"
    if any(abs(number - asked / n) > 2 * chunk for number in sent):
        most = max(range(n), key=lambda d: sent[d])
        return f"{together} bytes. That is right, but device {most} sent {sent[most]:g} of them; all should send alike."
    return None


def _too_much(sent, n, whole, chunk):
    """What the wrong bytes amount to, if that can be told."""
    alike = {
        "each sent 2n whole arrays": 2 * n * whole,
        "each sent a whole array in each of the 2(n - 1) steps": 2 * (n - 1) * whole,
        "each sent its whole array to every other": (n - 1) * whole,
        "each sent two whole arrays, as in n steps in each half": 2 * whole,
        "each sent one whole array": whole,
        "padding was counted as part of the array": 2 * (n - 1) * chunk,
    }
    found = [words for words, amount in alike.items() if all(number == amount for number in sent)]
    if not found and sum(sent) == (n - 1) * whole:
        found = ["one of the two halves was not counted", "an element was taken for 4 bytes"]
    return (
        f"That looks as if {', or '.join(found)}." if found else "A device sends one chunk in each of 2(n - 1) steps."
    )
