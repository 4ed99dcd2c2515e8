"""Grading runs and judgements (F031-F067, F072): what running code and honest numbers do to graders."""

from corpus.builder import NOT_STARTED, WRONG, after, answer, at_the_end, beginning, case, ending
from corpus.hostile_values import RIGHT_MEAN, RIGHT_TOKENS, TOKENS

IN_PLACE = (
    "def allreduce_mean(grads):\n    s = grads[0]\n    for g in grads[1:]: s += g\n    s /= len(grads)\n    return s"
)


def mean(source):
    return answer("allreduce_mean", RIGHT_MEAN.format(source))


CASES = (
    case(
        "F031",
        "a loop in an answer cell",
        beginning("global_tokens", "while True: pass"),
        states={"global_tokens": WRONG},
        says={"global_tokens": "ran for too long and was stopped"},
    ),
    case("F035", "sys.exit at the end of an answer", ending("allreduce_mean", "import sys\nsys.exit()")),
    case(
        "F037",
        "input at the top of an answer",
        beginning("allreduce_mean", "n = input('n? ')"),
        states={"allreduce_mean": WRONG},
        says={"allreduce_mean": "input() does not work"},
    ),
    case(
        "F039",
        "a numpy warning",
        answer("allreduce_mean", RIGHT_MEAN.format("np.ones(1) / np.zeros(1)\n    return np.mean(grads, axis=0)")),
    ),
    case("F041", "the stub line below a right answer", ending("global_tokens", "raise NotImplementedError()")),
    case(
        "F041",
        "the stub line left at the end of the function",
        answer("global_tokens", RIGHT_TOKENS.format("return tokens\n    raise NotImplementedError")),
    ),
    case(
        "F041",
        "the stub line left at the top of the function",
        answer(
            "global_tokens",
            TOKENS.format("raise NotImplementedError\n    return per_device_batch * seq * accum * devices"),
        ),
        states={"global_tokens": NOT_STARTED},
        says={"global_tokens": "raise NotImplementedError"},
    ),
    case(
        "F043",
        "seeds the generator for everybody",
        after("imports", "np.random.seed(0)\nimport random; random.seed(0)"),
    ),
    case(
        "F043",
        "draws noise into the answer",
        mean("return np.mean(grads, axis=0) + np.random.default_rng().normal(size=np.shape(grads[0]))"),
        states={"allreduce_mean": WRONG},
    ),
    case(
        "F045",
        "takes a name again later",
        after("imports", "t = 3"),
        answer("global_tokens", RIGHT_TOKENS.format("return tokens * t // 3")),
        after("global_tokens-check", "t = 4"),
    ),
    case(
        "F047",
        "a helper that comes at the very end",
        answer("global_tokens", TOKENS.format("return helper(per_device_batch, seq, accum, devices)")),
        at_the_end("def helper(a, b, c, d): return a * b * c * d"),
        states={"global_tokens": WRONG},
        says={"global_tokens": ("NameError", "helper is defined later")},
    ),
    case(
        "F049",
        "a package that the course does not have",
        beginning("global_tokens", "import pandas_is_not_here"),
        states={"global_tokens": WRONG},
        says={"global_tokens": "pandas_is_not_here"},
    ),
    case(
        "F051",
        "interactive backends and empty plots",
        after("imports", "%matplotlib notebook\n%matplotlib widget"),
        after("imports", "import matplotlib.pyplot as plt\nplt.plot([1])\nplt.show()\nplt.show()"),
    ),
    case(
        "F053",
        "four sliders and a second interact",
        after(
            "imports",
            "from ipywidgets import interact\nfour = dict.fromkeys('abcd', (0, 3))\n"
            "interact(lambda a, b, c, d: print(a), **four)\ninteract(lambda a: print(a), a=(0, 3))",
        ),
    ),
    case("F057", "floats in another order", mean("return sum(np.asarray(g) / len(grads) for g in grads)")),
    case(
        "F059",
        "a numpy zero displayed at the end",
        answer("global_tokens", TOKENS.format("return np.float64(0.0)")),
        states={"global_tokens": WRONG},
    ),
    case(
        "F061",
        "prints and returns nothing",
        answer("global_tokens", TOKENS.format("print(per_device_batch * seq * accum * devices)")),
        states={"global_tokens": WRONG},
        says={"global_tokens": "It printed something: return it instead."},
    ),
    case(
        "F063",
        "changes its input",
        answer("allreduce_mean", IN_PLACE),
        states={"allreduce_mean": WRONG},
        says={"allreduce_mean": "changed its input"},
    ),
    case(
        "F065",
        "a column where a row is asked for",
        mean("return np.mean(grads, axis=0)[..., None]"),
        states={"allreduce_mean": WRONG},
        says={"allreduce_mean": "it returned shape (2, 1); shape (2,) was expected"},
    ),
    case(
        "F065",
        "a single number where an array is asked for",
        mean("return 2.0"),
        states={"allreduce_mean": WRONG},
        says={"allreduce_mean": "shape (2,) was expected"},
    ),
    case(
        "F067",
        "not a number",
        answer("global_tokens", TOKENS.format("return float('nan')")),
        states={"global_tokens": WRONG},
        says={"global_tokens": "not a finite number"},
    ),
    case(
        "F067",
        "infinity",
        answer("global_tokens", TOKENS.format("return np.inf")),
        states={"global_tokens": WRONG},
        says={"global_tokens": "not a finite number"},
    ),
    case(
        "F067",
        "one entry that is not a number",
        mean("m = np.mean(grads, axis=0)\n    m.flat[0] = np.nan\n    return m"),
        states={"allreduce_mean": WRONG},
        says={"allreduce_mean": "not every entry is a finite number"},
    ),
    case(
        "F067",
        "typed numbers that are not finite",
        answer("tokens_per_update", "tokens_per_update = float('nan')"),
        answer("loss_per_token", "loss_per_token = float('inf')"),
        states={"tokens_per_update": WRONG, "loss_per_token": WRONG},
    ),
    *(
        case(
            "F072",
            f"a check preceded by {text}".replace("[", "(").replace("]", ")"),
            answer("global_tokens", TOKENS.format("return 7")),
            after("global_tokens-answer", text),
            states={"global_tokens": WRONG},
        )
        for text in ("0", "0.0", "True", "None", "[]", "'0'", "[0.5]", "-1", "float('nan')", "np.float64(0.0)")
    ),
)
