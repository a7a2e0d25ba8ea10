"""Which models servers listed when they were last asked, and the model that is in use."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from jitchat.memory.cold.database import Database


def _now() -> datetime:
    return datetime.now(UTC)


class ModelLists:
    """Lists of models by server: the base URL without login, query and trailing slash."""

    def __init__(self, database: Database, now: Callable[[], datetime] = _now) -> None:
        self._database, self._now = database, now

    def get(self, server: str) -> tuple[datetime, tuple[dict[str, Any], ...]] | None:
        """Read the list and when it was fetched; None where this server was never asked.

        Raises:
            StoreUnreadable: The row holds what cannot be.

        """
        with self._database.read() as connection:
            row = connection.execute(
                "SELECT fetched_at, models FROM model_lists WHERE server = ?", (server,)
            ).fetchone()
            return None if row is None else (datetime.fromisoformat(row[0]), _read(row[1]))

    def put(self, server: str, models: Iterable[Mapping[str, Any]]) -> datetime:
        """Keep the list in place of the one before; the time that stands with it."""
        fetched_at = self._now()
        with self._database.write() as connection:
            connection.execute(
                "INSERT INTO model_lists VALUES (?, ?, ?) ON CONFLICT (server) DO UPDATE SET"
                " fetched_at = excluded.fetched_at, models = excluded.models",
                (server, fetched_at.isoformat(), json.dumps([dict(each) for each in models])),
            )
        return fetched_at


class ChosenModel:
    """The provider and the model that the user picked last, on whichever screen."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self) -> tuple[str, str] | None:
        """Read provider and model; None where nothing was ever picked."""
        with self._database.read() as connection:
            row = connection.execute(
                "SELECT provider, model FROM chosen_model WHERE id = 1"
            ).fetchone()
            return None if row is None else (str(row[0]), str(row[1]))

    def put(self, provider: str, model: str) -> None:
        """Keep the pick."""
        with self._database.write() as connection:
            connection.execute(
                "INSERT INTO chosen_model VALUES (1, ?, ?) ON CONFLICT (id) DO UPDATE SET"
                " provider = excluded.provider, model = excluded.model",
                (provider, model),
            )


def _read(text: str) -> tuple[dict[str, Any], ...]:
    """Read a kept list.

    Raises:
        ValueError: It is none.

    """
    rows = json.loads(text)
    if not isinstance(rows, list) or not all(isinstance(each, dict) for each in rows):
        raise ValueError
    return tuple(rows)
