"""Key press to new picture, in JupyterLab and a real browser: one line a slider, then the median of medians.

    python tests/bench/sliders.py [NOTEBOOK ...]

The measure is in the page: from the time stamp of the key press to the changed picture, plus one animation frame.
"""

import json
import sys
from pathlib import Path
from statistics import median

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "tests" / "browser"))
import lab  # noqa: E402

GOAL_MS = 50


def main(names):
    notebooks = [Path(n) for n in names] or sorted((REPOSITORY / "notebooks").glob("*.ipynb"))
    found = {}
    for path in notebooks:
        with lab.lab(path.resolve().parent) as url, lab.notebook(url, path.name) as page:
            lab.run_all(page)
            for handle in lab.handles(page):
                times = lab.latency(page, handle)
                label = handle.evaluate("h => h.closest('.widget-slider')?.querySelector('.widget-label')?.textContent")
                if times:
                    found[f"{path.stem}: {label}"] = median(times)
                    print(
                        f"{path.stem}: {label}: median {median(times):.0f} ms ({min(times):.0f}-{max(times):.0f})",
                        flush=True,
                    )
    over = [name for name, ms in found.items() if ms > GOAL_MS]
    print(f"{len(found)} sliders, median of medians {median(found.values()):.0f} ms, {len(over)} over {GOAL_MS} ms")
    target = REPOSITORY / "build" / "bench-sliders.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main(sys.argv[1:])
