"""A reply while it streams, and after an interruption."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass, field
from queue import Queue
from typing import TYPE_CHECKING

import pytest

from jitchat.errors import StoreFull
from jitchat.store.database import Database
from jitchat.store.replies import SAVE_EVERY, ReplyWriter, Timing, close_interrupted
from jitchat.store.store import ColdStore
from jitchat.values import Role, Status, Turn
from tests.store.support import claim, dead_process, make_full, make_read_only
from tests.support import talk

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass
class Hands:
    """A clock that is set by hand, with the scheduled calls."""

    time: float = 0.0
    waiting: list[tuple[float, Callable[[], None]]] = field(default_factory=list)

    def later(self, seconds: float, action: Callable[[], None]) -> Callable[[], None]:
        entry = (self.time + seconds, action)
        self.waiting.append(entry)
        return lambda: self.waiting.remove(entry) if entry in self.waiting else None

    def move(self, seconds: float) -> None:
        self.time += seconds
        due = [entry for entry in self.waiting if entry[0] <= self.time]
        self.waiting = [entry for entry in self.waiting if entry not in due]
        for _, action in due:
            action()


@pytest.fixture
def hands():
    return Hands()


@pytest.fixture
def talked(store):
    made = store.create("Talk")
    store.append(made.id, talk("Question?"))
    return made.id


@pytest.fixture
def writer(store, talked, hands):
    return ReplyWriter(store, talked, timing=Timing(lambda: hands.time, hands.later))


def stored(store: ColdStore, conversation: str) -> list[tuple[int, str, Status]]:
    return [(turn.position, turn.content, turn.status) for turn in store.turns(conversation, 1)]


def test_nothing_is_stored_before_the_first_chunk(store, talked):
    ReplyWriter(store, talked)
    assert stored(store, talked) == []


def test_the_first_chunk_is_saved_at_once_and_later_ones_every_half_second(writer, hands):
    assert writer.add("a")
    writer.save()
    assert not writer.add("b")
    hands.time += SAVE_EVERY
    assert writer.add("c")


def test_a_chunk_before_a_long_pause_is_saved(store, talked, writer, hands):
    writer.add("a")
    writer.save()
    writer.add("b")
    assert stored(store, talked) == [(2, "a", Status.STREAMING)]
    hands.move(SAVE_EVERY)
    assert stored(store, talked) == [(2, "ab", Status.STREAMING)]
    assert hands.waiting == []


def test_the_stored_text_is_never_a_second_behind(store, talked, writer, hands):
    """Chunks arrive at irregular times; each save runs when it is due."""
    said: list[tuple[float, str]] = []
    for step in (0.0, 0.1, 0.2, 0.3, 0.05, 0.6, 0.01, 0.4, 1.5, 0.2, 0.0, 0.0, 3.0):
        hands.move(step)
        old = "".join(piece for at, piece in said if at <= hands.time - 1)
        on_disk = "".join(text for _, text, _ in stored(store, talked))
        assert on_disk.startswith(old)
        said.append((hands.time, f"{len(said)} "))
        if writer.add(said[-1][1]):
            writer.save()


def test_later_is_in_a_thread_that_does_not_keep_the_app_alive():
    threads: Queue[threading.Thread] = Queue()
    Timing().later(0.0, lambda: threads.put(threading.current_thread()))
    assert threads.get(timeout=30).daemon
    Timing().later(3_600.0, lambda: threads.put(threading.current_thread()))()
    assert threads.empty()


def test_a_finished_reply_is_final_and_nobody_is_writing_it(store, talked, writer, hands):
    writer.add("Answ")
    writer.save()
    writer.add("er.")
    reply = writer.finish(Status.COMPLETE)
    assert store.turns(talked)[-1] == reply
    assert reply.id == store.turns(talked)[-1].id
    assert stored(store, talked) == [(2, "Answer.", Status.COMPLETE)]
    assert close_interrupted(store) == 0
    assert hands.waiting == []


@pytest.mark.parametrize("status", [Status.CUT, Status.CANCELLED])
def test_a_truncated_reply_is_kept_and_marked(store, talked, writer, status):
    writer.add("Answ")
    writer.finish(status)
    assert stored(store, talked) == [(2, "Answ", status)]


def test_finishing_again_and_saving_late_change_nothing(store, talked, writer):
    writer.add("Answer.")
    first = writer.finish(Status.COMPLETE)
    writer.save()
    assert writer.finish(Status.CUT) == first
    assert stored(store, talked) == [(2, "Answer.", Status.COMPLETE)]


def test_a_reply_without_chunks_can_be_finished(store, talked, writer):
    assert writer.finish(Status.CANCELLED).content == ""
    assert stored(store, talked) == [(2, "", Status.CANCELLED)]


def test_surrogates_split_between_chunks_are_joined(store, talked, writer):
    writer.add("\ud83d")
    writer.save()
    writer.add("\ude00\0")
    assert writer.finish(Status.COMPLETE).content == "😀␀"
    assert stored(store, talked)[0][1] == "😀␀"


def test_a_reply_whose_row_was_rolled_back_is_stored_when_there_is_space(store, talked, writer):
    make_full(store, on=True)
    writer.add("x" * 100_000)
    with pytest.raises(StoreFull):
        writer.save()
    assert stored(store, talked) == []
    make_full(store, on=False)
    writer.save()
    writer.add("y")
    writer.finish(Status.COMPLETE)
    assert stored(store, talked) == [(2, "x" * 100_000 + "y", Status.COMPLETE)]


def test_a_save_that_fails_in_a_thread_is_reported_by_finish(store, talked, writer, hands):
    writer.add("a")
    writer.save()
    make_full(store, on=True)
    writer.add("x" * 100_000)
    hands.move(SAVE_EVERY)
    with pytest.raises(StoreFull):
        writer.finish(Status.COMPLETE)
    assert stored(store, talked) == [(2, "a", Status.STREAMING)]
    make_full(store, on=False)
    assert close_interrupted(store) == 0, "it is finished once there is room"
    writer.finish(Status.COMPLETE)
    assert stored(store, talked) == [(2, "a" + "x" * 100_000, Status.COMPLETE)]


def test_a_reply_without_a_writer_is_closed_once_the_disk_can_be_written(store, talked, writer):
    writer.add("a")
    writer.save()
    with store.database.write() as connection:
        connection.execute("UPDATE streaming SET process = ?", (2**40,))
    make_read_only(store, on=True)
    assert close_interrupted(store) == 0
    make_read_only(store, on=False)
    assert close_interrupted(store) == 1
    assert stored(store, talked) == [(2, "a", Status.INTERRUPTED)]


def test_a_reply_in_progress_is_not_taken_for_interrupted(store, talked, writer):
    writer.add("a")
    writer.save()
    same_process = ColdStore(Database(store.database.path), store.now)
    assert close_interrupted(store) == close_interrupted(same_process) == 0
    same_process.database.close()
    writer.finish(Status.COMPLETE)


def test_a_reply_of_a_dead_process_is_marked_as_interrupted(store, talked, writer):
    writer.add("half an ans")
    writer.save()
    claim(store, dead_process())
    assert close_interrupted(store) == 1
    assert close_interrupted(store) == 0
    assert stored(store, talked) == [(2, "half an ans", Status.INTERRUPTED)]


def test_a_reply_of_a_living_process_is_unchanged(store, talked, writer):
    writer.add("half an ans")
    writer.save()
    claim(store, os.getppid())
    assert close_interrupted(store) == 0
    claim(store, os.getppid(), seen_at=0.0)
    assert close_interrupted(store) == 1


def test_a_process_id_that_was_reused_does_not_count_as_alive(store, talked):
    turn = Turn(0, Role.ASSISTANT, "half", None, None, Status.STREAMING)
    made = store.append(talked, [turn])[0]
    with store.database.write() as connection:
        row = (made.id, os.getpid(), store.now().timestamp())
        connection.execute("INSERT INTO streaming VALUES (?, ?, ?)", row)
    assert close_interrupted(store) == 1


def test_a_turn_closed_elsewhere_is_final_and_the_reply_continues_in_a_new_one(
    store, talked, writer
):
    writer.add("half")
    writer.save()
    claim(store, dead_process())
    close_interrupted(store)
    writer.add(" and whole")
    writer.save()
    reply = writer.finish(Status.COMPLETE)
    assert reply.position == 3
    assert stored(store, talked) == [
        (2, "half", Status.INTERRUPTED),
        (3, "half and whole", Status.COMPLETE),
    ]


def thoughts(store: ColdStore) -> list[tuple[int, str]]:
    with store.database.read() as connection:
        return connection.execute(
            "SELECT t.position, r.content FROM reasoning r JOIN turns t ON t.id = r.turn"
        ).fetchall()


def test_reasoning_is_as_durable_as_the_text(store, talked, writer, hands):
    assert writer.add_reasoning("I thi")
    writer.save()
    assert stored(store, talked) == [(2, "", Status.STREAMING)]
    assert not writer.add_reasoning("nk\0")
    hands.move(SAVE_EVERY)
    assert thoughts(store) == [(2, "I think␀")]
    assert not writer.add("Yes.")
    writer.finish(Status.COMPLETE)
    assert stored(store, talked) == [(2, "Yes.", Status.COMPLETE)]
    assert thoughts(store) == [(2, "I think␀")]


def test_text_that_turns_out_to_be_reasoning_is_moved_there(store, talked, writer):
    writer.add_reasoning("So: ")
    writer.add("a thought")
    writer.save()
    assert stored(store, talked) == [(2, "a thought", Status.STREAMING)]
    writer.all_was_reasoning()
    assert (writer.text, writer.reasoning) == ("", "So: a thought")
    writer.add("Yes.")
    writer.finish(Status.COMPLETE)
    assert stored(store, talked) == [(2, "Yes.", Status.COMPLETE)]
    assert thoughts(store) == [(2, "So: a thought")]


def test_a_reply_without_reasoning_has_none_stored(store, writer):
    writer.add("Yes.")
    writer.finish(Status.COMPLETE)
    assert thoughts(store) == []


def test_reasoning_moves_to_the_new_turn_if_the_first_was_closed_elsewhere(store, talked, writer):
    writer.add_reasoning("Hm.")
    writer.save()
    claim(store, dead_process())
    close_interrupted(store)
    writer.add("Yes.")
    assert writer.finish(Status.COMPLETE).position == 3
    assert thoughts(store) == [(2, "Hm."), (3, "Hm.")]


def test_reasoning_whose_row_was_rolled_back_is_stored_when_there_is_space(store, writer):
    make_full(store, on=True)
    writer.add_reasoning("x" * 100_000)
    with pytest.raises(StoreFull):
        writer.save()
    make_full(store, on=False)
    writer.add("Yes.")
    writer.finish(Status.COMPLETE)
    assert thoughts(store) == [(2, "x" * 100_000)]
