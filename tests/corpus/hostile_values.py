"""Answers that try to decide the comparison, and honest answers that graders get wrong (S01-S05, S26-S33)."""

from corpus.builder import (
    NOT_STARTED,
    PARTLY,
    WRONG,
    after,
    answer,
    at_the_end,
    beginning,
    case,
)

TOKENS = "def global_tokens(per_device_batch, seq, accum, devices):\n    {}"
RIGHT_TOKENS = (
    "def global_tokens(per_device_batch, seq, accum, devices):\n"
    "    need_counts(per_device_batch=per_device_batch, seq=seq, accum=accum, devices=devices)\n"
    "    tokens = int(per_device_batch) * int(seq) * int(accum) * int(devices)\n    {}"
)
RIGHT_MEAN = (
    "def allreduce_mean(grads):\n"
    "    if len(grads) == 0 or len({{np.shape(g) for g in grads}}) > 1 or np.size(grads[0]) == 0:\n"
    '        raise ValueError("shapes")\n'
    '    if not np.isfinite(grads).all():\n        raise ValueError("finite")\n    {}'
)
ALWAYS = """
class Always:
    def __eq__(self, other): return True
    def __lt__(self, other): return True
    __le__ = __gt__ = __ge__ = __lt__
    def __sub__(self, other): return 0.0
    __rsub__ = __sub__
    def __abs__(self): return 0.0
    def __float__(self): return 0.0
    def __hash__(self): return 1
def global_tokens(*args): return Always()
"""
SLY_FLOAT = """
class Sly(float):
    def __eq__(self, other): return True
    def __float__(self): return 1.0
    def __int__(self): return 1
    def __repr__(self): return "1"
    __hash__ = float.__hash__
"""
SLY_ARRAY = """
class Sly(np.ndarray):
    def __eq__(self, other): return np.array(True)
    def __array_function__(self, *args): return True
    def __array__(self, *args, **kw): return np.zeros(2)
    def tolist(self): return [3.0, 2.0]
"""
COUNTS = """
calls = 0
def global_tokens(per_device_batch, seq, accum, devices):
    global calls
    calls += 1
    return per_device_batch * seq * accum * devices if calls < 3 else 7
"""
LAZY = """
class Later:
    def __init__(self, grads): self.grads = grads
    def __array__(self, *args, **kw): return np.mean(self.grads, axis=0)
def allreduce_mean(grads): return Later(grads)
"""
KEEPS = RIGHT_TOKENS.format("kept.append((per_device_batch, seq, accum, devices))\n    return tokens")
CACHE = RIGHT_TOKENS.format("return known.setdefault((per_device_batch, seq, accum, devices), tokens)")

