"""Helpers to send messages, and to read the cold store independently of the session."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from jitchat.draft import Draft
from jitchat.events import Event, ReplyDelta, SendFailed, TurnStored
from jitchat.files.named import mentions_of
from jitchat.values import Mode, Turn
from jitchat.window.steering import NO_MORE, Once
from tests.support import ScriptedProvider, conversation_of, session_on, talk

if TYPE_CHECKING:
    from collections.abc import Callable

    from jitchat.session import Session
    from jitchat.store.store import ColdStore


async def send(
    session: Session,
    draft: str,
    mode: Mode = Mode.JIT,
    watch: Callable[[Event], None] = lambda _: None,
) -> list[Event]:
    """Send a message; return its events. `watch` is called with each before the flow continues."""
    events = []
    async for event in session.send(draft, mode, typed(draft)):
        events.append(event)
        watch(event)
    return events


def typed(draft: str, once: Once = NO_MORE) -> Once:
    """The choices for a message that the user typed, with the files that it mentions."""
    return replace(once, mentions=mentions_of(Draft.by_user(draft)))


async def regenerate(session: Session, said: Turn, mode: Mode) -> list[Event]:
    """Regenerate the reply to a turn; return the events."""
    return [event async for event in session.send(said.content, mode, Once(again=said))]


def kinds(events: list[Event]) -> list[str]:
    """Return the names of the events, with repeated names merged."""
    names = [type(event).__name__ for event in events]
    return [name for place, name in enumerate(names) if names[place - 1 : place] != [name]]


def reply_text(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, ReplyDelta))


def stored_turns(events: list[Event]) -> list[Turn]:
    return [event.turn for event in events if isinstance(event, TurnStored)]


def failures(events: list[Event]) -> list[SendFailed]:
    return [event for event in events if isinstance(event, SendFailed)]


def talking(store: ColdStore, *script: object, exchanges: int = 2) -> Session:
    """A session on a short conversation, with a provider that follows the script."""
    texts = [f"turn {number} of the harbour talk" for number in range(1, 2 * exchanges + 1)]
    conversation = conversation_of(store, talk(*texts))
    return session_on(store, conversation, ScriptedProvider(script or ("Understood.",)))


@dataclass(frozen=True)
class Durable:
    """What another process would find in the database."""

    turns: list[tuple[int, str, str, str]]
    """Position, role, content, status."""
    streaming: int
    windows: list[tuple[str, int | None, int | None, int | None, int | None]]
    """Digest, id of the reply, and the three counts that the provider reported."""
    indexed: list[int]


def durable(store: ColdStore) -> Durable:
    with closing(sqlite3.connect(store.database.path)) as other:
        return Durable(
            other.execute(
                "SELECT position, role, content, status FROM turns ORDER BY position"
            ).fetchall(),
            other.execute("SELECT count(*) FROM streaming").fetchone()[0],
            other.execute(
                "SELECT w.digest, w.reply, q.input_tokens, q.output_tokens, q.cached_tokens"
                " FROM windows w JOIN requests q ON q.window = w.id ORDER BY w.id"
            ).fetchall(),
            [
                row[0]
                for row in other.execute(
                    "SELECT t.position FROM index_entries e JOIN turns t ON t.id = e.turn"
                    " ORDER BY t.position"
                )
            ],
        )


def check_nothing_is_left_open(store: ColdStore) -> None:
    """Check that each user turn has a reply or is unanswered, and no row is streaming."""
    found = durable(store)
    assert found.streaming == 0
    for (_, role, _, status), after in zip(
        found.turns, [*found.turns[1:], (0, "user", "", "")], strict=True
    ):
        assert status != "streaming"
        if role == "user":
            assert (after[1] == "assistant") == (status == "complete")


async def check_it_can_be_sent_again(session: Session, store: ColdStore) -> None:
    session.provider = ScriptedProvider(("Now.",))
    events = await send(session, "hello")
    assert not failures(events)
    assert [turn.content for turn in stored_turns(events)] == ["hello", "Now."]
    check_nothing_is_left_open(store)
