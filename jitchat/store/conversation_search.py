"""Parse a typed query for conversations into filters and search words, and search their turns.

`tag:work project:cellar model:gpt after:2026-01 before:yesterday is:archived deploy window`: text
that is not a filter is searched for. Without `is:archived`, archived conversations are left out.
"""

import json
import re
import sqlite3
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from itertools import pairwise
from typing import NamedTuple

from jitchat.errors import UsageError
from jitchat.text.figures import local
from jitchat.text.sanitize import one_line, repair, shorten
from jitchat.text.time_range import time_range
from jitchat.text.words import fold, is_unspaced, words

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
        """The parameters of `CONDITION`."""
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
        quoted, name, value = match.groups()
        if name not in names:
            return quoted or match[0]
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


CONDITION = """
    NOT c.deleted_by AND (:archived IS NULL OR c.archived = :archived)
    AND instr(lower(c.project), :project)
    AND NOT EXISTS (SELECT 1 FROM json_each(:tags) w
        WHERE w.value NOT IN (SELECT tag FROM tags WHERE conversation = c.id))
    AND (:model = '' OR EXISTS (SELECT 1 FROM turns t JOIN reply_notes n ON n.turn = t.id
        WHERE t.conversation = c.id AND instr(lower(n.model), :model)))
"""
"""A condition on the table `conversations` as c; the caller adds the condition on dates."""
_IN = f"""
    t.conversation IN (SELECT c.id FROM conversations c WHERE {CONDITION})
    AND (:conversation IS NULL OR t.conversation = :conversation)
    AND (:after IS NULL OR julianday(t.created_at) >= julianday(:after))
    AND (:before IS NULL OR COALESCE(julianday(t.created_at), 0) < julianday(:before))
"""  # noqa: S608  a constant
_BEGIN, _END = "\x02", "\x03"
"""Marks around a match in an excerpt from the database."""
_EDGE = re.compile(f"[{_BEGIN}{_END}]")
_BY_WORD = f"""
    SELECT t.conversation, t.position,
        snippet(turns_fts, 0, '{_BEGIN}', '{_END}', '…', 12)
    FROM turns_fts JOIN turns t ON t.id = turns_fts.rowid
    WHERE turns_fts MATCH :wanted AND {_IN} ORDER BY turns_fts.rank LIMIT :limit
"""  # noqa: S608  constants
_BY_PIECE = f"""
    SELECT t.conversation, t.position,
        substr(content, max(1, instr(lower(content), json_extract(:wanted, '$[0]')) - 40), 160)
    FROM turns t WHERE NOT EXISTS (
        SELECT 1 FROM json_each(:wanted) AS piece WHERE instr(lower(content), piece.value) = 0
    ) AND {_IN} AND t.conversation NOT IN (SELECT id FROM conversations WHERE temporary)
    ORDER BY t.id DESC LIMIT :limit
"""  # noqa: S608  constants
"""For scripts without spaces, in which the full-text index treats a whole run as one word."""
_MOST_PIECES, _LONGEST_PIECE = 32, 200
_EXCERPT = 160


class Found(NamedTuple):
    conversation: str
    position: int
    excerpt: str
    """The matching text, on one line."""
    marks: tuple[tuple[int, int], ...]
    """(start, end) of each match in the excerpt."""


def search_turns(
    connection: sqlite3.Connection,
    text: str,
    limit: int,
    conversation: str | None = None,
    where: Filter = EVERY,
) -> list[Found]:
    """Find turns with all words of `text`, the last one as a prefix; the best first."""
    text = repair(text).lower()
    if not words(text):
        return []
    pieces = [piece[:_LONGEST_PIECE] for piece in text.split()[:_MOST_PIECES]]
    by_piece = is_unspaced(text)
    phrases = (piece.replace('"', '""') for piece in pieces)
    wanted = json.dumps(pieces) if by_piece else " ".join(f'"{each}"' for each in phrases) + "*"
    values = where.values | {"wanted": wanted, "limit": limit, "conversation": conversation}
    rows = connection.execute(_BY_PIECE if by_piece else _BY_WORD, values)
    marked = re.compile("|".join(map(re.escape, pieces)), re.IGNORECASE)
    return [
        Found(name, place, *_cut(marked.sub(_around, excerpt) if by_piece else excerpt))
        for name, place, excerpt in rows
    ]


def _around(match: re.Match[str]) -> str:
    return f"{_BEGIN}{match[0]}{_END}"


def _cut(excerpt: str) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Return an excerpt as a safe, short line, with the positions of its matches."""
    line, places = "", [0]
    for piece in _EDGE.split(" ".join(excerpt.split())):
        line += one_line(f"|{piece}|")[1:-1]
        places.append(min(len(line), _EXCERPT))
    spans = list(pairwise(places))[1::2]
    line = line if len(line) <= _EXCERPT else f"{line[: _EXCERPT - 1]}…"
    return line, tuple((start, end) for start, end in spans if start < end)
