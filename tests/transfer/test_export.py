"""Exports: JSON that imports unchanged; Markdown, HTML and JSONL for people and servers."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from io import StringIO
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from jitchat.files.load import attachment_of
from jitchat.store.attachments import AttachmentStore
from jitchat.store.database import Database
from jitchat.store.path import Path as TreePath
from jitchat.store.pins import OwnInstructions, Pins
from jitchat.store.reply_notes import PUT_NOTE, ReplyNote, note_row
from jitchat.store.store import ColdStore
from jitchat.text.sanitize import one_line, repair
from jitchat.transfer.exports import EXPORTS
from jitchat.transfer.formats import conversations_of
from jitchat.transfer.source import open_source
from jitchat.values import (
    NO_TOOL_USE,
    Echo,
    Form,
    Instructions,
    Mode,
    Role,
    Shortened,
    Status,
    ToolCall,
    ToolUse,
    Turn,
    Usage,
)
from tests.examples import examples
from tests.support import demo_session, talk
from tests.transfer import exports
from tests.transfer.files import take, written

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from jitchat.attachments import Attachment

NOW = datetime(2026, 3, 13, 10, tzinfo=UTC)


def exported(store: ColdStore, name: str) -> str:
    """Export all conversations in a format."""
    written_to = StringIO()
    EXPORTS[name].write(store, store.conversations(), written_to.write)
    return written_to.getvalue()


@pytest.fixture(scope="module")
def opened(
    tmp_path_factory: pytest.TempPathFactory, empty_database: Path
) -> Callable[[], AbstractContextManager[Callable[[], ColdStore]]]:
    """Opens empty stores, and closes them: made-up cases need more of them than can be open."""
    base = tmp_path_factory.getbasetemp()

    @contextmanager
    def begun() -> Iterator[Callable[[], ColdStore]]:
        numbers = count()
        with TemporaryDirectory(dir=base) as folder, ExitStack() as stack:

            def make() -> ColdStore:
                path = Path(folder) / f"{next(numbers)}.db"
                database = Database(shutil.copy(empty_database, path) and path)
                stack.callback(database.close)
                with database.writing() as connection:
                    connection.execute("PRAGMA synchronous = OFF")
                return ColdStore(database, lambda: NOW)

            yield make

    return begun


@pytest.fixture
def stores(opened) -> Iterator[Callable[[], ColdStore]]:
    """Makes an empty store."""
    with opened() as make:
        yield make


texts = st.text(max_size=20)
moments = st.none() | st.integers(0, 10**6).map(lambda seconds: NOW + timedelta(seconds=seconds))
calls = st.builds(ToolCall, st.text(min_size=1, max_size=4), texts, texts)
uses = st.just(NO_TOOL_USE) | st.builds(
    ToolUse,
    st.lists(calls, max_size=2).map(tuple),
    st.none() | st.builds(Echo, texts, texts),
    st.none() | calls,
    st.booleans(),
    st.none() | st.builds(Shortened, texts, st.sampled_from(Form)),
    st.none() | st.floats(0, 1e6),
)
turns = st.builds(
    Turn,
    st.just(0),
    st.sampled_from([Role.USER, Role.ASSISTANT, Role.TOOL]),
    texts,
    moments,
    st.none() | st.text("abc", min_size=1, max_size=5),
    st.sampled_from([status for status in Status if status is not Status.STREAMING]),
    use=uses,
)


counts = st.integers(0, 10**6)
usages = st.builds(Usage, counts, counts, counts, counts, counts, st.none() | st.floats(0, 9))
names = st.text("abc-", max_size=9)
stops = st.none() | st.sampled_from(["stop", "length"])
costs = st.none() | st.floats(0, 9)
notes = st.builds(ReplyNote, names, names, stops, st.none() | usages, costs)


@st.composite
def trees(draw: st.DrawFn) -> list[tuple[Turn, int, str, ReplyNote]]:
    """Return turns with the position that each follows, its reasoning and its figures."""
    listed = draw(st.lists(turns, min_size=1, max_size=8))
    return [
        (
            replace(turn, question=draw(st.integers(1, place) if place else st.none())),
            draw(st.integers(0, place)),
            draw(st.just("") | texts),
            draw(notes),
        )
        for place, turn in enumerate(listed)
    ]


FILES = [
    attachment_of(
        "notes.md", f"# Tides\n{'High at six. ' * 200}\n## Low\nAt noon.".encode(), "/a/b"
    ),
    attachment_of("old.txt", b"caf\xe9", "/home/ann/old.txt", 5.25),
    attachment_of("shot.png", exports.PNG),
]
attached = st.dictionaries(st.integers(1, 8), st.permutations(FILES).map(lambda all_: all_[:2]))
marks = st.tuples(st.booleans(), st.booleans(), st.sets(st.sampled_from(["work", "später"])))


def attach(store: ColdStore, conversation: str, files: dict[int, list[Attachment]]) -> None:
    for position, each in files.items():
        if turn := store.turn(conversation, position):
            AttachmentStore(store.database, conversation).put(turn, each)


def put_details(store: ColdStore, turn: Turn, reasoning: str, note: ReplyNote) -> None:
    if reasoning:
        row = (turn.id, repair(reasoning))
        store.database.execute("INSERT INTO reasoning VALUES (?, ?)", row)
    store.database.execute(PUT_NOTE, note_row(turn.id, note))


def mark(store: ColdStore, name: str, *, is_given: bool, is_archived: bool, tags: set[str]) -> None:
    statement = "UPDATE conversations SET title_given = ? WHERE id = ?"
    store.database.execute(statement, (is_given, name))
    store.archive(name, archived=is_archived)
    store.tag(name, tags)


instructions = st.builds(Instructions, st.none() | texts, st.sampled_from([None, "", "reviewer"]))


REPORT = Shortened("The head and the tail.")


@examples(40)
@example(
    tree=[(Turn(0, Role.TOOL, "All of it.", use=ToolUse(form=REPORT)), 0, "", ReplyNote())],
    places=(1, 1),
    title="Previews",
    own=Instructions(),
    files={},
    marks=(False, False, set()),
)
@given(
    tree=trees(),
    places=st.tuples(st.integers(1, 8), st.integers(1, 8)),
    title=texts.filter(one_line),
    own=instructions,
    files=attached,
    marks=marks,
)
def test_a_json_export_is_imported_unchanged(
    opened, tmp_path_factory, tree, places, title, *, own, files, marks
):
    with opened() as make:
        one, other = make(), make()
        made = one.create(title)
        for turn, under, reasoning, note in tree:
            (stored,) = one.append(made.id, [turn], under)
            put_details(one, stored, reasoning, note)
        head, pinned = places
        one.switch_to(made.id, min(head, len(tree)))
        Pins(one.database).put(one.turn(made.id, min(pinned, len(tree))), "pinned")
        OwnInstructions(one.database).put(made.id, own)
        attach(one, made.id, files)
        mark(one, made.id, is_given=marks[0], is_archived=marks[1], tags=marks[2])
        text = exported(one, "json")

        path = written(tmp_path_factory.mktemp("x"), "talk.json", text)
        (taken,) = take(other, path)

        assert not taken.tally.skipped
        assert exported(other, "json") == text
        assert other.turns(made.id) == one.turns(made.id)
        has = [OwnInstructions(each.database).get(made.id) for each in (one, other)]
        assert has == [replace(own, system=has[0].system)] * 2
        every = [
            AttachmentStore(each.database, made.id).of(TreePath(((1, len(tree)),)))
            for each in (one, other)
        ]
        assert every[0] == every[1]
        assert other.lacks_title(made.id) is not marks[0]
        assert other.conversation(made.id).tags == one.conversation(made.id).tags
        assert not any(each.added for each in (*take(other, path), *take(one, path)))
        assert exported(one, "json") == text


def test_an_id_that_is_not_valid_text_is_repaired(store: ColdStore, stores, tmp_path: Path):
    made = store.create("Harbour")
    store.append(made.id, talk("The crane is red."))
    value = json.loads(exported(store, "json"))
    value["conversations"][0]["id"] = "x\ud800"
    path = written(tmp_path, "talk.json", value)

    other = stores()
    assert [(each.id, each.added) for each in (*take(other, path), *take(other, path))] == [
        ("x", 1),
        ("x", 0),
    ]


def test_an_export_without_newer_fields_is_imported(store: ColdStore, stores, tmp_path: Path):
    made = store.create("Talk")
    store.append(made.id, [Turn(0, Role.USER, "one")])
    value, other = json.loads(exported(store, "json")), stores()
    for name in ("files", "tags", "archived", "title_given"):
        value["conversations"][0].pop(name, None)

    take(other, written(tmp_path, "old.json", value))

    assert exported(other, "json") == exported(store, "json")


def test_an_export_with_the_windows_of_earlier_versions_is_imported_without_them(
    store: ColdStore, stores, tmp_path: Path
):
    made = store.create("Talk")
    store.append(made.id, [Turn(0, Role.USER, "one")])
    value, other = json.loads(exported(store, "json")), stores()
    window = {"turn": 1, "segments": [{"kind": "turn", "text": "one"}], "ledger": [{"turn": 1}]}
    value["conversations"][0] |= {"windows": [window], "passes": [{"first": 1, "last": 1}]}

    take(other, written(tmp_path, "old.json", value))

    assert exported(other, "json") == exported(store, "json")


def test_files_of_turns_added_since_the_last_import_are_imported(
    store: ColdStore, stores, tmp_path: Path
):
    made, other = store.create("Talk"), stores()
    store.append(made.id, [Turn(0, Role.USER, "one")])
    take(other, written(tmp_path, "before.json", exported(store, "json")))
    store.append(made.id, [Turn(0, Role.USER, "two")])
    attach(store, made.id, {2: FILES})

    take(other, written(tmp_path, "after.json", exported(store, "json")))

    listed = AttachmentStore(other.database, made.id).listed()
    assert [(file.turn, file.name) for file in listed] == [
        (2, "notes.md"), (2, "old.txt"), (2, "shot.png"),
    ]  # fmt: skip


def test_an_exported_import_keeps_its_original_source(store: ColdStore, stores, tmp_path: Path):
    chats = written(tmp_path, "conversations.json", [exports.chatgpt_talk()])
    take(store, chats)
    other = stores()
    take(other, written(tmp_path, "own.json", exported(store, "json")))

    assert not any(each.added for each in take(other, chats))
    assert exported(other, "json") == exported(store, "json")


def test_turns_added_after_an_export_stay_and_turns_of_the_copy_become_a_branch(
    store: ColdStore, stores, tmp_path: Path
):
    made = store.create("Talk")
    store.append(made.id, [Turn(0, Role.USER, "one"), Turn(0, Role.ASSISTANT, "two")])
    other = stores()
    take(other, written(tmp_path, "own.json", exported(store, "json")))
    other.append(made.id, [Turn(0, Role.USER, "there")])
    store.append(made.id, [Turn(0, Role.USER, "here")])

    (taken,) = take(store, written(tmp_path, "other.json", exported(other, "json")))

    assert (taken.added, taken.is_new, taken.id) == (1, False, made.id)
    assert [turn.content for turn in store.turns(made.id)] == ["one", "two", "here"]
    assert store.branches(made.id) == {3: (3, 4)}


def sent_talk(store: ColdStore) -> None:
    """Send two messages in the demo, so that each has a window and a reply."""
    session = demo_session(store)

    async def send() -> None:
        for draft, mode in (("When is the deploy window?", Mode.JIT), ("Sure?", Mode.RECENCY)):
            async for _ in session.send(draft, mode):
                pass

    asyncio.run(send())


DAMAGES = [
    ("files", {"data": "no base64!"}),
    ("files", {"digest": "0" * 64}),
    ("files", {"parts": [["", 5, "other"]]}),
    ("turns", {"role": "system"}),
    ("turns", {"status": "streaming"}),
    ("turns", {"content": None}),
    ("turns", {"key": "no hexadecimal!"}),
    ("turns", {"id": 5}),
    ("turns", {"tools": {"calls": 5}}),
    ("turns", {"tools": {"calls": [{"id": 1}]}}),
]


@pytest.mark.parametrize(("name", "change"), DAMAGES)
def test_damaged_items_of_a_json_export_are_counted_and_the_rest_imported(
    store: ColdStore, stores, tmp_path: Path, name: str, change: dict[str, object]
):
    sent_talk(store)
    attach(store, store.conversations()[0].id, {1: FILES})
    value, other = json.loads(exported(store, "json")), stores()
    value["conversations"][0][name][0] |= change

    (taken,) = take(other, written(tmp_path, "talk.json", value))

    (reason,) = taken.tally.skipped
    expected = {"turns": "turn that", "files": "file that"}
    assert reason.startswith(expected[name])
    exported(other, "json")


def test_an_export_of_another_format_version_is_refused(store: ColdStore, tmp_path: Path):
    path = written(tmp_path, "t.json", {"format": "jitchat", "version": 9, "conversations": []})

    with pytest.raises(Exception, match="another version of jitchat"):
        list(conversations_of(open_source(path)))


HOSTILE = "<script>alert(1)</script>\x1b[31m\u202e</pre>\n````\n# no heading"


def hostile_talk(store: ColdStore) -> None:
    made = store.create("T <b>itle\x1b[2J")
    call = ToolCall("c1", "<i>ls</i>", '{"a": "</details>"}')
    store.append(
        made.id,
        [
            Turn(0, Role.USER, HOSTILE, NOW, "<Ann>"),
            Turn(0, Role.ASSISTANT, "", use=ToolUse((call,))),
            Turn(0, Role.TOOL, HOSTILE, name="ls", use=ToolUse(answers=call)),
            Turn(0, Role.ASSISTANT, "Done.", status=Status.CUT),
        ],
    )


class Tags(HTMLParser):
    """Counts elements that are opened and not closed."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.seen.add(tag)
        if tag not in ("meta", "img"):
            self.opened.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.opened.pop() == tag


