"""Search turns and conversations: by the search index, with an excerpt from the stored text.

Each phrase of a query has to be in a document; in quotes, with the very words. The index has the
positions of all tokens (FTS5's `detail=full`), so it finds phrases by itself; as its words are
stems, texts are searched for a phrase in quotes before they count as matches.
"""

import json
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice, pairwise
from typing import NamedTuple

from jitchat.store import search_index
from jitchat.store.conversation_search import CONDITION, EVERY, Filter
from jitchat.store.search_index import Part
from jitchat.text.sanitize import one_line, repair
from jitchat.text.search_tokens import Phrase, fold, fold_in_place, locate, phrases_of
from jitchat.text.words import is_unspaced

MOST_RANKED = 20_000
"""The most matches that are ranked; of more, the newest are first. Of a million turns of 40 words,
finding out takes 8 ms and ranking 12 ms."""
_HITS = f"""
    SELECT j.value, c.id, COALESCE(t.position, 0)
    FROM json_each(:documents) j LEFT JOIN turns t ON t.id = j.value
    LEFT JOIN search_conversations s ON s.number = -j.value
    JOIN conversations c ON c.id = COALESCE(t.conversation, s.conversation)
    WHERE {CONDITION}
        AND (:after IS NULL
            OR julianday(COALESCE(t.created_at, c.updated_at)) >= julianday(:after))
        AND (:before IS NULL
            OR julianday(COALESCE(t.created_at, c.updated_at)) < julianday(:before))
    ORDER BY j.key
"""  # noqa: S608  a constant
_SOME = f"""
    AND +search_tokens.rowid IN (
        SELECT t.id FROM turns t WHERE t.conversation IN (
            SELECT c.id FROM conversations c
            WHERE {CONDITION} AND (:conversation IS NULL OR c.id = :conversation)
        ) UNION ALL
        SELECT -s.number FROM search_conversations s JOIN conversations c ON c.id = s.conversation
        WHERE {CONDITION} AND :conversation IS NULL
    )
"""  # noqa: S608  a constant
_MATCHING = "SELECT rowid FROM search_tokens WHERE search_tokens MATCH :wanted"
_EARLIER = """
    SELECT t.id FROM turns_fts JOIN turns t ON t.id = turns_fts.rowid
    WHERE turns_fts MATCH :wanted AND t.id NOT IN (SELECT id FROM search_tokens_docsize)
        AND (:conversation IS NULL OR t.conversation = :conversation) ORDER BY turns_fts.rank
"""
_EARLIER_UNSPACED = """
    SELECT t.id FROM turns t WHERE t.id NOT IN (SELECT id FROM search_tokens_docsize)
        AND (:conversation IS NULL OR t.conversation = :conversation)
        AND t.conversation NOT IN (SELECT id FROM conversations WHERE temporary)
        AND NOT EXISTS (
            SELECT 1 FROM json_each(:wanted) w WHERE instr(lower(t.content), w.value) = 0
        ) ORDER BY t.id DESC
"""
"""That index takes a run of a script without blanks for one word."""
_AT_ONCE = 64
_BEFORE, _EXCERPT, _AROUND = 40, 160, 256
"""Characters: before the first match, of an excerpt, and around the match that are read for it."""
_BLANKS = re.compile(r"\s+")

Span = tuple[int, int]


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
    values = {**where.values, "conversation": conversation}
    documents, is_ranked = _documents(connection, phrases, values, _SOME if is_narrow else "")
    if not is_ranked:
        matches.notice = f"More than {MOST_RANKED:,} matches: the newest come first."
    if backlog := search_index.count_backlog(connection):
        matches.notice = f"The search index is being built, with {backlog:,} turns still to come."
        if search_index.has_earlier_index(connection):
            documents = chain(documents, _earlier_documents(connection, text, values))
    while len(matches) < limit and (ids := list(islice(documents, _AT_ONCE))):
        matches += _read_matches(connection, phrases, {**values, "documents": json.dumps(ids)})
    del matches[limit:]
    return matches


