"""How many made-up cases Hypothesis tries."""

from __future__ import annotations

from hypothesis import HealthCheck, settings


def examples(few: int) -> settings:
    """So many, the same each time; with the whole of --long many more, and others each time.

    How long it takes to make them up is no fault: it depends on what else the machine does.
    """
    long = settings.get_profile("long")
    patient = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
    if long.derandomize:
        return settings(max_examples=few, derandomize=True, **patient)
    return settings(long, **patient)
