"""The request in which each window left, as plain data beside the window."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from jitchat.memory.cold.database import Database

Fields = Mapping[str, Any]


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
