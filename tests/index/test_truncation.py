"""After turns are removed, a hot index is as if they had never been added."""

from __future__ import annotations

import random
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from jitchat.index.columns import GAP_SECONDS
from jitchat.index.entry import index_entry
from jitchat.index.retrieve import make_query
from jitchat.index.search import HotIndex
from jitchat.index.tables import IndexRow
from jitchat.memory import Memory
from jitchat.text.words import fold, stems
from jitchat.values import Retrieval, Role, Status, Turn
from tests.examples import examples
from tests.index.support import FakeEmbedder, index, rows_read

if TYPE_CHECKING:
    from collections.abc import Sequence

NOON = datetime(2026, 3, 13, 12, tzinfo=UTC)
TEXTS = (
    "The gateway listens on port 8443.",
    "Which port does the gateway use?",
    "We agreed on 3 May 2026 for the launch.",
    "Ana painted the lake on 4 May 2026.",
    "I don't know.",
    "The lake is quiet today.",
    "Yesterday the launch slipped.",
    "",
)
QUESTIONS = (
    "which port did we agree on for the gateway?",
    "what did Ana say about the lake on 4 May 2026?",
    "when is the launch?",
)
EMBEDDER = FakeEmbedder()
MOST = 20
"""Above every position."""

said = st.tuples(
    st.sampled_from(TEXTS),
    st.sampled_from((None, "Ana", "Bob", "Zoë")),
    st.sampled_from((None, 1, GAP_SECONDS)),
    st.booleans(),
)
stretches = st.lists(said, max_size=6)


def rows(said: Sequence[tuple[str, str | None, int | None, bool]], start: int) -> list[IndexRow]:
    made, moment = [], NOON + timedelta(minutes=start)
    for position, (text, name, seconds, embedded) in enumerate(said, start=start):
        moment += timedelta(seconds=seconds or 0)
        speaks = Role.USER if position % 2 else Role.ASSISTANT
        turn = Turn(position, speaks, text, None if seconds is None else moment, name)
        made.append(_row(turn, EMBEDDER.embed([text])[0].tobytes() if embedded else None))
    return made


def _row(turn: Turn, vector: bytes | None) -> IndexRow:
    stemmed = " ".join(stems(turn.content))
    return IndexRow(index_entry(turn), fold(turn.speaker), turn.created_at, stemmed, vector)


def state_of(made: HotIndex) -> list[object]:
    """The results of every query on an index, exactly."""
    asked = [make_query(each, "", made.speakers, date(2026, 5, 6)) for each in QUESTIONS]
    return [
        made.speakers,
        made.entries(range(MOST)),
        made.decisions(3, MOST),
        [made.search(query, MOST) for query in asked],
        [made.placed(asked[0], MOST, turn) for turn in range(0, MOST, 3)],
    ]


@examples(16)
@given(stretches, stretches, stretches)
def test_after_truncation_the_rows_were_never_there(shared, left, taken):
    first, removed = rows(shared, 1), rows(left, 1 + len(shared))
    later = rows(taken, 1 + len(shared) + len(left))
    made, wanted = HotIndex(EMBEDDER), HotIndex(EMBEDDER)
    for part in (first, removed):
        made.add(part)
    wanted.add(first)
    made.truncate(len(first))
    assert state_of(made) == state_of(wanted)
    made.add(later)
    wanted.add(later)
    assert state_of(made) == state_of(wanted)


def test_nothing_is_removed_if_nothing_comes_after():
    made = HotIndex(EMBEDDER)
    made.truncate(0)
    made.add(rows([(text, None, 1, True) for text in TEXTS], 1))
    before = state_of(made)
    made.truncate(len(TEXTS))
    assert state_of(made) == before


# an open conversation


def answer(memory: Memory, said: Turn, text: str) -> None:
    writer = memory.begin_reply(said, beside=True)
    writer.add(text)
    writer.finish(Status.COMPLETE)
    memory.refresh()


def asked(memory: Memory) -> list[Retrieval]:
    return [memory.retrieve(each, memory.turns[-1].position + 1) for each in QUESTIONS]


def test_on_any_way_through_a_conversation_what_is_found_is_what_a_fresh_start_finds(store, rounds):
    rng = random.Random(0)
    memory = Memory(store, store.create("A talk"), EMBEDDER)
    memory.add_user_turn(TEXTS[0])
    for _ in range(rounds(30, 300)):
        place = rng.choice([turn.position for turn in memory.turns])
        text = rng.choice(TEXTS[:-1])
        step = rng.choice(["say", "fork", "answer", "switch", "fail"])
        if step == "switch":
            memory.switch_to(rng.randrange(1, store.tree(memory.conversation.id).last + 1))
        elif step == "answer":
            answer(memory, memory.turns[-1], text)
        elif step == "fail":
            memory.mark_unanswered(memory.add_user_turn(text))
        else:
            memory.add_user_turn(text, after=place if step == "fork" else None)
        if rng.random() < 0.7:
            index(memory)
        fresh = Memory(store, memory.conversation, EMBEDDER)
        assert asked(memory) == asked(fresh)


def test_on_another_branch_only_turns_after_the_fork_are_loaded(memory, monkeypatch):
    index(memory)
    assert memory.retrieve("gateway?", 9).searched == 4
    loaded = rows_read(monkeypatch)
    memory.add_user_turn("And the gateway of the flag?", after=3)
    index(memory)
    assert memory.retrieve("gateway?", 9).searched == 5
    memory.switch_to(4)
    assert memory.retrieve("gateway?", 9).searched == 4
    assert loaded == [5, 4]
