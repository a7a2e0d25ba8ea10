"""Totals of requests to providers by model, day, conversation, project or purpose."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from enum import StrEnum

from jitchat.store.database import Database
from jitchat.store.requests import SPENT, Spent


class Grouping(StrEnum):
    MODEL = "model"
    DAY = "day"
    """The day of sending, in the time zone of that moment."""
    CONVERSATION = "conversation"
    PROJECT = "project"
    PURPOSE = "purpose"
    """The purpose of a request: an answer, a title, an observation …"""


_ELSE = {
    Grouping.DAY: "not known",
    Grouping.CONVERSATION: "none, or deleted",
    Grouping.PROJECT: "none",
}
"""Placeholders for missing names."""
_NAMES = {
    Grouping.MODEL: """
        CASE WHEN q.provider IS NULL OR q.provider = q.model THEN q.model
        ELSE q.provider || '/' || q.model END
    """,
    Grouping.DAY: "substr(q.sent_at, 1, 10)",
    Grouping.CONVERSATION: "CASE WHEN c.deleted_by THEN NULL ELSE c.id END",
    Grouping.PROJECT: "COALESCE(c.project, q.project)",
    Grouping.PURPOSE: "q.purpose",
}
_SUMS = """
    SELECT {name} AS name, {spent},
        SUM(q.billed AND (q.input_tokens IS NULL OR q.output_tokens IS NULL)),
        COALESCE(SUM(COALESCE(q.input_tokens, q.counted_input)), 0),
        COALESCE(SUM(q.cached_tokens), 0),
        COALESCE(SUM(COALESCE(q.output_tokens, q.counted_output)), 0), SUM(q.billed)
    FROM requests q LEFT JOIN conversations c ON c.id = q.conversation
    WHERE :since IS NULL OR substr(q.sent_at, 1, 10) >= :since
    GROUP BY 1 ORDER BY {order}
"""
_ORDERS = {Grouping.DAY: "1"}
_DEAREST_FIRST = "2 DESC, 7 DESC, 1"


@dataclass(frozen=True, slots=True)
class UsageRow:
    name: str
    spent: Spent
    unreported: int
    """Requests for which the provider did not report all tokens; jitchat's counts are used."""
    input_tokens: int
    """As reported by the provider, including those from its cache."""
    cached_tokens: int
    output_tokens: int
    billed: int
    """Requests that reached a model."""


def usage_by(database: Database, grouping: Grouping, since: str | None = None) -> list[UsageRow]:
    """Sum up all requests since an ISO day, inclusive; None for all time.

    Days are in chronological order; other groups have the most expensive first.
    """
    query = _SUMS.format(
        name=_NAMES[grouping], spent=SPENT, order=_ORDERS.get(grouping, _DEAREST_FIRST)
    )
    return [
        UsageRow(name or _ELSE.get(grouping, "not known"), Spent(*sums[:4]), *sums[4:])
        for name, *sums in database.fetch_all(query, {"since": since})
    ]


def total_of_rows(rows: Sequence[UsageRow]) -> UsageRow:
    """Sum up rows; at least one."""
    spent = [sum(figures) for figures in zip(*(astuple(row.spent) for row in rows), strict=True)]
    counts = [sum(figures) for figures in zip(*(astuple(row)[2:] for row in rows), strict=True)]
    return UsageRow("total", Spent(*spent), *counts)
