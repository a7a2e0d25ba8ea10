"""Facts are at their depths, in conversations of the requested length."""

from __future__ import annotations

from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.errors import UsageError
from jitchat.lab.experiment import PRESETS, Experiment, preset
from jitchat.lab.facts import USUAL_KINDS, Kind, Where
from jitchat.lab.filler import Exchange, Talk
from jitchat.lab.planting import (
    EARLY,
    SPREAD,
    ConversationPlan,
    MadeConversation,
    made_of_own,
    made_up,
    plans,
    require_room,
)
from jitchat.values import Role, Status, Turn
from tests.examples import examples
from tests.lab.support import price
from tests.support import talk as turns_of

quick = examples(8)

_TOLERATED = 0.04
"""Of a long conversation, for facts that stand beside each other."""


def filler() -> iter:
    for number in count(1):
        yield Exchange(f"Message {number} is about nothing much at all.", f"Reply {number}: yes.")


def talk_of(
    length: int, *kinds: Kind, depths: tuple[float, ...] = (0.0, 0.5, 1.0)
) -> ConversationPlan:
    (found,) = plans(Experiment((length,), depths, kinds or tuple(Kind)), price)
    return found


def tokens(turns: tuple[Turn, ...]) -> int:
    return sum(price(turn.content) for turn in turns)


def share_ahead(made: MadeConversation, position: int) -> float:
    return tokens(made.turns[: position - 1]) / tokens(made.turns)


@quick
@given(st.integers(30_000, 60_000), st.sampled_from(Kind))
def test_the_turns_that_an_answer_needs_stand_at_its_depth(length: int, kind: Kind) -> None:
    talk = talk_of(length, kind)

    made = made_up(talk, filler(), price)

    for each in talk.facts:
        for position in made.needed.get(each.fact.name, ()):
            depth = EARLY * each.depth + SPREAD if kind is Kind.CORRECTED else each.depth
            off = abs(share_ahead(made, position) - depth)
            assert off <= _TOLERATED + SPREAD * (kind is Kind.COUNTING)


@quick
@given(st.integers(6_000, 60_000))
def test_a_talk_is_as_long_as_it_is_to_be_or_one_exchange_longer(length: int) -> None:
    for talk in plans(Experiment((length,), (0.0, 0.5, 1.0)), price):
        made = made_up(talk, filler(), price)

        last = tokens(made.turns[-2:])
        assert length <= tokens(made.turns) <= length + max(last, 100)
        assert [turn.position for turn in made.turns] == list(range(1, len(made.turns) + 1))


def test_every_saying_is_said_once_and_what_is_needed_is_where_it_is_said_to_be() -> None:
    talk = talk_of(40_000)
    made = made_up(talk, filler(), price)
    said = [turn.content for turn in made.turns]

    for each in talk.facts:
        needed = [saying.text for saying in each.fact.sayings if saying.is_needed]
        found = [said[position - 1] for position in made.needed.get(each.fact.name, ())]
        assert sorted(found) == sorted(needed)
        assert all(said.count(saying.text) == 1 for saying in each.fact.sayings)


def test_what_changes_a_fact_is_said_later() -> None:
    talk = talk_of(20_000, Kind.UPDATED, depths=(0.0, 0.3, 1.0))
    made = made_up(talk, filler(), price)
    said = [turn.content for turn in made.turns]

    for each in talk.facts:
        places = [said.index(saying.text) for saying in each.fact.sayings]
        assert places == sorted(places)


def test_a_question_stands_behind_its_fact_and_so_does_one_about_the_last_thing_said() -> None:
    talk = talk_of(20_000, Kind.DIRECT, Kind.EXACT, depths=(0.5, 1.0))
    made = made_up(talk, filler(), price)
    last = len(made.turns)

    for each in talk.facts:
        (needed,) = made.needed[each.fact.name]
        if each.depth == 1.0:
            assert made.ends[each.fact.name] == needed + 1
        else:
            assert made.ends[each.fact.name] == last
    assert sum(made.ends[each.fact.name] == last for each in talk.facts) == 3