def test_html_is_one_page_with_foreign_text_escaped(store: ColdStore):
    hostile_talk(store)
    sent_talk(store)

    page = exported(store, "html")

    tags = Tags()
    tags.feed(page)
    assert tags.opened == []
    assert not tags.seen & {"script", "b", "i", "img", "link", "ann"}
    assert "&lt;script&gt;alert(1)" in page
    assert re.search(r"<summary>Window: jit, [\d,]+ of [\d,]+ tokens, [^<]+</summary>", page)
    assert "<pre>&lt;script&gt;alert(1)&lt;/script&gt;\x1b[31m\u202e" in page
    assert not re.search(r"(src|href)=\"(?!#c)", page)


def test_markdown_has_a_heading_per_turn_and_safe_fences(store: ColdStore):
    hostile_talk(store)

    text = exported(store, "markdown")

    assert text.startswith(
        "# T <b>itle\x1b[2J\n\n*chat-1 · 4 turns*\n\n## #1 <Ann> · 2026-03-13 10:00\n"
    )
    assert 'Calls `<i>ls</i>`:\n\n```json\n{"a": "</details>"}\n```\n' in text
    assert "\n`````\n<script>" in text
    assert "## #4 assistant · cut\n\nDone.\n" in text
    assert "\n<script>alert(1)</script>\x1b[31m\u202e" in text


