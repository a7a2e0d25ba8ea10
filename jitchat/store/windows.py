"""Windows that were sent, by digest; the sends themselves, what each was made of, and its price.

Content-addressed: a segment that is a stored turn as it stands names the turn; any other text
is a blob under its SHA-256; and segments are listed in blobs of 64, so that a long chat in
`full` does not store itself squared: from send to send only the last list is new.

A list of thousands is read at once; the window of one of them is read by its id.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from jitchat.store.store import require
from jitchat.values import Mode, Turn, Usage

if TYPE_CHECKING:
    import sqlite3

    from jitchat.store.database import Database


_PER_LIST = 64
_LARGEST = 2**63 - 1
"""SQLite's largest number; a provider may report what it likes."""

Fields = Mapping[str, Any]
"""A segment or a ledger row as JSON knows it; a segment has `kind`, `tokens` and `text`."""

_COLUMNS = "digest, header, segments, ledger, sent_at"


@dataclass(frozen=True, slots=True)
class WindowRecord:
    """A window as plain data."""

    digest: str
    header: Fields
    segments: Sequence[Fields]
    ledger: Sequence[Fields]
    sent_at: datetime | None = None
    """Aware; None where that was not kept."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How the exchange of a window ended."""

    reply_id: int | None = None
    """None where nothing of a reply came."""
    usage: Usage | None = None
    stop: str | None = None
    """Why the model stopped, in the provider's word; None where it did not say."""
    cost: float | None = None
    """In US dollars; None where no price is known."""
    provider: str | None = None


class WindowArchive:
    """Windows in and out of the cold store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, turn_id: int, record: WindowRecord) -> int:
        """Store the window that answers the user's turn `turn_id`; the record's own id."""
        with self._database.write() as connection:
            lists = [
                _put_blob(connection, json.dumps(_packed(connection, part)))
                for part in _parts(record.segments)
            ]
            ledger = _put_blob(connection, json.dumps(list(record.ledger)))
            row = (
                *(turn_id, record.digest, json.dumps(record.header), json.dumps(lists), ledger),
                *(json.dumps(_sizes(record)), record.sent_at and record.sent_at.isoformat()),
            )
            cursor = connection.execute(
                "INSERT INTO windows (turn, digest, header, segments, ledger, sizes, sent_at)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                row,
            )
        return cursor.lastrowid or 0

    def close(self, window_id: int, ending: Ending) -> None:
        """Add the reply and what the provider reported."""
        with self._database.write() as connection:
            connection.execute(
                "UPDATE windows SET reply = ?, input_tokens = ?, output_tokens = ?,"
                " cached_tokens = ?, written_tokens = ?, reasoning_tokens = ?, stop = ?,"
                " cost = ?, provider = ?, charged = ? WHERE id = ?",
                (
                    *(ending.reply_id, *_counts(ending.usage)),
                    *(ending.stop, ending.cost, ending.provider),
                    *(ending.usage and ending.usage.cost, window_id),
                ),
            )

    def get(self, turn_id: int) -> WindowRecord | None:
        """Read the last window that was sent for a user's turn, if one was."""
        return self._read("turn = ? ORDER BY id DESC LIMIT 1", turn_id)

    def by_id(self, window_id: int) -> WindowRecord:
        """Read one window by the id that `put` gave it.

        Raises:
            LookupError: There is none.

        """
        record = self._read("id = ?", window_id)
        if record is None:
            raise LookupError(window_id)
        return record

    def _read(self, which: str, identity: int) -> WindowRecord | None:
        with self._database.read() as connection:
            row = connection.execute(
                f"SELECT {_COLUMNS} FROM windows WHERE {which}",  # noqa: S608  constants
                (identity,),
            ).fetchone()
            return _record(connection, row) if row else None

    def ending(self, window_id: int) -> Ending | None:
        """Read how the exchange of a window ended, by the id that `put` gave it.

        None where there is no such window; an `Ending` of nothing where it is not over.
        """
        with self._database.read() as connection:
            row = connection.execute(
                "SELECT reply, stop, cost, provider, input_tokens, output_tokens,"
                " COALESCE(cached_tokens, 0), COALESCE(written_tokens, 0),"
                " COALESCE(reasoning_tokens, 0), charged"
                " FROM windows WHERE id = ?",
                (window_id,),
            ).fetchone()
        if row is None:
            return None
        reply_id, stop, cost, provider, *counts = row
        is_reported = counts[0] is not None or counts[1] is not None
        return Ending(reply_id, Usage(*counts) if is_reported else None, stop, cost, provider)


