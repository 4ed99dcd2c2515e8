"""The exercises of every part. Assignment name -> exercises, in the order of the notebook."""

from partrain_ref.exercises import part1

ASSIGNMENTS = {
    "part1_split_the_batch": part1.EXERCISES,
}
