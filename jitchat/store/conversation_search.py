"""Parses a typed query for conversations, with filters and words; and searches their turns.

`tag:work project:cellar model:gpt after:2026-01 before:2026-03-05 is:archived deploy window`: what
is not a filter is searched for. Without `is:archived`, archived conversations are left out.
"""

import json
import re
import sqlite3
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from jitchat.text.sanitize import one_line, repair
from jitchat.text.words import fold, is_unspaced, words

SYNTAX = "tag:work project:NAME model:gpt after:2026-01 before:2026-03-05 is:archived"
"""An example of each filter."""
_FILTER = re.compile(r'(?<!\S)(tag|project|model|after|before|is):("[^"]*"|\S+)')
_DAY = re.compile(r"\d{4}(-\d\d(-\d\d)?)?")


@dataclass(frozen=True, slots=True)
class Filter:
    tags: tuple[str, ...] = ()
    project: str = ""
    """A part of the project's name."""
    model: str = ""
    """A part of the model's name."""
    after: str = ""
    """The first day included, as `2026`, `2026-03` or `2026-03-05`. Empty for any."""
    before: str = ""
    """The first day excluded, in the same notation. Empty for any."""
    is_archived: bool | None = None
    """None for both."""

    @property
    def values(self) -> dict[str, object]:
        """The parameters of `CONDITION`."""
        return {
            "tags": json.dumps(self.tags),
            "project": self.project,
            "model": self.model,
            "after": self.after,
            "before": self.before or "\U0010ffff",
            "archived": self.is_archived,
        }


EVERY = Filter()


def parse_query(text: str) -> tuple[str, Filter]:
    """Split a typed query into search words and filters; an invalid filter counts as words."""
    found: dict[str, list[str]] = {}

    def take(match: re.Match[str]) -> str:
        name, value = match[1], fold(match[2].strip('"'))
        is_day = name in ("after", "before")
        if (is_day and not _DAY.fullmatch(value)) or (name == "is" and value != "archived"):
            return match[0]
        found.setdefault(name, []).append(value)
        return " "

    rest = " ".join(_FILTER.sub(take, repair(text)).split())
    last = {name: values[-1] for name, values in found.items()}
    return rest, Filter(
        tuple(value.removeprefix("#") for value in found.get("tag", ())),
        last.get("project", ""),
        last.get("model", ""),
        last.get("after", ""),
        last.get("before", ""),
        "is" in found,
    )


CONDITION = """
    NOT c.deleted_by AND (:archived IS NULL OR c.archived = :archived)
    AND instr(lower(c.project), :project)
    AND NOT EXISTS (SELECT 1 FROM json_each(:tags) w
        WHERE w.value NOT IN (SELECT tag FROM tags WHERE conversation = c.id))
    AND (:model = '' OR EXISTS (SELECT 1 FROM turns t LEFT JOIN windows w ON w.turn = t.id
        LEFT JOIN imported_turns i ON i.turn = t.id WHERE t.conversation = c.id AND
        instr(lower(COALESCE(json_extract(w.header, '$.model'), i.model, '')), :model)))
"""
"""A condition on the table `conversations` as c; the caller adds the condition on dates."""
_IN = f"""
    t.conversation IN (SELECT c.id FROM conversations c WHERE {CONDITION})
    AND (:conversation IS NULL OR t.conversation = :conversation)
    AND substr(COALESCE(t.created_at, ''), 1, 10) >= :after
    AND substr(COALESCE(t.created_at, ''), 1, 10) < :before
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
"""For scripts without spaces, in which the full-text index takes a whole run for one word."""
_MOST_PIECES, _LONGEST_PIECE = 32, 200
_EXCERPT = 160


class Found(NamedTuple):
    conversation: str
    position: int
    excerpt: str
    """On one line."""
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
