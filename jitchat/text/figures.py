"""Format figures for people: counts, ages and amounts of money."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from enum import StrEnum
from functools import lru_cache
from pathlib import PurePath


class Mark(StrEnum):
    """How a figure is known."""

    COUNTED = "counted"
    """By the model's own tokenizer."""
    ESTIMATED = "estimated"
    REPORTED = "reported"
    """By the provider."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A number of tokens; only its own drawing marks how it is known."""

    count: int
    mark: Mark = Mark.COUNTED
    band: int = 0
    """Half the width of the error band; 0 if it is unknown or there is no error."""

    def __str__(self) -> str:
        """Write `1,187`, `~1,187`, `1,187 ± 40` or `1,187 ✓`."""
        if self.band:
            return f"{self.count:,} ± {self.band:,}"
        if self.mark is Mark.REPORTED:
            return f"{self.count:,} ✓"
        return f"~{self.count:,}" if self.mark is Mark.ESTIMATED else f"{self.count:,}"

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)


def mark_of(*, exact: bool) -> Mark:
    return Mark.COUNTED if exact else Mark.ESTIMATED


_HEAD = re.compile(
    r"(.+?)( (?:that|without|with|whose|of|on|in|from|at|after|is|was|has|does|holds)\b.*| \(.*|)",
    re.DOTALL,
)
_VERB = re.compile(r"(?:(?<=\A )|(?<=\bthat ))[a-z]+s\b")
_VERBS = {"is": "are", "was": "were", "has": "have", "does": "do"}


def plural(number: int, what: str) -> str:
    """Count what a noun describes, with its clause or verb: `2 entries that are not JSON`."""
    match = _HEAD.fullmatch(what)
    if number == 1 or match is None:
        return f"{number:,} {what}"
    head, clause = match.groups()
    head = f"{head[:-1]}ie" if re.search("[^aeiou]y$", head) else head
    clause = _VERB.sub(lambda verb: _VERBS.get(verb[0], verb[0][:-1]), clause, count=1)
    return f"{number:,} {head}s{clause}"


def enumerated(names: Sequence[str]) -> str:
    """Join names as in a sentence: `system, tools and pins`; "" for no names."""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def percent(share: float) -> str:
    """Format a share: `67 %`, `0.6 %`, `>99.9 %`; `0 %` only for none, `100 %` only for all."""
    points = share * 100
    if points in (0, 100):
        return f"{points:.0f} %"
    digits = 1 if points < 1 or 99 < points < 101 else 0
    rounded = round(points, digits)
    if not rounded:
        return "<0.1 %"
    if rounded == 100:
        return ">100 %" if points > 100 else ">99.9 %"
    return f"{rounded:,.{digits}f} %"


def duration(seconds: float) -> str:
    """Format a duration: `0.4 s`, `12 ms`, `<1 ms`."""
    if seconds >= 0.1:
        return f"{seconds:,.1f} s"
    return f"{seconds * 1000:.0f} ms" if seconds >= 0.001 or not seconds else "<1 ms"


def megabytes(size: int) -> str:
    """Format a number of bytes in megabytes: `98.4 MB`."""
    return f"{size / 1_000_000:,.1f} MB"


_STEPS = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


def local(moment: datetime) -> datetime:
    """Convert a moment to the user's time zone; to UTC if $TZ is not a valid zone."""
    return moment.astimezone(zone_at(moment.timestamp() // _QUARTER))


_QUARTER = 900
"""Seconds; offsets change at full quarters of an hour."""


@lru_cache(maxsize=4096)
def zone_at(quarter: float) -> tzinfo | None:
    """Find the offset in a quarter of an hour since 1970; asking the system takes long."""
    try:
        return datetime.fromtimestamp(quarter * _QUARTER, UTC).astimezone().tzinfo
    except (ValueError, OverflowError, OSError):
        return UTC


def moment_of(text: str) -> datetime:
    """Read a stored moment, as local time; one without a time zone is in UTC."""
    moment = datetime.fromisoformat(text)
    return local(moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC))


def age(since: datetime, now: datetime) -> str:
    seconds = (now - since).total_seconds()
    for size, unit in _STEPS:
        if seconds >= size:
            return f"{plural(int(seconds // size), unit)} ago"
    return "just now"


_LEAST = 0.0001
_CENTS_FROM = 0.1
"""US dollars. From this amount on, fractions of a cent are not shown."""


def less(share: float, form: str, word: str = "less") -> str:
    """Write a saving, such as `67% less`; a negative one is `69% more`."""
    return f"{abs(share):{form}} {word if share >= 0 else 'more'}"


def dollars(amount: float | None) -> str:
    """Format an amount in US dollars: `$0.0041`, `<$0.0001`, `$1.25`; `unknown` for None."""
    if amount is None:
        return "unknown"
    if 0 < amount < _LEAST:
        return f"<${_LEAST}"
    return f"${amount:,.2f}" if not amount or amount >= _CENTS_FROM else f"${amount:.4f}"


def cost_of(amount: float | None) -> str:
    """Format a cost: `$0.0041`, `free` for 0, or `cost unknown` for None."""
    if amount is None:
        return "cost unknown"
    return dollars(amount) if amount else "free"


def about_cost(amount: float | None) -> str:
    """Format an estimated cost: `~$0.0041`, `free`, or `cost unknown`."""
    cost = cost_of(amount)
    return cost if not amount or cost.startswith("<") else f"~{cost}"


def total_of(amount: float, unknown: int, *, estimated: bool = False) -> str:
    """Format a sum: `$0.12`, `$0.12 + 3 unknown`, `cost unknown`; "" if nothing is charged.

    `amount` is the known sum in US dollars; `unknown` is the number of items of unknown cost.
    """
    if not amount:
        return cost_of(None) if unknown else ""
    known = about_cost(amount) if estimated else dollars(amount)
    return known + (f" + {unknown:,} unknown" if unknown else "")


def model_name(model: str) -> str:
    """Return a model's name to show; for a GGUF file, whose name is its path, the file name."""
    return PurePath(model).name if model.lower().endswith(".gguf") else model


def shown_score(score: float, floor: float = 0.0) -> float:
    """Round a score to the two digits that are shown, unless that would take it over the floor."""
    rounded = round(score, 2) + 0.0
    return rounded if (score < floor) == (rounded < floor) else score


def shown_part(part: float) -> float:
    """Round a part of a score to three digits, which bars show, so that two are as before."""
    rounded = round(part, 3)
    if round(rounded, 2) != round(part, 2):  # the third digit has become a 5
        rounded = round(rounded + (0.001 if part > rounded else -0.001), 3)
    return rounded + 0.0  # zero without its sign
