"""Numbers that learners get wrong (F112-F148): each wrong value is named, each right form accepted, in parts 1 to 8."""

from corpus.builder import PARTLY, RIGHT, WAITS, WRONG, answer, case, edit
from partrain_ref.samples import CLASSES

PART2, PART3, PART4 = "part2_bigger_steps", "part3_fit_the_model", "part4_resume_exactly"
PART5, PART7, PART8 = "part5_split_the_layers", "part7_the_wall_clock", "part8_plan_a_run"


def of_sample(part, student, name):
    """The answer that a sample student gives to one exercise."""
    return answer(name, CLASSES[part][student]["answers"][f"{name}-answer"])


def typed(number, about, part, **values):
    """Typed numbers that stand for a named mistake each: exercise=(value as written, mistake)."""
    changes = [answer(name, f"{name} = {value}") for name, (value, _) in values.items()]
    mistakes = {name: mistake for name, (_, mistake) in values.items()}
    return case(number, about, *changes, part=part, states=dict.fromkeys(values, WRONG), mistakes=mistakes)


BUILT_ON = {"warmup_lr": "cosine_lr", "zero_bytes_per_device": "largest_model"}  # the authors' answers call the first


def written(number, about, part, student, name, mistake, state=WRONG):
    mistakes = {name: mistake} if mistake else {}
    states = {name: state} | ({BUILT_ON[name]: (RIGHT, WRONG)} if name in BUILT_ON else {})
    return case(number, about, of_sample(part, student, name), part=part, states=states, mistakes=mistakes)


ANY_SLICES = """
def data_parallel_grad(w, X, y, devices):
    w, X, y = (np.asarray(a, dtype=float) for a in (w, X, y))
    need_counts(devices=devices)
    if X.ndim != 2 or not X.size or w.shape != X.shape[1:] or y.shape != X.shape[:1]: raise ValueError("shapes")
    if not all(np.isfinite(a).all() for a in (w, X, y)): raise ValueError("finite")
    parts = zip(np.array_split(X, int(devices)), np.array_split(y, int(devices)))
    return sum(2 / len(X) * a.T @ (a @ w - b) for a, b in parts)
"""

CASES = (
    case(
        "F112",
        "the mean of the means",
        answer("per_token_loss", "def per_token_loss(m, n): return sum(m) / len(m)"),
        answer("loss_per_token", "loss_per_token = 1.5"),
        states={"per_token_loss": WRONG, "loss_per_token": WRONG},
        mistakes={"per_token_loss": "mean_of_means", "loss_per_token": "mean_of_means"},
    ),
    case(
        "F114",
        "unequal slices are averaged, not refused",
        answer("data_parallel_grad", ANY_SLICES),
        states={"data_parallel_grad": PARTLY},
        says={"data_parallel_grad": "Still missing: ValueError for bad input."},
    ),
    typed(
        "F116",
        "which number is the batch",
        "part1_split_the_batch",
        tokens_per_update=("64 * 2 * 4096", "accumulation_forgotten"),
        small_run_tokens=("4 * 8 * 2", "one_gpu_share"),
    ),
    written(
        "F116",
        "a count that is rounded where no whole one fits",
        PART7,
        "stops-half-way",
        "optimizer_steps",
        "rounded_down",
    ),
    written("F120", "a warm-up that starts at zero", PART2, "divides-by-zero", "warmup_lr", None),
    typed(
        "F122",
        "per GPU or in total",
        PART2,
        grown_batch_factor=("8", "gpus_only"),
        sgd_rate=("0.1 * 32 ** 0.5", "sqrt_for_sgd"),
    ),
    typed("F124", "twelve bytes a parameter", PART3, whole_state_gb=("7.5 * 12", "master_copy_forgotten")),
    typed("F124", "eighteen bytes a parameter", PART3, whole_state_gb=("7.5 * 18", "fp32_gradients")),
    typed("F124", "twenty bytes a parameter", PART3, whole_state_gb=("7.5 * 20", "both_gradients")),
    typed(
        "F126",
        "gradients divided one stage too early",
        PART3,
        stage1_gb=("16.6", "one_stage_too_far"),
        stage3_gb=("16.64", "one_stage_short"),
    ),
    written(
        "F126",
        "a stage that is off by one",
        PART3,
        "goes-one-stage-too-far",
        "zero_bytes_per_device",
        "one_stage_too_far",
    ),
    typed("F128", "gibibytes for gigabytes", PART3, whole_state_gb=("7.5e9 * 16 / 2**30", "gibibytes")),
    written("F128", "gigabytes for bytes", PART3, "answers-in-gigabytes", "model_state_bytes", "gigabytes"),
    written("F132", "the place in the data is not saved", PART4, "saves-model-and-optimizer", "save_checkpoint", None),
    written("F134", "counters are not saved", PART4, "forgets-the-counters", "save_checkpoint", None),
    typed(
        "F138",
        "the bubble over the ideal time",
        PART5,
        bubble_of_total=("3 / 8", "over_ideal"),
        bubble_over_ideal=("3 / 11", "of_total"),
    ),
    written(
        "F138",
        "the bubble over the ideal time, as a function",
        PART5,
        "takes-the-bubble-over-ideal",
        "pipeline_bubble",
        "over_ideal",
    ),
    typed("F140", "forward only", PART7, flops_small=("2 * 1e6 * 1e8", "forward_only")),
    typed("F140", "recomputation counted", PART7, flops_small=("8 * 1e6 * 1e8", "recompute_counted")),
    typed(
        "F142",
        "an all-reduce for every micro-batch",
        "part1_split_the_batch",
        swaps_per_update=("8", "one_per_micro_batch"),
    ),
    typed("F146", "eight GPUs are eight times as fast", PART7, speedup_8=("8", "communication_forgotten")),
    case("F146", "more decimals than asked for", answer("speedup_8", "speedup_8 = 80 / 12"), part=PART7),
    typed(
        "F148",
        "padding left out of the count",
        "part1_split_the_batch",
        small_run_tokens=("4 * (8 * 2 * 4 - 10)", "padding_subtracted"),
    ),
    case(
        "F076",
        "a written answer and nothing else wrong",
        edit("why_this_plan", "It keeps the tensor group inside a node."),
        part=PART8,
        states={"why_this_plan": WAITS},
    ),
)
