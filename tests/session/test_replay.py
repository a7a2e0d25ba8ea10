"""Replay: every send is reproduced byte for byte, and differences are reported."""

from __future__ import annotations

import random
from dataclasses import asdict
from typing import TYPE_CHECKING

import pytest

from jitchat.errors import StoreUnreadable
from jitchat.replay import Replay, last_reported, sends_for
from jitchat.store.packed import pack_columns
from jitchat.values import Mode, Role
from jitchat.window.budget import Budget
from jitchat.window.steering import Once
from jitchat.window.window import Kind
from tests.session.sending import regenerate, send, talking
from tests.support import ScriptedProvider, conversation_of, session_on, talk
from tests.window.cases import ODD_TEXTS, PROSE

if TYPE_CHECKING:
    from jitchat.session import Session
    from jitchat.store.store import ColdStore

ROW = {
    "turn": 1,
    "rank": 1,
    "score": 0.5,
    "parts": {},
    "tokens": 5,
    "verdict": "retrieved",
    "reason": "",
}
"""Of a ledger."""


def packed(row: object, **header: object) -> str:
    """A window with this ledger and without segments, in hexadecimal."""
    return pack_columns(None, [], header, [row]).hex()


SAID = [text for text in (*ODD_TEXTS, *PROSE) if text.strip()]


def replay_of(session: Session) -> Replay:
    return Replay(session.memory.store, session.memory.conversation.id)


async def send_somehow(session: Session, chance: random.Random) -> None:
    """Anywhere in the conversation, in any mode, within any budget; some do not fit."""
    turns = session.memory.turns
    most = chance.choice((150, 600, 2_000, 20_000))
    budget = Budget(limit=most + 2_048, size=chance.choice((most, most // 2)))
    said = chance.choice([turn for turn in turns if turn.role is Role.USER])
    draft, once = chance.choice(
        [
            (chance.choice(SAID), Once(budget=budget)),
            (chance.choice(SAID), Once(after=chance.choice(turns).position)),
            (said.content, Once(again=said, budget=budget)),
        ]
    )
    async for _ in session.send(draft, chance.choice(list(Mode)), once):
        pass


async def test_random_sends_of_all_modes_are_replayed_byte_for_byte(store, rounds):
    provider = ScriptedProvider()
    chance = random.Random(5)
    made = conversation_of(store, talk(*(chance.choice(SAID) for _ in range(40))))
    session = session_on(store, made, provider)
    wanted = rounds(24, 200)
    while len(provider.requests) < wanted:
        provider.script = (chance.choice(SAID),)
        await send_somehow(session, chance)

    replay = replay_of(session)
    replayed = [replay.open(each) for each in replay.sends()]

    assert [each.window.messages() for each in replayed] == provider.requests
    assert all(each.is_as_sent for each in replayed)
    assert {each.window.mode for each in replayed} == set(Mode)
    for each in replayed:
        window, kept = each.window, each.send
        assert kept.sizes == {kind: n for kind in Kind if (n := window.tokens_of(kind))}
        assert (kept.used, kept.free, kept.limit) == (
            *(window.used, window.free, window.budget.limit),
        )
        assert kept.used + kept.free + kept.reserve == kept.limit
        assert kept.budget.items() <= asdict(window.budget).items()
        assert window.segments[-1].turn == each.said.position


async def test_a_turn_that_was_answered_twice_has_two_sends_and_each_reply_its_own(store):
    session = talking(store)
    await send(session, "hello")
    said = session.memory.turns[-2]
    await regenerate(session, said, Mode.FULL)
    sends = replay_of(session).sends()

    first, second = sends
    assert sends_for(sends, said.position) == [first, second]
    assert sends_for(sends, first.reply) == [first]
    assert sends_for(sends, second.reply) == [second]
    assert sends_for(sends, 1) == []
    assert [replay_of(session).open(each).reply.position for each in sends] == [
        first.reply,
        second.reply,
    ]


async def test_what_was_reported_last_is_the_conversations_own_whatever_others_sent(store):
    session = talking(store)
    await send(session, "hello")
    await send(session_on(store, store.create("Another")), "hello there")
    provider = session.provider

    window, usage = last_reported(session.memory, provider.name, provider.model)

    (sent,) = replay_of(session).sends()
    assert (window.digest, usage.input_tokens) == (sent.digest, 100)
    assert last_reported(session.memory, provider.name, "another") is None


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE turns SET content = content || '!' WHERE position = 2",
        "UPDATE windows SET digest = 'other'",
    ],
)
async def test_a_replay_that_differs_is_reported(store: ColdStore, damage: str):
    session = talking(store)
    await send(session, "hello", Mode.FULL)
    with store.database.write() as connection:
        connection.execute(damage)
    replay = replay_of(session)
    assert [replay.open(each).is_as_sent for each in replay.sends()] == [False]


@pytest.mark.parametrize("mode", [Mode.FULL, Mode.JIT])
@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE windows SET packed = ''",
        f"UPDATE windows SET packed = x'{packed(ROW | {'verdict': 'other'})}'",
        f"UPDATE windows SET packed = x'{packed(ROW, budget={'other': 1})}'",
        "UPDATE windows SET header = json_set(header, '$.mode', 'other')",
        f"UPDATE windows SET packed = x'{packed(ROW | {'tokens': 'x'})}'",
    ],
)
async def test_unreadable_data_is_reported_as_damage(store: ColdStore, damage: str, mode: Mode):
    session = talking(store)
    await send(session, "harbour talk", mode)
    replay = replay_of(session)
    [kept] = replay.sends()
    with store.database.write() as connection:
        connection.execute(damage)
    with pytest.raises(StoreUnreadable, match="damaged"):
        replay.open(kept)
