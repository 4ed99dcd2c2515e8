"""Large numbers as somebody would type them."""


def typed(value):
    """A number from a million on as "72e9" or "312.5e12" where that is exact; anything else as Python shows it."""
    if isinstance(value, (int, float)) and 10**6 <= abs(value) < 10**15:
        power = next(power for power in (12, 9, 6) if abs(value) >= 10**power)
        text = f"{value / 10**power:g}e{power}"
        if float(text) == value:
            return text
    return repr(float(value) if isinstance(value, float) else value)  # not np.float64(2.0)
