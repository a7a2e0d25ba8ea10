"""Unusual conversations and drafts: an exact window, or a refusal with a reason."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import pytest

from jitchat.errors import WindowOverflow
from jitchat.index.embedder import Embedder
from jitchat.session_options import SessionOptions
from jitchat.transfer.demo import store_demo
from jitchat.values import Mode, Status
from jitchat.window.budget import Budget
from jitchat.window.window import ContextWindow, Kind
from tests.index.support import FakeEmbedder
from tests.session.sending import failures, kinds, reply_text, send
from tests.support import conversation_of, demo_session, session_on, talk
from tests.window.cases import turns_of

if TYPE_CHECKING:
    from jitchat.store.store import ColdStore

ROOMY = SessionOptions(budget=Budget(limit=200_000, reserve=1_000))
TIGHT = SessionOptions(budget=Budget(limit=4_000, reserve=500))
DIFFERENT = " ".join(f"word{number}" for number in range(3_000))
LONG = {
    "words": ("what was the port of the gateway, again? " * 2_500)[:100_000],
    "one word": "x" * 20_000,
    "all different": DIFFERENT,
    "stop words": "what is it of the and " * 1_000,
    "no letters": "?!" * 10_000,
    "lines": "\n" * 19_999 + "x",
    "another script": "漢字" * 10_000,
}


def check_sum(window: ContextWindow) -> None:
    used = sum(segment.tokens for segment in window.segments)
    assert used + window.free + window.budget.reserve == window.budget.limit
    assert window.messages()[-1].content.endswith(window.segments[-1].text)


@pytest.mark.parametrize("mode", list(Mode))
async def test_an_empty_conversation_is_answered(store: ColdStore, mode: Mode):
    session = session_on(store, store.create("Empty"), embedder=FakeEmbedder())
    window = session.preview("what was the port?", mode)
    check_sum(window)
    assert [segment.kind for segment in window.segments] == [Kind.SYSTEM, Kind.DRAFT]
    assert (window.ledger, window.never_candidates) == ((), None)
    events = await send(session, "what was the port?", mode)
    assert reply_text(events)
    assert [turn.status for turn in session.memory.turns] == [Status.COMPLETE] * 2


def test_the_only_turn_of_a_conversation_is_sent(store: ColdStore):
    said = conversation_of(store, talk("The port is 9641."))
    session = session_on(store, said, embedder=FakeEmbedder())
    for case in product(Mode, ["what was the port?", "", "the of and"]):
        mode, draft = case
        window = session.preview(draft, mode)
        check_sum(window)
        assert turns_of(window, Kind.RECENT) == [1], case
        assert window.used == window.full_tokens, case
        assert window.never_candidates is None, case


async def test_a_draft_of_stop_words_recalls_nothing_and_is_sent(store: ColdStore):
    session = demo_session(store)
    for draft in ("the of and is", "is at of the"):
        window = session.preview(draft, Mode.JIT)
        check_sum(window)
        assert window.shortlist.rows == (), draft
        assert window.never_candidates is not None
        assert window.never_candidates.reason == "nothing in them matched", draft
    events = await send(session, draft)
    assert not failures(events)
    assert kinds(events)[-1] == "TurnIndexed"


def test_a_draft_of_stop_words_uses_the_message_it_refers_to(store: ColdStore):
    turns = talk("Our gateway is blue.", "Noted.", *["Nothing new."] * 40, "Which gateway?", "Hm.")
    session = session_on(store, conversation_of(store, turns))
    window = session.preview("what is it?", Mode.JIT)
    check_sum(window)
    assert window.ledger[0].turn == 1


def test_a_draft_of_20_to_100_kb_has_an_exact_window(store: ColdStore, builtin: Embedder):
    session = session_on(store, store_demo(store), embedder=builtin, options=ROOMY)
    for name, text in LONG.items():
        assert len(text) >= 20_000, name
        for mode in Mode:
            window = session.preview(text, mode)
            check_sum(window)
            assert window.segments[-1].text.endswith(text), (name, mode)
            assert window.used <= window.full_tokens, (name, mode)


async def test_a_draft_that_cannot_fit_is_refused_and_returned(store: ColdStore):
    session = session_on(store, store_demo(store), options=TIGHT)
    for mode in Mode:
        draft = f"{mode} {DIFFERENT}"
        with pytest.raises(WindowOverflow, match=r"needs .* more than the budget of "):
            session.preview(draft, mode)
        (failed,) = failures(await send(session, draft, mode))
        assert isinstance(failed.error, WindowOverflow), mode
        assert failed.draft == draft
        said = session.memory.turns[-1]
        assert (said.content, said.status) == (draft, Status.UNANSWERED)
