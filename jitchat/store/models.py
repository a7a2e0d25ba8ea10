"""Stored knowledge of models: lessons from servers, model lists, and the model the user chose.

An invalid lesson is ignored: lessons are an aid, and no reason to refuse a message.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, TypeGuard
from urllib.parse import urlsplit

from jitchat.store.database import Database, Records, bounded
from jitchat.text.sanitize import repair
from jitchat.values import Limit, Other, Sample

KEPT_SAMPLES = 64
"""Number of the latest samples that are kept for each server, model and counter."""
_TABLES = ("refused_parameters", "learnt_limits", "told_limits", "token_samples")


class ModelLessons:
    """What was learnt from one server about one of its models. Safe to share between threads."""

    def __init__(self, database: Database, server: str, model: str) -> None:
        """`server` is the endpoint's base URL, in any form."""
        self._database, self._key = database, (server_of(server), repair(model))

    def refused(self) -> frozenset[str]:
        rows = self._rows("SELECT parameter FROM refused_parameters WHERE server = ? AND model = ?")
        return frozenset(name for (name,) in rows if isinstance(name, str))

    def refuse(self, parameter: str) -> None:
        self._write("INSERT OR IGNORE INTO refused_parameters VALUES (?, ?, ?)", repair(parameter))

    def limit(self) -> int | None:
        """Return the context size, in tokens, that the server stated when it refused a window."""
        rows = self._rows("SELECT tokens FROM learnt_limits WHERE server = ? AND model = ?")
        return next((tokens for (tokens,) in rows if _is_count(tokens) and tokens), None)

    def learn_limit(self, tokens: int) -> None:
        """Store a context size, replacing the previous one; a size below 1 is ignored."""
        if tokens >= 1:
            self._write("INSERT OR REPLACE INTO learnt_limits VALUES (?, ?, ?)", bounded(tokens))

    def reported_limit(self) -> tuple[Limit, datetime] | None:
        """Return the context size that the server last reported when queried, and when."""
        rows = self._rows(
            "SELECT tokens, source, told_at FROM told_limits WHERE server = ? AND model = ?"
        )
        for tokens, source, moment in rows:
            if _is_count(tokens) and tokens and isinstance(source, str):
                try:
                    return Limit(tokens, source), datetime.fromisoformat(str(moment))
                except ValueError:
                    return None
        return None

    def keep_reported_limit(self, limit: Limit, now: datetime) -> None:
        """Store the context size that the server reported, replacing the previous one."""
        self._write(
            "INSERT OR REPLACE INTO told_limits VALUES (?, ?, ?, ?, ?)",
            *(bounded(limit.tokens), repair(limit.source), now.isoformat()),
        )

    def samples(self, counter: str) -> tuple[Sample, ...]:
        """List the (counted, reported) tokens of requests, by `counter`, the oldest first."""
        rows = self._rows(
            "SELECT counted, reported, others FROM token_samples"
            " WHERE server = ? AND model = ? AND counter = ? ORDER BY id DESC LIMIT ?",
            repair(counter),
            KEPT_SAMPLES,
        )
        samples = (_sample(*row) for row in reversed(rows))
        return tuple(sample for sample in samples if sample is not None)

    def add_sample(self, counter: str, sample: Sample) -> None:
        """Add a sample; beyond `KEPT_SAMPLES`, the oldest is deleted."""
        key = (*self._key, repair(counter))
        counts = bounded(sample.counted), bounded(sample.reported)
        of_counter = "FROM token_samples WHERE server = ? AND model = ? AND counter = ?"
        with self._database.write() as connection:
            connection.execute(
                "INSERT INTO token_samples (server, model, counter, counted, reported, others)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                (*key, *counts, json.dumps(dict(sample.others))),
            )
            connection.execute(
                f"DELETE {of_counter} AND id <="
                f" (SELECT id {of_counter} ORDER BY id DESC LIMIT 1 OFFSET ?)",
                (*key, *key, KEPT_SAMPLES),
            )

    def forget(self) -> bool:
        """Delete refused parameters, limits and samples; return whether there were any."""
        with self._database.write() as connection:
            deleted = [
                connection.execute(f"DELETE FROM {table} WHERE server = ? AND model = ?", self._key)  # noqa: S608  constants
                for table in _TABLES
            ]
        return any(cursor.rowcount for cursor in deleted)

    def _rows(self, query: str, *more: str | int) -> list[tuple[object, ...]]:
        return self._database.fetch_all(query, (*self._key, *more))

    def _write(self, statement: str, *more: str | int) -> None:
        self._database.execute(statement, (*self._key, *more))


def models_with_samples(database: Database) -> list[tuple[str, str, str]]:
    query = "SELECT DISTINCT server, model, counter FROM token_samples ORDER BY 1, 2, 3"
    rows = database.fetch_all(query)
    return [row for row in rows if all(isinstance(name, str) for name in row)]


def server_of(base_url: str) -> str:
    """Name a server by its base URL: without login, query, fragment and trailing slash.

    A string that is not a URL is kept, except for what could be a login or a query.
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


def _sample(counted: object, reported: object, others: object) -> Sample | None:
    try:
        apart = {Other(name): tokens for name, tokens in json.loads(str(others)).items()}
    except (AttributeError, ValueError):
        return None
    if not (_is_count(counted) and _is_count(reported) and all(map(_is_count, apart.values()))):
        return None
    return Sample(counted, reported, apart)


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and value >= 0


class ModelLists:
    """Lists of models by server: the base URL without login, query and trailing slash."""

    def __init__(
        self, database: Database, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._database, self._now = database, now

    def get(self, server: str) -> tuple[datetime, tuple[dict[str, Any], ...]] | None:
        """Read the list and when it was fetched; None if this server was never queried."""
        with self._database.read() as connection:
            row = connection.execute(
                "SELECT fetched_at, models FROM model_lists WHERE server = ?", (server,)
            ).fetchone()
            if row is None:
                return None
            fetched_at, models = datetime.fromisoformat(row[0]), json.loads(row[1])
            if not isinstance(models, list) or not all(isinstance(row, dict) for row in models):
                raise ValueError("not a list of models")
            return fetched_at, tuple(models)

    def put(self, server: str, models: Iterable[Mapping[str, Any]]) -> datetime:
        """Store the list, replacing the previous one; return the time stored with it."""
        fetched_at = self._now()
        self._database.execute(
            "INSERT OR REPLACE INTO model_lists VALUES (?, ?, ?)",
            (server, fetched_at.isoformat(), json.dumps([dict(model) for model in models])),
        )
        return fetched_at


class ChosenModel(Records):
    """The provider and model that the user picked most recently, on any screen."""

    def get(self) -> tuple[str, str] | None:
        """Read provider and model; None if none was ever picked."""
        row = self._database.fetch_one("SELECT provider, model FROM chosen_model")
        return None if row is None else (str(row[0]), str(row[1]))

    def put(self, provider: str, model: str) -> None:
        statement = "INSERT OR REPLACE INTO chosen_model VALUES (1, ?, ?)"
        self._database.execute(statement, (provider, model))
