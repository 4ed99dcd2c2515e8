"""What `check` tries on a planned run. More than one plan is good enough; these rules hold for all that are."""

from partrain.outlook import Outlook, divides
from partrain.planning import Plan
from partrain.words import in_rows

AT_MOST = {1024: 17.11, 256: 18.77}  # GPUs of the notebook's two clusters -> days, 5% above the fewest

BROKEN = {
    "node": "its tensor-parallel group does not lie inside one node",
    "micro-batches": "it has fewer micro-batches than stages",
    "memory": "it needs more memory than a GPU has",
}


def plan_run(functions, model, cluster):
    """None where a plan is right for this model and cluster, else what is not."""
    plan = functions[0](model, cluster)
    where = f"On {cluster.gpus:,} GPUs"
    if plan is None:
        return f"{where} it returned nothing (None). Did you print instead of return?"
    if not isinstance(plan, Plan):
        return f"{where} it returned an object of type {type(plan).__name__}; one Plan is asked for."
    returned = f"{where} it returned\n{in_rows(repr(plan))}\n"
    used = plan.tensor_parallel * plan.pipeline_parallel * plan.data_parallel
    if used != cluster.gpus:
        return f"{returned}That uses {used:,} GPUs."
    if not divides(plan, model):
        return f"{returned}That does not divide heads, layers or batch."
    outlook = Outlook(plan, model, cluster)
    if outlook.against:
        return f"{returned}That does not run: {BROKEN[outlook.against[0]]}."
    most = AT_MOST[cluster.gpus]
    if outlook.days > most:
        return f"{returned}That fits, but takes {outlook.days:.2f} days; the target is at most {most:.2f}."
    return None