def _record(connection: sqlite3.Connection, row: Sequence[Any]) -> WindowRecord:
    digest, header, lists, ledger, sent_at = row
    segments = [
        segment
        for address in json.loads(lists)
        for segment in _unpacked(connection, json.loads(_blob(connection, address)))
    ]
    rows = json.loads(_blob(connection, ledger))
    moment = datetime.fromisoformat(sent_at) if sent_at else None
    return WindowRecord(digest, json.loads(header), segments, rows, moment)


def _sizes(record: WindowRecord) -> dict[str, int]:
    """Sum up the tokens of each kind, in the order of the window."""
    found: Counter[str] = Counter()
    for segment in record.segments:
        found[segment["kind"]] += segment["tokens"]
    return found


def _counts(usage: Usage | None) -> list[int | None]:
    """Bound the counts by what SQLite holds; None for what was not reported."""
    if usage is None:
        return [None] * 5
    reported = (
        *(usage.input_tokens, usage.output_tokens),
        *(usage.cached_tokens, usage.written_tokens, usage.reasoning_tokens),
    )
    return [None if count is None else max(0, min(count, _LARGEST)) for count in reported]


def _parts(segments: Sequence[Fields]) -> Iterator[Sequence[Fields]]:
    for start in range(0, len(segments), _PER_LIST):
        yield segments[start : start + _PER_LIST]


def _packed(connection: sqlite3.Connection, part: Sequence[Fields]) -> list[dict[str, Any]]:
    """The segments of a list, each with an address in place of its text."""
    stored = _contents(connection, [each["turn_id"] for each in part if each.get("turn_id")])
    packed = []
    for segment in part:
        kept = dict(segment)
        text, identity = kept.pop("text"), kept.pop("turn_id", None)
        if identity and stored.get(identity) == text:
            kept["same_as"] = identity
        else:
            kept["blob"] = _put_blob(connection, text)
        packed.append(kept)
    return packed


