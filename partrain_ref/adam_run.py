"""The training run of part 4, on the teacher's side: the same arithmetic as the kit's AdamRun; a test holds them equal.

Adam as in arXiv 1412.6980, algorithm 1, with a linear warm-up from step 0, (schedule + 1) / warm-up, then constant.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

ITEMS = ("weights", "moments", "step_count", "schedule", "random_state", "data_position")


class AdamRun:
    """Six things change as it trains; `state()` is a copy of all six, `restore(state)` takes over those it holds."""

    batch, peak_rate, warmup_steps, noise = 8, 0.2, 16, 0.1
    beta1, beta2, epsilon = 0.9, 0.999, 1e-8

    def __init__(self, seed: int = 0):
        table = np.random.default_rng([seed, 0])
        self.X = table.standard_normal((43, 4))
        self.y = self.X @ np.array([1.0, -2.0, 3.0, 0.5])
        self.weights = table.standard_normal(4)
        self.first, self.second = np.zeros(4), np.zeros(4)
        self.step_count = self.schedule = self.data_position = 0
        self.generator = np.random.default_rng([seed, 1])

    def step(self) -> float:
        """Train on the next batch; the loss is that before the update."""
        X, y = self.next_batch()
        error = X @ self.weights - y
        self._update(2 / len(y) * X.T @ error)
        return float(np.mean(error**2))

    def next_batch(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows in a fixed walk through the table, noise on the targets, one column silenced by a 32-bit draw."""
        rows = 7 * (self.data_position + np.arange(self.batch)) % len(self.y)
        self.data_position += self.batch
        X, y = self.X[rows], self.y[rows] + self.noise * self.generator.standard_normal(self.batch)
        X[:, self.generator.integers(4, dtype=np.uint32)] = 0.0
        return X, y

    def _update(self, gradient: np.ndarray) -> None:
        self.schedule += 1
        self.step_count += 1
        rate = self.peak_rate * min(1.0, self.schedule / self.warmup_steps)
        self.first = self.first + (1 - self.beta1) * (gradient - self.first)
        self.second = self.second + (1 - self.beta2) * (gradient**2 - self.second)
        mean = self.first / (1 - self.beta1**self.step_count)
        square = self.second / (1 - self.beta2**self.step_count)
        self.weights = self.weights - rate * mean / (np.sqrt(square) + self.epsilon)

    def state(self) -> dict[str, Any]:
        """A plain copy of all that changes."""
        return {
            "weights": self.weights.tolist(),
            "moments": {"first": self.first.tolist(), "second": self.second.tolist()},
            "step_count": self.step_count,
            "schedule": self.schedule,
            "random_state": copy.deepcopy(self.generator.bit_generator.state),
            "data_position": self.data_position,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Take over the items that `state` holds; the others stay as they are."""
        if "weights" in state:
            self.weights = np.array(state["weights"], dtype=float)
        if "moments" in state:
            self.first = np.array(state["moments"]["first"], dtype=float)
            self.second = np.array(state["moments"]["second"], dtype=float)
        if "random_state" in state:
            self.generator.bit_generator.state = state["random_state"]
        for name in {"step_count", "schedule", "data_position"} & set(state):
            setattr(self, name, int(state[name]))