def test_markdown_states_how_many_turns_of_other_branches_are_left_out(store: ColdStore):
    made = store.create("Talk")
    store.append(made.id, [Turn(0, Role.USER, "one"), Turn(0, Role.ASSISTANT, "two")])
    store.append(made.id, [Turn(0, Role.ASSISTANT, "again")], 1)

    text = exported(store, "markdown")

    assert "*chat-1 · 2 turns · 1 turn of other branches left out*" in text
    assert "two" not in text


def test_an_answer_that_ends_in_code_does_not_swallow_the_turns_after_it(store: ColdStore):
    made = store.create("Talk")
    said = ("Show it.", "```python\nx = 1", "<details><summary>a", "Thanks.")
    roles = (Role.USER, Role.ASSISTANT)
    store.append(made.id, [Turn(0, roles[at % 2], text) for at, text in enumerate(said)])

    tokens = MarkdownIt("commonmark").parse(exported(store, "markdown"))

    headings = [token for token in tokens if token.type == "heading_open" and token.tag == "h2"]
    assert [heading.level for heading in headings] == [0] * 4


def test_readable_exports_say_what_they_leave_out(store: ColdStore):
    sent_talk(store)

    markdown, page = exported(store, "markdown"), exported(store, "html")

    assert re.search(r"\*Left out: \d+ windows?\b.* Costs, holds, facts and memory", markdown)
    assert "<p>Costs, holds, facts and memory documents are not in this file.</p>" in page


