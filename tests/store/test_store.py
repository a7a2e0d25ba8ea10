"""Conversations and turns, stored and read."""

from __future__ import annotations

import random
import shutil
import time
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.draft import GO_ON, Draft
from jitchat.errors import StoreUnreadable, UnknownConversation
from jitchat.store.database import Database
from jitchat.store.drafts import sent_drafts
from jitchat.store.replies import ReplyWriter
from jitchat.store.store import ColdStore
from jitchat.store.windows import WindowArchive, WindowRecord
from jitchat.text import figures
from jitchat.values import Echo, Mode, Role, Status, ToolCall, ToolUse, Turn
from tests.examples import examples
from tests.store.support import require_complete_index
from tests.support import ScriptedProvider, conversation_of, session_on, talk, turn

if TYPE_CHECKING:
    from collections.abc import Iterator


def test_a_turn_is_stored_unchanged(store):
    made = store.create("Talk")
    moment = datetime(2023, 5, 8, 13, 56, tzinfo=timezone(timedelta(hours=2)))
    said = Turn(0, Role.TOOL, "  one\r\n\ttwo ", moment, "Ann Lee", Status.CUT)
    stored = store.append(made.id, [said])
    assert store.turns(made.id) == stored
    assert stored[0] == Turn(1, Role.TOOL, "  one\r\n\ttwo ", moment, "Ann Lee", Status.CUT)
    assert stored[0].id > 0


@pytest.fixture
def in_tokyo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    figures.zone_at.cache_clear()
    yield
    monkeypatch.undo()
    time.tzset()
    figures.zone_at.cache_clear()


@pytest.mark.usefixtures("in_tokyo")
@pytest.mark.skipif(not hasattr(time, "tzset"), reason="needs a settable zone")
def test_all_times_are_read_as_local_ones_wherever_a_turn_is_from(store):
    """A day begins with the user's midnight for imported turns as for own ones."""
    moment = datetime(2026, 5, 8, 16, 56, tzinfo=UTC)
    conversation = conversation_of(store, [Turn(1, Role.USER, "hello", moment)])
    read = store.turns(conversation.id)[0]
    window = session_on(store, conversation, ScriptedProvider()).preview("and then?", Mode.FULL)

    assert read.created_at == moment
    assert f"{read.created_at:%a %d %H:%M}" == "Sat 09 01:56"
    assert window.segments[1].text.startswith("[Sat 2026-05-09]")
    assert store.conversation(conversation.id).updated_at.utcoffset() == timedelta(hours=9)


def test_positions_are_given_in_order_whatever_the_turns_say(store):
    made = store.create("Talk")
    store.append(made.id, [Turn(9, Role.USER, "a"), Turn(3, Role.ASSISTANT, "b")])
    store.append(made.id, [Turn(1, Role.USER, "c")])
    assert [(turn.position, turn.content) for turn in store.turns(made.id)] == [
        (1, "a"), (2, "b"), (3, "c"),
    ]  # fmt: skip
    assert [turn.content for turn in store.turns(made.id, after=2)] == ["c"]


def test_equal_texts_are_two_turns(store):
    made = store.create("Talk")
    store.append(made.id, talk("same", "same"))
    assert len({turn.id for turn in store.turns(made.id)}) == 2


def test_conversations_are_ordered_by_use_never_by_the_clock(database):
    days = iter(datetime(2026, 3, 13, tzinfo=UTC) - timedelta(days=number) for number in range(99))
    store = ColdStore(database, lambda: next(days))
    first, second = store.create("First"), store.create("Second")
    assert [each.id for each in store.conversations()] == [second.id, first.id]
    store.append(first.id, talk("hello"))
    assert store.latest() == store.conversation(first.id)
    assert [each.turns for each in store.conversations()] == [1, 0]


def test_turns_keep_their_order_however_the_clock_jumps(database, rounds):
    chance = random.Random(9)
    store = ColdStore(database, lambda: datetime.fromtimestamp(chance.randrange(4 * 10**9), UTC))
    made = store.create("Talk")
    said = [f"turn {number}" for number in range(rounds(100, 1_000))]
    for text in said:
        store.append(made.id, [Turn(0, Role.USER, text, store.now())])
    assert [turn.content for turn in store.turns(made.id)] == said


def test_a_time_without_a_zone_is_read_as_utc(store):
    made = store.create("Talk")
    naive = datetime(2026, 3, 13, 10)  # noqa: DTZ001  as a careless import gives it
    store.append(made.id, [Turn(0, Role.USER, "a", naive)])
    assert store.turns(made.id)[0].created_at == datetime(2026, 3, 13, 10, tzinfo=UTC)


def test_ids_are_readable_and_unique(store):
    made = [store.create(title, wanted).id for title, wanted in (
        ("a", None), ("b", None), ("c", "My Talk!"), ("d", "my-talk"), ("e", "…"), ("f", "../x"),
    )]  # fmt: skip
    assert made == ["chat-1", "chat-2", "my-talk", "my-talk-2", "chat", "x"]


def test_a_conversation_is_found_by_id_or_by_a_title_of_its_own(store):
    first = store.create("Release plan", "plan")
    store.create("Twice")
    store.create("Twice")
    assert store.conversation("plan").id == first.id
    assert store.conversation("release PLAN").id == first.id
    for wanted in ("Twice", "nothing", "", "\ud800"):
        with pytest.raises(UnknownConversation):
            store.conversation(wanted)


