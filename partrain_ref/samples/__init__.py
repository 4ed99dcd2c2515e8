"""Sample students for the demo and for tests, each named for what they do.

assignment -> student -> what they hand in: `answers` (cell id -> source, over the solutions), `blank` (start from the
released stubs), `tamper` (a last change of the notebook), `write` (bytes handed in instead of a notebook).
"""

from partrain_ref.samples import part1, part2, part3, part4, part5, part6, part7, part8

CLASSES = {
    "part1_split_the_batch": part1.STUDENTS,
    "part2_bigger_steps": part2.STUDENTS,
    "part3_fit_the_model": part3.STUDENTS,
    "part4_resume_exactly": part4.STUDENTS,
    "part5_split_the_layers": part5.STUDENTS,
    "part6_split_the_matrices": part6.STUDENTS,
    "part7_the_wall_clock": part7.STUDENTS,
    "part8_plan_a_run": part8.STUDENTS,
}
