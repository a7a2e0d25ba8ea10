"""Windows that were sent: the segments, digest, reply and cost of each.

A segment is stored once, whatever windows carry it; a text that is all of a turn refers to it.
Earlier versions stored texts as blobs under their SHA-256, and listed segments in blobs of 64.

A list of thousands of sends is read without the texts; a single window is read by its id.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from jitchat.store.database import Database
from jitchat.store.packed import pack_columns, unpack_columns
from jitchat.store.pieces import LAST_WINDOW, contents_of, put_segments, read_segments
from jitchat.store.reply_notes import PUT_NOTE, ReplyNote, note_row
from jitchat.store.requests import USAGE, Asked, Purpose, RequestLog, Taken, usage_of
from jitchat.store.store import require
from jitchat.text.figures import moment_of
from jitchat.values import Mode, Turn, Usage

_ALL = -1
"""As a limit in SQL."""

Fields = Mapping[str, Any]
"""A segment or ledger row as a JSON object; a segment has `kind`, `tokens` and `text`."""


@dataclass(frozen=True, slots=True)
class WindowRecord:
    digest: str
    header: Fields
    segments: Sequence[Fields]
    ledger: Sequence[Fields]
    sent_at: datetime | None = None
    """Timezone-aware; None if it was not recorded."""
    forecast: float | None = None
    """What its request is expected to cost, in US dollars; reserved, and not part of the window."""


@dataclass(frozen=True, slots=True)
class Ending:
    reply_id: int | None = None
    """None if no part of a reply was received."""
    usage: Usage | None = None
    stop: str | None = None
    """The provider's stop reason; None if it gave none."""
    cost: float | None = None
    """In US dollars; None if no price is known."""
    provider: str | None = None
    counted: Usage | None = None
    """jitchat's own counts, for tokens that the provider did not report."""


@dataclass(frozen=True, slots=True)
class Send:
    window_id: int
    """The archive's key."""
    said: int
    """The position of the user's turn that it answers."""
    reply: int | None
    """The position of the reply; None if none was received."""
    sent_at: datetime | None
    """Timezone-aware; None if it was not recorded."""
    mode: Mode
    model: str
    provider: str
    """The provider's name in the settings; empty if it was not recorded."""
    budget: Mapping[str, Any]
    """The limit, the reserve and how the limit is known."""
    sizes: Mapping[str, int]
    """Tokens by kind of segment, without kinds that the window does not have."""
    full_tokens: int
    """Tokens that `full` would have sent for the same draft."""
    band: int
    """Half the width of the interval with about 95 % of reports, in tokens; 0 if unknown."""
    exact: bool
    """Whether the tokens were counted by the model's own tokenizer."""
    usage: Usage | None
    """As reported by the provider; None if it was not."""
    cost: float | None
    """In US dollars; None if no price was known."""
    stop: str | None
    """The provider's stop reason; None if it gave none."""
    digest: str
    """SHA-256 of the messages that were sent, in hexadecimal."""
    request: Mapping[str, Any] | None
    """The endpoint and options of the request; None if they were not recorded."""
    picked: bool = False
    """Whether a small model chose the turns to recall; its cost is in none of these figures."""

    @property
    def used(self) -> int:
        return sum(self.sizes.values())

    @property
    def limit(self) -> int:
        return int(self.budget["limit"])

    @property
    def reserve(self) -> int:
        return int(self.budget["reserve"])

    @property
    def free(self) -> int:
        return self.limit - self.reserve - self.used


_LISTED = ("mode", "model", "budget", "full_tokens", "band", "exact", "picking", "requests")
"""The fields of a header that queries and lists read, if they say something; others are packed."""
_LISTED_BUDGET = ("limit", "reserve", "limit_source")
_SENT_AT = "COALESCE(w.sent_at, q.sent_at)"
"""A window whose request is known has the moment of that."""
_REQUEST = "LEFT JOIN requests q ON q.window = w.id"
_ENDING = f"""
    SELECT w.reply, w.stop, q.cost, q.provider, q.counted_input, q.counted_output, {USAGE}
    FROM windows w {_REQUEST} WHERE w.id = ?
"""  # noqa: S608  constants
_BY_ID = f"""
    SELECT w.digest, w.header, w.segments, w.packed, {_SENT_AT}
    FROM windows w {_REQUEST} WHERE w.id = ?
"""  # noqa: S608  constants
_MODEL = "SELECT COALESCE(json_extract(header, '$.model'), '') FROM windows WHERE id = ?"
_BY_DIGEST = """
    SELECT id FROM windows WHERE turn = ? AND digest = ?
    ORDER BY (json_extract(header, '$.mode') = ?) + (json_extract(header, '$.model') = ?) DESC,
             id DESC
    LIMIT 1
"""
_SENDS = f"""
    SELECT w.id, t.position, r.position, {_SENT_AT}, q.provider, q.cost, w.stop, w.digest,
           '[' || w.header || ',' || w.sizes || ','
           || COALESCE(w.request, 'null') || ']', {USAGE}
    FROM windows w CROSS JOIN turns t ON t.id = w.turn LEFT JOIN turns r ON r.id = w.reply
    {_REQUEST}
    WHERE t.conversation = ? ORDER BY w.id DESC LIMIT ?
"""  # noqa: S608  a constant
"""CROSS makes SQLite read the windows first: they are in this order, and far fewer than turns."""
_REPLIES_BY_MODE = """
    SELECT json_extract(w.header, '$.mode'), r.position
    FROM windows w JOIN turns r ON r.id = w.reply
    WHERE w.turn = ? AND r.position > ? ORDER BY w.id
"""


