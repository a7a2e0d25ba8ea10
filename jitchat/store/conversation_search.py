"""Parse a typed query for conversations into filters and the text to search for.

`tag:work project:cellar model:gpt after:2026-01 before:yesterday is:archived deploy window`: text
that is not a filter is searched for. Without `is:archived`, archived conversations are left out.
"""

import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, date, datetime, time

from jitchat.errors import UsageError
from jitchat.text.figures import local
from jitchat.text.sanitize import repair, shorten
from jitchat.text.time_range import time_range
from jitchat.text.words import fold

SYNTAX = "tag:work project:NAME model:gpt after:2026-01 before:yesterday is:archived"
"""An example of each filter."""
DATES = ("after", "before")
"""The filters for searching within one conversation."""
FILTERS = ("tag", "project", "model", *DATES, "is")
"""The names of all filters."""
_NAME = "|".join(FILTERS)
_FILTER = re.compile(
    rf'(?<!\S)(?:"((?:{_NAME}):[^"]*)"|({_NAME})'
    r':("[^"]*"|(?:last|this|past)\s+\S+|\d+\s+\w+\s+ago(?!\S)|\S+|(?=\s|\Z)))'
)
"""A filter in quotes, or its name and its value."""
_HYPHEN = re.compile(r"-(?=[a-z]{2})")
"""As in last-week, which needs no quotes."""


@dataclass(frozen=True, slots=True)
class Filter:
    tags: tuple[str, ...] = ()
    project: str = ""
    """A part of the project's name."""
    model: str = ""
    after: date | None = None
    """The first day included, in the user's time zone. None for any."""
    before: date | None = None
    """The first day excluded. None for any."""
    is_archived: bool | None = None
    """None for both."""

    @property
    def values(self) -> dict[str, object]:
        """The parameters of the condition in `search.sql`."""
        return {
            "tags": json.dumps(self.tags),
            "project": self.project,
            "model": self.model,
            "after": midnight(self.after).isoformat() if self.after else None,
            "before": midnight(self.before).isoformat() if self.before else None,
            "archived": self.is_archived,
        }

    def has(self, moment: datetime | None) -> bool:
        """Whether a turn's time is within the dates; one without a time is before all dates."""
        if moment is None:
            return self.after is None
        is_after = self.after is None or moment >= midnight(self.after)
        return is_after and (self.before is None or moment < midnight(self.before))


def midnight(day: date) -> datetime:
    """Return the start of a day in the user's time zone, in UTC."""
    begins = datetime.combine(day, time())
    try:
        return begins.astimezone(UTC)
    except (ValueError, OverflowError, OSError):  # no such time, or $TZ is not a valid zone
        return begins.replace(tzinfo=UTC)


EVERY = Filter()


def parse_query(text: str, now: datetime, names: Collection[str] = FILTERS) -> tuple[str, Filter]:
    """Split a typed query into search words and filters; only `names` are recognised as filters.

    Raises:
        UsageError: A filter has an invalid value.

    """
    found: dict[str, list[str]] = {}
    today = local(now).date()

    def take(match: re.Match[str]) -> str:
        _, name, value = match.groups()
        if name not in names:
            return match[0]
        found.setdefault(name, []).append(fold(value.strip('"')))
        return " "

    rest = " ".join(_FILTER.sub(take, repair(text)).split())
    last = {name: values[-1] for name, values in found.items()}
    if last.get("is", "archived") != "archived":
        raise _refused(f"“is:{shorten(last['is'], 40)}” is not a filter.", "Use is:archived")
    return rest, Filter(
        tuple(filter(None, (value.removeprefix("#") for value in found.get("tag", ())))),
        last.get("project", ""),
        last.get("model", ""),
        _day("after", last["after"], today) if "after" in last else None,
        _day("before", last["before"], today) if "before" in last else None,
        "is" in found if "is" in names else None,
    )


def _day(name: str, written: str, today: date) -> date:
    """Return the first day of a filter's date or range."""
    plain = _HYPHEN.sub(" ", written)
    found = time_range(plain, today) or time_range(f"in {plain}", today)
    if found is None:
        what = f"“{name}:{shorten(written, 40)}” is not a date."
        raise _refused(what, "Use a date such as 2026-11-03, 2026-11, yesterday, 7d or last-week")
    return found.first


def _refused(what: str, remedy: str) -> UsageError:
    return UsageError(what, f"{remedy}; text in quotes is searched for.")
