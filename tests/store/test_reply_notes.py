"""The notes of a reply: model, usage, cost, reasoning."""

from __future__ import annotations

from jitchat.store.windows import Ending, ReplyNote, WindowArchive, WindowRecord
from jitchat.values import Usage
from tests.support import talk


def test_a_note_has_the_data_stored_with_the_replys_window(store):
    made = store.append(store.create("Talk").id, talk("Which port?", "8443.", "Sure?", "Yes."))
    archive = WindowArchive(store.database)
    for said, reply in ((made[0], made[1]), (made[2], made[3])):
        window = archive.put(said.id, WindowRecord("d", {"model": f"m{said.id}"}, [], []))
        archive.close(window, Ending(reply.id, Usage(100, None, 40)))
    with store.database.write() as connection:
        connection.execute("UPDATE windows SET stop = 'length' WHERE reply = ?", (made[1].id,))
        connection.execute(
            "UPDATE requests SET cost = 0.5, provider = 'work', written_tokens = 7,"
            " reasoning_tokens = 5 WHERE window = ?",
            (archive.window_id(made[0]),),
        )
        connection.execute("INSERT INTO reasoning VALUES (?, 'Hm.')", (made[1].id,))
    notes = WindowArchive(store.database).notes([made[1].id, made[3].id])
    assert notes[made[1].id] == ReplyNote(
        f"m{made[0].id}", "work", "length", Usage(100, None, 40, 7, 5), 0.5, "Hm."
    )
    assert notes[made[3].id] == ReplyNote(f"m{made[2].id}", "", None, Usage(100, None, 40), None)


def test_a_reply_without_a_window_has_no_note_and_a_stopped_one_can_have_reasoning(store):
    made = store.append(store.create("Talk").id, talk("Which port?", "8443.", "Sure?", ""))
    with store.database.write() as connection:
        connection.execute("INSERT INTO reasoning VALUES (?, 'Hm.')", (made[3].id,))
    notes = WindowArchive(store.database).notes(turn.id for turn in made)
    assert notes == {made[3].id: ReplyNote("", "", None, None, None, "Hm.")}


def test_a_provider_that_reported_nothing_has_no_usage(store):
    made = store.append(store.create("Talk").id, talk("Which port?", "8443."))
    archive = WindowArchive(store.database)
    archive.close(archive.put(made[0].id, WindowRecord("d", {}, [], [])), Ending(made[1].id))
    assert WindowArchive(store.database).notes([made[1].id])[made[1].id].usage is None


def test_what_the_provider_charged_is_kept_with_its_counts(store):
    made = store.append(store.create("Talk").id, talk("Which port?", "8443."))
    archive, usage = WindowArchive(store.database), Usage(9, 4, cost=0.00014)
    window = archive.put(made[0].id, WindowRecord("d", {}, [], []))
    archive.close(window, Ending(made[1].id, usage, None, 0.00014))
    assert WindowArchive(store.database).notes([made[1].id])[made[1].id].usage == usage
    ending = archive.ending(window)
    assert ending is not None
    assert ending.usage == usage
