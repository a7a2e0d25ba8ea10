"""The demo's window in each mode, as it is sent: the product's contract, read in review.

`JITCHAT_WRITE_GOLDEN=1 pytest tests/window/test_golden.py` writes the files anew.
"""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jitchat.distil import distil
from jitchat.files.named import attach, require_named
from jitchat.index.builtin_embedder import BuiltinEmbedder
from jitchat.providers.reader import answer
from jitchat.session_options import SessionOptions
from jitchat.store.database import Database
from jitchat.store.store import ColdStore
from jitchat.transfer.demo import store_demo
from jitchat.values import Mode
from jitchat.window.budget import Budget
from jitchat.window.steering import Hold
from jitchat.window.window import ContextWindow, Kind, Segment
from tests import long_answers
from tests.conftest import FixedClock
from tests.long_answers import long_talk
from tests.session.sending import typed
from tests.support import TALK, conversation_of, session_on, talk
from tests.window.cases import turns_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jitchat.session import Session

GOLDEN = Path(__file__).parent / "golden"
WRITE = "JITCHAT_WRITE_GOLDEN" in os.environ
QUESTION = "what did we settle on for the deploy window?"
DECISION = "Decision: the deploy window is Tuesday 02:00 UTC."


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """The demo, indexed; a test that holds a turn lets go of it."""
    database = Database(tmp_path_factory.mktemp("golden") / "cold.db")
    store = ColdStore(database, FixedClock())
    options = SessionOptions(budget=Budget(size=1_500))
    yield session_on(store, store_demo(store), embedder=BuiltinEmbedder(), options=options)
    database.close()


def drawn(window: ContextWindow) -> str:
    """The window on paper: what is sent, with a note on each piece in the margin."""
    head = f"mode {window.mode.value} · {len(window.segments)} segments\n"
    return head + "".join(_messages(window)) + "".join(_ledger(window))


def _messages(window: ContextWindow) -> Iterator[str]:
    left = list(window.segments)
    for message in window.messages():
        yield f"\n──── {message.role.value} {'─' * (90 - len(message.role.value))}\n"
        text = ""
        while text != message.content:
            segment = left.pop(0)
            text += segment.text
            yield f"[{_note(segment)}]\n{segment.text}"
            yield "" if segment.text.endswith("\n") else "\n"


def _note(segment: Segment) -> str:
    turn = f" #{segment.turn}" if segment.turn is not None else ""
    return f"{segment.kind.value}{turn}: {segment.reason}"


def _ledger(window: ContextWindow) -> Iterator[str]:
    yield f"\n──── ledger {'─' * 84}\nturn  rank  verdict    reason\n"
    for row in window.ledger:
        rank = "" if row.rank is None else row.rank
        yield f"{f'#{row.turn}':>4}  {rank:>4}  {row.verdict.value:<9}  {row.reason}\n"
    for row in window.files:
        turn, verdict = f"#{row.file and row.file.turn}", row.verdict.value
        yield f"{turn:>4}        {verdict:<9}  {row.name}: {row.reason}\n"
    if (never := window.never_candidates) is not None:
        yield f"{never.sentence} ({never.tokens:,} tokens)\n"


@pytest.mark.parametrize("mode", list(Mode))
def test_the_demos_window_is_the_one_on_file(demo, mode):
    asyncio.run(distil(demo.memory, mode, demo.counter, Budget().limit))
    text, path = drawn(demo.preview(QUESTION, mode)), GOLDEN / f"{mode.value}.txt"
    if WRITE:
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "holds", "draft"),
    [
        ("jit-pinned", {4: Hold.PINNED}, QUESTION),
        ("jit-excluded", {9: Hold.EXCLUDED, 59: Hold.EXCLUDED}, QUESTION),
        ("jit-asked", {}, "and what was said in #12?"),
    ],
)
def test_the_demos_steered_window_is_the_one_on_file(demo, name, holds, draft):
    for position, hold in holds.items():
        demo.hold(position, hold)
    text, path = drawn(demo.preview(draft, Mode.JIT)), GOLDEN / f"{name}.txt"
    for position in holds:
        demo.hold(position, None)
    if WRITE:
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def test_the_window_with_an_excerpt_is_the_one_on_file(store):
    options = SessionOptions(budget=Budget(size=4_000))
    session = session_on(store, conversation_of(store, long_talk()), options=options)
    text, path = drawn(session.preview(long_answers.QUESTION, Mode.JIT)), GOLDEN / "jit-excerpt.txt"
    if WRITE:
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("mode", [Mode.JIT, Mode.FULL])
def test_the_window_with_files_is_the_one_on_file(store, tmp_path, mode):
    (tmp_path / "note.txt").write_text("The key is under the mat.\n")
    chatter = "The weather in the harbour was fair, and nobody said much about it.\n" * 30
    (tmp_path / "guide.md").write_text(
        f"# Install\n{chatter}\n# Ports\nThe gateway listens on port 8443.\n\n# Licence\n{chatter}"
    )
    session = session_on(store, conversation_of(store, talk(*TALK)))
    session.folder = tmp_path
    session.options = replace(session.options, budget=Budget(size=900))
    session.memory.add_user_turn(
        "Read @guide.md, please.", files=attach([require_named("guide.md", tmp_path)], tmp_path)
    )
    draft = "Which port does the gateway listen on, by @note.txt?"
    text, path = (
        drawn(session.preview(draft, mode, typed(draft))),
        GOLDEN / f"{mode.value}-files.txt",
    )
    if WRITE:
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def test_jit_brings_the_decision_back_at_full_text(demo):
    window = demo.preview(QUESTION, Mode.JIT)
    assert 9 in turns_of(window, Kind.RETRIEVED)
    assert DECISION in window.messages()[-1].content
    assert window.messages()[-1].content.endswith(QUESTION)
    assert window.used <= 0.4 * window.full_tokens


def test_recency_has_forgotten_it(demo):
    window = demo.preview(QUESTION, Mode.RECENCY)
    recent = turns_of(window, Kind.RECENT)
    assert recent
    assert min(recent) >= 40
    assert all(DECISION not in message.content for message in window.messages())


def test_the_reader_knows_it_from_what_it_is_given_and_from_nothing_else(demo):
    answers = {mode: answer(demo.preview(QUESTION, mode).messages()) for mode in Mode}
    told = f"“{DECISION}” (#9, assistant, Mon 2026-03-02)"
    assert (answers[Mode.FULL], answers[Mode.JIT]) == (told, told)
    assert answers[Mode.RECENCY].startswith("No answer in this window. ")