def test_an_empty_store_says_how_to_start(store):
    assert store.latest() is None
    with pytest.raises(UnknownConversation, match="Import one"):
        store.conversation("x")


def test_a_title_is_one_line(store):
    made = store.create("a\x1b[2J\nb\0\ud800")
    assert made.title == store.conversation(made.id).title == "a\x1b[2J b␀\ufffd"
    store.rename(made.id, "c\r\nd")
    assert store.conversation(made.id).title == "c d"


def test_prompts_are_what_was_sent_from_here_newest_first(store):
    record = WindowRecord("digest", {}, [], [])
    archive = WindowArchive(store.database)
    for asks in ("A asks", "B asks", GO_ON):
        asked, _ = store.append(store.create(asks).id, talk(asks, "An answer."))
        archive.put(asked.id, record)
    store.append(store.create("C").id, talk("C asks, in a file that was imported"))
    latest = [draft.text for draft in sent_drafts(store.database, 5)]
    assert latest == ["B asks", "A asks"]
    assert sent_drafts(store.database, 1) == [Draft.foreign("B asks")]


def test_a_word_is_found_in_any_conversation_by_its_stem_and_its_beginning(store):
    first, second = store.create("A"), store.create("B")
    store.append(first.id, talk("We deployed Café Noir on Friday.", "Nothing."))
    store.append(second.id, talk("Nothing.", "Deploying again?"))
    assert {found[:2] for found in store.search("deploy")} == {(first.id, 1), (second.id, 2)}
    assert [found[:2] for found in store.search("noir cafe")] == [(first.id, 1)]
    assert [found[:2] for found in store.search("fri")] == [(first.id, 1)]
    assert store.search("deploy tuesday") == []
    assert len(store.search("deploy", limit=1)) == 1


def test_text_without_spaces_is_found_by_any_part_of_it(store):
    made = store.create("A")
    store.append(made.id, talk("来週の金曜日に東京で会議があります。", "はい。"))
    assert [found[:2] for found in store.search("東京")] == [(made.id, 1)]
    assert [found[:2] for found in store.search("会議 東京")] == [(made.id, 1)]
    assert store.search("大阪") == store.search("東京 大阪") == []


def test_an_excerpt_is_one_short_line(store):
    made = store.create("A")
    store.append(made.id, talk("needle\n\x1b[2J" + "x" * 10_000, "漢" * 10_000))
    for wanted in ("needle", "漢漢"):
        excerpt = store.search(wanted)[0][2]
        assert len(excerpt) <= 160
        assert "\n" not in excerpt


def test_a_reply_is_found_by_its_final_text_only(store):
    made = store.create("A")
    store.append(made.id, talk("Well?"))
    writer = ReplyWriter(store, made.id)
    writer.add("alph")
    writer.save()
    assert store.search("alph") == []
    writer.add("abet")
    writer.finish(Status.COMPLETE)
    assert store.search('"alph"') == []
    assert store.search("alphabet")[0].position == 2
    require_complete_index(store.database)


def test_a_turn_of_ten_million_characters_is_kept_whole(store):
    made = store.create("Talk")
    store.append(made.id, talk("x" * 10_000_000))
    assert len(store.turns(made.id)[0].content) == 10_000_000


def test_turns_are_stored_all_or_none(store):
    made = store.create("Talk")

    def broken():
        yield from talk("one", "two")
        raise RuntimeError("the file ended")

    with pytest.raises(RuntimeError):
        store.append(made.id, broken())
    assert store.turns(made.id) == []


def test_a_damaged_list_of_conversations_is_reported(store):
    store.create("Talk")
    with store.database.write() as connection:
        connection.execute("UPDATE conversations SET created_at = 'never'")
    with pytest.raises(StoreUnreadable):
        store.conversations()


@examples(12)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(list(Role)), st.text(max_size=80), st.none() | st.text(max_size=20)
        ),
        max_size=8,
    )
)
def test_any_text_is_stored_unchanged(tmp_path_factory, empty_database, turns):
    folder = tmp_path_factory.mktemp("store")
    database = Database(Path(shutil.copy(empty_database, folder / "cold.db")))
    store = ColdStore(database)
    made = store.create("Talk")
    stored = store.append(made.id, [Turn(0, role, text, None, name) for role, text, name in turns])
    assert store.turns(made.id) == stored
    assert [turn.content for turn in stored] == [text.replace("\0", "␀") for _, text, _ in turns]
    database.close()


def test_tool_calls_and_results_are_stored_with_their_turn(store):
    call = ToolCall("call_1", "search", '{"query": "port \ud83d"}')
    asked = Turn(0, Role.ASSISTANT, "", use=ToolUse((call,), Echo("openai:x/m", "{}")))
    found = Turn(0, Role.TOOL, "8443", name="search", use=ToolUse(answers=call, is_error=True))
    identity = conversation_of(store, [turn(1, "Which port?")]).id
    stored = store.append(identity, [asked, found])
    assert store.turns(identity)[1:] == stored
    assert [each.use for each in stored] == [asked.use, found.use]


def test_a_conversation_is_read_by_its_id_without_the_others(store):
    made = store.create("Talk")
    for number in range(3):
        store.create(f"Other {number}")
    with store.database.write() as connection:
        connection.execute("UPDATE conversations SET created_at = 'x' WHERE id <> ?", (made.id,))
    assert store.conversation(made.id) == made
