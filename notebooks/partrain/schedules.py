"""Pipeline schedules: what each device runs after what, and when, if it starts everything as early as it can.

A plan is a list with one entry a device: its items, one after another. An item is (letter, chunk, micro-batch), where
the letter is "F" or "B". Piece `chunk * devices + device` of the model lives on a device; without interleaving there is
one chunk, and a device holds one stage. All of them count from 0.
"""

from dataclasses import dataclass
from numbers import Real

SCHEDULES = ("naive", "GPipe", "1F1B", "interleaved")


def plan(schedule, devices, microbatches, chunks=1):
    """The plan of a schedule by name; only "interleaved" looks at `chunks`, and with one chunk it is 1F1B."""
    if schedule == "interleaved" and microbatches % devices:
        raise ValueError(
            f"Interleaved chunks take micro-batches in groups of {devices}, one for each device: "
            f"{microbatches} is not a multiple of {devices}."
        )
    chunks = chunks if schedule == "interleaved" else 1
    group = devices if schedule == "interleaved" else microbatches
    forwards = [
        (chunk, first + i) for first in range(0, microbatches, group) for chunk in range(chunks) for i in range(group)
    ]
    return [
        _in_turn(forwards, chunks, _ahead(schedule, devices, device, chunks, len(forwards)))
        for device in range(devices)
    ]


def _ahead(schedule, devices, device, chunks, forwards):
    """How many forwards a device runs before it takes one forward and one backward in turn."""
    behind = devices - device - 1
    schedule = "1F1B" if schedule == "interleaved" and chunks == 1 else schedule
    ahead = {"naive": 0, "GPipe": forwards, "1F1B": behind, "interleaved": 2 * behind + (chunks - 1) * devices}
    return min(ahead[schedule], forwards)


def _in_turn(forwards, chunks, ahead):
    """The first `ahead` forwards, then one forward and one backward in turn, then the backwards that are left."""
    backwards = [("B", chunks - 1 - chunk, i) for chunk, i in forwards]
    forwards = [("F", chunk, i) for chunk, i in forwards]
    pairs = zip(forwards[ahead:], backwards)
    return forwards[:ahead] + [item for pair in pairs for item in pair] + backwards[len(forwards) - ahead :]


@dataclass(frozen=True)
class Run:
    """What happened: `blocks` holds, for each device, (letter, chunk, micro-batch, start, end) of what it ran; `stuck`,
    for a device that waits for ever, the item that it waits to run."""

    blocks: list
    stuck: dict

    @property
    def total(self):
        """The time at which the last device ends."""
        return max((block[-1] for blocks in self.blocks for block in blocks), default=0.0)

    @property
    def working(self):
        """The time that all devices together spend on their items."""
        return sum(end - start for blocks in self.blocks for *_, start, end in blocks)

    @property
    def in_flight(self):
        """For each device the most items at a time whose forward has started and whose backward has not ended."""
        return [_most_in_flight(blocks) for blocks in self.blocks]


def _most_in_flight(blocks):
    now = most = 0
    for letter, *_ in blocks:
        now += 1 if letter == "F" else -1
        most = max(most, now)
    return most


def run(plan, forward_times, backward_times):
    """Run a plan; the times are those of one item, one a device."""
    devices, chunks = len(plan), 1 + max((chunk for items in plan for _, chunk, _ in items), default=0)
    times = {"F": forward_times, "B": backward_times}
    ends, clock, blocks = {}, [0.0] * devices, [[] for _ in plan]
    moved = True
    while moved:
        moved = False
        for device, items in enumerate(plan):
            for letter, chunk, i in items[len(blocks[device]) :]:
                piece = chunk * devices + device
                before = (piece, "F", i) if letter == "B" else (piece - 1, "F", i)
                after = (piece + 1, "B", i) if letter == "B" and piece + 1 < devices * chunks else before
                needs = () if letter == "F" and piece == 0 else (before, after)
                if not all(need in ends for need in needs):
                    break
                start = max([clock[device], *(ends[need] for need in needs)])
                ends[piece, letter, i] = clock[device] = start + times[letter][device]
                blocks[device].append((letter, chunk, i, start, clock[device]))
                moved = True
    stuck = {d: items[len(blocks[d])] for d, items in enumerate(plan) if len(blocks[d]) < len(items)}
    return Run(blocks, stuck)


def read_order(answer, stages):
    """A reader's order as a plan of one chunk; ValueError with a sentence where it has another form."""
    shape = 'a list with one entry for each stage, each a list of pairs such as ("F", 0)'
    try:
        read = [[(letter, 0, i) for letter, i in items] for items in answer]
    except (TypeError, ValueError):
        raise ValueError(f"It must be {shape}.") from None
    if len(read) != stages:
        raise ValueError(f"It has {len(read)} lists for {stages} stages; it must be {shape}.")
    for s, items in enumerate(read):
        for letter, _, i in items:
            if letter not in ("F", "B") or not isinstance(i, Real) or isinstance(i, bool) or i != i // 1:
                raise ValueError(f'Stage {s} has the item ({letter!r}, {i!r}); an item is a pair such as ("F", 0).')
    return read
