"""A reranker: run once the message is durable, shown in the ledger, stored with the message."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jitchat.events import WindowBuilt
from jitchat.index.cross_encoder import load_cross_encoder
from jitchat.session import Session
from jitchat.session_options import SessionOptions
from jitchat.small_models.reranker import Reranker
from jitchat.values import Mode
from jitchat.why import Explained, why
from jitchat.window.budget import Budget
from jitchat.window.cost import choosing_sentences
from jitchat.window.record import ledger_fields
from jitchat.window.window import RERANKER, Kind
from tests.index.tiny_cross_encoder import MODEL, write_cross_encoder
from tests.session.sending import send, stored_turns
from tests.small_models.support import QUESTION, TURNS, picks, small
from tests.support import conversation_of, sent_window, session_on, talk

if TYPE_CHECKING:
    from pathlib import Path

    from jitchat.store.store import ColdStore


def session_with(store: ColdStore, folder: Path, **options: object) -> tuple[Session, int]:
    """A session with a reranker in fastembed, and the turn it ranks first: the tenth found."""
    made = Reranker(MODEL, lambda: load_cross_encoder(MODEL, folder / "model", folder), 20.0)
    conversation = conversation_of(store, talk(*TURNS))
    chosen = SessionOptions(Budget(size=1_500), reranker=made, **options)  # type: ignore[arg-type]
    session = session_on(store, conversation, options=chosen)
    candidates = session.memory.retrieve(QUESTION, 61).candidates
    liked, next_best = candidates[9].turn, candidates[8].turn
    write_cross_encoder(folder / "model", {str(7 * liked): 50.0, str(7 * next_best): 49.0})
    return session, liked


async def test_the_top_ranked_turn_is_at_full_text_and_the_ranking_is_stored(store, tmp_path):
    session, liked = session_with(store, tmp_path)

    events = await send(session, QUESTION)

    window = next(event.window for event in events if isinstance(event, WindowBuilt))
    loaded = {each.turn: each.reason for each in window.segments if each.kind is Kind.RETRIEVED}
    assert loaded[liked].endswith("rank 10 → 1")
    row = next(row for row in window.ledger if row.turn == liked)
    assert (row.rank, row.rank_before) == (1, 10)
    assert dict(row.parts)[RERANKER] > 0
    assert ledger_fields(row)["rank_before"] == 10
    (sentence,) = choosing_sentences(window)
    ranked = len([row for row in window.ledger if row.rank is not None])
    assert sentence.startswith(f"reranked by {MODEL}: 50 of {ranked} turns, ")
    assert sentence.endswith(", on this machine")
    said = stored_turns(events)[0]
    assert sent_window(session, said) == window
    answer = why(session.memory, Explained(window, QUESTION, said), liked)
    assert f"rank 1 of the {ranked} on the shortlist (10 before the reranker) with" in str(answer)


async def test_the_picker_chooses_from_the_reranked_shortlist(store, tmp_path):
    picker = small()
    session, liked = session_with(store, tmp_path, picker=picker)
    other = session.memory.retrieve(QUESTION, 61).candidates[14].turn
    picker.provider.script = (picks(other),)

    window = await session.preview_picked(QUESTION, Mode.JIT)

    loaded = {each.turn for each in window.segments if each.kind is Kind.RETRIEVED}
    assert {other, liked} <= loaded
    reranked, picked, *_ = choosing_sentences(window)
    assert reranked.startswith("reranked by ")
    assert picked.startswith("picked by ")


def test_a_preview_says_that_the_reranker_was_not_run(store, tmp_path):
    session, _ = session_with(store, tmp_path)
    told = f"reranker {MODEL}: not run before the message is sent; ranking unchanged"
    assert choosing_sentences(session.preview(QUESTION, Mode.JIT)) == [told]
    assert choosing_sentences(session.preview(QUESTION, Mode.RECENCY)) == []
    _, windows = session.compare(QUESTION)
    assert choosing_sentences(windows[Mode.JIT]) == [told]


async def test_the_reranker_is_not_run_if_nothing_is_recalled(store, tmp_path):
    session, _ = session_with(store, tmp_path)
    window = await session.preview_picked(QUESTION, Mode.FULL)
    assert window.reranking is None
