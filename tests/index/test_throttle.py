"""Indexing slows down while the user types or reads a streaming reply."""

from __future__ import annotations

from jitchat.index.indexer import ATTENDED_SECONDS, BackgroundThrottle
from jitchat.memory import Memory
from tests.index.support import FakeEmbedder
from tests.support import conversation_of, talk


class Hours:
    """A clock that advances when code sleeps or works."""

    def __init__(self) -> None:
        self.time = 100.0
        self.rests: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.rests.append(round(seconds, 6))
        self.time += seconds

    def pace(self) -> BackgroundThrottle:
        return BackgroundThrottle(lambda: self.time, self.sleep)


def test_unattended_work_does_not_rest():
    hours = Hours()
    pace = hours.pace()
    begun = pace.now()
    hours.time += 0.5
    assert pace.rest_after(begun) == hours.time
    assert hours.rests == []


def test_attended_it_works_a_fifth_of_the_time_for_a_second():
    hours = Hours()
    pace = hours.pace()
    pace.attend()
    begun = pace.now()
    while hours.time < 100.0 + 3 * ATTENDED_SECONDS:
        hours.time += 0.01
        begun = pace.rest_after(begun)
    assert set(hours.rests) == {0.04}
    assert len(hours.rests) == ATTENDED_SECONDS / 0.05


def test_the_backlog_rests_after_every_turn_and_every_few_vectors(store):
    hours = Hours()
    memory = Memory(store, conversation_of(store, talk(*(f"turn {n}" for n in range(100)))))
    memory.index.throttle = hours.pace()
    memory.index.throttle.attend()
    made = list(memory.index.catch_up(FakeEmbedder()))
    assert sum(map(len, made)) == 100
    assert len(hours.rests) == 100 + 7


def test_a_rest_is_short_however_long_the_work_took():
    hours = Hours()
    pace = hours.pace()
    pace.attend()
    begun = pace.now()
    hours.time += 0.9
    pace.rest_after(begun)
    assert hours.rests == [0.25]


def test_indexing_does_not_rest_while_the_user_waits_for_it():
    hours = Hours()
    pace = hours.pace()
    pace.attend()
    with pace.awaited():
        hours.time += 0.01
        pace.rest_after(100.0)
    assert hours.rests == []


def test_a_conversation_that_is_left_is_not_indexed_any_further(store):
    memory = Memory(store, conversation_of(store, talk(*(f"turn {n}" for n in range(300)))))
    steps = memory.index.catch_up()
    next(steps)
    memory.index.throttle.halt()
    assert list(steps) == []
    again = Memory(store, memory.conversation)
    assert sum(map(len, again.index.catch_up())) == 300 - 128


def test_what_is_halted_within_a_batch_writes_nothing_of_it(store):
    embedder = FakeEmbedder()
    memory = Memory(store, conversation_of(store, talk("one", "two")), embedder)
    embedder.spoil = lambda vectors: (memory.index.throttle.halt(), vectors)[1]
    assert list(memory.index.catch_up()) == []
    assert sum(map(len, Memory(store, memory.conversation).index.catch_up())) == 2


def test_deferrable_work_waits_for_an_idle_user_and_for_a_message_being_answered():
    hours = Hours()
    pace = hours.pace()
    assert pace.quiet_in() == 0
    pace.attend()
    hours.time += ATTENDED_SECONDS / 4
    assert pace.quiet_in() == ATTENDED_SECONDS * 3 / 4
    hours.time += ATTENDED_SECONDS
    assert pace.quiet_in() == 0
    with pace.under_way(), pace.under_way():
        assert pace.quiet_in() > 0
    assert pace.quiet_in() == 0
