"""A long answer is recalled as an excerpt: sent, stored, replayed and explained."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from jitchat.regression_cases import CaseChecker
from jitchat.replay import Replay
from jitchat.store.regression_cases import Case, CaseKind
from jitchat.tui.views.missing_turn import row_of
from jitchat.values import Mode
from jitchat.why import Standing, why_by_ledger
from jitchat.window.record import segment_fields
from jitchat.window.render import passage_texts
from jitchat.window.window import Kind
from tests.long_answers import QUESTION, long_talk
from tests.session.sending import send
from tests.support import conversation_of, session_on

if TYPE_CHECKING:
    from jitchat.session import Session
    from jitchat.store.store import ColdStore

PASSAGE = """\
## Gateway

The gateway settings that we choose are:

- it listens on port 8443, behind the old proxy
- it runs 12 workers, one a core
- its log goes to the journal

"""


@pytest.fixture
def session(store: ColdStore) -> Session:
    return session_on(store, conversation_of(store, long_talk()))


def test_the_excerpt_has_the_list_with_the_answer_and_little_else(session: Session) -> None:
    window = session.preview(QUESTION, Mode.JIT)
    there = next(each for each in window.segments if each.turn == 4)
    assert there.excerpt is not None
    assert PASSAGE in passage_texts(there)
    assert there.tokens < 0.1 * there.excerpt.whole
    for passage, text in zip(there.excerpt.passages, passage_texts(there), strict=True):
        assert session.memory.turns[3].content[passage.start : passage.end] == text


async def test_a_window_with_an_excerpt_is_stored_and_replayed_byte_for_byte(
    session: Session,
) -> None:
    planned = session.preview(QUESTION, Mode.JIT)
    await send(session, QUESTION)
    replay = Replay(session.memory.store, session.memory.conversation.id)
    replayed = replay.open(replay.sends()[-1])
    assert replayed.is_as_sent
    assert replayed.window.messages() == planned.messages()
    assert replayed.window.segments == planned.segments
    assert replayed.window.ledger == planned.ledger


def test_only_an_excerpt_is_described_as_one(session: Session) -> None:
    window = session.preview(QUESTION, Mode.JIT)
    fields = [json.loads(json.dumps(segment_fields(each))) for each in window.segments]
    described = [each for each in fields if "excerpt" in each]
    assert [each["turn"] for each in described] == [4]
    (found,) = (each["excerpt"] for each in described)
    assert {"start", "end", "tokens", "reason", "call"} == set(found["passages"][0])
    assert len(found["left_out"]) == len(found["passages"]) + 1


def test_why_names_the_passages_and_their_words(session: Session) -> None:
    found = why_by_ledger(session.preview(QUESTION, Mode.JIT), 4)
    assert found is not None
    assert found.standing is Standing.EXCERPT
    assert "excerpt, " in str(found)
    assert "Its passages: “## Gateway The gateway settings" in str(found)
    assert "on “gateway, choose, port, workers”" in str(found)


def test_no_word_of_the_turn_is_changed_in_the_store(session: Session) -> None:
    session.preview(QUESTION, Mode.JIT)
    kept = session.memory.store.turn(session.memory.conversation.id, 4)
    assert kept is not None
    assert kept.content == long_talk()[3].content


def test_naming_the_turn_includes_it_whole(session: Session) -> None:
    window = session.preview(f"{QUESTION} see #4", Mode.JIT)
    there = next(each for each in window.segments if each.turn == 4)
    assert (there.kind, there.excerpt) == (Kind.RETRIEVED, None)
    assert long_talk()[3].content in there.text


async def test_a_case_passes_with_an_excerpt_and_a_user_may_note_either(session: Session) -> None:
    await send(session, QUESTION)
    said, wanted = session.memory.turns[-2], session.memory.turns[3]
    case = Case(said, wanted, CaseKind.MISS, None, session.memory.store.now())
    result = CaseChecker(session).check(case)
    assert (result.passes, result.now) == (True, Standing.EXCERPT)
    row = row_of(wanted, session.preview(QUESTION, Mode.JIT), None)
    assert (row.standing, row.is_there) == ("excerpt", None)
