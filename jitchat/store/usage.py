"""Totals of what was sent, by model, day, conversation or project."""

from dataclasses import dataclass
from enum import StrEnum

from jitchat.store.database import Database
from jitchat.store.windows import COST_UNKNOWN, Spent


class Grouping(StrEnum):
    MODEL = "model"
    DAY = "day"
    """The day of sending, in the time zone of that moment."""
    CONVERSATION = "conversation"
    PROJECT = "project"


_NAMES = {
    Grouping.MODEL: """
        CASE WHEN w.provider IS NULL OR w.provider = json_extract(w.header, '$.model')
        THEN json_extract(w.header, '$.model')
        ELSE w.provider || '/' || json_extract(w.header, '$.model') END
    """,
    Grouping.DAY: "COALESCE(substr(w.sent_at, 1, 10), 'not known')",
    Grouping.CONVERSATION: "t.conversation",
    Grouping.PROJECT: "c.project",
}
_SUMS = """
    SELECT {name} AS name, TOTAL(w.cost), SUM({unknown}), COUNT(*), SUM(w.input_tokens IS NULL),
        COALESCE(SUM(w.input_tokens), 0), COALESCE(SUM(w.cached_tokens), 0),
        COALESCE(SUM(w.output_tokens), 0)
    FROM windows w JOIN turns t ON t.id = w.turn JOIN conversations c ON c.id = t.conversation
    WHERE ?1 IS NULL OR substr(w.sent_at, 1, 10) >= ?1
    GROUP BY 1 ORDER BY {order}
"""
_ORDERS = {Grouping.DAY: "1"}
_DEAREST_FIRST = "2 DESC, 6 DESC, 1"


@dataclass(frozen=True, slots=True)
class UsageRow:
    name: str
    spent: Spent
    unreported: int
    """Windows for which the provider reported no tokens."""
    input_tokens: int
    """As reported by the provider, including those from its cache."""
    cached_tokens: int
    output_tokens: int


def usage_by(database: Database, grouping: Grouping, since: str | None = None) -> list[UsageRow]:
    """Sum up all sent windows since an ISO day, inclusive; None for all time.

    Days are in chronological order; other groups have the most expensive first.
    """
    query = _SUMS.format(
        name=_NAMES[grouping],
        unknown=COST_UNKNOWN,
        order=_ORDERS.get(grouping, _DEAREST_FIRST),
    )
    return [
        UsageRow(str(name), Spent(amount, unknown, sends), *tokens)
        for name, amount, unknown, sends, *tokens in database.fetch_all(query, (since,))
    ]
