"""Files attached to turns, as they are stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jitchat.attachments import Attachment, Part, Picture, digest_of_bytes
from jitchat.draft import EMPTY, Draft
from jitchat.store.attachments import AttachmentStore
from jitchat.store.deletion import delete_conversation
from jitchat.store.drafts import Drafts, sent_drafts
from jitchat.store.windows import WindowArchive, WindowRecord
from jitchat.values import Role, Turn

if TYPE_CHECKING:
    from jitchat.store.store import ColdStore

DATA = b"# Install\nRun it.\n"
NOTES = Attachment(
    *("notes.md", digest_of_bytes(DATA), "text/markdown", len(DATA)),
    parts=(Part("§ Install", DATA.decode()),),
    path="/home/ann/notes.md",
    modified_at=5.0,
    data=DATA,
)
SHOT = Attachment(
    *("shot.png", "abc", "image/png", 3),
    picture=Picture("shot.png", "abc", "image/png", 800, 600, b"png"),
    data=b"png",
)


def with_files(store: ColdStore, *, temporary: bool = False) -> tuple[str, Turn]:
    made = store.create("A talk", temporary=temporary)
    turn = store.append(made.id, [Turn(0, Role.USER, "See @notes.md")])[0]
    AttachmentStore(store.database, made.id).put(turn, (NOTES, SHOT))
    return made.id, turn


def test_files_are_kept_whole_once_and_come_back_with_their_turn(store: ColdStore) -> None:
    name, turn = with_files(store)
    again = store.append(name, [Turn(0, Role.USER, "And @notes.md")])[0]
    files = AttachmentStore(store.database, name)
    files.put(again, (NOTES,))
    notes, shot, same = files.of(store.path(name))

    assert (notes.name, notes.parts, notes.turn) == ("notes.md", NOTES.parts, turn.position)
    assert (notes.path, notes.modified_at, notes.size) == ("/home/ann/notes.md", 5.0, len(DATA))
    assert shot.picture == SHOT.picture
    assert shot.picture is not None
    assert shot.picture.data == b"png"
    assert same.turn == again.position
    stored = store.database.fetch_all(
        "SELECT content FROM attachments WHERE digest = ?", (NOTES.digest,)
    )
    assert stored == [(DATA,)]
    assert files.of(store.path(name)) is files.of(store.path(name))


def test_a_file_is_deleted_with_the_last_turn_that_has_it(store: ColdStore) -> None:
    passing, _ = with_files(store, temporary=True)
    _, turn = with_files(store)
    delete_conversation(store, passing)
    count = "SELECT COUNT(*) FROM attachments"

    assert store.database.fetch_one(count) == (2,)
    store.database.execute("DELETE FROM turns WHERE id = ?", (turn.id,))
    assert store.database.fetch_one(count) == (0,)
    assert store.database.fetch_one("SELECT COUNT(*) FROM attachment_parts") == (0,)


def test_a_draft_is_stored_with_its_origin_and_its_files(store: ColdStore) -> None:
    name, _ = with_files(store)
    listed = AttachmentStore(store.database, name).listed()
    draft = Draft.by_user("mine äöü\n") + Draft.foreign("pasted 日本 @x", listed)
    drafts = Drafts(store.database)
    drafts.put(name, draft)

    restored = drafts.get(name)
    assert (restored.text, restored.typed) == (draft.text, draft.typed)
    assert [(file.name, file.path, file.size) for file in restored.files] == [
        (file.name, file.path, file.size) for file in (NOTES, SHOT)
    ]
    drafts.put(name, EMPTY)
    assert drafts.get(name) == EMPTY
    drafts.put("chat-9", draft)
    assert drafts.get("chat-9") == EMPTY, "there is no such conversation"
    drafts.put(name, draft)
    delete_conversation(store, name)
    assert store.database.fetch_one("SELECT COUNT(*) FROM draft_attachments") == (0,)


def test_earlier_messages_come_with_their_files(store: ColdStore) -> None:
    _, turn = with_files(store)
    WindowArchive(store.database).put(turn.id, WindowRecord("digest", {}, [], []))
    [prompt] = sent_drafts(store.database, 5)
    assert prompt.text == "See @notes.md"
    assert [file.name for file in prompt.files] == ["notes.md", "shot.png"]
