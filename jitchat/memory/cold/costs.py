"""What conversations cost so far: every send of them, the alternatives and the failed ones too."""

from __future__ import annotations

from dataclasses import dataclass, field

from jitchat.memory.cold.database import Database

_COSTS = """
    SELECT t.conversation, TOTAL(w.cost), SUM(
        w.cost IS NULL
        AND COALESCE(w.reply, w.input_tokens, w.output_tokens) IS NOT NULL
        AND COALESCE(w.provider, json_extract(w.header, '$.model')) IS NOT 'reader'), COUNT(*)
    FROM turns t JOIN windows w ON w.turn = t.id
    {} GROUP BY t.conversation
"""
"""A request that brought neither an answer nor a report was refused, or never arrived. Of the
reader's earliest replies no cost was kept; there is none."""
_OF_ONE, _OF_ALL = _COSTS.format("WHERE t.conversation = ?"), _COSTS.format("")


@dataclass(frozen=True, slots=True)
class Spent:
    """What was spent, as far as it is known."""

    amount: float = 0.0
    """In US dollars: the sum of what is known."""
    unknown: int = 0
    """Replies of which nobody knows what they cost."""
    sends: int = field(default=0, compare=False)
    """Windows that were sent."""


class Costs:
    """The costs of every conversation."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, conversation: str) -> Spent:
        """Sum up one conversation, by its id."""
        return self._read(_OF_ONE, conversation).get(conversation, Spent())

    def all(self) -> dict[str, Spent]:
        """Sum up each conversation from which anything was sent, by its id."""
        return self._read(_OF_ALL)

    def _read(self, query: str, *conversation: str) -> dict[str, Spent]:
        with self._database.read() as connection:
            rows = connection.execute(query, conversation)
            return {name: Spent(*spent) for name, *spent in rows}
