"""Observing a conversation: each turn reaches the model once, raw or observed, whatever happens."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from jitchat.errors import StaleObservations
from jitchat.memory import Memory
from jitchat.observing import Consent, ObserveRules, Observing
from jitchat.planning import ModelFacts, Planning, Question
from jitchat.statements import Observation, Source
from jitchat.store.database import Database
from jitchat.store.observations import ObservationPass, PassKind
from jitchat.store.pins import Pins
from jitchat.store.store import ColdStore
from jitchat.synthesis.carrying import dropped
from jitchat.synthesis.policy import Thresholds
from jitchat.values import Mode, Role, Turn
from jitchat.window.budget import Budget
from jitchat.window.calibration import NO_CALIBRATION
from jitchat.window.exchange import is_shown
from jitchat.window.window import ContextWindow, Kind
from tests.support import conversation_of
from tests.synthesis.support import COUNTER, ScriptedObserver, one_line_each, said, small_talk

if TYPE_CHECKING:
    from pathlib import Path

LIMIT = 4_000


class Desk:
    """A conversation as one process has it."""

    def __init__(
        self, store: ColdStore, conversation: str, observer: object = None, **rules: object
    ) -> None:
        self.memory = Memory(store, store.conversation(conversation))
        facts = ModelFacts("model", "Instructions.", NO_CALIBRATION)
        self.planning = Planning(self.memory, COUNTER, lambda: facts)
        self.observing = Observing(
            self.memory,
            self.planning.history_before,
            COUNTER,
            observer,  # type: ignore[arg-type]
            ObserveRules(**rules),  # type: ignore[arg-type]
        )

    def run(self, *, everything: bool = False, most: int = 99) -> list[ObservationPass]:
        async def run() -> list[ObservationPass]:
            made = []
            async with aclosing(self.observing.run(LIMIT, everything=everything)) as passes:
                async for event in passes:
                    made.append(event.made)
                    if len(made) == most:
                        break
            return made

        return asyncio.run(run())

    def window(self, limit: int = 100_000) -> ContextWindow:
        self.memory.refresh()
        draft = Turn(self.memory.snapshot.path.head + 1, Role.USER, "And now?")
        return self.planning.window(Question(draft), Mode.OBSERVE, Budget(limit))

    def say(self, count: int, after: int | None = None) -> None:
        name = self.memory.conversation.id
        first = self.memory.store.tree(name).last + 1
        self.memory.store.append(name, small_talk(count, first), after)
        self.memory.refresh()


@pytest.fixture
def desk(store: ColdStore) -> Desk:
    return Desk(store, conversation_of(store, small_talk(80)).id)


def require_each_turn_sent_or_observed(desk: Desk) -> None:
    """Each turn is sent in full, or else notes stand for those that were observed."""
    window, memory = desk.window(), desk.memory
    observations = memory.distilled(memory.snapshot.path.head + 1).observations
    out = {turn for turn, hold in memory.pins.items() if hold == "excluded"}
    raw = [each.turn for each in window.segments if each.kind is Kind.RECENT]
    shown = [turn.position for turn in memory.turns if is_shown(turn)]
    stand_for = window.distilled_through
    assert stand_for in (0, observations.through)
    assert bool(stand_for) is bool(window.tokens_of(Kind.OBSERVATIONS))
    assert window.used <= window.budget.size
    if not stand_for:
        assert raw == [turn for turn in shown if turn not in out]
    for line in observations.lines:
        assert line.source.last <= observations.through
        assert any(turn in shown for turn in line.source.turns)


def require_continuous(desk: Desk) -> None:
    """The passes follow one another along the path without a gap or an overlap."""
    passes, path = desk.observing.passes(), desk.memory.snapshot.path
    through, follows = 0, None
    for each in passes:
        assert each.follows == follows
        if each.kind is PassKind.OBSERVE:
            assert each.first == next(start for start, _ in path.behind(through))
            through = each.last
        assert each.last == through
        follows = each.id


def require_told(desk: Desk) -> None:
    """What a pass observed stands in its lines, or is told as dropped."""
    for each in desk.observing.passes():
        if each.kind is PassKind.OBSERVE:
            turns = [t for t in desk.memory.turns if each.first <= t.position <= each.last]
            named = {turn for line in each.lines for turn in line.source.turns}
            told = {gone.turn for gone in dropped(each.lines, turns)}
            assert {turn.position for turn in turns} <= named | told


def test_turns_are_observed_until_the_next_exchange_has_room(desk: Desk) -> None:
    desk.run()
    standing = desk.observing.standing()
    assert standing.raw + standing.observed <= Thresholds().history(LIMIT)
    assert standing.observations.through > 30
    for require in (require_each_turn_sent_or_observed, require_continuous, require_told):
        require(desk)


def test_a_pasted_list_that_is_larger_than_the_window_is_observed(
    store: ColdStore,
) -> None:
    pumps = "".join(f"Pump {n} in hall {n % 7} runs at {n * 3} bar. " for n in range(600))
    turns = [*small_talk(6), said(7, pumps), *small_talk(7, 8)]
    desk = Desk(store, conversation_of(store, turns).id)
    assert desk.memory.turns[6].content == pumps
    desk.run(everything=True)
    assert desk.window(LIMIT).distilled_through == 12
    for require in (require_each_turn_sent_or_observed, require_continuous):
        require(desk)


def test_of_two_passes_that_overlap_the_later_one_is_refused_and_made_anew(
    store: ColdStore,
) -> None:
    name = conversation_of(store, small_talk(80)).id
    other, calls = Desk(store, name), 0

    async def meanwhile() -> None:
        nonlocal calls
        calls += 1
        if calls == 1:
            async for _ in other.observing.run(LIMIT):
                break

    slow = Desk(store, name, ScriptedObserver(one_line_each, meanwhile=meanwhile))
    made = slow.run()
    assert made[0].follows is not None
    assert calls > len(made)
    other.memory.refresh()
    for require in (require_each_turn_sent_or_observed, require_continuous, require_told):
        require(slow)
        require(other)


def test_a_send_while_a_pass_is_under_way_uses_what_is_committed(store: ColdStore) -> None:
    name = conversation_of(store, small_talk(80)).id
    seen: list[ContextWindow] = []

    async def meanwhile() -> None:
        seen.append(await asyncio.to_thread(desk.window))

    desk = Desk(store, name, ScriptedObserver(one_line_each, meanwhile=meanwhile))
    desk.run(most=1)
    assert all(each.kind is not Kind.OBSERVATIONS for each in seen[0].segments)
    assert len([each for each in seen[0].segments if each.kind is Kind.RECENT]) == 80


def test_a_pass_that_is_stopped_half_way_leaves_nothing(store: ColdStore) -> None:
    async def dies() -> None:
        raise KeyboardInterrupt

    name = conversation_of(store, small_talk(80)).id
    desk = Desk(store, name, ScriptedObserver(one_line_each, meanwhile=dies))
    with pytest.raises(KeyboardInterrupt):
        desk.run()
    assert desk.observing.passes() == []
    assert not desk.observing._is_running
    assert Desk(store, name).run()


def test_what_was_taken_back_is_not_made_again_unasked(desk: Desk) -> None:
    desk.run()
    before = len(desk.observing.passes())
    assert desk.observing.undo() is not None
    assert len(desk.observing.passes()) == before - 1
    require_each_turn_sent_or_observed(desk)

    async def after_reply() -> list[object]:
        return [event async for event in desk.observing.after_reply(LIMIT)]

    assert asyncio.run(after_reply()) == []
    assert desk.run()
    assert asyncio.run(after_reply()) == []


def test_throwing_all_away_brings_every_turn_back(desk: Desk) -> None:
    desk.run()
    desk.observing.reset()
    raw = [each for each in desk.window().segments if each.kind is Kind.RECENT]
    assert len(raw) == 80
    desk.run()
    require_each_turn_sent_or_observed(desk)


def test_a_line_can_be_written_anew_and_taken_out(desk: Desk) -> None:
    desk.run()
    lines = desk.observing.standing().observations.lines
    made = desk.observing.edit(0, "  The kettle\nis blue. ")
    assert made is not None
    assert (made.lines[0].text, made.lines[0].source) == ("The kettle is blue.", lines[0].source)
    assert desk.observing.edit(1, "") is not None
    assert len(desk.observing.standing().observations.lines) == len(lines) - 1
    assert desk.observing.edit(999, "x") is None
    desk.observing.undo()
    assert len(desk.observing.standing().observations.lines) == len(lines)
    require_continuous(desk)


def test_an_edit_of_what_does_not_stand_any_more_is_refused(store: ColdStore, desk: Desk) -> None:
    made = desk.run(most=1)[0]
    late = ObservationPass(PassKind.EDIT, 1, made.last, (), "you", follows=made.id)
    Desk(store, desk.memory.conversation.id).run(most=1)
    with pytest.raises(StaleObservations):
        desk.memory.observed.add(desk.memory.snapshot.path, late)


async def events(desk: Desk, **limits: object) -> list[object]:
    return [event async for event in desk.observing.after_reply(LIMIT)]


async def test_asked_first_nothing_is_done(store: ColdStore) -> None:
    name = conversation_of(store, small_talk(80)).id
    desk = Desk(store, name, consent=Consent.ASK)
    (asked,) = await events(desk)
    assert asked.turns[0] == 1
    assert desk.observing.passes() == []
    assert await events(Desk(store, name, consent=Consent.OFF)) == []


def test_turns_that_are_kept_out_are_hidden_and_come_back(desk: Desk) -> None:
    pins, turns = Pins(desk.memory.store.database), desk.memory.turns
    pins.put(turns[2], "excluded")
    desk.memory.refresh()
    desk.run()
    without = desk.window().messages()[1].content
    assert "(#3)" not in without
    pins.put(turns[2], None)
    assert len(desk.window().messages()[1].content) >= len(without)
    require_each_turn_sent_or_observed(desk)


def test_a_fork_has_what_was_observed_ahead_of_it(desk: Desk) -> None:
    first = desk.run(most=1)[0]
    desk.run()
    desk.say(2, after=first.last + 1)
    assert {each.last for each in desk.observing.passes()} == {first.last}
    desk.say(40)
    desk.run()
    for require in (require_each_turn_sent_or_observed, require_continuous, require_told):
        require(desk)
    desk.memory.switch_to(80)
    assert desk.observing.passes()[-1].last > first.last
    require_each_turn_sent_or_observed(desk)


# Whatever is done, in whatever order.


class Whatever(RuleBasedStateMachine):
    """Two processes on one conversation, with forks, undo, edits, exclusions, crashes."""

    folder: Path

    def __init__(self) -> None:
        super().__init__()
        self.path = self.folder / f"{id(self)}.db"
        self.database = Database(self.path)
        store = ColdStore(self.database)
        name = conversation_of(store, small_talk(30)).id
        self.desks = [Desk(store, name), Desk(store, name, self.observer())]

    def observer(self) -> ScriptedObserver:
        """Observes badly at times, while the other process goes on."""
        self.turns_out, self.finished = 0, set[int]()

        async def meanwhile() -> None:
            self.turns_out += 1
            if self.turns_out % 3 == 0:
                self.desks[0].memory.refresh()
                async for event in self.desks[0].observing.run(LIMIT):
                    self.finished.add(event.made.id)
                    break
            if self.turns_out % 7 == 0:
                raise ConnectionError

        def lines(batch):
            good = one_line_each(batch)
            bad = [], [Observation("x", Source(9_999, 9_999))], [good[0]] * 9
            return good if self.turns_out % 2 else bad[self.turns_out % len(bad)]

        return ScriptedObserver(lines, meanwhile=meanwhile)

    @rule(which=st.integers(0, 1), count=st.integers(1, 12))
    def say(self, which: int, count: int) -> None:
        self.desks[which].memory.refresh()
        self.desks[which].say(count)

    @rule(which=st.integers(0, 1), most=st.integers(1, 9), everything=st.booleans())
    def observe(self, which: int, most: int, everything: bool) -> None:
        desk, self.finished = self.desks[which], set()
        with suppress(ConnectionError):  # it died: nothing of the pass is there
            self.finished |= {each.id for each in desk.run(most=most, everything=everything)}
        desk.memory.refresh()
        assert self.finished <= {each.id for each in desk.observing.passes()}

    @rule(which=st.integers(0, 1), share=st.floats(0.3, 1.0))
    def fork(self, which: int, share: float) -> None:
        desk = self.desks[which]
        desk.memory.refresh()
        turns = desk.memory.turns
        desk.say(2, after=turns[int(share * (len(turns) - 1))].position)

    @rule(which=st.integers(0, 1), share=st.floats(0, 1))
    def switch(self, which: int, share: float) -> None:
        memory = self.desks[which].memory
        memory.switch_to(1 + int(share * (memory.store.tree(memory.conversation.id).last - 1)))

    @rule(which=st.integers(0, 1))
    def undo(self, which: int) -> None:
        self.desks[which].observing.undo()

    @rule(which=st.integers(0, 1), number=st.integers(0, 9), text=st.sampled_from(["", "Edited."]))
    def edit(self, which: int, number: int, text: str) -> None:
        try:
            self.desks[which].observing.edit(number, text)
        except StaleObservations:
            self.desks[which].memory.refresh()

    @rule(which=st.integers(0, 1), share=st.floats(0, 1), hold=st.sampled_from(["excluded", None]))
    def exclude(self, which: int, share: float, hold: str | None) -> None:
        memory = self.desks[which].memory
        memory.refresh()
        turns = memory.turns
        Pins(memory.store.database).put(turns[int(share * (len(turns) - 1))], hold)

    @precondition(lambda self: self.desks[0].observing.passes())
    @rule()
    def reset(self) -> None:
        self.desks[0].observing.reset()

    @invariant()
    def holds(self) -> None:
        for desk in self.desks:
            desk.memory.refresh()
            for require in (require_each_turn_sent_or_observed, require_continuous, require_told):
                require(desk)

    def teardown(self) -> None:
        self.database.close()


@pytest.mark.usefixtures("schema_made_once")
def test_whatever_happens_each_turn_is_sent_or_observed(tmp_path: Path) -> None:
    Whatever.folder = tmp_path

    run_state_machine_as_test(
        Whatever,
        settings=settings(
            max_examples=12,
            stateful_step_count=14,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
