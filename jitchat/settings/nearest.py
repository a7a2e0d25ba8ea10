"""What somebody may have meant."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(wrong: str, known: Iterable[str]) -> str:
    """Ask for the closest of `known`, as a sentence; empty where none is close."""
    from difflib import get_close_matches  # noqa: PLC0415  needed only when something is wrong

    found = get_close_matches(wrong[:80], list(known), n=1, cutoff=0.5)
    return f" Did you mean {found[0]!r}?" if found else ""
