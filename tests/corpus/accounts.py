"""Every number of the two collections of cases, and where it is held when it is not one submission of the corpus."""

HOSTILE = tuple(f"S{n:02}" for n in range(1, 41))
FIELD = tuple(
    f"F{n:03}"
    for n in (
        *range(1, 72, 2),  # files, and grading runs
        *range(72, 96, 2),  # scores, feedback, export
        *range(96, 112, 2),  # CI and widgets
        *range(112, 150, 2),  # numbers learners get wrong
    )
)

ELSEWHERE = {  # number -> file::test that holds it
    "S40": "tests/autograder/test_leaks.py::test_S40_a_reference_that_fails_its_own_test_is_named",
    "F055": "tests/corpus/test_class_level.py::test_F055_a_stamp_of_either_form_costs_nobody",
    "F069": "tests/corpus/test_class_level.py::test_F069_two_processes_grade_at_once",
    "F076": "tests/corpus/test_class_level.py::test_F076_a_manual_score_and_its_comment_stay",
    "F078": "tests/corpus/test_class_level.py::test_F078_a_verdict_of_another_maximum_is_named",
    "F080": "tests/corpus/test_corpus.py::test_nothing_hidden_is_shown",
    "F082": "tests/autograder/test_leaks.py::test_F082_a_solution_is_found_in_another_guise",
    "F084": "tests/corpus/test_class_level.py::test_F084_a_removed_student_leaves_no_row",
    "F086": "tests/corpus/test_class_level.py::test_F086_the_export_tells_states_apart",
    "F088": "tests/autograder/test_class_run.py::test_the_command_line",
    "F096": "tests/notebooks/test_house_rules.py::test_no_times_paths_versions_or_wrapped_numbers_in_outputs",
    "F098": "tests/notebooks/test_house_rules.py::test_panels_carry_picture_and_sentence",
    "F102": "tests/autograder/test_sandbox.py::test_S19_an_endless_loop_is_stopped_and_the_kernel_lives_on",
    "F106": "tests/notebooks/test_house_rules.py::test_nothing_that_hangs_or_needs_the_network",
    "F108": "tests/autograder/test_sandbox.py::test_what_lies_beside_the_notebook_can_be_imported",
    "F110": "tests/browser/test_notebooks.py::test_a_part_as_handed_out",
}

NOT_OURS = {  # number -> why no grader of this course can show it
    "F029": "each part is one notebook, so files of two attempts cannot be mixed",
    "F090": "nbgrader makes feedback anew with --force; the README says so",
    "F092": "which attempt counts is decided when nbgrader collects; what was collected is graded",
    "F094": "a change of a test is a change of the repository; answers are kept beside each verdict to be judged again",
    "F104": "warnings are errors in every test of this repository",
    "F118": "no exercise asks for a last, shorter accumulation window",
    "F130": "no exercise counts the parameters of a gated block",
    "F136": "the course trains in bf16, which needs no loss scale",
    "F144": "no exercise clips gradients",
}