def _documents(
    connection: sqlite3.Connection,
    phrases: Sequence[Phrase],
    values: Mapping[str, object],
    scope: str,
) -> tuple[Iterator[int], bool]:
    """Return the matching documents in order, and whether they are ranked."""
    matching = f"{_MATCHING} {scope}"
    values = {**values, "wanted": " AND ".join(phrase.expression for phrase in phrases)}
    counting = f"SELECT COUNT(*) FROM ({matching} LIMIT {MOST_RANKED + 1})"  # noqa: S608  constants
    is_ranked = connection.execute(counting, values).fetchone()[0] <= MOST_RANKED
    order = "search_tokens.rank" if is_ranked else "rowid DESC"
    rows = connection.execute(f"{matching} ORDER BY {order}", values)
    return (row[0] for row in rows), is_ranked


def _earlier_documents(
    connection: sqlite3.Connection, text: str, values: Mapping[str, object]
) -> Iterator[int]:
    """Find turns that are not indexed yet by the index of earlier versions, which has texts."""
    pieces = repair(text).lower().replace('"', " ").split()
    query = _EARLIER_UNSPACED if is_unspaced(text) else _EARLIER
    words = " ".join(f'"{piece}"' for piece in pieces)
    wanted = json.dumps(pieces) if query is _EARLIER_UNSPACED else f"{words} *"
    return (row[0] for row in connection.execute(query, {**values, "wanted": wanted}))


def _read_matches(
    connection: sqlite3.Connection, phrases: Sequence[Phrase], values: Mapping[str, object]
) -> Iterator[Found]:
    """Read the documents that pass the filters, and have the phrases in quotes."""
    rows = connection.execute(_HITS, values).fetchall()
    parts = search_index.parts_of(connection, [document for document, _, _ in rows])
    for document, conversation, position in rows:
        folded = [(part, fold(part.text)) for part in parts[document]]
        if all(
            not phrase.is_verified or any(_first(phrase, text) is not None for _, text in folded)
            for phrase in phrases
        ):
            yield Found(conversation, position, *_excerpt(folded, phrases))


def _first(phrase: Phrase, folded: str) -> int | None:
    return next((start for start, _ in phrase.find_in(folded)), None)


def _excerpt(
    folded: Sequence[tuple[Part, str]], phrases: Sequence[Phrase]
) -> tuple[str, tuple[Span, ...], str]:
    """Cut an excerpt from the part with the most phrases; return it, its marks and the label."""
    part, starts = folded[0][0], list[int]()
    for other, text in folded:
        firsts = (_first(phrase, text) for phrase in phrases)
        others = [start for start in firsts if start is not None]
        if len(others) > len(starts):
            part, starts = other, others
    at = locate(part.text, min(starts, default=0))
    begin = max(0, at - _AROUND)
    window = part.text[begin : at + 2 * _AROUND]
    marks = _marks(window, phrases)
    cut = max(0, marks[0][0] - _BEFORE) if marks else 0
    cut = len(window) - len(window[cut:].lstrip())
    line, spans = _on_one_line(window[cut:], [(start - cut, end - cut) for start, end in marks])
    if begin + cut:
        line, spans = f"…{line}", [(start + 1, end + 1) for start, end in spans]
    if len(line) > _EXCERPT:
        line = f"{line[: _EXCERPT - 1]}…"
    shown = ((start, min(end, len(line))) for start, end in spans)
    return line, tuple(span for span in shown if span[0] < span[1]), part.label


def _marks(text: str, phrases: Sequence[Phrase]) -> list[Span]:
    """Find all phrases in a short text, in order; matches that overlap are one."""
    folded, origins = fold_in_place(text)
    spans = sorted(span for phrase in phrases for span in phrase.find_in(folded))
    marks: list[Span] = []
    for first, last in spans:
        start, end = origins[first][0], origins[last - 1][1]
        if marks and start <= marks[-1][1]:
            marks[-1] = marks[-1][0], max(end, marks[-1][1])
        else:
            marks.append((start, end))
    return marks


def _on_one_line(text: str, marks: Sequence[Span]) -> tuple[str, list[Span]]:
    """Return a text on one safe line, with its marks moved accordingly."""
    edges = [0, *chain.from_iterable(marks), len(text)]
    line, ends = "", [0]
    for start, end in pairwise(edges):
        line += one_line(f"|{_BLANKS.sub(' ', text[start:end])}|")[1:-1]
        ends.append(len(line))
    return line, list(zip(ends[1::2], ends[2::2], strict=False))
