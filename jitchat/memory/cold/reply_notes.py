"""What is known of a reply beside its text: who gave it, what it took, what was thought ahead.

Read for the few replies that are on screen; the windows that were sent hold it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from jitchat.memory.cold.database import Database
from jitchat.turn import Usage

_REPLIES = """
    SELECT t.value, COALESCE(json_extract(w.header, '$.model'), ''), COALESCE(w.provider, ''),
           w.stop, w.cost, COALESCE(r.content, ''), w.input_tokens, w.output_tokens,
           COALESCE(w.cached_tokens, 0), COALESCE(w.written_tokens, 0),
           COALESCE(w.reasoning_tokens, 0), w.charged
    FROM json_each(?) AS t
    LEFT JOIN windows w ON w.id = (SELECT MAX(id) FROM windows WHERE reply = t.value)
    LEFT JOIN reasoning r ON r.turn = t.value
    WHERE w.id IS NOT NULL OR r.turn IS NOT NULL
"""


@dataclass(frozen=True, slots=True)
class ReplyNote:
    """The record of one reply."""

    model: str
    """Its own name; empty where no window is known that the reply answers."""
    provider: str
    """As the settings call it; empty where that was not kept."""
    stop: str | None
    """The provider's word for why it ended; None where it did not say, or that was not kept."""
    usage: Usage | None
    """As the provider reported it, if it did."""
    cost: float | None
    """In US dollars; None where no price was known."""
    reasoning: str = ""
    """What the model thought ahead of its answer."""


class ReplyNotes:
    """The notes of every conversation."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, replies: Iterable[int]) -> dict[int, ReplyNote]:
        """Read the notes of these turns, given by id; those of which nothing is known are left."""
        with self._database.read() as connection:
            rows = connection.execute(_REPLIES, (json.dumps(list(replies)),))
            return {identity: _note(*columns) for identity, *columns in rows}


def _note(model: str, provider: str, stop: str | None, *rest: Any) -> ReplyNote:  # noqa: ANN401  as SQLite gives it
    cost, reasoning, *counts = rest
    is_reported = counts[0] is not None or counts[1] is not None
    usage = Usage(*counts) if is_reported else None
    return ReplyNote(model, provider, stop, usage, cost, reasoning)
