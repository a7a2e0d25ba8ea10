"""How long ago something was, in words."""

from __future__ import annotations

from datetime import datetime

from jitchat.text.counts import counted

_STEPS = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


def age(since: datetime, now: datetime) -> str:
    """Say how long ago something was, roughly."""
    seconds = (now - since).total_seconds()
    for size, unit in _STEPS:
        if seconds >= size:
            return f"{counted(int(seconds // size), unit)} ago"
    return "just now"
