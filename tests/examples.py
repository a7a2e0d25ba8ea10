"""How many made-up cases Hypothesis tries."""

from __future__ import annotations

from hypothesis import settings


def examples(few: int) -> settings:
    """So many, the same each time; with the whole of --long many more, and others each time."""
    long = settings.get_profile("long")
    if long.derandomize:
        return settings(deadline=None, max_examples=few, derandomize=True)
    return long
