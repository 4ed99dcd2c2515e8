"""Sample students for the demo and for tests, each named for what they do.

assignment -> student -> what they hand in: `answers` (cell id -> source, over the solutions), `blank` (start from the
released stubs), `tamper` (a last change of the notebook), `write` (bytes handed in instead of a notebook).
"""

from partrain_ref.samples import part1

CLASSES = {
    "part1_split_the_batch": part1.STUDENTS,
}
