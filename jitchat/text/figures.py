"""Figures as people read them: counts, ages and amounts of money."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import PurePath


def plural(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def enumerated(names: Sequence[str]) -> str:
    """Write a list as in a sentence: `system, tools and pins`; empty for nothing."""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def duration(seconds: float) -> str:
    """Write a time that something took: `0.4 s`, `12 ms`, `<1 ms`."""
    if seconds >= 0.1:
        return f"{seconds:,.1f} s"
    return f"{seconds * 1000:.0f} ms" if seconds >= 0.001 or not seconds else "<1 ms"


def megabytes(size: int) -> str:
    """Write a number of bytes, in millions of them: `98.4 MB`."""
    return f"{size / 1_000_000:,.1f} MB"


_STEPS = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


def local(moment: datetime) -> datetime:
    """Give a moment in the user's time zone; in UTC where $TZ is no zone that there can be."""
    try:
        return moment.astimezone()
    except (ValueError, OverflowError, OSError):
        return moment.astimezone(UTC)


def age(since: datetime, now: datetime) -> str:
    seconds = (now - since).total_seconds()
    for size, unit in _STEPS:
        if seconds >= size:
            return f"{plural(int(seconds // size), unit)} ago"
    return "just now"


_LEAST = 0.0001
_CENTS_FROM = 0.1
"""From here on, the digits behind the cents tell nothing."""


def dollars(amount: float | None) -> str:
    """Write an amount of US dollars: `$0.0041`, `<$0.0001`, `$1.25`; `unknown` for None."""
    if amount is None:
        return "unknown"
    if 0 < amount < _LEAST:
        return f"<${_LEAST}"
    return f"${amount:,.2f}" if not amount or amount >= _CENTS_FROM else f"${amount:.4f}"


def cost_of(amount: float | None) -> str:
    """Write what something costs: `$0.0041`, `free`, or `cost unknown`, which is not nothing."""
    if amount is None:
        return "cost unknown"
    return dollars(amount) if amount else "free"


def about_cost(amount: float | None) -> str:
    """Write what something costs by an estimate: `~$0.0041`, `free`, or `cost unknown`."""
    told = cost_of(amount)
    return told if not amount or told.startswith("<") else f"~{told}"


def total_of(amount: float, unknown: int, *, estimated: bool = False) -> str:
    """Write a sum: `$0.12`, `$0.12 + 3 unknown`, `cost unknown`; empty where nothing is charged.

    `amount` is what is known of it in US dollars; `unknown` how many parts are not.
    """
    if not amount:
        return cost_of(None) if unknown else ""
    known = about_cost(amount) if estimated else dollars(amount)
    return known + (f" + {unknown:,} unknown" if unknown else "")


def model_name(model: str) -> str:
    """Name a model as it is shown: of a GGUF file, which is known by its path, the file's name."""
    return PurePath(model).name if model.lower().endswith(".gguf") else model
