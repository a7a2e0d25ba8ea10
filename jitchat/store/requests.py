"""Every request to a provider: its purpose, usage and cost.

A row is written before its request is sent, with its least cost, and updated at the end, so that a
process that dies leaves no gap. What the request is expected to cost beyond that is reserved until
then, so that limits hold for requests that are sent at once. A row has no text and names no turn.
It remains when its conversation is deleted, so that totals stay correct.
"""

import json
import os
import time
from collections.abc import Sequence
from dataclasses import astuple, dataclass, field
from datetime import date, datetime, timedelta
from enum import StrEnum
from statistics import median
from typing import Any

from jitchat.errors import StoreError
from jitchat.store.database import Database, bounded
from jitchat.store.processes import RowsInUse
from jitchat.text.figures import dollars, total_of
from jitchat.text.sanitize import repair
from jitchat.values import Usage


class Purpose(StrEnum):
    """The purpose of a request, as displayed."""

    ANSWER = "answer"
    TITLE = "title"
    PICKING = "picking"
    INDEX_LINES = "index lines"
    COMPACTION = "compaction"
    OBSERVATION = "observation"
    FACTS = "facts"
    DOCUMENT = "memory document"
    LEAVE_ONE_OUT = "which turn mattered"
    LAB = "rot lab"
    BENCHMARK = "benchmark"
    DOCTOR = "doctor"


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that is about to be sent."""

    purpose: Purpose
    provider: str
    """The provider's name in the settings."""
    model: str
    conversation: str | None
    """The conversation's id; None if the request belongs to none."""
    sent_at: datetime | None
    """Timezone-aware; None if it was not stored."""
    forecast: float | None = None
    """What it is expected to cost, in US dollars, answer included; None if no price is known."""


@dataclass(frozen=True, slots=True)
class Taken:
    """The usage and cost of a request."""

    reported: Usage | None = None
    """As reported by the provider."""
    counted: Usage | None = None
    """jitchat's counts of what is not reported; with neither, nothing is billed."""
    cost: float | None = None
    """In US dollars; None if no price is known."""


@dataclass(frozen=True, slots=True)
class Spent:
    amount: float = 0.0
    """The sum of the known costs, in US dollars."""
    unknown: int = 0
    """Requests with an unknown cost."""
    sends: int = field(default=0, compare=False)
    """Requests sent."""
    estimated: int = field(default=0, compare=False)
    """Requests whose cost is partly based on jitchat's own counts."""
    reserved: float = field(default=0.0, compare=False)
    """What requests under way are expected to add to `amount`, in US dollars."""
    under_way: int = field(default=0, compare=False)
    """Requests for which that is reserved."""

    def __str__(self) -> str:
        """Write `$0.12`, `~$0.12 + 3 unknown`, `cost unknown`; `$0.00` if nothing is charged."""
        return self.sentence or dollars(0)

    @property
    def sentence(self) -> str:
        """The same, but empty if nothing is charged."""
        return total_of(self.amount, self.unknown, estimated=bool(self.estimated))