def test_each_number_of_near_duplicates_asks_for_the_same_facts() -> None:
    asked = Experiment((4_000,), (0.0, 0.5, 1.0), near=(None, 0, 6, 12))
    facts: dict[object, set[tuple[str, str, str]]] = {}
    names = []
    for plan in plans(asked, price):
        names.append(plan.name)
        for cell, fact in plan.cells(asked.modes):
            place = (cell.depth, cell.kind, cell.repeat)
            facts.setdefault(place, set()).add((fact.name, fact.question, fact.expected))

    assert len(set(names)) == len(names)
    assert all(len(each) == 1 for each in facts.values())
    cells = [cell for plan in plans(asked, price) for cell, _ in plan.cells(asked.modes)]
    assert sorted(map(str, cells)) == sorted(map(str, asked.cells()))
    assert len(cells) == asked.size


def test_near_duplicates_stand_all_over_a_talk_and_none_says_an_answer_of_it() -> None:
    asked = Experiment((8_000,), (0.5,), near=(12,))
    for plan in plans(asked, price):
        made = made_up(plan, filler(), price)
        said = [turn.content for turn in made.turns]
        for each in plan.facts:
            near = [s.text for s in each.fact.sayings if s.where is Where.APART]
            ahead = [share_ahead(made, said.index(text) + 1) for text in near]
            assert max(ahead) - min(ahead) > 0.7
        assert 8_000 <= tokens(made.turns) <= 8_200


def test_near_duplicates_that_leave_no_room_are_refused_in_a_sentence() -> None:
    require_room(Experiment((1_000,), (0.0, 0.5), near=(12,)), price)
    require_room(Experiment((500,), (0.0, 0.5), near=(None,)), price)
    with pytest.raises(UsageError, match=r"^12 near-duplicates do not fit into 500 tokens"):
        require_room(Experiment((500, 1_000), (0.0, 0.5), near=(0, 12)), price)


OWN = turns_of(*(f"My own words, number {number}, on this and that." for number in range(1, 601)))


def test_the_users_own_conversation_is_planted_in_as_it_is() -> None:
    talk = talk_of(4_000, Kind.DIRECT)
    made = made_of_own(talk, OWN, price)
    sayings = {text for each in talk.facts for s in each.fact.sayings for text in (s.text, s.reply)}
    kept = [turn for turn in made.turns if turn.content not in sayings]

    assert [turn.content for turn in kept] == [turn.content for turn in OWN[-len(kept) :]]
    assert kept[0].role is Role.USER
    for before, after in zip(made.turns, made.turns[1:], strict=False):
        assert before.role is not after.role


def test_an_own_conversation_that_is_too_short_is_refused() -> None:
    with pytest.raises(ValueError, match="short"):
        made_of_own(talk_of(40_000, Kind.DIRECT), OWN, price)


def test_a_message_that_is_large_for_the_talk_is_passed_over_and_how_turns_ended_is_kept() -> None:
    large = [Turn(0, Role.USER, "word " * 3_000), Turn(0, Role.ASSISTANT, "I see.")]
    cut = [Turn(0, Role.USER, "And then?"), Turn(0, Role.ASSISTANT, "Then", status=Status.CUT)]
    own = [*OWN, *large, *cut]

    made = made_of_own(talk_of(4_000, Kind.DIRECT, depths=(0.5,)), own, price)

    assert large[0].content not in [turn.content for turn in made.turns]
    assert [turn.status for turn in made.turns[-2:]] == [Status.COMPLETE, Status.CUT]
    assert tokens(made.turns) < 5_000


@pytest.mark.parametrize("provider", ["reader", "local", "openai"])
@pytest.mark.parametrize("name", PRESETS)
def test_presets_ask_the_usual_kinds_in_the_usual_talk(name: str, provider: str) -> None:
    asked = preset(name, provider)
    assert set(asked.kinds) <= set(USUAL_KINDS)
    assert asked.talk is Talk.CHAT
    assert len(USUAL_KINDS) == 7