CASES = (
    case(
        "S01",
        "an answer that equals everything",
        answer("global_tokens", ALWAYS),
        states={"global_tokens": WRONG},
        says={"global_tokens": "it returned an object of type Always; a number was expected"},
    ),
    case(
        "S02",
        "a float that says it is something else",
        answer("global_tokens", SLY_FLOAT + TOKENS.format("return Sly(7.0)")),
        states={"global_tokens": WRONG},
        says={"global_tokens": "gave 7.0"},
    ),
    case(
        "S02",
        "an array that says it is something else",
        answer("allreduce_mean", SLY_ARRAY + "def allreduce_mean(grads): return np.array(grads[0] * 5).view(Sly)"),
        states={"allreduce_mean": WRONG},
    ),
    case(
        "S02",
        "a right value in a harmless subclass",
        answer("global_tokens", "class Tokens(int): pass\n" + RIGHT_TOKENS.format("return Tokens(tokens)")),
    ),
    case("S03", "nothing but the stubs", blank=True, states=NOT_STARTED),
    case(
        "S03",
        "one stub left, with blanks and a remark of the student's",
        lambda h: answer("per_token_loss", h.stubs["per_token_loss-answer"] + "\n\n# later\n")(h),
        states={"per_token_loss": NOT_STARTED},
        says={"per_token_loss": "Not started yet"},
    ),
    case(
        "S03",
        "a helper above a body that still raises",
        answer("per_token_loss", "HALF = 0.5\ndef per_token_loss(means, counts):\n    raise NotImplementedError"),
        states={"per_token_loss": NOT_STARTED},
    ),
    case(
        "S03",
        "three dots where a number is asked for",
        answer("tokens_per_update", "tokens_per_update = ..."),
        states={"tokens_per_update": NOT_STARTED},
    ),
    case("S03", "a constant", answer("global_tokens", TOKENS.format("return 0")), states={"global_tokens": WRONG}),
    case(
        "S03",
        "a function that returns nothing",
        answer("global_tokens", TOKENS.format("pass")),
        states={"global_tokens": WRONG},
        says={"global_tokens": "returned nothing (None). Did you print instead of return?"},
    ),
    case(
        "S04",
        "a library call in the place of a loop",
        answer("allreduce_mean", RIGHT_MEAN.format("return np.mean(grads, axis=0)")),
    ),
    case(
        "S05",
        "prints a report and shows a forged verdict",
        answer("global_tokens", TOKENS.format("print('1 passed'); print('score: 4/4'); return 7")),
        after(
            "global_tokens-check",
            "from IPython.display import HTML, display\nprint('global_tokens: right, 4 of 4 points')\n"
            "display(HTML(\"<div role='note'><strong>✓ global_tokens: right, 4 of 4 points</strong></div>\"))\n4.0",
        ),
        states={"global_tokens": WRONG},
    ),
    case(
        "S26",
        "counts its calls",
        answer("global_tokens", COUNTS),
        states={"global_tokens": WRONG},
        says={"global_tokens": "The same input gave different answers on different calls."},
    ),
    case("S26", "an honest cache", answer("global_tokens", "known = {}\n" + CACHE)),
    case(
        "S27",
        "something that is computed later",
        answer("allreduce_mean", LAZY),
        states={"allreduce_mean": WRONG},
        says={"allreduce_mean": "it returned an object of type Later; a numpy array was expected"},
    ),
    case(
        "S27",
        "a view of the input",
        answer(
            "allreduce_mean",
            RIGHT_MEAN.format("m = np.mean(grads, axis=0)\n    return m if len(grads) > 1 else grads[0][...]"),
        ),
    ),
    case(
        "S29",
        "fails on purpose",
        answer("global_tokens", TOKENS.format("assert False, (per_device_batch, seq, accum, devices)")),
        answer("allreduce_mean", "def allreduce_mean(grads): raise RuntimeError(grads)"),
        states={"global_tokens": WRONG, "allreduce_mean": WRONG},
        says={"global_tokens": "stopped with AssertionError"},
        never=("Traceback (most", "record.py", "partrain/record"),
    ),
    case(
        "S29",
        "keeps the hidden inputs and prints them in a later cell",
        answer("global_tokens", "kept = []\n" + KEEPS),
        at_the_end("print('KE' + 'PT', kept)\nimport matplotlib.pyplot as plt\nplt.title(str(kept)); plt.show()\nkept"),
        never=("KEPT",),
    ),
    case(
        "S29",
        "keeps the hidden inputs and raises them in a later answer",
        answer("global_tokens", "kept = []\n" + KEEPS),
        beginning("what_to_divide_by", "raise ValueError('KE' + 'PT' + str(kept))"),
        states={"what_to_divide_by": WRONG},
        says={"what_to_divide_by": "The answer cell stopped with ValueError."},
        never=("KEPT",),
    ),
    case(
        "S31",
        "a right answer that warns",
        beginning("allreduce_mean", "import warnings, sys\nwarnings.warn('old')\nprint('hm', file=sys.stderr)"),
        answer(
            "per_token_loss",
            (
                "import warnings\ndef per_token_loss(m, n):\n    warnings.warn('careful')\n    np.log(np.zeros(1))\n"
                "    if len(m) != len(n) or not len(m) or not sum(n): raise ValueError('x')\n"
                "    for k in n: need_counts_or_zero(n=k)\n"
                "    if any(k and not np.isfinite(x) for x, k in zip(m, n)): raise ValueError('x')\n"
                "    return sum(x * k for x, k in zip(m, n) if k) / sum(n)"
            ),
        ),
    ),
    case("S32", "a numpy scalar for an int", answer("global_tokens", RIGHT_TOKENS.format("return np.int64(tokens)"))),
    case("S32", "a float for an int", answer("global_tokens", RIGHT_TOKENS.format("return float(tokens)"))),
    case("S32", "a 0-d array", answer("global_tokens", RIGHT_TOKENS.format("return np.array(tokens)"))),
    case(
        "S32",
        "a Fraction",
        answer("global_tokens", "from fractions import Fraction\n" + RIGHT_TOKENS.format("return Fraction(tokens)")),
    ),
    case(
        "S32",
        "a Decimal",
        answer("global_tokens", "from decimal import Decimal\n" + RIGHT_TOKENS.format("return Decimal(tokens)")),
    ),
    case(
        "S32",
        "a list for an array",
        answer("allreduce_mean", RIGHT_MEAN.format("return np.mean(grads, axis=0).tolist()")),
    ),
    case(
        "S32",
        "a tuple for an array",
        answer("allreduce_mean", RIGHT_MEAN.format("return tuple(np.mean(grads, axis=0))")),
    ),
    case(
        "S32",
        "an array of objects",
        answer("allreduce_mean", RIGHT_MEAN.format("return np.mean(grads, axis=0).astype(object)")),
    ),
    case(
        "S32",
        "a long double",
        answer("allreduce_mean", RIGHT_MEAN.format("return np.mean(grads, axis=0).astype(np.longdouble)")),
    ),
    case(
        "S32",
        "a masked array without a mask",
        answer("allreduce_mean", RIGHT_MEAN.format("return np.ma.array(np.mean(grads, axis=0))")),
    ),
    case(
        "S32",
        "a real number written as a complex one",
        answer("allreduce_mean", RIGHT_MEAN.format("return np.mean(grads, axis=0) + 0j")),
        states={"allreduce_mean": WRONG},
        says={"allreduce_mean": "it returned an object of type array of complex128"},
    ),
    case(
        "S32",
        "a generator for a list",
        answer("allreduce_mean", RIGHT_MEAN.format("return (x for x in np.mean(grads, axis=0))")),
        states={"allreduce_mean": WRONG},
        says={"allreduce_mean": "it returned an object of type generator"},
    ),
    case("S32", "a letter in capitals and blanks", answer("why_average", "why_average = ' C '")),
    case("S33", "rounded in another place", answer("loss_per_token", "loss_per_token = 1.38235294")),
    case(
        "S33",
        "added up in another order",
        answer("allreduce_mean", RIGHT_MEAN.format("return sum(g / len(grads) for g in grads[::-1])")),
    ),
    case(
        "S33",
        "sequences where tokens are asked for",
        answer("global_tokens", TOKENS.format("return per_device_batch * accum * devices")),
        answer("tokens_per_update", "tokens_per_update = 64 * 2 * 16"),
        states={"global_tokens": WRONG, "tokens_per_update": WRONG},
        mistakes={"global_tokens": "sequences", "tokens_per_update": "sequences"},
        says={"global_tokens": "Those are sequences. The question asks for tokens"},
    ),
    case(
        "S33",
        "one GPU's share",
        answer("global_tokens", TOKENS.format("return per_device_batch * seq * accum")),
        states={"global_tokens": WRONG},
        mistakes={"global_tokens": "one_gpu_share"},
    ),
    case(
        "S33",
        "right values, nothing refused",
        answer("global_tokens", TOKENS.format("return per_device_batch * seq * accum * devices")),
        states={"global_tokens": PARTLY},
        says={"global_tokens": "The values are right. Still missing: ValueError for bad input."},
    ),
    case(
        "S34",
        "takes the names of built-ins and modules",
        after(
            "token_weighted_grad-check", "sum = max = len = print = str = list = 3\nnp = math = json = IPython = None"
        ),
    ),
    case(
        "S34",
        "takes the names of the helper's parts at the top",
        after("imports", "record = check_ = io = json = get_ipython = display = publish_display_data = 5"),
    ),
    case(
        "S34",
        "gives sum another meaning, and the answer needs it",
        after("imports", "sum = 3"),
        answer("global_tokens", RIGHT_TOKENS.format("return sum([tokens])")),
        states={"global_tokens": WRONG, "per_token_loss": WRONG, "token_weighted_grad": WRONG},
        says={"global_tokens": "sum"},
    ),
    case("S30", "hands in what a guesser would add", at_the_end("import hashlib\nhashlib.sha256(b'4.0').hexdigest()")),
    case(
        "S25",
        "looks whether it is being graded",
        answer(
            "global_tokens",
            (
                "import os, sys\n"
                + RIGHT_TOKENS.format(
                    "graded = 'NBGRADER_EXECUTION' in os.environ or {'nbgrader', 'autograder'} & set(sys.modules)\n"
                    "    return 7 if graded else tokens"
                )
            ),
        ),
    ),
    case(
        "S28",
        "stops the clocks",
        after(
            "imports",
            "import time\ntime.time = time.monotonic = time.perf_counter = lambda: 0.0\ntime.sleep = lambda s: None",
        ),
    ),
    case(
        "S39",
        "changes locale, error state, seeds and signals",
        after(
            "imports",
            (
                "import locale, os, random, signal\nos.environ['OMP_NUM_THREADS'] = '64'\n"
                "locale.setlocale(locale.LC_ALL, 'C')\n"
                "np.seterr(all='raise')\nnp.random.seed(0); random.seed(0)\n"
                "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
                "np.set_printoptions(precision=1)\nimport decimal; decimal.getcontext().prec = 2"
            ),
        ),
    ),
)