USAGE = """
    q.input_tokens, q.output_tokens, COALESCE(q.cached_tokens, 0), COALESCE(q.written_tokens, 0),
    COALESCE(q.reasoning_tokens, 0), q.charged
"""
"""The arguments of `usage_of`, of a row of `requests` as q."""
SPENT = """
    TOTAL(q.cost), COALESCE(SUM(q.cost IS NULL AND q.billed), 0), COUNT(*),
    COALESCE(SUM(q.cost > 0 AND q.charged IS NULL AND COALESCE(q.counted_input, q.counted_output)
        IS NOT NULL), 0)
"""
"""The arguments of `Spent`, summed over rows."""
_RECENT = 12
"""Recent answers used for a forecast."""
_USUAL_ANSWER = 400
"""Tokens assumed for an answer if none was counted yet."""
_END = """
    UPDATE requests SET input_tokens = ?, output_tokens = ?, cached_tokens = ?, written_tokens = ?,
        reasoning_tokens = ?, charged = ?, counted_input = ?, counted_output = ?, cost = ?,
        billed = ?
    WHERE id = ?
"""
_RESERVED = """
    SELECT TOTAL(MAX(0, r.amount - COALESCE(q.cost, 0))), COUNT(*)
    FROM reservations r JOIN requests q ON q.id = r.request
    WHERE r.request IN (SELECT value FROM json_each(?)) AND
"""
_ANSWERED = """
    SELECT SUM(input_tokens), SUM(output_tokens), TOTAL(cached_tokens), TOTAL(written_tokens),
        TOTAL(reasoning_tokens), SUM(charged),
        COALESCE(SUM(input_tokens IS NULL OR output_tokens IS NULL), 0)
    FROM requests WHERE id IN (SELECT value FROM json_each(?)) AND purpose = ? AND billed
"""
_LONGEST_ANSWER = 3_600.0
"""Seconds after which nothing is reserved for a request any more, whatever became of it."""
_under_way = RowsInUse(silent_for=_LONGEST_ANSWER)
_COPIED = (
    "purpose, sent_at, provider, model, input_tokens, output_tokens, cached_tokens, written_tokens,"
    " reasoning_tokens, charged, counted_input, counted_output, cost"
)


NOT_BILLED = Taken(cost=0.0)
"""For a request that was refused or never arrived."""


def usage_of(counts: Sequence[Any]) -> Usage | None:
    """Build the reported usage from `USAGE`; None if neither input nor output was reported."""
    return None if counts[0] is None and counts[1] is None else Usage(*counts)