def _unpacked(
    connection: sqlite3.Connection, packed: list[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Give the segments of a list their texts.

    Raises:
        LookupError: What one of them refers to is not there.

    """
    stored = _contents(connection, [each["same_as"] for each in packed if "same_as" in each])
    for each in packed:
        identity = each.pop("same_as", None)
        text = _blob(connection, each.pop("blob")) if identity is None else stored[identity]
        yield each | {"text": text}


def _contents(connection: sqlite3.Connection, turns: Sequence[int]) -> dict[int, str]:
    places = ",".join("?" * len(turns))
    return dict(
        connection.execute(
            f"SELECT id, content FROM turns WHERE id IN ({places})",  # noqa: S608  question marks
            turns,
        ).fetchall()
    )


def _put_blob(connection: sqlite3.Connection, content: str) -> str:
    address = hashlib.sha256(content.encode()).hexdigest()
    connection.execute("INSERT OR IGNORE INTO blobs VALUES (?, ?)", (address, content))
    return address


def _blob(connection: sqlite3.Connection, address: str) -> str:
    row = connection.execute("SELECT content FROM blobs WHERE digest = ?", (address,)).fetchone()
    content: str = row[0]
    return content


class PostedRequests:
    """What was posted for the windows of a cold store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def keep(self, window_id: int, request: Fields) -> None:
        """Store what left last for a window, by the archive's id for it."""
        with self._database.write() as connection:
            connection.execute(
                "UPDATE windows SET request = ? WHERE id = ?", (json.dumps(request), window_id)
            )

    def of(self, window_id: int) -> Fields | None:
        """Read what left for a window; None where that was not kept."""
        with self._database.read() as connection:
            row = connection.execute(
                "SELECT request FROM windows WHERE id = ?", (window_id,)
            ).fetchone()
            found: Fields | None = json.loads(row[0]) if row and row[0] else None
        return found


_SENDS = """
    SELECT w.id, t.position, r.position, w.sent_at, w.provider, w.cost, w.stop, w.digest,
           '[' || w.header || ',' || COALESCE(w.sizes, 'null') || ','
           || COALESCE(w.request, 'null') || ']',
           w.input_tokens, w.output_tokens, COALESCE(w.cached_tokens, 0),
           COALESCE(w.written_tokens, 0), COALESCE(w.reasoning_tokens, 0), w.charged
    FROM windows w CROSS JOIN turns t ON t.id = w.turn LEFT JOIN turns r ON r.id = w.reply
    WHERE t.conversation = ? ORDER BY w.id
"""
"""Windows first (that is what CROSS does): they lie in this order, and turns are far more."""
_SIZES = """
    SELECT json_extract(s.value, '$.kind'), SUM(json_extract(s.value, '$.tokens'))
    FROM windows w, json_each(w.segments) l JOIN blobs b ON b.digest = l.value,
         json_each(b.content) s
    WHERE w.id = ? GROUP BY 1
"""

_LIKE = """
    SELECT id FROM windows WHERE turn = ? AND digest = ?
    ORDER BY (json_extract(header, '$.mode') = ?) + (json_extract(header, '$.model') = ?) DESC,
             id DESC
    LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class Send:
    """One request that left, as it was kept."""

    window_id: int
    """The archive's key."""
    said: int
    """The position of the user's turn that it answers."""
    reply: int | None
    """The position of what came; None where nothing did."""
    sent_at: datetime | None
    """Aware; None where that was not kept."""
    mode: Mode
    model: str
    provider: str
    """As the settings call it; empty where that was not kept."""
    budget: Mapping[str, Any]
    """The fields of its `Budget`."""
    sizes: Mapping[str, int]
    """Tokens by kind of segment; a kind that is not there has none."""
    full_tokens: int
    """What `full` would have sent for the same draft."""
    band: int
    """Half the width of what holds about 95 % of reports, in tokens; 0 where nothing is known."""
    exact: bool
    """Whether the model's own tokenizer counted."""
    usage: Usage | None
    """As the provider reported it, if it did."""
    cost: float | None
    """In US dollars; None where no price was known."""
    stop: str | None
    """The provider's word for why the reply ended; None where it did not say."""
    digest: str
    """SHA-256 of the messages that left, in hexadecimal."""
    request: Mapping[str, Any] | None
    """Where it went and with which options; None where that was not kept."""
    picked: bool = False
    """Whether a small model was asked which turns to recall; that is in none of its figures."""

    @property
    def used(self) -> int:
        """Tokens of all segments."""
        return sum(self.sizes.values())

    @property
    def limit(self) -> int:
        """The model's context size, in tokens."""
        return int(self.budget["limit"])

    @property
    def reserve(self) -> int:
        """Tokens that were kept free for the reply."""
        return int(self.budget["reserve"])

    @property
    def free(self) -> int:
        """What was left of the budget, in tokens."""
        return self.limit - self.reserve - self.used


class Sends:
    """The sends of every conversation."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, conversation: str) -> list[Send]:
        """List the sends of a conversation, by its id, in order; those of all its branches.

        Raises:
            StoreUnreadable: A row is damaged.

        """
        with self._database.read() as connection:
            rows = connection.execute(_SENDS, (conversation,)).fetchall()
            return [_send(connection, row) for row in rows]

    def window_id(self, said: Turn, reply: Turn | None = None) -> int | None:
        """Find the window that brought a reply; without one, the last that was sent for `said`.

        By the archive's key; None where none was sent.
        """
        with self._database.read() as connection:
            row = connection.execute(
                "SELECT MAX(id) FROM windows WHERE turn = ?1 AND (?2 IS NULL OR reply = ?2)",
                (said.id, reply.id if reply is not None else None),
            ).fetchone()
        return None if row[0] is None else int(row[0])

    def like(self, said: Turn, mode: Mode, model: str, digest: str) -> int | None:
        """Find the last window for `said` with the messages of that hash, by the archive's key.

        Where several have them, one of that mode and model; None where none has.
        """
        with self._database.read() as connection:
            row = connection.execute(_LIKE, (said.id, digest, mode.value, model)).fetchone()
        return None if row is None else int(row[0])


def _send(connection: sqlite3.Connection, row: Sequence[Any]) -> Send:
    identity, said, reply, sent_at, provider, cost, stop, digest, described, *counts = row
    header, sizes, request = json.loads(described)
    budget, full, band = header["budget"], header["full_tokens"], header.get("band", 0)
    picking = header.get("picking")
    kinds = dict(_segment_sizes(connection, identity) if sizes is None else sizes)
    require(int, full, band, budget["limit"], budget["reserve"], *kinds.values())
    return Send(
        window_id=identity,
        said=said,
        reply=reply,
        sent_at=datetime.fromisoformat(sent_at) if sent_at else None,
        mode=Mode(header["mode"]),
        model=header["model"],
        provider=provider or "",
        budget=budget,
        sizes=kinds,
        full_tokens=full,
        band=band,
        exact=header["exact"],
        usage=None if counts[:2] == [None, None] else Usage(*counts),
        cost=cost,
        stop=stop,
        digest=digest,
        request=request,
        picked=bool(picking and picking["input_tokens"]),
    )


def _segment_sizes(connection: sqlite3.Connection, window_id: int) -> dict[str, int]:
    """Sum up a window of before its sizes were kept beside it."""
    return dict(connection.execute(_SIZES, (window_id,)).fetchall())


_COSTS = """
    SELECT t.conversation, TOTAL(w.cost), SUM(
        w.cost IS NULL
        AND COALESCE(w.reply, w.input_tokens, w.output_tokens) IS NOT NULL
        AND COALESCE(w.provider, json_extract(w.header, '$.model')) IS NOT 'reader'), COUNT(*)
    FROM turns t JOIN windows w ON w.turn = t.id
    {} GROUP BY t.conversation
"""
"""A request that brought neither an answer nor a report was refused, or never arrived. Of the
reader's earliest replies no cost was kept; there is none."""
_OF_ONE, _OF_ALL = _COSTS.format("WHERE t.conversation = ?"), _COSTS.format("")


@dataclass(frozen=True, slots=True)
class Spent:
    """What was spent, as far as it is known."""

    amount: float = 0.0
    """In US dollars: the sum of what is known."""
    unknown: int = 0
    """Replies of which nobody knows what they cost."""
    sends: int = field(default=0, compare=False)
    """Windows that were sent."""


class Costs:
    """The costs of every conversation."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, conversation: str) -> Spent:
        """Sum up one conversation, by its id."""
        return self._read(_OF_ONE, conversation).get(conversation, Spent())

    def all(self) -> dict[str, Spent]:
        """Sum up each conversation from which anything was sent, by its id."""
        return self._read(_OF_ALL)

    def _read(self, query: str, *conversation: str) -> dict[str, Spent]:
        with self._database.read() as connection:
            rows = connection.execute(query, conversation)
            return {name: Spent(*spent) for name, *spent in rows}
