"""Grading against stock nbgrader and against the floor, in one run on the same hand-ins of two parts.

    python tests/bench/grading.py [STUDENTS]      30 unless told otherwise

stock: `nbgrader autograde` with its own Execute; ours: `autograder grade` with one job and with all cores; floor: the
cells alone by plain exec in a forked warm Python (floor.py). Whole commands are timed, their start included. Only the
ratios mean something: machines are shared and noisy. Writes build/bench.json.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from nbgrader.apps.api import NbGraderAPI

from autograder.course import CONFIG_FILE, create, open_course
from autograder.demo import hand_in, samples
from autograder.grade import cores

REPOSITORY = Path(__file__).resolve().parents[2]
PARTS = ("part1_split_the_batch", "part5_split_the_layers")
STOCK = "c = get_config()\nc.CourseDirectory.course_id = 'bench'\n"
STOPPED = ("loops", "ends-the-program", "hands-in", "crash", "exit")  # stock loses these hand-ins or waits for them
GROWTH = (10, 100)


def course_with(root, part, students, stock=False):
    """A course with one part released and handed in by this many students."""
    create(root, REPOSITORY)
    course, config = open_course(root)
    assert NbGraderAPI(config=config).generate_assignment(part)["success"]
    kinds = [sample for sample in samples(course)[part] if not any(word in sample.name for word in STOPPED)]
    for number in range(students):
        hand_in(course, part, kinds[number % len(kinds)], root / "submitted" / f"s{number:03}" / part)
    if stock:
        (root / CONFIG_FILE).write_text(STOCK)
    return root


def timed(command, folder, peaks=None):
    """Seconds of a whole command; the peak memory of one worker with all its children goes into the list."""
    started = time.perf_counter()
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        watcher = threading.Thread(target=watch, args=(process, peaks if peaks is not None else []))
        watcher.start()
        _, errors = process.communicate()
        watcher.join()
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: {errors[-2000:]}")
    return time.perf_counter() - started


def watch(process, peaks):
    """MiB that each worker and its kernels hold for themselves, the largest seen."""
    while process.poll() is None:
        for worker in children(process.pid):
            if children(worker):  # a worker has a zygote; other helpers have nobody
                peaks.append(sum(private(pid) for pid in [worker, *below(worker)]) / 2**20)
        time.sleep(0.25)


def children(pid):
    try:
        return [int(c) for task in Path(f"/proc/{pid}/task").glob("*/children") for c in task.read_text().split()]
    except OSError:
        return []


def below(pid):
    found = children(pid)
    return found + [grandchild for child in found for grandchild in below(child)]


def private(pid):
    """Bytes of memory that a process shares with nobody."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in text.splitlines() if line.startswith("Private"))


def ours(part, jobs):
    return [sys.executable, "-m", "autograder", "grade", part, "--again", "--jobs", str(jobs)]


def measure(folder, part, students):
    """All ways on the same hand-ins, alternating with each other twice, so that a change of speed meets all."""
    stock, own = course_with(folder / "stock", part, students, True), course_with(folder / "own", part, students)
    hand_ins = [str(path / part) for path in sorted((own / "submitted").iterdir())]
    seconds, peaks = {"stock": [], "one job": [], "all cores": [], "floor": []}, []
    for round_ in range(2):
        seconds["one job"].append(timed(ours(part, 1), own))
        seconds["all cores"].append(timed(ours(part, cores()), own, peaks))
        floor = subprocess.run(
            [sys.executable, str(Path(__file__).parent / "floor.py"), *hand_ins],
            capture_output=True,
            text=True,
            check=True,
        )
        seconds["floor"].append(float(floor.stdout))
        if round_ == 0:  # once: it takes minutes
            command = [sys.executable, "-m", "nbgrader", "autograde", part, "--force"]
            seconds["stock"].append(timed(command, stock))
    best = {name: min(times) for name, times in seconds.items()}
    return {
        "seconds": {name: round(times, 2) for name, times in best.items()},
        "ratio_to_stock": round(best["stock"] / best["all cores"], 2),
        "ratio_to_floor": round(best["all cores"] * cores() / best["floor"], 2),
        "ratio_to_stock_one_job": round(best["stock"] / best["one job"], 2),
        "ratio_to_floor_one_job": round(best["one job"] / best["floor"], 2),
        "submissions_per_minute": round(60 * students / best["all cores"], 1),
        "worker_peak_mib": round(max(peaks, default=0)),
    }


def growth(folder, part):
    """How time grows from 10 hand-ins to 100: what each further hand-in costs, and what starting does."""
    took = {}
    for students in GROWTH:
        root = course_with(folder / str(students), part, students)
        took[students] = min(timed(ours(part, cores()), root) for _ in range(2))
        shutil.rmtree(root)
    few, many = GROWTH
    each = (took[many] - took[few]) / (many - few)
    return {
        "seconds": {str(students): round(seconds, 2) for students, seconds in took.items()},
        "seconds_each": round(each, 4),
        "seconds_to_start": round(took[few] - few * each, 2),
    }


def main(students):
    os.environ["PATH"] = str(Path(sys.executable).parent) + os.pathsep + os.environ["PATH"]
    result = {"students": students, "cores": cores(), "parts": {}}
    with tempfile.TemporaryDirectory() as folder:
        for part in PARTS:
            found = measure(Path(folder) / part, part, students)
            result["parts"][part] = found
            print(
                f"{part}: {found['submissions_per_minute']} hand-ins a minute on {cores()} cores; "
                f"{found['ratio_to_stock']} times as fast as stock, {found['ratio_to_floor']} times the floor a core; "
                f"a worker holds at most {found['worker_peak_mib']} MiB; seconds: {found['seconds']}",
                flush=True,
            )
        result["growth"] = growth(Path(folder) / "growth", PARTS[0])
        each = result["parts"][PARTS[0]]["seconds"]["stock"] / students / result["growth"]["seconds_each"]
        result["growth"]["ratio_to_stock_each"] = round(each, 2)
        print(f"from {GROWTH[0]} to {GROWTH[1]} hand-ins: {result['growth']}")
    for name in ("ratio_to_stock", "ratio_to_floor", "submissions_per_minute"):
        result[name] = round(sum(found[name] for found in result["parts"].values()) / len(PARTS), 2)
    result["worker_peak_mib"] = max(found["worker_peak_mib"] for found in result["parts"].values())
    target = REPOSITORY / "build" / "bench.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps(result, indent=1))
    print(f"written: {target.relative_to(REPOSITORY)}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 30)