class RequestLog:
    """The table `requests`. Blocking: call in a thread."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def begin(self, asked: Asked, least: Taken, window: int | None = None) -> int:
        """Record a request before it is sent, with its `least` usage; return its id.

        Its forecast is reserved. Check limits in the same transaction.

        `window` is the archive's id of the window that is sent, if any.
        """
        moment = asked.sent_at.isoformat() if asked.sent_at is not None else None
        who = repair(asked.provider) or None, repair(asked.model)
        fields = asked.conversation, asked.purpose, moment, *who
        with self.database.write() as connection:
            identity = connection.execute(
                "INSERT INTO requests (window, conversation, purpose, sent_at, provider, model)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                (window, *fields),
            ).lastrowid
            identity = identity or 0
            connection.execute(_END, (*_columns(least), identity))
            connection.execute(
                "DELETE FROM reservations WHERE request NOT IN (SELECT value FROM json_each(?))",
                (self._under_way(),),
            )
            if asked.forecast:
                row = identity, asked.forecast, os.getpid(), time.time()
                connection.execute("INSERT INTO reservations VALUES (?, ?, ?, ?)", row)
                _under_way.add(self.database, identity)
        return identity

    def end(self, identity: int, taken: Taken) -> None:
        try:
            with self.database.write() as connection:
                connection.execute(_END, (*_columns(taken), identity))
                connection.execute("DELETE FROM reservations WHERE request = ?", (identity,))
        except StoreError:
            _under_way.discard(self.database, identity)  # the least cost is recorded
            raise

    def copy_to(self, other: Database) -> None:
        """Copy billed requests to another database, without their conversations."""
        rows = self.database.fetch_all(f"SELECT {_COPIED} FROM requests WHERE billed ORDER BY id")  # noqa: S608  a constant
        places = ", ".join("?" * len(_COPIED.split(",")))
        with other.write() as connection:
            connection.executemany(f"INSERT INTO requests ({_COPIED}) VALUES ({places})", rows)  # noqa: S608  a constant

    def is_empty(self) -> bool:
        return not self.database.fetch_one("SELECT EXISTS (SELECT 1 FROM requests)")[0]

    def id_of(self, window: int) -> int:
        """Return the id of a window's request; 0 if there is none."""
        query = "SELECT COALESCE(MAX(id), 0) FROM requests WHERE window = ?"
        return int(self.database.fetch_one(query, (window,))[0])

    def usual_answer(self, purpose: Purpose, provider: str, model: str) -> int:
        """Return a model's usual answer length in tokens, over all conversations."""
        rows = self.database.fetch_all(
            "SELECT output_tokens FROM requests WHERE model = ? AND provider = ? AND purpose = ?"
            " AND output_tokens > 0 ORDER BY id DESC LIMIT ?",
            (repair(model), repair(provider), purpose, _RECENT),
        )
        return round(median(row[0] for row in rows)) if rows else _USUAL_ANSWER

    def spent(self, conversation: str) -> Spent:
        return self._spent("q.conversation = ?", conversation)

    def spent_by(self, requests: Sequence[int]) -> Spent:
        """Sum up the costs of requests, by their ids."""
        return self._spent("q.id IN (SELECT value FROM json_each(?))", json.dumps(requests))

    def answered(self, requests: Sequence[int]) -> Usage | None:
        """Sum up the usage reported for the answers among requests, which are named by their ids.

        None if the provider did not report everything.
        """
        which = json.dumps(requests), Purpose.ANSWER
        *counts, unreported = self.database.fetch_one(_ANSWERED, which)
        sent, answered, cached, written, reasoned, charged = counts
        if unreported or sent is None:
            return None
        return Usage(sent, answered, int(cached), int(written), int(reasoned), charged)

    def spent_on(self, day: date) -> Spent:
        """Sum up the costs of a day, in the time zone of each request."""
        days = day.isoformat(), (day + timedelta(days=1)).isoformat()
        return self._spent("q.sent_at >= ? AND q.sent_at < ?", *days)

    def spent_by_conversation(self) -> dict[str, Spent]:
        """Sum up the costs of each conversation with requests, by its id."""
        return self._spent_by("q.conversation", "q.conversation IS NOT NULL")

    def spent_by_purpose(self, conversation: str) -> dict[str, Spent]:
        """Sum up a conversation's costs by purpose, most expensive first."""
        spent = self._spent_by("q.purpose", "q.conversation = ?", conversation)
        return dict(sorted(spent.items(), key=lambda each: -each[1].amount))

    def _spent_by(self, name: str, which: str, *values: str) -> dict[str, Spent]:
        query = f"SELECT {name}, {SPENT} FROM requests q WHERE {which} GROUP BY 1"  # noqa: S608  constants
        return {name: Spent(*sums) for name, *sums in self.database.fetch_all(query, values)}

    def _spent(self, which: str, *values: str) -> Spent:
        query = f"SELECT {SPENT} FROM requests q WHERE {which}"  # noqa: S608  constants
        reserved = _RESERVED + which
        with self.database.read() as connection:
            sums = connection.execute(query, values).fetchone()
            held = connection.execute(reserved, (self._under_way(), *values)).fetchone()
        return Spent(*sums, *held)

    def _under_way(self) -> str:
        """List the ids of requests whose process still waits for their end, as JSON."""
        now = time.time()
        query = "SELECT request, process, made_at FROM reservations WHERE made_at > ?"
        rows = self.database.fetch_all(query, (now - _LONGEST_ANSWER,))
        return json.dumps(
            [
                request
                for request, process, made_at in rows
                if _under_way.is_in_use(self.database, request, process, now - made_at)
            ]
        )


def _columns(taken: Taken) -> tuple[int | float | None, ...]:
    reported, counted = taken.reported, taken.counted
    own = (counted.input_tokens, counted.output_tokens) if counted is not None else (None, None)
    is_billed = reported is not None or counted is not None
    return *usage_columns(reported), *own, taken.cost, is_billed


def usage_columns(usage: Usage | None) -> tuple[int | float | None, ...]:
    """Return the five counts of a usage and what was charged; all None without one."""
    if usage is None:
        return (None,) * 6
    *counts, charged = astuple(usage)
    return *(None if count is None else bounded(count) for count in counts), charged
