"""What becomes of a plan, under the model of Part 8: memory, the time of an update and where it goes, days, waste."""

BYTES = 2  # a bf16 number
OPTIMIZER = 12  # bytes of Adam's fp32 state for a parameter
FLOPS = 8  # a parameter and token, the forward pass run twice
ALLREDUCES = 6  # a layer and micro-batch
DAY = 86_400  # seconds


class Outlook:
    """Bytes on a GPU, seconds of one update by what they go to, days of the run. The plan must divide its model.

    against: the rules that the plan breaks, of "node", "micro-batches" and "memory", in this order.
    """

    def __init__(self, plan, model, cluster):
        t, p, n, m = plan.tensor_parallel, plan.pipeline_parallel, plan.data_parallel, plan.accumulation
        held = model.params / (t * p)  # parameters of one GPU
        sharded = [n if plan.stage >= at else 1 for at in (3, 2, 1)]  # weights, gradients, optimizer state
        self.state = sum(held * size / by for size, by in zip((BYTES, BYTES, OPTIMIZER), sharded))
        message = BYTES * plan.micro_batch * model.seq * model.hidden
        self.kept = message * model.layers  # layers / p inputs of each of p micro-batches
        self.need, self.room = self.state + self.kept, cluster.gpu.memory_bytes

        rate = cluster.gpu.peak_flops * cluster.gpu.efficiency
        inside, between, wait = cluster.bandwidth_inside, cluster.bandwidth_between, cluster.latency
        tokens = m * plan.micro_batch * model.seq  # of an update, through one replica
        self.computing = FLOPS * held * tokens / rate
        self.tensor = m * ALLREDUCES * model.layers / p * 2 * (t - 1) * (wait + message / t / inside)
        self.handing_on = 2 * m * (wait + message / between) if p > 1 else 0.0
        self.bubble = (p - 1) / m * (self.computing + self.tensor + self.handing_on)
        passes = (2, 2, m + 1, 3 * m)[plan.stage]
        self.gradients = passes * (n - 1) * (wait + BYTES * held / n / between)
        self.update = self.computing + self.tensor + self.handing_on + self.bubble + self.gradients
        self.idle = (p - 1) / (m + p - 1)  # share of the pipeline's time

        often, mean = plan.checkpoint_seconds, cluster.device_mtbf / cluster.gpus
        self.waste = cluster.save_seconds / often + (often / 2 + cluster.restart_seconds) / mean
        self.days = -(-model.tokens // (model.batch * model.seq)) * self.update / DAY * (1 + self.waste)
        self.useful = 1 / (1 + self.waste)  # goodput: the share of the days that is computing and sending
        broken = {
            "node": cluster.gpus_per_node % t != 0,
            "micro-batches": m < p,
            "memory": self.need > self.room,
        }
        self.against = [name for name, found in broken.items() if found]


def divides(plan, model):
    """Whether heads, layers and batch are cut without remainder."""
    cut = model.heads % plan.tensor_parallel == 0 and model.layers % plan.pipeline_parallel == 0
    return cut and plan.data_parallel * plan.micro_batch * plan.accumulation == model.batch
