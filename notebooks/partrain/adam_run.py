"""A training run that is small enough to read whole: Adam with a warm-up, on rows of a table, with random noise."""

import numpy as np

BATCH = 8  # rows a step
PEAK_RATE = 0.2  # the learning rate after the warm-up
WARMUP_STEPS = 16
DECAY_1, DECAY_2, TINY = 0.9, 0.999, 1e-8  # Adam's usual numbers
NOISE = 0.1  # size of the noise on the targets


class AdamRun:
    """A run that changes six things as it trains: all six are in its `state()`.

    The table of 43 rows and 4 columns is made from `seed`; it never changes, so it need not be saved.
    """

    def __init__(self, seed=0):
        table = np.random.default_rng([seed, 0])
        self.X = table.standard_normal((43, 4))
        self.y = self.X @ np.array([1.0, -2.0, 3.0, 0.5])
        self.weights = table.standard_normal(4)
        self.first_moment, self.second_moment = np.zeros(4), np.zeros(4)
        self.step_count = 0  # Adam's own: it corrects the moments, which start at zero
        self.schedule = 0  # where the learning rate is in its warm-up
        self.generator = np.random.default_rng([seed, 1])
        self.data_position = 0  # rows taken since the run began

    def step(self):
        """Train on the next batch. Returns its loss, which is taken before the weights change."""
        rows = 7 * (self.data_position + np.arange(BATCH)) % len(self.y)
        self.data_position += BATCH
        X, y = self.X[rows], self.y[rows] + NOISE * self.generator.standard_normal(BATCH)
        silenced = self.generator.integers(4, dtype=np.uint32)  # dropout; takes half of a 64-bit number
        X[:, silenced] = 0.0
        error = X @ self.weights - y
        self._update(2 / BATCH * X.T @ error)
        return float(np.mean(error**2))

    def _update(self, gradient):
        self.schedule += 1
        rate = PEAK_RATE * min(1.0, self.schedule / WARMUP_STEPS)
        self.step_count += 1
        self.first_moment += (1 - DECAY_1) * (gradient - self.first_moment)
        self.second_moment += (1 - DECAY_2) * (gradient**2 - self.second_moment)
        mean = self.first_moment / (1 - DECAY_1**self.step_count)
        square = self.second_moment / (1 - DECAY_2**self.step_count)
        self.weights -= rate * mean / (np.sqrt(square) + TINY)

    def state(self):
        """A copy of all that changes, as plain numbers, lists and dicts: training on does not change the copy."""
        return {
            "weights": self.weights.tolist(),
            "moments": {"first": self.first_moment.tolist(), "second": self.second_moment.tolist()},
            "step_count": self.step_count,
            "schedule": self.schedule,
            "random_state": self.generator.bit_generator.state,
            "data_position": self.data_position,
        }

    def restore(self, state):
        """Take over what a `state()` holds. What is missing in it stays as it is in this object."""
        if "weights" in state:
            self.weights = np.array(state["weights"], dtype=float)
        if "moments" in state:
            self.first_moment = np.array(state["moments"]["first"], dtype=float)
            self.second_moment = np.array(state["moments"]["second"], dtype=float)
        if "random_state" in state:
            self.generator.bit_generator.state = state["random_state"]
        for name in ("step_count", "schedule", "data_position"):
            if name in state:
                setattr(self, name, int(state[name]))
