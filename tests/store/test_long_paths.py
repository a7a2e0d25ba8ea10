"""The early turns of a long path stay in the store, with no visible difference."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from jitchat import turn_list
from jitchat.memory import Memory
from jitchat.planning import ModelFacts, Planning, Question, keep_costs, known_history
from jitchat.store import turn_cache
from jitchat.store.turn_costs import TurnCosts
from jitchat.turn_list import TurnList, chosen, common_start, replaced, up_to
from jitchat.values import Echo, Mode, Role, Status, Tool, ToolCall, ToolUse, Turn
from jitchat.window.budget import Budget
from jitchat.window.calibration import NO_CALIBRATION
from jitchat.window.history import History
from jitchat.window.parts import ToolOffer
from jitchat.window.tokens import EstimateCounter, message_tokens
from jitchat.window.written import TurnPricing
from jitchat.writing.pieces import WritingRules

if TYPE_CHECKING:
    from jitchat.store.store import ColdStore

COUNTER = EstimateCounter()
PRICE = TurnPricing(COUNTER, is_native=False)


@pytest.fixture(autouse=True)
def _little_memory(monkeypatch):
    """Paths of more than six turns are long, of which the last two are in memory."""
    monkeypatch.setattr(turn_cache, "_MOST_IN_MEMORY", 6)
    monkeypatch.setattr(turn_cache, "_LATEST", 2)
    monkeypatch.setattr(turn_list, "_FEW", 1)
    monkeypatch.setattr(turn_list, "_BLOCK", 4)
    monkeypatch.setattr(turn_list, "_REMEMBERED", 8)


def talk_of(store: ColdStore, size: int) -> Memory:
    made = store.create("A talk")
    store.append(made.id, [Turn(0, Role.USER, f"Turn {place}.") for place in range(1, size + 1)])
    return Memory(store, made)


def same_start(before: list[Turn], after: list[Turn]) -> int:
    pairs = enumerate(zip(before, after, strict=False))
    size = min(len(before), len(after))
    return next((place for place, (left, right) in pairs if left != right), size)


def test_any_access_to_a_long_conversation_returns_the_turns_of_the_path(store, rounds):
    rng = random.Random(0)
    memory = talk_of(store, 12)
    name = memory.conversation.id
    for _ in range(rounds(60, 600)):
        before, listed = memory.turns, list(memory.turns)
        place = rng.choice(listed).position
        step = rng.choice(["say", "fork", "switch", "fail", "many", "open"])
        if step == "switch":
            memory.switch_to(rng.randrange(1, store.tree(name).last + 1))
        elif step == "many":
            store.append(name, [Turn(0, Role.USER, "More.")] * rng.randrange(1, 12))
        elif step == "fail":
            memory.mark_unanswered(memory.add_user_turn("Unheard."))
        elif step == "open":
            memory = Memory(store, memory.conversation)
        else:
            memory.add_user_turn("Said.", after=place if step == "fork" else None)
        memory.refresh()
        turns, wanted = memory.turns, store.turns(name)
        assert list(turns) == wanted
        assert list(reversed(turns)) == wanted[::-1]
        assert [list(turns[at : at + 3]) for at in (0, 5)] == [wanted[at : at + 3] for at in (0, 5)]
        assert list(turns[2:]) == wanted[2:]
        assert common_start(before, turns) == same_start(listed, wanted)
        assert up_to(turns, place) == sum(turn.position <= place for turn in wanted)
        assert memory.turn_at(place) == next((t for t in wanted if t.position == place), None)


def test_a_reply_in_progress_and_later_turns_are_held_in_memory(store):
    memory = talk_of(store, 5)
    name = memory.conversation.id
    store.append(name, [Turn(0, Role.ASSISTANT, "Half", status=Status.STREAMING)])
    store.append(name, [Turn(0, Role.USER, "More.")] * 9)
    again = Memory(store, memory.conversation)
    assert not isinstance(again.turns, TurnList)
    assert [turn.position for turn in again.turns] == [1, 2, 3, 4, 5, *range(7, 16)]


def test_turns_are_indexed_and_replaced_as_in_a_tuple(store):
    turns = talk_of(store, 12).turns
    assert isinstance(turns, TurnList)
    wanted = list(turns)
    kept = [place % 3 for place in range(12)]
    assert list(chosen(turns, kept)) == list(chosen(wanted, kept))
    last = Turn(12, Role.USER, "Another.")
    assert list(replaced(turns, 11, last)) == [*wanted[:11], last]
    assert turns == wanted
    assert turns != wanted[:11]


def price(text: str) -> int:
    return message_tokens(COUNTER, text)


@pytest.fixture
def priced(store) -> Memory:
    """Twelve turns, one of them blank and one unanswered, whose prices are stored."""
    memory = talk_of(store, 5)
    name = memory.conversation.id
    store.append(name, [Turn(0, Role.ASSISTANT, " "), Turn(0, Role.USER, "Hm?")])
    store.set_status(store.turns(name)[6], Status.UNANSWERED)
    store.append(name, [Turn(0, Role.USER, f"Said {place}.") for place in range(5)])
    made = Memory(store, memory.conversation)
    keep_costs(made, PRICE, History().extended(made.turns, price))
    return made


def test_stored_prices_are_reused(priced):
    known, ahead = known_history(priced, PRICE, 13)
    assert [turn.position for turn in ahead] == list(range(1, 12))  # the last one may change
    whole = History().extended(priced.turns, price)
    grown = known.extended(priced.turns[len(ahead) :], price)
    assert list(grown.turns) == list(whole.turns)
    assert (grown.costs, grown.before, grown.positions) == (
        whole.costs,
        whole.before,
        whole.positions,
    )


def test_prices_are_reused_for_a_shared_start_but_not_for_another_counter(priced):
    store, name = priced.store, priced.conversation.id
    assert not TurnCosts(store.database, name, "another").read(priced.snapshot.path)
    priced.add_user_turn("Or else?", after=4)
    assert len(TurnCosts(store.database, name, PRICE.name).read(priced.snapshot.path)) == 4
    known, ahead = known_history(priced, PRICE, 20)
    assert known == History().extended(priced.turns[:4], price)
    assert len(ahead) == 4


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE turn_costs SET content = x'01020304'",
        "UPDATE turn_costs SET content = 7",
        "UPDATE turn_costs SET checksum = 0",
        "UPDATE turns SET status = 'unanswered' WHERE position = 3",
    ],
)
def test_damaged_or_outdated_prices_are_not_used(priced, damage):
    priced.store.database.execute(damage)
    assert known_history(priced, PRICE, 13) == (History(), ())


def test_planning_keeps_the_prices_of_a_long_conversation(store, monkeypatch):
    monkeypatch.setattr("jitchat.planning._WORTH_KEEPING", 8)
    memory, priced = talk_of(store, 12), list[str]()

    class Noted(EstimateCounter):
        def count(self, text: str) -> int:
            priced.append(text)
            return super().count(text)

    def history_of(opened: Memory) -> History:
        planning = Planning(opened, Noted(), lambda: pytest.fail("no model is asked"))
        return planning.history_before(13)

    first = history_of(memory)
    assert len(priced) == 12
    assert history_of(Memory(store, memory.conversation)) == first
    assert len(priced) == 13


OWN, OTHER = WritingRules(origin="ollama:srv/m"), WritingRules(origin="gemini:srv/m")


@pytest.mark.parametrize(
    "others",
    [
        (OTHER,),
        (replace(OWN, names_results=True), replace(OWN, marks_errors=True)),
        (replace(OTHER, blank_reasoning=True), replace(OWN, refused=("thinking",))),
        (replace(OWN, takes_tools=False),),
    ],
)
def test_prices_of_one_protocol_are_not_used_for_another(store, monkeypatch, others):
    """What is sent of a call depends on the protocol: its reasoning, the name with its result."""
    monkeypatch.setattr("jitchat.planning._WORTH_KEEPING", 0)
    made, call = store.create("A talk"), ToolCall("1", "look", '{"at": "the harbour"}')
    thought = Echo("ollama:srv/m", '{"thinking": "The harbour, of course, is far away."}')
    turns = [
        Turn(0, Role.USER, "Look."),
        Turn(0, Role.ASSISTANT, "", use=ToolUse((call,), thought)),
        Turn(0, Role.TOOL, "Not found", use=ToolUse(answers=call, is_error=True)),
        Turn(0, Role.ASSISTANT, "There is none."),
        Turn(0, Role.USER, "Really?"),
    ]
    store.append(made.id, turns)
    offered = (ToolOffer(Tool("look", "", "{}"), "offered"),)

    def opened() -> Planning:
        return Planning(Memory(store, made), COUNTER, lambda: facts, lambda *_: offered)

    first = opened()
    draft = Turn(6, Role.USER, "Again.")
    for rules in (OWN, *others, OWN):
        facts = ModelFacts("m", "", NO_CALIBRATION, rules=rules)
        wanted = History().extended(turns, TurnPricing(COUNTER, rules)).costs
        for planning in (first, opened()):
            sources = planning.sources(Question(draft), Mode.FULL, Budget())
            assert sources.history.costs == wanted, rules
