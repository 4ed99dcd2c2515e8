"""An auto-grader for nbgrader courses that names what was forgotten."""
