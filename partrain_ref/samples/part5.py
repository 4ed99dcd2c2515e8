"""The sample class of part 5."""

BUBBLE = """
def pipeline_bubble(stages, microbatches):
    need_counts(stages=stages, microbatches=microbatches)
    return {}
"""
INTERLEAVED = """
def interleaved_bubble(stages, microbatches, chunks):
    need_counts(stages=stages, microbatches=microbatches, chunks=chunks)
    if microbatches % stages:
        raise ValueError(f"microbatches is {{microbatches}}, no multiple of {{stages}}")
    return {}
"""
ORDER = """
def {name}(stages, microbatches):
    need_counts(stages=stages, microbatches=microbatches)
    p, m = int(stages), int(microbatches)
    order = []
    for s in range(p):
        {lines}
        order.append(items)
    return order
"""
AHEAD = """ahead = min(max({ahead}, 1), m) - 1
        items = [("F", i) for i in range(ahead)]
        for i in range(ahead, m):
            items += [("F", i), ("B", i - ahead)]
        items += [("B", i) for i in range(m - ahead, m)]"""
ALL_FIRST = 'items = [("F", i) for i in range(m)] + [("B", i) for i in range(m)]'
PEAK = """
def peak_in_flight(order):
    need_order(order)
    return {}
"""
TIME = """
def pipeline_time(order, forward_time, backward_time):
    p = len(order)
    F = [forward_time] * p if np.ndim(forward_time) == 0 else list(forward_time)
    B = [backward_time] * p if np.ndim(backward_time) == 0 else list(backward_time)
    {prepare}
    ends, free, left = {{}}, [0.0] * p, [list(items) for items in order]
    while any(left):
        before = len(ends)
        for s in range(p):
            if left[s]:
                letter, i = left[s][0]
                needs = {needs}
                if all(need in ends for need in needs if 0 <= need[0] < p):
                    came = [ends[need] for need in needs if 0 <= need[0] < p]
                    free[s] = max([free[s]] + came) + (F if letter == "F" else B)[s]
                    ends[s, letter, i] = free[s]
                    left[s].pop(0)
        if len(ends) == before:
            raise ValueError(f"nothing can run: {{left}}")
    return {result}
"""
NEEDS = '[(s - 1, "F", i)] if letter == "F" else [(s, "F", i), (s + 1, "B", i)]'
ROUNDS = """
def pipeline_time(order, forward_time, backward_time):
    p = len(order)
    F = [forward_time] * p if np.ndim(forward_time) == 0 else list(forward_time)
    B = [backward_time] * p if np.ndim(backward_time) == 0 else list(backward_time)
    return {}
"""
LOCK_STEP = """
def pipeline_time(order, forward_time, backward_time):
    p = len(order)
    F = [forward_time] * p if np.ndim(forward_time) == 0 else list(forward_time)
    B = [backward_time] * p if np.ndim(backward_time) == 0 else list(backward_time)
    done, left, total = set(), [list(items) for items in order], 0.0
    while any(left):
        now = []
        for s in range(p):
            if left[s]:
                letter, i = left[s][0]
                needs = [(s - 1, "F", i)] if letter == "F" else [(s, "F", i), (s + 1, "B", i)]
                if all(need in done for need in needs if 0 <= need[0] < p):
                    now.append((s, letter, i))
        total += max((F if letter == "F" else B)[s] for s, letter, _ in now)
        for item in now:
            done.add(item)
            left[item[0]].pop(0)
    return total
"""
AT_ONCE = """
def pipeline_time(order, forward_time, backward_time):
    p = len(order)
    F = [forward_time] * p if np.ndim(forward_time) == 0 else list(forward_time)
    B = [backward_time] * p if np.ndim(backward_time) == 0 else list(backward_time)
    return float(sum(F) + sum(B))
"""


def _answers(**sources: str) -> dict[str, str]:
    return {f"{name}-answer": source for name, source in sources.items()}


def _gpipe(lines: str) -> str:
    return ORDER.format(name="gpipe_order", lines=lines)


