"""The house: who may import whom, and what may not be in the repository."""

import ast
import re
import subprocess


def imports(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def modules(folder):
    return sorted(folder.rglob("*.py"))


def test_the_reference_imports_of_the_autograder_only_exercise(repository):
    for path in modules(repository / "partrain_ref"):
        found = {name for name in imports(path) if name.split(".")[0] in ("autograder", "partrain", "tests")}
        assert all(name.startswith("autograder.exercise") for name in found), path


def test_the_autograder_names_no_reference_package_and_no_kit(repository):
    for path in modules(repository / "autograder"):
        found = {name.split(".")[0] for name in imports(path)}
        assert not found & {"partrain_ref", "partrain", "tests"}, path
        assert "partrain_ref" not in path.read_text(encoding="utf-8"), path


def test_the_kit_stands_alone(repository):
    allowed = {"partrain", "numpy", "IPython", "ipywidgets", "matplotlib"}
    import sys

    for path in modules(repository / "notebooks" / "partrain"):
        found = {name.split(".")[0] for name in imports(path)}
        assert found <= allowed | sys.stdlib_module_names, path


LAYERS = [  # each may import from those below it
    ("__main__",),
    ("outcome",),
    ("demo", "doctor", "report", "authoring", "platforms"),
    ("export",),
    ("grade", "regrade"),
    ("lock", "footing", "tally"),
    ("ledger", "nbgrader_config", "breakouts", "workers"),
    ("overview",),
    ("stage", "recorded"),
    ("book", "submission"),
    ("settle", "feedback"),
    ("judge", "clean"),
    ("answer", "intake", "leaks"),
    ("ask", "assess"),
    ("course", "mend"),
    ("hints",),
    ("words",),
    ("match", "extras", "readable", "slips"),
    ("stubs", "sandbox", "wire", "verdict", "attempts", "quick", "sources"),
    ("exercise",),
    ("compare",),
    ("forms", "rounding"),
]


def test_imports_in_the_autograder_point_down_only(repository):
    level = {name: depth for depth, names in enumerate(LAYERS) for name in names}
    for path in modules(repository / "autograder"):
        if path.parent.name == "sandbox" or path.name == "__init__.py":
            continue
        for name in imports(path):
            parts = name.split(".")
            if parts[0] == "autograder" and len(parts) > 1:
                same_floor = path.stem in ("demo", "doctor") and parts[1] in ("report", "grade")
                assert level[parts[1]] > level[path.stem] or same_floor, f"{path.name} imports {name}"


def test_modules_are_short(repository):
    for folder in ("autograder", "partrain_ref", "notebooks/partrain"):
        for path in modules(repository / folder):
            if "exercises" in path.parts or "samples" in path.parts or path.stem == "attempts":
                continue  # tables: data, not logic
            assert len(path.read_text(encoding="utf-8").splitlines()) <= 200, path


def test_nothing_names_the_folder_where_it_was_made(repository):
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=repository, capture_output=True, text=True, check=True
    ).stdout
    names = [name for name in listed.split("\0") if name and (repository / name).is_file()]
    assert names
    for name in names:
        assert str(repository) not in (repository / name).read_text(encoding="utf-8", errors="replace"), name


def test_every_dependency_has_its_reason(repository):
    lines = (repository / "requirements.txt").read_text(encoding="utf-8").splitlines()
    needs = [line for line in lines if line and not line.startswith("#")]
    assert needs and all(re.match(r"[\w-]+(\[\w+\])?[<>=.,\d]+ +# \w", line) for line in needs)


def test_make_lists_its_targets(repository):
    said = subprocess.run(
        ["make", "--no-print-directory"], cwd=repository, capture_output=True, text=True, check=True
    ).stdout
    for target in ("setup", "demo", "lab", "test", "notebooks", "browser", "bench"):
        assert f"make {target}" in said


def test_the_readme_maps_every_part_and_exercise(repository):
    from partrain_ref.exercises import ASSIGNMENTS

    text = (repository / "README.md").read_text(encoding="utf-8")
    for part, exercises in ASSIGNMENTS.items():
        assert f"notebooks/{part}.ipynb" in text
        assert all(f"`{exercise.name}`" in text for exercise in exercises), part
