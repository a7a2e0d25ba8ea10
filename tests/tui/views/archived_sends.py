"""Sends of the demo conversation, put into the archive as if its turns had been asked here."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from jitchat.providers.catalogue.table import Prices
from jitchat.store.windows import Ending, WindowRecord
from jitchat.values import Mode, Role, Usage
from jitchat.window.record import header_fields, ledger_fields, segment_fields
from jitchat.window.steering import Once

if TYPE_CHECKING:
    from jitchat.session import Session

START = datetime(2026, 11, 3, 9, 0, tzinfo=UTC)
PRICES = Prices(input=3.0, output=15.0, cached=0.3, written=3.75)


def send_all(session: Session, mode: Mode = Mode.JIT) -> int:
    """Keep a send for every message of the user, and tell how many; no model is asked."""
    said = [turn for turn in session.memory.turns if turn.role is Role.USER]
    for number, turn in enumerate(said):
        question = session.planning.question(turn.content, Once(again=turn))
        window = session.planning.window(question, mode, session.options.budget)
        record = WindowRecord(
            window.digest,
            header_fields(window),
            [segment_fields(each) for each in window.segments],
            [ledger_fields(each) for each in window.ledger],
            START + timedelta(minutes=2 * number),
        )
        usage = Usage(window.used, 40, window.stable_tokens // 2)
        reply = turn.id + 1
        archive, provider = session.memory.archive, session.provider.name
        window_id = archive.put(turn.id, record, Ending(provider=provider))
        archive.close(window_id, Ending(reply, usage, "stop", session.cost_of(usage), provider))
    return len(said)