class WindowArchive:
    """The table `windows`: what was sent and how it ended; usage and cost are in `requests`.

    Every method that reads raises StoreUnreadable if a row is damaged.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._requests = RequestLog(database)

    def put(self, turn_id: int, record: WindowRecord, least: Ending | None = None) -> int:
        """Store a window that is sent for the user's turn `turn_id`; return the window's id.

        `least` has the provider, and the usage to record if the request's end is never known.
        """
        with self._database.write() as connection:
            query = "SELECT conversation FROM turns WHERE id = ?"
            conversation = connection.execute(query, (turn_id,)).fetchone()[0]
            listed = put_segments(connection, conversation, record.segments)
            window_id = _put(connection, turn_id, record, *listed)
            least = least or Ending()
            who = least.provider or "", str(record.header.get("model", "")), conversation
            asked = Asked(Purpose.ANSWER, *who, record.sent_at, record.forecast)
            self._requests.begin(asked, _taken(least), window_id)
        return window_id

    def keep_request(self, window_id: int, request: Fields) -> None:
        statement = "UPDATE windows SET request = ? WHERE id = ?"
        self._database.execute(statement, (json.dumps(request), window_id))

    def close(self, window_id: int, ending: Ending) -> None:
        """Record how a window's exchange ended, also with its reply."""
        with self._database.write() as connection:
            connection.execute(
                "UPDATE windows SET reply = ?, stop = ? WHERE id = ?",
                (ending.reply_id, ending.stop, window_id),
            )
            self._requests.end(self._requests.id_of(window_id), _taken(ending))
            if ending.reply_id is not None:
                model = connection.execute(_MODEL, (window_id,)).fetchone()[0]
                figures = ending.stop, ending.usage, ending.cost
                note = ReplyNote(model, ending.provider or "", *figures)
                connection.execute(PUT_NOTE, note_row(ending.reply_id, note))

    def by_id(self, window_id: int) -> WindowRecord:
        """Read one window by the id that `put` returned.

        Raises:
            LookupError: There is no window with this id.

        """
        row = self._database.fetch_one(_BY_ID, (window_id,))
        if row is None:
            raise LookupError(window_id)
        digest, header, lists, packed, sent_at = row
        with self._database.read() as connection:
            segments = [
                segment
                for address in json.loads(lists)
                for segment in _unpacked(connection, json.loads(_blob(connection, address)))
            ]
            _, listed, others, rows = unpack_columns(packed)
            require(list, rows)
            if listed is not None:
                segments = read_segments(connection, window_id)
            moment = moment_of(sent_at) if sent_at else None
            return WindowRecord(digest, json.loads(header) | others, segments, rows, moment)

    def request(self, window_id: int) -> Fields | None:
        with self._database.read():
            row = self._database.fetch_one("SELECT request FROM windows WHERE id = ?", (window_id,))
            request: Fields | None = json.loads(row[0]) if row and row[0] else None
        return request

    def ending(self, window_id: int) -> Ending | None:
        """Read how the exchange of a window ended.

        None if there is no such window; an empty `Ending` if the exchange is not over.
        """
        if (row := self._database.fetch_one(_ENDING, (window_id,))) is None:
            return None
        reply_id, stop, cost, provider, *counts = row
        own, reported = usage_of(counts[:2]), usage_of(counts[2:])
        return Ending(reply_id, reported, stop, cost, provider, own)

    def window_id(self, said: Turn, reply: Turn | None = None) -> int | None:
        """Return the id of the window that produced a reply or, without one, of `said`'s last one.

        None if there is no such window.
        """
        row = self._database.fetch_one(
            "SELECT MAX(id) FROM windows WHERE turn = :said AND (:reply IS NULL OR reply = :reply)",
            {"said": said.id, "reply": reply.id if reply is not None else None},
        )
        return None if row[0] is None else int(row[0])

    def last_id(self, conversation: str) -> int | None:
        """Return the id of the window that was sent last in a conversation; None if none was."""
        row = self._database.fetch_one(LAST_WINDOW, (conversation,))
        return None if row[0] is None else int(row[0])

    def window_id_of(self, said: Turn, mode: Mode, model: str, digest: str) -> int | None:
        """Return the id of the last window for `said` whose messages have this digest.

        If several have it, one with this mode and model is preferred. None if none has it.
        """
        row = self._database.fetch_one(_BY_DIGEST, (said.id, digest, mode.value, model))
        return None if row is None else int(row[0])

    def sends(self, conversation: str, most: int = _ALL) -> list[Send]:
        """List the sends of a conversation, or the last of them, in order, on all its branches."""
        with self._database.read() as connection:
            rows = connection.execute(_SENDS, (conversation, most)).fetchall()
            return [_send(row) for row in reversed(rows)]

    def replies_by_mode(self, turn_id: int, after: int = 0) -> dict[Mode, int]:
        """Return the position of the latest reply to a message in each mode that has one.

        `turn_id` is the id of the user's turn; replies up to position `after` are ignored.
        """
        with self._database.read() as connection:
            rows = connection.execute(_REPLIES_BY_MODE, (turn_id, after))
            return {Mode(mode): int(position) for mode, position in rows}


