"""Which sample students the class runs of the tests grade with real kernels."""

from partrain_ref.samples import CLASSES

ALWAYS = ("all-right", "blank", "half-done")
PART1 = "part1_split_the_batch"
TOLD = (  # of part 1, those whose verdict or message a test asks for; the corpus hands in the rest of what can happen
    "prints-instead-of-returning",
    "changes-its-input",
    "other-forms-of-right",
    "right-values-no-refusals",
    "takes-the-mean-of-means",
    "unknown-name-in-a-cell",
    "warns-while-right",
    "loops-for-ever",
    "ends-the-program",
    "looks-for-the-reference",
    "hands-in-a-web-page",
    "hands-in-an-empty-file",
)


def class_list(part):
    """Of part 1 the students whom tests ask about; of the others three that every class has, and one more."""
    if part == PART1:
        return [student for student in CLASSES[part] if student in (*ALWAYS, *TOLD)]
    others = [student for student in CLASSES[part] if student not in ALWAYS]
    return [*ALWAYS, *others[:1]]
