"""How long a provider's prompt cache keeps what nobody asks for."""

from __future__ import annotations

from datetime import timedelta

_FAMILIES = {"claude": timedelta(minutes=5)}
"""By a part of the model's name. Anthropic documents it for the kind of entry that is asked for;
the others tell of a range that depends on their load."""


def cache_life(model: str) -> timedelta | None:
    """Tell it for a model by its name; None where it is not known."""
    name = model.lower()
    return next((life for family, life in _FAMILIES.items() if family in name), None)
