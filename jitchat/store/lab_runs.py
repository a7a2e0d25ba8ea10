"""A run of the rot lab in its store: the experiment and the result of each cell, as plain data."""

import json
from collections.abc import Mapping
from typing import Any

from jitchat.errors import StoreUnreadable
from jitchat.store.database import Records

Fields = Mapping[str, Any]
"""A JSON object."""


class RotRows(Records):
    def run(self) -> Fields:
        """Read the run's own fields, without its cells.

        Raises:
            StoreUnreadable: No run is in this store.

        """
        with self._database.read() as connection:
            row = connection.execute("SELECT fields FROM rot_run").fetchone()
            if row is None:
                raise StoreUnreadable(f"{self._database.path} contains no run of the rot lab.")
            return dict(json.loads(row[0]))

    def put_run(self, fields: Fields) -> None:
        statement = "INSERT OR REPLACE INTO rot_run (id, fields) VALUES (1, ?)"
        self._database.execute(statement, (json.dumps(fields),))

    def put_cell(self, cell: str, window: int | None, fields: Fields) -> None:
        statement = "INSERT OR REPLACE INTO rot_cells (cell, window, fields) VALUES (?, ?, ?)"
        self._database.execute(statement, (cell, window, json.dumps(fields)))

    def cells(self) -> list[Fields]:
        with self._database.read() as connection:
            rows = connection.execute("SELECT fields FROM rot_cells ORDER BY id")
            return [json.loads(row[0]) for row in rows]

    def count(self) -> int:
        return int(self._database.fetch_one("SELECT COUNT(*) FROM rot_cells")[0])
