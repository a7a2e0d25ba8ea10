"""Totals of `request_context` and of held large results, over all stored conversations."""

import json
from collections.abc import Iterable
from dataclasses import dataclass

from jitchat.store.database import Database
from jitchat.text.figures import Figure, mark_of, percent, plural
from jitchat.text.sentences import turn_references
from jitchat.window.tokens import TokenCounter

_ASKED = """
    SELECT json_extract(w.header, '$.requests'), COALESCE(r.content, '')
    FROM windows w LEFT JOIN turns r ON r.id = w.reply
    WHERE w.id IN (SELECT MAX(id) FROM windows GROUP BY turn)
      AND json_extract(w.header, '$.requests') IS NOT NULL
"""
_HELD = """
    SELECT content, COALESCE(json_extract(tools, '$.form.text'), json_extract(tools, '$.form'))
    FROM turns
    WHERE tools IS NOT NULL AND json_extract(tools, '$.form') IS NOT NULL
"""


@dataclass(frozen=True, slots=True)
class Asked:
    """Totals of `request_context`."""

    messages: int
    """Messages that were answered."""
    asking: int
    """Messages for which the model made a request."""
    calls: int
    found: int
    """Calls that returned a turn which the reply cites."""
    tokens: int
    """Tokens that the results added to windows."""

    @property
    def sentence(self) -> str:
        """The totals as a sentence; empty if there were no calls."""
        if not self.calls:
            return ""
        rate = self.asking / self.messages if self.messages else 0.0
        return (
            f"request_context: {plural(self.calls, 'call')} in {self.asking:,} of"
            f" {plural(self.messages, 'message')} ({percent(rate)}), +{self.tokens:,} tokens;"
            f" {self.found:,} returned a turn that the reply cites"
        )


@dataclass(frozen=True, slots=True)
class Held:
    """Totals of the gate for large results."""

    results: int
    whole: int
    """Tokens of the whole results."""
    kept: int
    """Tokens of what windows carry in their place."""
    exact: bool = True
    """Whether they were counted by the model's own tokenizer."""

    @property
    def saved(self) -> float:
        """The share of tokens that windows do not carry, 0 to 1."""
        return 1 - self.kept / self.whole if self.whole else 0.0

    @property
    def sentence(self) -> str:
        """The totals as a sentence; empty if nothing was held."""
        if not self.results:
            return ""
        held = plural(self.results, "large text")
        mark = mark_of(exact=self.exact)
        whole, kept = Figure(self.whole, mark), Figure(self.kept, mark)
        return f"held: {held}, {whole} tokens as {kept} ({percent(self.saved)} saved)"


def asked_in(database: Database) -> Asked:
    """Sum up the requests to the store; slow if very many messages were sent."""
    messages = int(database.fetch_one("SELECT COUNT(DISTINCT turn) FROM windows", ())[0])
    rows = [(json.loads(each), reply) for each, reply in database.fetch_all(_ASKED, ())]
    requests = [(request, reply) for each, reply in rows for request in each]
    return Asked(
        messages,
        len(rows),
        len(requests),
        sum(_is_named(request["given"], reply) for request, reply in requests),
        sum(request["tokens"] for request, _ in requests),
    )


def _is_named(given: Iterable[tuple[int, float]], reply: str) -> bool:
    return not turn_references(reply).isdisjoint(turn for turn, _ in given)


def held_in(database: Database, counter: TokenCounter) -> Held:
    """Sum up the texts that windows carry in a shorter form."""
    rows = database.fetch_all(_HELD, ())
    whole = sum(counter.count(content) for content, _ in rows)
    kept = sum(counter.count(form) for _, form in rows)
    return Held(len(rows), whole, kept, exact=counter.exact)
