"""Every request to a provider: its purpose, usage and cost.

A row is written before its request is sent, with its least cost, and updated at the end, so that a
process that dies leaves no gap. A row has no text and names no turn. It remains when its
conversation is deleted, so that totals stay correct.
"""

from collections.abc import Sequence
from dataclasses import astuple, dataclass, field
from datetime import date, datetime, timedelta
from enum import StrEnum
from statistics import median
from typing import Any

from jitchat.store.database import Database, bounded
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


_OF_MESSAGE = (Purpose.ANSWER, Purpose.PICKING, Purpose.COMPACTION)
"""Purposes that belong to answering a message."""


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
_PURPOSES = ", ".join(f"'{each}'" for each in _OF_MESSAGE)
_END = """
    UPDATE requests SET input_tokens = ?, output_tokens = ?, cached_tokens = ?, written_tokens = ?,
        reasoning_tokens = ?, charged = ?, counted_input = ?, counted_output = ?, cost = ?,
        billed = ?
    WHERE {} = ?
"""
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
        self._database = database

    def begin(self, asked: Asked, least: Taken, window: int | None = None) -> int:
        """Record a request before it is sent, with its `least` usage; return its id.

        `window` is the archive's id of the window that is sent, if any.
        """
        moment = asked.sent_at.isoformat() if asked.sent_at is not None else None
        who = repair(asked.provider) or None, repair(asked.model)
        fields = asked.conversation, asked.purpose, moment, *who
        with self._database.write() as connection:
            identity = connection.execute(
                "INSERT INTO requests (window, conversation, purpose, sent_at, provider, model)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                (window, *fields),
            ).lastrowid
            connection.execute(_END.format("id"), (*_columns(least), identity))
        return identity or 0

    def end(self, identity: int, taken: Taken) -> None:
        self._database.execute(_END.format("id"), (*_columns(taken), identity))

    def end_of_window(self, window: int, taken: Taken, provider: str | None) -> None:
        """Record the usage and provider of a window's request."""
        with self._database.write() as connection:
            connection.execute(_END.format("window"), (*_columns(taken), window))
            connection.execute(
                "UPDATE requests SET provider = ? WHERE window = ?",
                (repair(provider or "") or None, window),
            )

    def copy_to(self, other: Database) -> None:
        """Copy billed requests to another database, without their conversations."""
        rows = self._database.fetch_all(f"SELECT {_COPIED} FROM requests WHERE billed ORDER BY id")  # noqa: S608  a constant
        places = ", ".join("?" * len(_COPIED.split(",")))
        with other.write() as connection:
            connection.executemany(f"INSERT INTO requests ({_COPIED}) VALUES ({places})", rows)  # noqa: S608  a constant

    def last_id(self) -> int:
        """Return the id of the last recorded request; 0 if there is none."""
        return int(self._database.fetch_one("SELECT COALESCE(MAX(id), 0) FROM requests")[0])

    def usual_answer(self, purpose: Purpose, provider: str, model: str) -> int:
        """Return a model's usual answer length in tokens, over all conversations."""
        rows = self._database.fetch_all(
            "SELECT output_tokens FROM requests WHERE model = ? AND provider = ? AND purpose = ?"
            " AND output_tokens > 0 ORDER BY id DESC LIMIT ?",
            (repair(model), repair(provider), purpose, _RECENT),
        )
        return round(median(row[0] for row in rows)) if rows else _USUAL_ANSWER

    def spent(self, conversation: str) -> Spent:
        return self._spent("q.conversation = ?", conversation)

    def spent_on_message(self, conversation: str, after: int) -> Spent:
        """Sum up the cost of answering a message: all its requests after the id `after`."""
        which = f"q.conversation = ? AND q.id > ? AND q.purpose IN ({_PURPOSES})"
        return self._spent(which, conversation, after)

    def answered(self, conversation: str, after: int) -> Usage | None:
        """Sum up the usage reported for the answer to a message, including requests with tools.

        Like `spent_on_message`; None if the provider did not report everything.
        """
        *counts, unreported = self._database.fetch_one(
            "SELECT SUM(input_tokens), SUM(output_tokens), TOTAL(cached_tokens),"
            " TOTAL(written_tokens), TOTAL(reasoning_tokens), SUM(charged),"
            " COALESCE(SUM(input_tokens IS NULL OR output_tokens IS NULL), 0) FROM requests"
            " WHERE conversation = ? AND id > ? AND purpose = ? AND billed",
            (conversation, after, Purpose.ANSWER),
        )
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
        return {name: Spent(*sums) for name, *sums in self._database.fetch_all(query, values)}

    def _spent(self, which: str, *values: str | int) -> Spent:
        query = f"SELECT {SPENT} FROM requests q WHERE {which}"  # noqa: S608  constants
        return Spent(*self._database.fetch_one(query, values))


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