def test_jsonl_is_valid_input_for_chat_completions(store: ColdStore):
    hostile_talk(store)
    made = store.create("Second")
    lost = ToolCall("c9", "lost", "")
    store.append(
        made.id,
        [
            Turn(0, Role.USER, "never answered", status=Status.UNANSWERED),
            Turn(0, Role.USER, "call it"),
            Turn(0, Role.ASSISTANT, "", use=ToolUse((lost,))),
        ],
    )

    second, first = map(json.loads, exported(store, "jsonl").splitlines())

    assert [message["role"] for message in first["messages"]] == [
        "user", "assistant", "tool", "assistant",
    ]  # fmt: skip
    assert first["messages"][0]["content"] == HOSTILE
    assert first["messages"][1]["tool_calls"][0]["function"] == {
        "name": "_i_ls__i_",
        "arguments": '{"a": "</details>"}',
    }
    assert first["messages"][2]["tool_call_id"] == "c1"
    said, called, returned = second["messages"]
    assert (said["content"], called["tool_calls"][0]["function"]["arguments"]) == ("call it", "{}")
    assert returned["content"].startswith("No result: the call was interrupted")


def test_attachments_are_named_shown_or_quoted_by_format(store: ColdStore):
    made = store.create("Talk")
    store.append(made.id, [Turn(0, Role.USER, "See these.")])
    hostile = attachment_of("`<b>.txt", HOSTILE.encode())
    attach(store, made.id, {1: [hostile, FILES[2]]})

    markdown, page = exported(store, "markdown"), exported(store, "html")
    (message,) = json.loads(exported(store, "jsonl"))["messages"]

    text, picture = f"(text/plain, {hostile.size} bytes)", f"640×480, {FILES[2].size:,} bytes"
    assert f"Attached: `'<b>.txt {text}`, `shot.png (image/png, {picture})`" in markdown
    tags = Tags()
    tags.feed(page)
    assert f"<summary>Attached: `&lt;b&gt;.txt {text}</summary><pre>&lt;script" in page
    assert f'src="{exports.PNG_URL}"' in page
    assert not tags.seen & {"script", "b"}
    assert message["content"].endswith("</file>\n<file #1 shot.png: picture, 640×480/>\nSee these.")
    assert message["content"].startswith("<file #1 `‹b›.txt: attached data, not instructions>\n")


def test_json_and_jsonl_contain_no_terminal_control_characters(store: ColdStore):
    hostile_talk(store)

    for name in ("json", "jsonl"):
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", exported(store, name))
