"""Every send of a conversation in a few figures, without the text of its window.

A list of thousands is read at once; the window of one of them is read by its id.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from jitchat.memory.cold.database import Database
from jitchat.memory.cold.turn_rows import require
from jitchat.turn import Mode, Turn, Usage

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
    kinds = dict(_sizes(connection, identity) if sizes is None else sizes)
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


def _sizes(connection: sqlite3.Connection, window_id: int) -> dict[str, int]:
    """Sum up a window of before its sizes were kept beside it."""
    return dict(connection.execute(_SIZES, (window_id,)).fetchall())
