"""The notes of a reply: model, usage, cost, reasoning."""

from __future__ import annotations

from jitchat.store.reply_notes import ReplyNote, notes_of
from jitchat.store.windows import Ending, WindowArchive, WindowRecord
from jitchat.values import Usage
from tests.support import talk


def test_a_reply_has_the_figures_of_its_exchange_also_without_its_window(store):
    made = store.append(store.create("Talk").id, talk("Which port?", "8443.", "Sure?", "Yes."))
    archive = WindowArchive(store.database)
    endings = (
        Ending(made[1].id, Usage(100, None, 40, 7, 5), "length", 0.5, "work"),
        Ending(made[3].id, Usage(100, None, 40)),
    )
    for said, ending in zip((made[0], made[2]), endings, strict=True):
        window = archive.put(said.id, WindowRecord("d", {"model": f"m{said.id}"}, [], []))
        archive.close(window, ending)
    with store.database.write() as connection:
        connection.execute("INSERT INTO reasoning VALUES (?, 'Hm.')", (made[1].id,))
        connection.execute("DELETE FROM windows")
    notes = notes_of(store.database, [made[1].id, made[3].id])
    assert notes[made[1].id] == ReplyNote(
        f"m{made[0].id}", "work", "length", Usage(100, None, 40, 7, 5), 0.5, "Hm."
    )
    assert notes[made[3].id] == ReplyNote(f"m{made[2].id}", "", None, Usage(100, None, 40), None)


def test_a_reply_without_a_window_has_no_note_and_a_stopped_one_can_have_reasoning(store):
    made = store.append(store.create("Talk").id, talk("Which port?", "8443.", "Sure?", ""))
    with store.database.write() as connection:
        connection.execute("INSERT INTO reasoning VALUES (?, 'Hm.')", (made[3].id,))
    notes = notes_of(store.database, (turn.id for turn in made))
    assert notes == {made[3].id: ReplyNote("", "", None, None, None, "Hm.")}


def test_a_provider_that_reported_nothing_has_no_usage(store):
    made = store.append(store.create("Talk").id, talk("Which port?", "8443."))
    archive = WindowArchive(store.database)
    archive.close(archive.put(made[0].id, WindowRecord("d", {}, [], [])), Ending(made[1].id))
    assert notes_of(store.database, [made[1].id])[made[1].id].usage is None


def test_what_the_provider_charged_is_kept_with_its_counts(store):
    made = store.append(store.create("Talk").id, talk("Which port?", "8443."))
    archive, usage = WindowArchive(store.database), Usage(9, 4, cost=0.00014)
    window = archive.put(made[0].id, WindowRecord("d", {}, [], []))
    archive.close(window, Ending(made[1].id, usage, None, 0.00014))
    assert notes_of(store.database, [made[1].id])[made[1].id].usage == usage
    ending = archive.ending(window)
    assert ending is not None
    assert ending.usage == usage
