"""The axes of a plot: numbers to pixels, on a plain or a logarithmic scale."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Axis:
    """From `low` at pixel `start` to `high` at pixel `end`; with log=True in equal steps for equal factors."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def at(self, value, beyond=0):
        """The pixel of a number; a number off the scale, or not finite, stands `beyond` pixels outside its end."""
        low, high = self._scaled(self.low), self._scaled(self.high)
        share = (self._scaled(value) - low) / (high - low)
        if not 0 <= share <= 1:
            outside = math.copysign(beyond, self.end - self.start)
            return self.start - outside if share < 0 else self.end + outside
        return self.start + share * (self.end - self.start)

    def ticks(self):
        """The powers of ten on a logarithmic scale."""
        first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
        return [10.0**power for power in range(first, last + 1)]

    def _scaled(self, value):
        if not self.log:
            return math.inf if value != value else value
        return math.log10(value) if value > 0 else -math.inf if value <= 0 else math.inf