def _one(lines: str) -> str:
    return ORDER.format(name="one_f_one_b_order", lines=lines)


def _ahead(ahead: str) -> str:
    return AHEAD.format(ahead=ahead)


def _then(lines: str, change: str) -> str:
    return f"{lines}\n        items = {change}"


def _time(needs=NEEDS, result="max(free)", prepare="pass") -> str:
    return TIME.format(needs=needs, result=result, prepare=prepare)


RIGHT = _ahead("p - s")
FROM_ONE = "[(letter, i + 1) for letter, i in items]"
BACKWARDS_FIRST = "sorted(items)"
LAST_LOST = "items[:-1]"
ODD_TURNED = "items if s % 2 == 0 else items[:m] + items[m:][::-1]"

STUDENTS = {
    "all-right": {},
    "takes-the-bubble-over-ideal": {
        "answers": _answers(
            bubble_of_total="bubble_of_total = 3 / 8",
            bubble_over_ideal="bubble_over_ideal = 3 / 11",
            pipeline_bubble=BUBBLE.format("(stages - 1) / microbatches"),
            interleaved_bubble=INTERLEAVED.format("(stages - 1) / (chunks * microbatches)"),
            what_1f1b_saves='what_1f1b_saves = "a"',
            more_microbatches='more_microbatches = "d"',
        )
    },
    "divides-stages-by-micro-batches": {
        "answers": _answers(
            bubble_of_total="bubble_of_total = 4 / 8",
            bubble_over_ideal="bubble_over_ideal = 4 / 8",
            pipeline_bubble=BUBBLE.format("stages / microbatches"),
            interleaved_bubble=INTERLEAVED.format("(stages - 1) / (microbatches + stages - 1)"),
            peak_in_flight=PEAK.format("[len(items) // 2 for items in order]"),
            pipeline_time=ROUNDS.format(
                "float(sum(F[s] if x == 'F' else B[s] for s in range(p) for x, _ in order[s]))"
            ),
        )
    },
    "is-off-by-one": {
        "answers": _answers(
            bubble_of_total="bubble_of_total = 3 / 12",
            bubble_over_ideal="bubble_over_ideal = 3 / 12",
            pipeline_bubble=BUBBLE.format("(stages - 1) / (microbatches + stages)"),
            interleaved_bubble=INTERLEAVED.format("(stages - 1) / (chunks * microbatches + stages)"),
            one_f_one_b_order=_one(_ahead("p - s + 1")),
            peak_in_flight="def peak_in_flight(order):\n"
            "    return [max(sum(1 if x == 'F' else -1 for x, _ in items[:at + 1]) for at in range(len(items))) - 1\n"
            "            for items in order]",
        )
    },
    "counts-one-round-too-many": {
        "answers": _answers(
            bubble_of_total="bubble_of_total = 4 / 11",
            pipeline_bubble=BUBBLE.format("stages / (microbatches + stages - 1)"),
            interleaved_bubble=INTERLEAVED.format("(stages * chunks - 1) / (microbatches + stages * chunks - 1)"),
            one_f_one_b_order=_one(_ahead("p - s - 1")),
        )
    },
    "gives-percent": {
        "answers": _answers(
            bubble_of_total="bubble_of_total = 100 * 3 / 11",
            bubble_over_ideal="bubble_over_ideal = 37.5",
            pipeline_bubble=BUBBLE.format("100 * (stages - 1) / (microbatches + stages - 1)"),
            interleaved_bubble=INTERLEAVED.format("100 * (stages - 1) / (chunks * microbatches + stages - 1)"),
        )
    },
    "gives-percent-over-ideal": {
        "answers": _answers(
            bubble_of_total="bubble_of_total = 37.5",
            bubble_over_ideal="bubble_over_ideal = 100 * 3 / 11",
            pipeline_bubble=BUBBLE.format("100 * (stages - 1) / microbatches"),
            interleaved_bubble=INTERLEAVED.format("(stages - 1) / microbatches"),
        )
    },
    "gives-the-busy-share": {
        "answers": _answers(
            bubble_of_total="bubble_of_total = 8 / 11",
            bubble_over_ideal="bubble_over_ideal = 11 / 8",
            pipeline_bubble=BUBBLE.format("microbatches / (microbatches + stages - 1)"),
            interleaved_bubble=INTERLEAVED.format("chunks * microbatches / (chunks * microbatches + stages - 1)"),
        )
    },
    "swaps-stages-and-micro-batches": {
        "answers": _answers(
            bubble_of_total="bubble_of_total = 7 / 11",
            bubble_over_ideal="bubble_over_ideal = 7 / 4",
            pipeline_bubble=BUBBLE.format("(microbatches - 1) / (microbatches + stages - 1)"),
            interleaved_bubble=INTERLEAVED.format("chunks * (stages - 1) / (microbatches + chunks * (stages - 1))"),
        )
    },
    "uses-the-interleaved-formula": {
        "answers": _answers(
            bubble_of_total="bubble_of_total = 3 / 19",
            bubble_over_ideal="bubble_over_ideal = 3 / 16",
            interleaved_bubble=INTERLEAVED.format("(stages - 1) / (microbatches + stages - 1) / chunks"),
            pipeline_bubble=BUBBLE.format("(stages - 1) / stages"),
        )
    },
    "thinks-everything-is-gpipe": {
        "answers": _answers(
            one_f_one_b_order=_one(ALL_FIRST),
            peak_in_flight=PEAK.format("[len(items) // 2 for items in order]"),
            pipeline_time=ROUNDS.format("(len(order[0]) / 2 + p - 1) * (max(F) + max(B))"),
            more_microbatches='more_microbatches = "b"',
        )
    },
    "thinks-everything-is-1f1b": {
        "answers": _answers(
            gpipe_order=_gpipe(RIGHT),
            peak_in_flight=PEAK.format("[min(len(order) - s, len(items) // 2) for s, items in enumerate(order)]"),
            what_1f1b_saves='what_1f1b_saves = "c"',
            more_microbatches='more_microbatches = "a"',
        )
    },
    "runs-one-micro-batch-at-a-time": {
        "answers": _answers(
            gpipe_order=_gpipe(_ahead("1")),
            one_f_one_b_order=_one(_ahead("1")),
            peak_in_flight="def peak_in_flight(order):\n"
            "    return max(sum(1 if x == 'F' else -1 for x, _ in items[:at + 1])\n"
            "               for items in order for at in range(len(items)))",
            pipeline_time=ROUNDS.format(
                "float(max(sum(F[s] if x == 'F' else B[s] for x, _ in order[s]) for s in range(p)))"
            ),
            what_1f1b_saves='what_1f1b_saves = "d"',
        )
    },
    "counts-micro-batches-from-one": {
        "answers": _answers(
            gpipe_order=_gpipe(_then(ALL_FIRST, FROM_ONE)), one_f_one_b_order=_one(_then(RIGHT, FROM_ONE))
        )
    },
    "puts-backwards-first": {
        "answers": _answers(
            gpipe_order=_gpipe(_then(ALL_FIRST, BACKWARDS_FIRST)),
            one_f_one_b_order=_one(_then(RIGHT, BACKWARDS_FIRST)),
            pipeline_time=_time('[(s - 1, "F", i)] if letter == "F" else [(s, "F", i)]'),
        )
    },
    "loses-the-last-backward": {
        "answers": _answers(
            gpipe_order=_gpipe(_then(ALL_FIRST, LAST_LOST)),
            one_f_one_b_order=_one(_then(RIGHT, LAST_LOST)),
            peak_in_flight=PEAK.format("[sum(1 if letter == 'F' else -1 for letter, _ in items) for items in order]"),
        )
    },
    "drains-in-groups": {
        "answers": _answers(
            gpipe_order=_gpipe(
                "items = [(x, i) for a in range(0, m, p) for x in 'FB' for i in range(a, min(a + p, m))]"
            ),
            one_f_one_b_order=_one(_ahead("2 * (p - s)")),
            peak_in_flight=PEAK.format("[[letter for letter, _ in items].index('B') for items in order]"),
            pipeline_time=LOCK_STEP,
        )
    },
    "lets-stages-wait-for-ever": {
        "answers": _answers(
            gpipe_order=_gpipe(
                f"{ALL_FIRST}\n        if s == 0 and p > 1:\n"
                "            items = [(letter, i) for i in range(m) for letter in 'FB']"
            ),
            one_f_one_b_order=_one(f"{RIGHT}\n        if s == p - 1 and p > 1:\n            {ALL_FIRST}"),
            pipeline_time=AT_ONCE,
        )
    },
    "turns-every-other-stage": {
        "answers": _answers(
            gpipe_order=_gpipe(_then(ALL_FIRST, ODD_TURNED)),
            one_f_one_b_order=_one(_ahead("(p - s + 1) // 2")),
            pipeline_time=_time(result="free[-1]"),
        )
    },
    "turns-the-stages-round": {
        "answers": _answers(
            bubble_over_ideal="bubble_over_ideal = 8 / 3",
            one_f_one_b_order=_one(_ahead("s + 1")),
            peak_in_flight="def peak_in_flight(order):\n"
            "    return [max(sum(1 if x == 'F' else -1 for x, _ in items[:at + 1]) for at in range(len(items)))\n"
            "            for items in order][::-1]",
            pipeline_time=_time(prepare="F, B = [F[0]] * p, [B[0]] * p"),
        )
    },
    "lets-the-last-stage-wait": {
        "answers": _answers(
            one_f_one_b_order=_one(_ahead("max(p - s, 2)")),
            peak_in_flight=PEAK.format(
                "[max(map(len, ''.join(letter for letter, _ in items).split('B'))) for items in order]"
            ),
            pipeline_time=_time(prepare="B = F"),
        )
    },
    "other-forms-of-right": {
        "answers": _answers(
            bubble_of_total="from fractions import Fraction\nbubble_of_total = Fraction(3, 11)",
            what_1f1b_saves='what_1f1b_saves = " B"',
            pipeline_bubble=BUBBLE.format("np.float64(1) - microbatches / (microbatches + stages - 1)"),
            gpipe_order=_gpipe('items = [("F", i) for i in range(m)] + [["B", i] for i in reversed(range(m))]'),
            one_f_one_b_order=_one(_then(RIGHT, "[(letter, m - 1 - i) for letter, i in items]")),
            peak_in_flight="def peak_in_flight(order):\n    need_order(order)\n    peaks = []\n"
            "    for items in order:\n        steps = np.cumsum([1 if letter == 'F' else -1 for letter, _ in items])\n"
            "        seen = set()\n        for letter, i in items:\n            seen.add((letter, i))\n"
            "            if ('F', i) not in seen:\n                raise ValueError(f'order is {items}')\n"
            "        peaks.append(steps.max())\n    return np.array(peaks)",
        )
    },
    "right-values-no-refusals": {
        "answers": _answers(
            pipeline_bubble="def pipeline_bubble(p, m):\n    return (p - 1) / (m + p - 1)",
            interleaved_bubble="def interleaved_bubble(p, m, v):\n    return (p - 1) / (v * m + p - 1)",
            peak_in_flight="def peak_in_flight(order):\n"
            "    return [max(sum(1 if x == 'F' else -1 for x, _ in items[:at + 1]) for at in range(len(items)))\n"
            "            for items in order]",
        )
    },
    "half-done": {
        "blank": True,
        "answers": _answers(
            bubble_of_total="bubble_of_total = 0.273",
            bubble_over_ideal="bubble_over_ideal = 0.375",
            pipeline_bubble=BUBBLE.format("(stages - 1) / (microbatches + stages - 1)"),
            gpipe_order=_gpipe(ALL_FIRST),
        ),
    },
    "blank": {"blank": True},
}
