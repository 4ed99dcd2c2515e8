"""For authors: run the notebooks and write the kit's visible examples. `python -m autograder.authoring [PART ...]`."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from autograder import course as courses
from autograder import wire
from autograder.compare import Raised
from autograder.exercise import Exercise

EXAMPLES_FILE = "examples.json"


def examples(exercise: Exercise) -> dict:
    """What of an exercise is public: examples, known wrong values and hints; typed numbers and letters as digests."""
    if exercise.by_properties:
        return {
            "kind": "function",
            "by_properties": True,
            "examples": [wire.encode_call(one) for one in exercise.examples],
            "refusals": [
                {**wire.encode_call(one), "why": one.why} for one in exercise.refusals[: exercise.shown_refusals]
            ],
        }
    if exercise.kind == "function":
        return {
            "kind": "function",
            "tolerance": list(exercise.tolerance),
            "examples": [
                {**wire.encode_call(one), "answer": wire.encode(exercise.run(exercise.reference, one))}
                for one in exercise.examples
            ],
            "refusals": [
                {**wire.encode_call(one), "why": one.why} for one in exercise.refusals[: exercise.shown_refusals]
            ],
            "mistakes": [
                {
                    "sentence": m.sentence,
                    "answers": [_answer(exercise.run(m.twin, one)) for one in exercise.examples],
                }
                for m in exercise.mistakes
                if _tells(exercise, m)
            ],
        }
    salt = hashlib.sha256(f"salt of {exercise.name}".encode()).hexdigest()[:16]
    is_number = exercise.kind == "number"
    right = (
        f"{round(float(exercise.reference), exercise.digits):.{exercise.digits}f}" if is_number else exercise.reference
    )
    public = {
        "kind": exercise.kind,
        "salt": salt,
        "digest": hashlib.sha256(f"{salt}:{right}".encode()).hexdigest(),
        "mistakes": [{"answer": m.twin, "sentence": m.sentence} for m in exercise.mistakes],
    }
    if is_number:
        return {**public, "digits": exercise.digits, "whole": exercise.whole, "unit": exercise.unit}
    return {**public, "letters": sorted([exercise.reference, *(m.twin for m in exercise.mistakes)])}


def _answer(answer) -> object:
    """A wrong answer as JSON-ready data; an error as {"raised": its type}."""
    return {"raised": answer.type_name} if isinstance(answer, Raised) else wire.encode(answer)


def _tells(exercise: Exercise, mistake) -> bool:
    """Whether the visible examples can tell this mistake from the right answer."""
    return (
        exercise.mistake([exercise.run(mistake.twin, one) for one in exercise.examples], exercise.examples) is not None
    )


def examples_text(repository: Path, settings: dict) -> str:
    """The content of the kit's examples.json."""
    course = courses.Course(repository, settings["reference"], settings["kit"])
    names = sorted(path.stem for path in (repository / settings["notebooks"]).glob("*.ipynb"))
    found = {e.name: examples(e) for name in names for e in course.exercises(name).values()}
    lines = [f"{json.dumps(name)}: {json.dumps(public, ensure_ascii=False)}" for name, public in found.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def execute(path: Path) -> None:
    """Run a notebook from top to bottom in its folder and store it as git keeps it: no widget state."""
    nb = nbformat.read(path, as_version=4)
    for cell in nb.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    where = {"metadata": {"path": str(path.parent)}}
    # a busy machine may send one print in two pieces; git keeps one
    NotebookClient(nb, timeout=120, kernel_name="python3", coalesce_streams=True, resources=where).execute()
    nb.metadata = nbformat.from_dict(
        {
            "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        }
    )
    for cell in nb.cells:
        cell.metadata.pop("execution", None)
    nbformat.validate(nb)
    nbformat.write(nb, path)


def main(parts: list[str]) -> None:
    repository, settings = courses.find_repository(Path.cwd())
    notebooks = repository / settings["notebooks"]
    target = notebooks / settings["kit"] / EXAMPLES_FILE
    target.write_text(examples_text(repository, settings), encoding="utf-8")
    print(f"wrote {target.relative_to(repository)}")
    for path in sorted(notebooks.glob("*.ipynb")):
        if not parts or any(path.stem.startswith(part) for part in parts):
            execute(path)
            print(f"executed {path.relative_to(repository)}")


if __name__ == "__main__":
    main(sys.argv[1:])
