"""A reference package of another subject, as small as one can be: the grader must know nothing of GPUs."""
