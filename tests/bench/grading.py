"""Grading against stock nbgrader, in one run on the same hand-ins: how long a submission takes in each way.

    python tests/bench/grading.py [STUDENTS]

Stock is `nbgrader autograde` with its own Execute on the same notebooks; ours is `autograder grade`. Only the ratio
means something: machines are shared and noisy. Writes build/bench-grading.json.
"""

import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from nbgrader.apps.api import NbGraderAPI

from autograder.course import CONFIG_FILE, create, open_course
from autograder.demo import Sample, hand_in

REPOSITORY = Path(__file__).resolve().parents[2]
PART = "part1_split_the_batch"
STOCK = "c = get_config()\nc.CourseDirectory.course_id = 'bench'\n"


def course_with(root, students, stock):
    create(root, REPOSITORY)
    course, config = open_course(root)
    assert NbGraderAPI(config=config).generate_assignment(PART)["success"]
    for n in range(students):
        hand_in(course, PART, Sample(f"student-{n:03}"), root / "submitted" / f"student-{n:03}" / PART)
    if stock:
        (root / CONFIG_FILE).write_text(STOCK)
    return root


def timed(command, folder):
    started = time.perf_counter()
    subprocess.run([sys.executable, "-m", *command], cwd=folder, capture_output=True, check=True)
    return time.perf_counter() - started


def main(students):
    with tempfile.TemporaryDirectory() as folder:
        stock = course_with(Path(folder) / "stock", students, stock=True)
        ours = course_with(Path(folder) / "ours", students, stock=False)
        seconds = {"stock": [], "ours": []}
        for _ in range(2):  # alternating, so that a change of the machine's speed meets both
            seconds["stock"].append(timed(["nbgrader", "autograde", PART, "--force"], stock) / students)
            seconds["ours"].append(timed(["autograder", "grade", PART, "--again"], ours) / students)
            shutil.rmtree(stock / "autograded")
    best = {name: min(times) for name, times in seconds.items()}
    result = {
        "students": students,
        "seconds_a_submission": best,
        "ratio_to_stock": best["stock"] / best["ours"],
        "submissions_per_minute": 60 / best["ours"],
    }
    print(json.dumps(result, indent=1))
    target = REPOSITORY / "build" / "bench-grading.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps(result, indent=1))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 8)
