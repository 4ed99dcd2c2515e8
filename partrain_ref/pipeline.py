"""Part 5: split the layers into stages, schedule the micro-batches, and count idle time and memory in flight.

An order is a list with one entry a stage: the items that this stage runs, one after another. An item is ("F", i) or
("B", i): the forward or backward pass of micro-batch i. Stages and micro-batches count from 0.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from partrain_ref import _need

Item = tuple[str, int]


def pipeline_bubble(stages: int, microbatches: int) -> float:
    """The idle share of total time, (p − 1)/(m + p − 1), of GPipe and of 1F1B with equal stages.

    Raises ValueError unless both are whole numbers of at least 1. Source: GPipe, arXiv 1811.06965, section 2.3; over
    ideal time it is (p − 1)/m, Megatron-LM, arXiv 2104.04473, section 2.2.
    """
    stages, microbatches = _need.whole("stages", stages), _need.whole("microbatches", microbatches)
    return (stages - 1) / (microbatches + stages - 1)


def interleaved_bubble(stages: int, microbatches: int, chunks: int) -> float:
    """The idle share of total time, (p − 1)/(v m + p − 1), where each device holds `chunks` pieces of the model.

    Raises ValueError for a bad count, and for micro-batches that are not a multiple of stages. Source: Megatron-LM,
    arXiv 2104.04473, section 2.2, which gives it over ideal time.
    """
    stages, microbatches = _need.whole("stages", stages), _need.whole("microbatches", microbatches)
    chunks = _need.whole("chunks", chunks)
    if microbatches % stages:
        raise ValueError(f"microbatches = {microbatches} is not a multiple of stages = {stages}")
    return (stages - 1) / (chunks * microbatches + stages - 1)


def gpipe_order(stages: int, microbatches: int) -> list[list[Item]]:
    """GPipe: every stage runs all forwards, then all backwards. Raises ValueError for a bad count."""
    stages, microbatches = _need.whole("stages", stages), _need.whole("microbatches", microbatches)
    return [[(letter, i) for letter in "FB" for i in range(microbatches)] for _ in range(stages)]


def one_f_one_b_order(stages: int, microbatches: int) -> list[list[Item]]:
    """1F1B: stage s runs p − s − 1 forwards, then one forward and one backward in turn, then the backwards left over.

    Fewer micro-batches than stages are allowed. Raises ValueError for a bad count. Source: Megatron-LM, arXiv
    2104.04473, section 2.2.
    """
    stages, microbatches = _need.whole("stages", stages), _need.whole("microbatches", microbatches)
    order = []
    for stage in range(stages):
        ahead = min(stages - stage - 1, microbatches)
        items = [("F", i) for i in range(ahead)]
        for i in range(ahead, microbatches):
            items += [("F", i), ("B", i - ahead)]
        order.append(items + [("B", i) for i in range(microbatches - ahead, microbatches)])
    return order


def pipeline_time(
    order: Sequence[Sequence[Item]], forward_time: float | Sequence[float], backward_time: float | Sequence[float]
) -> float:
    """The time from the first start to the last end, when each stage runs its items in order and as early as it can.

    A forward waits for the same micro-batch's forward on the stage before; a backward for its own forward and for the
    backward on the stage after. Handing over takes no time. Times are above 0: one number, or one a stage.
    Raises ValueError for bad times, and for an order that deadlocks, or misses or doubles an item.
    """
    stages = _whole_order(order)
    times = {
        "F": _one_a_stage("forward_time", forward_time, len(stages)),
        "B": _one_a_stage("backward_time", backward_time, len(stages)),
    }
    done: dict[tuple, float] = {}
    clock, place = [0.0] * len(stages), [0] * len(stages)
    running = True
    while running:
        running = False
        for s, items in enumerate(stages):
            while place[s] < len(items):
                letter, i = items[place[s]]
                needs = [(s - 1, "F", i)] if letter == "F" else [(s, "F", i), (s + 1, "B", i)]
                needs = [need for need in needs if 0 <= need[0] < len(stages)]
                if any(need not in done for need in needs):
                    break
                clock[s] = max([clock[s], *(done[need] for need in needs)]) + times[letter][s]
                done[s, letter, i] = clock[s]
                place[s], running = place[s] + 1, True
    stuck = [(s, items[place[s]]) for s, items in enumerate(stages) if place[s] < len(items)]
    if stuck:
        raise ValueError(f"order comes to a halt: stage {stuck[0][0]} waits for ever to run {stuck[0][1]}")
    return float(max(clock))


def peak_in_flight(order: Sequence[Sequence[Item]]) -> list[int]:
    """For each stage the most micro-batches at a time whose forward has started and whose backward has not ended.

    Raises ValueError for an order that misses or doubles an item, or runs a backward before its forward.
    """
    peaks = []
    for s, items in enumerate(_whole_order(order)):
        flying, most = set(), 0
        for letter, i in items:
            if letter == "F":
                flying.add(i)
            elif i not in flying:
                raise ValueError(f"order has ('B', {i}) before ('F', {i}) on stage {s}")
            else:
                flying.remove(i)
            most = max(most, len(flying))
        peaks.append(most)
    return peaks


def _whole_order(order: Sequence[Sequence[Item]]) -> list[list[Item]]:
    """The order as lists of tuples, if every stage has every micro-batch once as "F" and once as "B"."""
    try:
        stages = [[(letter, _need.whole("micro-batch", i, least=0)) for letter, i in items] for items in order]
    except (TypeError, ValueError) as error:
        raise ValueError(f'order must be a list of stages with items ("F" or "B", micro-batch): {error}') from None
    if not stages or not all(stages):
        raise ValueError(f"order must not be empty, nor any stage of it: {order!r}")
    count = 1 + max(i for items in stages for _, i in items)
    wanted = {(letter, i) for letter in "FB" for i in range(count)}
    for s, items in enumerate(stages):
        if len(items) != len(wanted) or set(items) != wanted:
            raise ValueError(f"order must hold each of {count} micro-batches once as F and as B; stage {s} does not")
    return stages


def _one_a_stage(name: str, times: float | Sequence[float], stages: int) -> list[float]:
    if np.ndim(times) == 0:
        return [_need.positive(name, times)] * stages
    listed = [_need.positive(f"{name}[{s}]", time) for s, time in enumerate(times)]
    if len(listed) != stages:
        raise ValueError(f"{name} must be one number or one a stage: {len(listed)} for {stages} stages")
    return listed
