"""The inspector's rows."""

from __future__ import annotations

from jitchat.memory.store import ColdStore
from jitchat.tui.widgets.inspector import SINGLY, _rows
from jitchat.turn import Mode
from jitchat.window.window import ContextWindow, Kind, Verdict
from tests.support import conversation_of, demo_session, session_on, talk

QUESTION = "what did we settle on for the deploy window?"


def test_every_segment_and_everything_left_out_has_a_row(store: ColdStore) -> None:
    window = demo_session(store).preview(QUESTION, Mode.JIT)
    rows = _rows(window)
    assert [segment for _, segments, _ in rows for segment in segments] == list(window.segments)
    left = [row for kind, _, row in rows if kind == Verdict.LEFT_OUT]
    assert left == [row for row in window.ledger if row.verdict is Verdict.LEFT_OUT]


def test_a_long_recent_block_is_gathered_and_still_adds_up(store: ColdStore) -> None:
    turns = talk(*(f"point {number}" for number in range(3_000)))
    window = session_on(store, conversation_of(store, turns)).preview("and?", Mode.FULL)
    rows = _rows(window)
    assert len(rows) < SINGLY + 60
    assert [segment for _, segments, _ in rows for segment in segments] == list(window.segments)
    assert _tokens(rows) == window.used


def _tokens(rows: object) -> int:
    return sum(segment.tokens for _, segments, _ in rows for segment in segments)  # type: ignore[attr-defined]


def test_rows_of_a_window_of_draft_and_system_only(store: ColdStore) -> None:
    window: ContextWindow = session_on(store, store.create("Empty")).preview("hello", Mode.JIT)
    assert [kind for kind, _, _ in _rows(window)] == [Kind.SYSTEM, Kind.DRAFT]
