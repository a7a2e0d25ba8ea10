"""How long ago something was, and what the clock showed there."""

from __future__ import annotations

from datetime import UTC, datetime

from jitchat.text.counts import counted

_STEPS = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


def local(moment: datetime) -> datetime:
    """Give a moment in the user's time zone; in UTC where $TZ is no zone that there can be."""
    try:
        return moment.astimezone()
    except (ValueError, OverflowError, OSError):
        return moment.astimezone(UTC)


def age(since: datetime, now: datetime) -> str:
    """Say how long ago something was, roughly."""
    seconds = (now - since).total_seconds()
    for size, unit in _STEPS:
        if seconds >= size:
            return f"{counted(int(seconds // size), unit)} ago"
    return "just now"
