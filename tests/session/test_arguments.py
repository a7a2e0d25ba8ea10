"""The arguments of a call are text: found, quoted, excerpted and read like an answer."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from jitchat.errors import WindowOverflow
from jitchat.memory import Memory, result_turn
from jitchat.providers.tools import arguments_of
from jitchat.session_options import SessionOptions
from jitchat.store.packed import pack, unpack
from jitchat.store.store import local_now
from jitchat.tools.request_context import RequestContext
from jitchat.tools.source import Step
from jitchat.tui.dialogs.exact import row_screen
from jitchat.tui.widgets.inspector import Inspector
from jitchat.tui.widgets.window_rows import rows_of
from jitchat.values import (
    HANDLE_LARGE_RESULTS,
    REQUEST_CONTEXT,
    Mode,
    Role,
    ToolCall,
    ToolResult,
    ToolUse,
    Turn,
)
from jitchat.why import Standing, why_by_ledger
from jitchat.window.budget import Budget
from jitchat.window.record import segment_fields, window_from
from jitchat.window.render import Quoting, passage_texts
from jitchat.window.steering import Hold, Once
from jitchat.window.tokens import EstimateCounter
from jitchat.window.window import Kind
from jitchat.writing.calls import call_head, full_text, starts_of, texts_of
from tests.session.sending import send
from tests.support import conversation_of, session_on, talk

FIRST_DAY = datetime(2026, 2, 16, 9, tzinfo=UTC)
DOCUMENTS = {
    "english": (
        "The keeper checks the rope of pier {n} before the tide.",
        "The spare key of the lighthouse hangs behind the barometer.",
        "Where does the spare key of the lighthouse hang?",
    ),
    "deutsch": (
        "Der Wärter prüft das Seil an Steg {n} vor der Flut.",
        "Der Ersatzschlüssel des Leuchtturms hängt hinter dem Barometer.",
        "Wo hängt der Ersatzschlüssel des Leuchtturms?",
    ),
    "русский": (
        "Смотритель проверяет канат у причала {n} перед приливом.",
        "Запасной ключ маяка висит за барометром.",
        "Где висит запасной ключ маяка?",
    ),
    "日本語": (
        "桟橋{n}のロープは満潮の前に点検します。",
        "灯台の予備の鍵は気圧計の裏に掛けてあります。",
        "灯台の予備の鍵はどこに掛けてありますか？",
    ),
}


def document(language: str) -> str:
    """300 lines; one in the middle answers the question."""
    line, answer, _ = DOCUMENTS[language]
    lines = [line.format(n=n) for n in range(300)]
    lines[150] = f"\n{answer}\n"
    return "\n".join(lines)


def with_calls(store, *calls: ToolCall, content: str = "", after: int = 60):
    """A session whose turn 2 has these calls, followed by their results and by small talk."""
    said = [
        Turn(1, Role.USER, "Please write it down."),
        Turn(2, Role.ASSISTANT, content, use=ToolUse(calls)),
        *(result_turn(ToolResult(call, "ok"), local_now()) for call in calls),
    ]
    said += [
        Turn(0, Role.USER if n % 2 else Role.ASSISTANT, f"Note {n} about paint and cargo. " * 12)
        for n in range(1, after + 1)
    ]
    dated = [
        Turn(n, each.role, each.content, FIRST_DAY + timedelta(hours=n), each.name, use=each.use)
        for n, each in enumerate(said, start=1)
    ]
    options = SessionOptions(budget=Budget(16_000, size=4_000))
    return session_on(store, conversation_of(store, dated), options=options)


def writing(text: str, identity: str = "c1", name: str = "Write") -> ToolCall:
    given = {"path": "notes/pier.md", "content": text}
    return ToolCall(identity, name, json.dumps(given, ensure_ascii=False))


def segment_of(window, turn: int):
    (found,) = (each for each in window.segments if each.turn == turn)
    return found


@pytest.mark.parametrize("language", DOCUMENTS)
def test_a_written_document_is_found_by_a_word_in_its_middle(store, language):
    _, answer, question = DOCUMENTS[language]
    session = with_calls(store, writing(document(language)))
    there = segment_of(session.preview(question, Mode.JIT), 2)
    assert there.kind is Kind.RETRIEVED
    assert answer in there.text
    assert 'Write {"path": "notes/pier.md", "content": "(below)"}' in there.text
    assert there.excerpt is not None
    assert there.tokens < 0.5 * there.excerpt.whole
    sources = texts_of(session.memory.turns[1])
    for passage, text in zip(there.excerpt.passages, passage_texts(there), strict=True):
        assert passage.call == 1
        assert sources[1][passage.start : passage.end] == text


def test_a_passage_names_the_text_that_it_points_into(store):
    calls = writing(document("english")), writing(document("deutsch"), "c2", "Append")
    session = with_calls(
        store, *calls, content="I write two files on the barometer.\n\n" + "Well then.\n\n" * 60
    )
    question = "spare key, Ersatzschlüssel, two files"
    there = segment_of(session.preview(question, Mode.JIT), 2)
    assert {passage.call for passage in there.excerpt.passages} == {0, 1, 2}
    sources = texts_of(session.memory.turns[1])
    for passage, text in zip(there.excerpt.passages, passage_texts(there), strict=True):
        assert sources[passage.call][passage.start : passage.end] == text
    assert there.excerpt.whole == sum(
        (*there.excerpt.left_out, *(passage.tokens for passage in there.excerpt.passages))
    )
    assert DOCUMENTS["deutsch"][1] in there.text


async def test_an_excerpt_of_a_call_is_sent_stored_and_explained(store):
    _, answer, question = DOCUMENTS["english"]
    session = with_calls(store, writing(document("english")))
    planned = session.preview(question, Mode.JIT)
    await send(session, question)
    assert answer in session.provider.requests[0][-1].content
    segment = segment_of(planned, 2)
    fields = json.loads(json.dumps([segment_fields(each) for each in planned.segments]))
    found = why_by_ledger(planned, 2)
    assert found.standing is Standing.EXCERPT
    assert "spare key of the lighthouse" in str(found)
    for each in fields:
        for passage in each.get("excerpt", {}).get("passages", ()):
            del passage["call"]  # as earlier versions stored it
    header = {
        "mode": "jit",
        "model": "m",
        "counter": "c",
        "exact": True,
        "budget": {"limit": 100, "reserve": 10},
        "full_tokens": 1,
    }
    read = window_from(header, fields, ())
    assert all(passage.call == 0 for passage in segment_of(read, 2).excerpt.passages)
    row = next(row for row in rows_of(planned) if row.turn == 2)
    opened = Inspector.RowOpened(row.title, "", turn=2, passages=segment.excerpt.passages)
    screen = row_screen(opened, store, session.memory.conversation.id)
    marked = [screen._text[start:end] for start, end in screen._marks]
    assert marked == passage_texts(segment)


def test_a_parallel_call_is_quoted_with_all_of_its_calls(store):
    session = with_calls(store, *(writing(f"The hull is grey, coat {n}.", f"c{n}") for n in (1, 2)))
    there = segment_of(session.preview("What was said on the hull, grey, coat?", Mode.JIT), 2)
    assert "The hull is grey, coat 1." in there.text
    assert "The hull is grey, coat 2." in there.text


async def test_a_call_without_text_is_pinned_with_its_arguments(store):
    session = with_calls(store, writing("The mast is red."))
    session.hold(2, Hold.PINNED)
    await send(session, "hello")
    there = segment_of(session.preview("hello", Mode.JIT), 2)
    assert there.kind is Kind.PINNED
    assert "The mast is red." in there.text
    assert "The mast is red." in "".join(each.content for each in session.provider.requests[0])


def test_a_call_without_text_is_sent_when_asked_for_by_number(store):
    session = with_calls(store, writing("The mast is red."))
    there = segment_of(session.preview("Say more on #2.", Mode.JIT), 2)
    assert there.kind is Kind.RETRIEVED
    assert "The mast is red." in there.text


def ask(session, **arguments):
    source = RequestContext(session.memory, session.planning.history_before, session.counter)
    call = ToolCall("c", REQUEST_CONTEXT, json.dumps(arguments))
    window = session.preview("and?", Mode.RECENCY)
    return source._output(call, arguments_of(call), Step(window, 100_000))


def test_request_context_hands_over_the_arguments(store):
    session = with_calls(store, writing("The mast is red."))
    for asked in ({"turn": "#2"}, {"query": "colour of the mast red"}):
        output = ask(session, **asked)
        assert "The mast is red." in output.result.content
        assert 2 in {turn for turn, _ in output.requested.given}


def test_request_context_reads_on_through_content_and_calls(store):
    calls = writing(document("english")), writing(document("русский"), "c2")
    session = with_calls(store, *calls, content="Two files.")
    turn, read, offset = session.memory.turns[1], "", 0
    whole = full_text(turn)
    while offset < len(whole):
        output = ask(session, turn="#2", offset=offset)
        (part,) = (each for each in output.segments if each.excerpt is not None)
        texts, starts = texts_of(turn), starts_of(turn)
        for passage in part.excerpt.passages:
            text = texts[passage.call][passage.start : passage.end]
            begin = starts[passage.call] + passage.start
            assert text in part.text
            assert whole[begin : begin + len(text)] == text
            read += text
        follows = output.result.content.partition("go on with offset ")[2].split(".")[0]
        offset = int(follows) if follows else len(whole)
    assert read == "".join(texts_of(turn))


def test_arguments_that_are_no_json_are_read_as_they_are(store):
    session = with_calls(store, ToolCall("c1", "Write", '{"content": "The buoy is violet'))
    there = segment_of(session.preview("Which buoy is violet?", Mode.JIT), 2)
    assert 'Write {"content": "The buoy is violet' in there.text


def test_strings_nested_in_lists_are_decoded(store):
    edits = [{"old": f"old {n}\nline", "new": f"The winch {n} is oiled.\nDaily."} for n in range(3)]
    session = with_calls(store, ToolCall("c1", "Edit", json.dumps({"edits": edits})))
    there = segment_of(session.preview("Which winch is oiled daily?", Mode.JIT), 2)
    assert "edits[2].new:\nThe winch 2 is oiled.\nDaily." in there.text


def test_forty_short_calls_are_one_turn_found_by_any(store):
    calls = [ToolCall(f"c{n}", "Read", json.dumps({"path": f"cabin{n}.md"})) for n in range(40)]
    session = with_calls(store, *calls)
    there = segment_of(session.preview("What is in cabin31.md?", Mode.JIT), 2)
    assert 'Read {"path": "cabin31.md"}' in there.text


def test_calls_of_jitchats_own_tools_are_no_text(store):
    own = [
        ToolCall(name, name, '{"query": "mast"}')
        for name in (REQUEST_CONTEXT, HANDLE_LARGE_RESULTS)
    ]
    assert texts_of(Turn(2, Role.ASSISTANT, "I look.", use=ToolUse(tuple(own)))) == (
        "I look.",
        "",
        "",
    )
    session = with_calls(store, *own)
    window = session.preview("What about the mast?", Mode.JIT)
    assert 2 not in {segment.turn for segment in window.segments}


def test_the_head_of_a_result_has_the_tool_and_its_short_arguments_only():
    assert call_head(writing("x\n" * 99)) == 'Write {"path": "notes/pier.md"}'
    assert call_head(ToolCall("c", "Read", "{broken")) == "Read"
    assert call_head(ToolCall("c", "Read", "")) == "Read"
    result = result_turn(ToolResult(writing("x" * 5_000), "ok"), local_now())
    assert len(Quoting([result]).whole(result)) < 120


def test_entries_made_before_are_made_again_in_the_background(store):
    session = with_calls(store, writing("The mast is red."))
    memory = session.memory
    turn = memory.turns[1].id
    for table in ("vectors", "index_segments"):
        store.database.execute(f"DELETE FROM {table}")
    store.database.execute(
        "UPDATE index_entries SET texts = ?, stems_version = 0 WHERE turn = ?",
        (pack(["", "", "", ""]), turn),
    )
    opened = Memory(store, memory.conversation)
    assert opened.index.is_behind()
    for _ in opened.index.catch_up():
        pass
    (texts,) = store.database.fetch_one("SELECT texts FROM index_entries WHERE turn = ?", (turn,))
    assert "mast" in unpack(texts, memory.turns[1].content)[-1].split()


def test_what_an_excerpt_may_cost_is_counted_with_the_calls():
    counter = EstimateCounter()
    turn = Turn(2, Role.ASSISTANT, "Two.", use=ToolUse((writing("a\nb"),)))
    quoted = Quoting([turn]).whole(turn)
    assert full_text(turn) in quoted
    assert counter.count(quoted) > counter.count(full_text(turn))


def test_full_is_told_with_how_to_read_its_calls_even_if_it_does_not_fit(store):
    conversation = store.create("A talk")
    document = json.dumps({"text": "The tide is high at pier nine. " * 900})
    call = ToolCall("c1", "Write", document)
    turns = [
        Turn(0, Role.USER, "Write it."),
        Turn(0, Role.ASSISTANT, "", use=ToolUse((call,))),
        Turn(0, Role.TOOL, "Written.", use=ToolUse(answers=call)),
        Turn(0, Role.ASSISTANT, "It is written."),
        *talk(*(f"Topic {number}" for number in range(12))),
    ]
    store.append(conversation.id, turns)
    session = session_on(store, store.conversation(conversation.id))
    full = session.preview("hi", Mode.FULL)
    small = Once(budget=Budget(4_000))
    joined = 4  # tokens by which a message that quotes a call differs from its parts
    told = session.preview("hi", Mode.RECENCY, small).full_tokens
    assert told == pytest.approx(full.used, abs=joined)
    with pytest.raises(WindowOverflow) as refused:
        session.preview("hi", Mode.FULL, small)
    assert refused.value.overshoot == told - small.budget.budget
