"""Boxes of each kind that this package knows, opened in the same way."""

from contextlib import closing, contextmanager

from autograder.sandbox import seal
from autograder.sandbox.cold import ColdBox
from autograder.sandbox.pool import Pool

KINDS = ("warm", "unsealed", "cold")
_pools = {}


@contextmanager
def opened(kind, files, limits, hidden=("partrain_ref",)):
    """warm: as well sealed as this machine can; unsealed: a zygote without a seal; cold: a kernel process."""
    if kind == "cold":
        with closing(ColdBox(files, limits)) as box:
            yield box
        return
    if kind not in _pools:
        _pools[kind] = Pool()
        if kind == "unsealed":
            _pools[kind]._levels = [seal.UNSEALED]
    with _pools[kind].box(files, limits, hidden) as box:
        yield box


def text(ran):
    """All that a cell printed."""
    return "".join(output.get("text", "") for output in ran.outputs)
