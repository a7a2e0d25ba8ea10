"""Every window that was sent: byte for byte, with its ledger as it was decided then.

Content-addressed: a segment that is a stored turn as it stands names the turn; any other text
is a blob under its SHA-256; and segments are listed in blobs of 64, so that a long chat in
`full` does not store itself squared: from send to send only the last list is new.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from jitchat.memory.cold.database import Database
from jitchat.turn import Usage

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