def _send(row: Sequence[Any]) -> Send:
    identity, said, reply, sent_at, provider, cost, stop, digest, described, *counts = row
    header, sizes, request = json.loads(described)
    budget, full, band = header["budget"], header.get("full_tokens", 0), header.get("band", 0)
    picking = header.get("picking")
    kinds = dict(sizes)
    require(int, full, band, budget["limit"], budget["reserve"], *kinds.values())
    return Send(
        window_id=identity,
        said=said,
        reply=reply,
        sent_at=moment_of(sent_at) if sent_at else None,
        mode=Mode(header["mode"]),
        model=header["model"],
        provider=provider or "",
        budget=budget,
        sizes=kinds,
        full_tokens=full,
        band=band,
        exact=header.get("exact", False),
        usage=usage_of(counts),
        cost=cost,
        stop=stop,
        digest=digest,
        request=request,
        picked=bool(picking and picking["input_tokens"]),
    )


def _put(
    connection: sqlite3.Connection, turn_id: int, record: WindowRecord, *listed: object
) -> int:
    sizes: Counter[str] = Counter()
    for segment in record.segments:
        sizes[segment["kind"]] += segment["tokens"]
    header = dict(record.header)
    listed_fields = {name: header.pop(name) for name in _LISTED if header.get(name)}
    if budget := listed_fields.get("budget"):
        header["budget"] = budget
        figures = {name: budget.get(name) for name in _LISTED_BUDGET}
        listed_fields["budget"] = {name: figure for name, figure in figures.items() if figure}
    cursor = connection.execute(
        "INSERT INTO windows (turn, digest, header, segments, packed, sizes)"
        " VALUES (?, ?, ?, '[]', ?, ?)",
        (
            *(turn_id, record.digest, _compact(listed_fields)),
            *(pack_columns(*listed, header, list(record.ledger)), _compact(sizes)),
        ),
    )
    return cursor.lastrowid or 0


def _compact(fields: Fields) -> str:
    return json.dumps(fields, separators=(",", ":"))


def _taken(ending: Ending) -> Taken:
    counted = ending.counted
    if ending.usage is None and counted is None and ending.reply_id is not None:
        counted = Usage(None, None)  # answered, but not counted
    return Taken(ending.usage, counted, ending.cost)


def _unpacked(
    connection: sqlite3.Connection, packed: list[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Read the segments of a window that an earlier version stored."""
    stored = contents_of(connection, [each["same_as"] for each in packed if "same_as" in each])
    for each in packed:
        identity = each.pop("same_as", None)
        text = _blob(connection, each.pop("blob")) if identity is None else stored[identity]
        yield each | {"text": text}


_NAMED = """
    SELECT l.value FROM windows, json_each(segments) l
    UNION SELECT json_extract(s.value, '$.blob') FROM blobs, json_each(blobs.content) s
        WHERE digest IN (SELECT l.value FROM windows, json_each(segments) l)
        AND json_extract(s.value, '$.blob') IS NOT NULL
"""
"""The addresses of all blobs that make up windows."""


def delete_unused_blobs(connection: sqlite3.Connection) -> None:
    """Delete the blobs that no window uses: only windows of earlier versions have any."""
    connection.execute(f"DELETE FROM blobs WHERE digest NOT IN ({_NAMED})")  # noqa: S608  a constant


def _blob(connection: sqlite3.Connection, address: str) -> str:
    row = connection.execute("SELECT content FROM blobs WHERE digest = ?", (address,)).fetchone()
    return str(row[0])
