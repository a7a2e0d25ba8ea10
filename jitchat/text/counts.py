"""Numbers with what they count."""

from __future__ import annotations


def counted(number: int, thing: str) -> str:
    """Write a number and its noun, in the plural unless it is 1."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
