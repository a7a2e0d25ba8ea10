"""The replies that a user's turn got in each mode, as the windows that were sent for it tell."""

from __future__ import annotations

from jitchat.memory.cold.database import Database
from jitchat.turn import Mode

_ANSWERS = """
    SELECT json_extract(w.header, '$.mode'), r.position
    FROM windows w JOIN turns r ON r.id = w.reply
    WHERE w.turn = ? AND r.position > ? ORDER BY w.id
"""


def answers_to(database: Database, turn_id: int, after: int = 0) -> dict[Mode, int]:
    """Tell the position of the latest reply in each mode that brought one.

    `turn_id` is the cold store's key of the user's turn; replies up to position `after` are
    passed over.

    Raises:
        StoreError: The store cannot be read.

    """
    with database.read() as connection:
        rows = connection.execute(_ANSWERS, (turn_id, after))
        return {Mode(mode): int(position) for mode, position in rows}
