"""How long one update takes on n devices: computing, sending, waiting, and what of it is hidden."""


class Run:
    """The times of one update on n devices, in seconds; the array of gradients goes round a ring."""

    def __init__(self, seconds, nbytes, bandwidth, latency, overlap):
        self.seconds, self.latency, self.overlap = seconds, latency, overlap
        self.transfer = nbytes / bandwidth  # seconds for the array once

    def computing(self, n):
        return self.seconds / n

    def waiting(self, n):
        return 2 * (n - 1) * self.latency

    def sending(self, n):
        return 2 * (n - 1) / n * self.transfer

    def communication(self, n):
        return self.waiting(n) + self.sending(n)

    def hidden(self, n):
        return self.overlap * min(self.computing(n), self.communication(n))

    def update(self, n):
        return self.computing(n) + self.communication(n) - self.hidden(n)

    def speedup(self, n):
        return self.seconds / self.update(n)

    def crossing(self):
        """The first whole number of devices on which communication takes at least as long as computing."""

        def waits(n):  # where the two are equal, float noise must not decide
            return self.communication(n) >= self.computing(n) * (1 - 1e-12)

        low, high = 1, 2
        while not waits(high):
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if waits(middle) else (middle, high)
        return high
