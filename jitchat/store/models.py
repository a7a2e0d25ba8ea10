"""What is kept of models: what servers reported, and the one that the user chose.

Kept between runs. A row that holds what cannot be is passed over: what is learnt is a help, and
no reason to refuse a message.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeGuard
from urllib.parse import urlsplit

from jitchat.store.database import Database
from jitchat.text.sanitize import repair
from jitchat.values import Limit, Sample

if TYPE_CHECKING:
    import sqlite3


KEPT_SAMPLES = 64
"""For each server, model and counter, the latest."""
_TABLES = ("refused_parameters", "learnt_limits", "told_limits", "token_samples")
_LARGEST = 2**63 - 1
"""SQLite's largest number; a server may report what it likes."""


class LearntModels:
    """The models of every server."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, server: str, model: str) -> LearntModel:
        """Look up one model; `server` is the endpoint's base URL, in any form."""
        return LearntModel(self._database, server_of(server), repair(model))

    def counted(self) -> list[tuple[str, str, str]]:
        """List the server, model and counter of everything that has samples, by name."""
        query = "SELECT DISTINCT server, model, counter FROM token_samples ORDER BY 1, 2, 3"
        with self._database.read() as connection:
            rows = connection.execute(query).fetchall()
        return [row for row in rows if all(isinstance(name, str) for name in row)]


class LearntModel:
    """One model of one server. Threads may share it.

    Raises:
        StoreError: The database cannot be read or written; from each of its methods.

    """

    def __init__(self, database: Database, server: str, model: str) -> None:
        self._database, self._key = database, (server, model)

    def refused(self) -> frozenset[str]:
        """List the parameters that were refused."""
        rows = self._rows("SELECT parameter FROM refused_parameters WHERE server = ? AND model = ?")
        return frozenset(name for (name,) in rows if isinstance(name, str))

    def refuse(self, parameter: str) -> None:
        """Keep that a parameter was refused."""
        with self._database.write() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO refused_parameters VALUES (?, ?, ?)",
                (*self._key, repair(parameter)),
            )

    def limit(self) -> int | None:
        """Tell the context size that the server named when it refused a window, in tokens."""
        rows = self._rows("SELECT tokens FROM learnt_limits WHERE server = ? AND model = ?")
        return next((tokens for (tokens,) in rows if _is_count(tokens) and tokens), None)

    def learn_limit(self, tokens: int) -> None:
        """Keep a context size in place of the one before; one that is none is passed over."""
        if tokens < 1:
            return
        with self._database.write() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO learnt_limits VALUES (?, ?, ?)",
                (*self._key, _fitting(tokens)),
            )

    def told_limit(self) -> tuple[Limit, datetime] | None:
        """Tell what the server said last of the context size when it was asked, and when."""
        rows = self._rows(
            "SELECT tokens, source, told_at FROM told_limits WHERE server = ? AND model = ?"
        )
        return next((found for row in rows if (found := _told(*row)) is not None), None)

    def tell_limit(self, limit: Limit, now: datetime) -> None:
        """Keep what the server said, in place of what it said before."""
        with self._database.write() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO told_limits VALUES (?, ?, ?, ?, ?)",
                (*self._key, _fitting(limit.tokens), repair(limit.source), now.isoformat()),
            )

    def samples(self, counter: str) -> tuple[Sample, ...]:
        """List what requests were counted as by `counter`, and reported as, the oldest first."""
        rows = self._rows(
            "SELECT counted, reported FROM token_samples"
            " WHERE server = ? AND model = ? AND counter = ? ORDER BY id DESC LIMIT ?",
            repair(counter),
            KEPT_SAMPLES,
        )
        return tuple(_samples(reversed(rows)))

    def add_sample(self, counter: str, counted: int, reported: int) -> None:
        """Keep one more; of more than `KEPT_SAMPLES` the oldest goes."""
        key = (*self._key, repair(counter))
        with self._database.write() as connection:
            connection.execute(
                "INSERT INTO token_samples (server, model, counter, counted, reported)"
                " VALUES (?, ?, ?, ?, ?)",
                (*key, _fitting(counted), _fitting(reported)),
            )
            _forget_oldest(connection, key)

    def forget(self) -> bool:
        """Drop what is refused, how much fits, and the samples; whether there was any of it."""
        with self._database.write() as connection:
            gone = [
                connection.execute(f"DELETE FROM {table} WHERE server = ? AND model = ?", self._key)  # noqa: S608  constants
                for table in _TABLES
            ]
        return any(each.rowcount for each in gone)

    def _rows(self, query: str, *more: str | int) -> list[tuple[object, ...]]:
        with self._database.read() as connection:
            return connection.execute(query, (*self._key, *more)).fetchall()


def server_of(base_url: str) -> str:
    """Name a server by its base URL: without login, query, fragment and trailing slash.

    What is no URL is kept as it is, but for what may be a login or a query.
    """
    address = repair(base_url).strip()
    try:
        parts = urlsplit(address)
        host, port = parts.hostname or "", f":{parts.port}" if parts.port else ""
    except ValueError:
        host = ""
    if not host:
        return re.split("[?#]", address.rpartition("@")[2])[0].rstrip("/")
    name = f"[{host}]" if ":" in host else host
    return f"{parts.scheme.lower()}://{name}{port}{parts.path.rstrip('/')}"


def _told(tokens: object, source: object, told_at: object) -> tuple[Limit, datetime] | None:
    """Make a limit of a row; None of one that holds what cannot be."""
    if not _is_count(tokens) or not tokens or not isinstance(source, str):
        return None
    try:
        return Limit(tokens, source), datetime.fromisoformat(str(told_at))
    except ValueError:
        return None


def _samples(rows: Iterable[tuple[object, ...]]) -> Iterable[Sample]:
    """Make samples of rows; one that holds what cannot be is passed over."""
    for counted, reported in rows:
        if _is_count(counted) and _is_count(reported):
            yield Sample(counted, reported)


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and value >= 0


def _fitting(count: int) -> int:
    return max(0, min(count, _LARGEST))


def _forget_oldest(connection: sqlite3.Connection, key: tuple[str, str, str]) -> None:
    of_one = "FROM token_samples WHERE server = ? AND model = ? AND counter = ?"
    connection.execute(
        f"DELETE {of_one} AND id <= (SELECT id {of_one} ORDER BY id DESC LIMIT 1 OFFSET ?)",
        (*key, *key, KEPT_SAMPLES),
    )


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
