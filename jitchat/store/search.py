"""Search turns and conversations: by the search index, with an excerpt from the stored text.

Each phrase of a query has to be in a document; in quotes, with the very words. The index has the
positions of all tokens (FTS5's `detail=full`), so it finds phrases by itself; as its words are
stems, texts are searched for a phrase in quotes before they count as matches.

A typed query has filters: `tag:work project:cellar model:gpt after:2026-01 before:yesterday
is:archived deploy window`. What is not a filter is searched for. Without `is:archived`, archived
conversations are left out.
"""

import json
import re
import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from itertools import chain, islice, pairwise
from typing import NamedTuple

from jitchat.errors import UsageError
from jitchat.store.search_index import Part, count_backlog, has_table, parts_of, statement
from jitchat.text.figures import local, plural
from jitchat.text.sanitize import one_line, repair, shorten
from jitchat.text.search_tokens import Phrase, fold, fold_in_place, phrases_of
from jitchat.text.time_range import time_range
from jitchat.text.words import fold as fold_word
from jitchat.text.words import is_unspaced

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
        found.setdefault(name, []).append(fold_word(value.strip('"')))
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


MOST_RANKED = 20_000
"""The most matches that are ranked; of more, the newest are first. Of a million turns of 40 words,
finding out takes 8 ms and ranking 12 ms."""
_AT_ONCE = 64
_BEFORE, _EXCERPT, _WINDOW = 40, 160, 512
"""Characters: before the first match, of an excerpt, and of a text that are looked at together."""
_MOST_WINDOWS = 2_000
_BLANKS = re.compile(r"\s+")

Span = tuple[int, int]
Values = Mapping[str, object]


class Found(NamedTuple):
    conversation: str
    position: int
    """0 for what a conversation has beside its turns."""
    excerpt: str
    """The matching text, on one line."""
    marks: tuple[Span, ...]
    """(start, end) of each match in the excerpt."""
    part: str = ""
    """What the excerpt is from: a file's name, `reasoning`, `title`; empty for a turn's text."""


class Matches(list[Found]):
    """The matches of a search, the best first."""

    notice = ""
    """What the user should know about their order, or about what is missing; a sentence."""


def search_turns(
    connection: sqlite3.Connection,
    text: str,
    limit: int,
    conversation: str | None = None,
    where: Filter = EVERY,
) -> Matches:
    """Find the turns and conversations with all phrases of `text`; within one, only turns."""
    matches = Matches()
    phrases = phrases_of(repair(text))
    if not phrases:
        return matches
    is_narrow = conversation is not None or where not in (EVERY, Filter(is_archived=False))
    matching = statement("matching") + (statement("within") if is_narrow else "")
    values = {**where.values, "conversation": conversation}
    for is_open in (False, True):  # of a frequent word, longer ones are not looked for
        values["wanted"] = " AND ".join(phrase.expression(is_open=is_open) for phrase in phrases)
        newest = connection.execute(f"{matching} ORDER BY rowid DESC", values)
        first = newest.fetchmany(MOST_RANKED + 1)
        rows: Iterator[Sequence[int]] = chain(first, newest)
        if len(first) > MOST_RANKED:
            matches.notice = f"More than {MOST_RANKED:,} matches: the newest come first."
            break
    else:
        rows = connection.execute(f"{matching} ORDER BY rank", values)
    if backlog := count_backlog(connection):
        waiting = plural(backlog, "turn")
        built = f"The search index is being built, with {waiting} still to come."
        matches.notice = f"{matches.notice} {built}".strip()
        rows = chain(rows, _earlier_rows(connection, text, values))
    while len(matches) < limit and (ids := [row[0] for row in islice(rows, _AT_ONCE)]):
        read = _read_matches(connection, phrases, {**values, "documents": json.dumps(ids)})
        matches += islice(read, limit - len(matches))
    return matches


def _earlier_rows(
    connection: sqlite3.Connection, text: str, values: Values
) -> Iterator[Sequence[int]]:
    """Find turns that are not indexed yet, by the index of earlier versions if it is of use."""
    pieces = repair(text).lower().replace('"', " ").split()
    if is_unspaced(text) or not has_table(connection, "turns_fts"):
        wanted = {**values, "wanted": json.dumps(pieces)}
        return connection.execute(statement("not_indexed"), wanted)
    words = " ".join(f'"{piece}"' for piece in pieces)
    return connection.execute(statement("earlier"), {**values, "wanted": f"{words} *"})


def _read_matches(
    connection: sqlite3.Connection, phrases: Sequence[Phrase], values: Values
) -> Iterator[Found]:
    """Read the documents that pass the filters, and have the phrases in quotes."""
    exact = [phrase for phrase in phrases if phrase.is_verified]
    rows = connection.execute(statement("hits"), values).fetchall()
    parts = parts_of(connection, [document for document, _, _ in rows])
    for document, conversation, position in rows:
        texts = [fold(part.text) for part in parts[document] if exact]
        if all(any(phrase.is_in(text) for text in texts) for phrase in exact):
            yield Found(conversation, position, *_excerpt(parts[document], phrases))


def _excerpt(parts: Sequence[Part], phrases: Sequence[Phrase]) -> tuple[str, tuple[Span, ...], str]:
    """Cut an excerpt where most phrases are; return it, its marks and the label of its part."""
    best, most = (parts[0], 0), 0
    for part, start in islice(_windows(parts), _MOST_WINDOWS):
        folded = fold(part.text[start : start + _WINDOW])
        count = sum(phrase.is_in(folded) for phrase in phrases)
        if count > most:
            best, most = (part, start), count
        if most == len(phrases):
            break
    part, start = best
    window = part.text[start : start + _WINDOW]
    marks = _marks(window, phrases)
    cut = max(0, marks[0][0] - _BEFORE) if marks else 0
    cut = len(window) - len(window[cut:].lstrip())
    line, spans = _on_one_line(window[cut:], [(first - cut, last - cut) for first, last in marks])
    if start + cut:
        line, spans = f"…{line}", [(first + 1, last + 1) for first, last in spans]
    if len(line) > _EXCERPT:
        line = f"{line[: _EXCERPT - 1]}…"
    shown = ((first, min(last, len(line))) for first, last in spans)
    return line, tuple(span for span in shown if span[0] < span[1]), part.label


def _windows(parts: Sequence[Part]) -> Iterator[tuple[Part, int]]:
    """Yield the starts of windows that overlap by a half."""
    for part in parts:
        last = max(1, len(part.text) - _WINDOW // 2)
        yield from ((part, start) for start in range(0, last, _WINDOW // 2))


def _marks(text: str, phrases: Sequence[Phrase]) -> list[Span]:
    """Find all phrases in a short text, in order; matches that overlap are one."""
    folded, origins = fold_in_place(text)
    marks: list[Span] = []
    for first, last in sorted(span for phrase in phrases for span in phrase.find_in(folded)):
        start, end = origins[first][0], origins[last - 1][1]
        if marks and start <= marks[-1][1]:
            start, end = marks[-1][0], max(end, marks.pop()[1])
        marks.append((start, end))
    return marks


def _on_one_line(text: str, marks: Sequence[Span]) -> tuple[str, list[Span]]:
    """Return a text on one safe line, with its marks moved accordingly."""
    line, ends = "", [0]
    for start, end in pairwise([0, *chain.from_iterable(marks), len(text)]):
        # between bars, since `one_line` strips: blanks at the ends of a piece are in the line
        line += one_line(f"|{_BLANKS.sub(' ', text[start:end])}|")[1:-1]
        ends.append(len(line))
    return line, list(zip(ends[1::2], ends[2::2], strict=False))
