"""Part 4: what a checkpoint holds, how large it is, how to write it so that a crash costs nothing, and how often."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from partrain_ref import _need
from partrain_ref.adam_run import ITEMS, AdamRun

NOT_NEEDED = ("gradients", "activations", "training_rows", "loss_curve", "device_names")
VOCABULARY = (*ITEMS, *NOT_NEEDED)


def checkpoint_bytes(
    params: float, weight_bytes: float = 2, master_bytes: float = 4, moment_bytes: float = 8
) -> int | float:
    """Bytes of a full checkpoint of `params` parameters: weights, fp32 master weights, Adam's two moments.

    Gradients are not saved: the next step computes them anew. A part that a run does not keep has 0 bytes a parameter.
    Raises ValueError for params not above 0, bytes below 0 or all 0, NaN or infinity.
    Source: the size of BLOOM-176B's checkpoint (its training README) is 14 bytes a parameter.
    """
    _need.positive("params", params)
    parts = {"weight_bytes": weight_bytes, "master_bytes": master_bytes, "moment_bytes": moment_bytes}
    per_param = sum(_need.not_negative(name, value) for name, value in parts.items())
    if per_param == 0:
        raise ValueError("weight_bytes, master_bytes and moment_bytes must not all be 0")
    total = params * per_param
    return int(total) if float(params).is_integer() and per_param.is_integer() else float(total)


def must_save(choices: Iterable[str]) -> set[str]:
    """Those of `choices` that a checkpoint needs for a run to go on exactly; names are those of VOCABULARY.

    Raises ValueError for a name that is not in the vocabulary, and where there are no names.
    """
    names = [choices] if isinstance(choices, str) else list(choices)
    unknown = [name for name in names if name not in VOCABULARY]
    if unknown or not names:
        raise ValueError(f"choices must be names out of {', '.join(VOCABULARY)}, not {unknown or names}")
    return set(names) & set(ITEMS)


def rows_for_step(step: int, batch: int, rows: int, seed: int) -> list[int]:
    """The rows of a step (counted from 0), from its number alone: every row once an epoch, each epoch in a new order.

    Raises ValueError for counts that are not whole or below 1 (step and seed: below 0), and for a batch that does not
    divide rows.
    """
    step, seed = _need.whole("step", step, least=0), _need.whole("seed", seed, least=0)
    batch, rows = _need.whole("batch", batch), _need.whole("rows", rows)
    if rows % batch:
        raise ValueError(f"batch = {batch} does not divide the {rows} rows")
    epoch, place = divmod(step, rows // batch)
    order = np.random.default_rng([seed, epoch]).permutation(rows)
    return order[place * batch : (place + 1) * batch].tolist()


def save_checkpoint(path: str | os.PathLike, run: AdamRun) -> None:
    """Write all that changes in `run` to `path`; a crash at any moment leaves the old file or the new one, whole."""
    partial = f"{os.fspath(path)}.partial"
    with open(partial, "w", encoding="ascii") as file:
        file.write(json.dumps(run.state()))
        file.flush()
        os.fsync(file.fileno())  # the bytes are on the disk before the name is
    os.replace(partial, path)


def load_checkpoint(path: str | os.PathLike, run: AdamRun) -> None:
    """Put what `save_checkpoint` wrote into `run`."""
    with open(path, encoding="ascii") as file:
        run.restore(json.loads(file.read()))


def mtbf(device_mtbf: float, devices: int) -> float:
    """Mean time between failures of a job that any of `devices` devices can stop, in the unit of `device_mtbf`."""
    return _need.positive("device_mtbf", device_mtbf) / _need.whole("devices", devices)


def best_interval(save_seconds: float, mtbf_seconds: float) -> float:
    """Young's interval sqrt(2 · save · mtbf): seconds of computing between two checkpoints, the write not counted.

    Source: Young 1974; the minimum of the first-order waste, see `wasted_fraction`.
    """
    return math.sqrt(2 * _need.positive("save_seconds", save_seconds) * _need.positive("mtbf_seconds", mtbf_seconds))


def wasted_fraction(interval: float, save_seconds: float, mtbf_seconds: float, restart_seconds: float) -> float:
    """First-order waste, as a share of computing time: save/interval + (interval/2 + restart)/mtbf. All in seconds.

    It may be above 1. Raises ValueError for what is not above 0 (restart_seconds: below 0), NaN or infinity.
    """
    interval, save = _need.positive("interval", interval), _need.positive("save_seconds", save_seconds)
    mean, restart = _need.positive("mtbf_seconds", mtbf_seconds), _need.not_negative("restart_seconds", restart_seconds)
    return save / interval + (interval / 2 + restart) / mean


def safetensors_bytes(tensors: Mapping[str, tuple[Iterable[int], str]]) -> int:
    """Bytes of a safetensors file with `tensors` (name -> shape, numpy dtype name): 8, then the header, then the data.

    The header is compact JSON in name order, padded with spaces to a multiple of 8.
    """
    header: dict[str, Any] = {}
    end = 0
    for name in sorted(tensors):
        shape, dtype = list(tensors[name][0]), np.dtype(tensors[name][1])
        start, end = end, end + math.prod(shape) * dtype.itemsize
        code = {"f": "F", "i": "I", "u": "U"}[dtype.kind] + str(8 * dtype.itemsize)
        header[name] = {"dtype": code, "shape": shape, "data_offsets": [start, end]}
    length = len(json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode())
    return 8 + -(-length // 8) * 8 + end
