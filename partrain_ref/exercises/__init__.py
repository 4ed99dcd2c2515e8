"""The exercises of every part. Assignment name -> exercises, in the order of the notebook."""

from partrain_ref.exercises import part1, part2, part3, part4, part5, part6, part7, part8

ASSIGNMENTS = {
    "part1_split_the_batch": part1.EXERCISES,
    "part2_bigger_steps": part2.EXERCISES,
    "part3_fit_the_model": part3.EXERCISES,
    "part4_resume_exactly": part4.EXERCISES,
    "part5_split_the_layers": part5.EXERCISES,
    "part6_split_the_matrices": part6.EXERCISES,
    "part7_the_wall_clock": part7.EXERCISES,
    "part8_plan_a_run": part8.EXERCISES,
}
