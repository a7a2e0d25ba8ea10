"""What is known of a reply beside its text: model, usage, cost, stop reason, reasoning.

It belongs to the reply, not to the window that was sent for it, so that it goes wherever the reply
goes. The same figures in `requests` are for totals, and remain when the reply is deleted.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass

from jitchat.store.database import Database
from jitchat.store.requests import USAGE, usage_columns, usage_of
from jitchat.text.sanitize import repair
from jitchat.values import Usage


@dataclass(frozen=True, slots=True)
class ReplyNote:
    model: str = ""
    """The model's name; empty if it was not recorded."""
    provider: str = ""
    """The provider's name in the settings; empty if it was not recorded."""
    stop: str | None = None
    """The provider's stop reason; None if it gave none, or it was not recorded."""
    usage: Usage | None = None
    """As reported by the provider; None if it was not."""
    cost: float | None = None
    """In US dollars; None if no price was known."""
    reasoning: str = ""
    """The model's reasoning before its answer."""


NO_NOTE = ReplyNote()
PUT_NOTE = "REPLACE INTO reply_notes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_NOTES = f"""
    SELECT t.value, COALESCE(q.model, ''), COALESCE(q.provider, ''), q.stop, q.cost,
           COALESCE(r.content, ''), {USAGE}
    FROM json_each(?) AS t
    LEFT JOIN reply_notes q ON q.turn = t.value LEFT JOIN reasoning r ON r.turn = t.value
    WHERE q.turn IS NOT NULL OR r.turn IS NOT NULL
"""  # noqa: S608  a constant


def note_row(reply: int, note: ReplyNote) -> tuple[object, ...]:
    """Return the row for `PUT_NOTE`, without the reasoning, of the reply with this turn id."""
    stop = repair(note.stop) if note.stop is not None else None
    described = repair(note.model), repair(note.provider), stop
    return reply, *described, *usage_columns(note.usage), note.cost


def notes_of(database: Database, replies: Iterable[int]) -> dict[int, ReplyNote]:
    """Read the notes of replies, by the ids of their turns, without replies that have none.

    Raises:
        StoreUnreadable: A row is damaged.

    """
    with database.read() as connection:
        rows = connection.execute(_NOTES, (json.dumps(list(replies)),))
        return {
            identity: ReplyNote(model, provider, stop, usage_of(counts), cost, reasoning)
            for identity, model, provider, stop, cost, reasoning, *counts in rows
        }
