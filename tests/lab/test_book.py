"""Properties of the facts, over every maker and many seeds."""

from __future__ import annotations

import random
import re
from functools import cache
from importlib import resources
from itertools import permutations
from typing import TYPE_CHECKING

import pytest

from jitchat.lab.facts import (
    MOST_NEAR,
    NEVER,
    NUMERALS,
    OTHERS,
    TAKEN_BACK,
    Fact,
    Kind,
    Where,
    everyday,
    makers,
    people,
    stems_to_avoid,
)
from jitchat.lab.grade import grade
from jitchat.lab.spelling import exact_places, has, places, plain
from jitchat.text.words import stems, words
from tests.lab.drawn import FEW, SEEDS, facts

if TYPE_CHECKING:
    from collections.abc import Callable

every_kind = pytest.mark.parametrize("kind", list(Kind))


def said(fact: Fact) -> str:
    return " ".join(each.text for each in fact.sayings)


def finds(fact: Fact, text: str) -> Callable[[str], bool]:
    """Make what tells whether a text has a value, as it is judged."""
    find = exact_places if fact.kind is Kind.EXACT else places
    spelt = text if fact.kind is Kind.EXACT else plain(text)
    return lambda value: has(spelt, value, find)


def test_there_are_a_dozen_facts_of_each_kind_and_no_name_twice():
    names = [make(random.Random(0)).name for kind in Kind for make in makers()[kind]]
    assert all(len(makers()[kind]) >= 12 for kind in Kind)
    assert len(set(names)) == len(names)


@every_kind
def test_a_fact_is_drawn_by_its_seed_alone_and_keeps_its_name(kind: Kind):
    for make in makers()[kind]:
        drawn = [make(random.Random(seed)) for seed in SEEDS]
        assert drawn[:5] == [make(random.Random(seed)) for seed in SEEDS[:5]]
        assert {(fact.kind, fact.name) for fact in drawn} == {(kind, drawn[0].name)}
        assert len({(fact.expected, fact.sayings[0].text) for fact in drawn}) > 4


@every_kind
def test_sayings_are_of_a_size_with_chat_and_replies_give_nothing_away(kind: Kind):
    for fact in facts(kind, FEW):
        for saying in fact.sayings:
            assert 10 <= len(saying.text.split()) <= 45
            assert not set(stems(saying.reply)) & set(stems(fact.question))
            assert not any(value.lower() in saying.reply.lower() for value in fact.accepted)
        assert len({each.reply for each in fact.sayings}) == len(fact.sayings)
        assert fact.question.endswith("?")


@every_kind
def test_the_answer_stands_in_what_it_needs_and_nowhere_else(kind: Kind):
    for fact in facts(kind):
        needed = finds(fact, " ".join(each.text for each in fact.sayings if each.is_needed))
        others = finds(fact, " ".join(each.text for each in fact.sayings if not each.is_needed))
        if kind is not Kind.COUNTING:
            assert any(map(needed, fact.accepted)) is bool(fact.accepted)
        assert all(map(others, fact.wrong))
        assert not any(map(others, fact.accepted))
        assert not any(map(needed, fact.wrong))
        assert not any(map(finds(fact, fact.question), (*fact.accepted, *fact.wrong)))
        assert fact.expected in (*fact.accepted, NEVER, TAKEN_BACK)


def test_a_direct_question_shares_words_with_the_very_sentence():
    for fact in facts(Kind.DIRECT, FEW):
        assert len(set(stems(fact.question)) & set(stems(said(fact)))) >= 3


def test_a_paraphrased_question_shares_no_content_word_with_what_was_said():
    for fact in facts(Kind.PARAPHRASED):
        heard = " ".join(f"{each.text} {each.reply}" for each in fact.sayings)
        assert not set(stems(fact.question)) & set(stems(heard))
        assert len(set(stems(fact.question))) >= 2


def test_an_update_comes_last_and_says_nothing_of_the_old_value():
    for fact in facts(Kind.UPDATED):
        *before, last = fact.sayings
        assert [each.where for each in before] == [Where.BEFORE] * len(fact.wrong)
        assert (last.where, last.is_needed) == (Where.AT, True)
        assert not any(each.is_needed for each in before)
        assert len({fact.expected, *fact.wrong}) == len(fact.sayings)


def test_a_correction_comes_last_and_both_are_far_back():
    for fact in facts(Kind.CORRECTED):
        wrong, right = fact.sayings
        assert (wrong.where, right.where) == (Where.EARLY, Where.EARLY)
        assert (wrong.is_needed, right.is_needed) == (False, True)
        assert grade(fact, fact.expected).is_right
        assert grade(fact, fact.wrong[0]).rule == f"says the old value {fact.wrong[0]}"


def test_a_chain_has_three_values_of_which_the_last_is_right():
    for fact in facts(Kind.SUPERSEDED):
        assert len({fact.expected, *fact.wrong}) == len(fact.sayings) == 3
        assert [each.where for each in fact.sayings] == [Where.BEFORE, Where.BEFORE, Where.AT]
        assert [each.is_needed for each in fact.sayings] == [False, False, True]
        assert grade(fact, fact.expected).is_right
        for old in fact.wrong:
            assert grade(fact, old).rule == f"says the old value {old}"


def test_what_is_taken_back_is_right_where_an_answer_says_so_and_never_where_it_has_the_value():
    for fact in facts(Kind.DELETED):
        said, taken_back = fact.sayings
        (value,) = fact.wrong
        assert (said.where, taken_back.where) == (Where.BEFORE, Where.AT)
        assert (said.is_needed, taken_back.is_needed) == (False, True)
        assert len(set(stems(fact.question)) & set(stems(taken_back.text))) >= 2
        for answer in (TAKEN_BACK, "not said", "You took that back.", taken_back.text):
            assert grade(fact, answer).is_right, answer
        for answer in (value, said.text, f"You took {value} back.", "Yes."):
            assert not grade(fact, answer).is_right, answer
        assert grade(fact, value).rule == f"says the value that was taken back, {value}"


def test_an_instruction_is_asked_about_by_a_question_about_something_else():
    for fact in facts(Kind.INSTRUCTION, FEW):
        assert fact.rule in {"ends", "begins", "says", "sentences"}
        assert not _matter(fact.question) & _matter(said(fact))
    rules = [make(random.Random(0)).rule for make in makers()[Kind.INSTRUCTION]]
    assert set(rules) == {"ends", "begins", "says", "sentences"}


def test_some_facts_change_twice():
    changes = [len(make(random.Random(0)).wrong) for make in makers()[Kind.UPDATED]]
    assert set(changes) == {1, 2}
    assert changes.count(2) >= 3


def test_distractors_share_most_words_with_the_fact_and_lack_whom_it_is_about():
    for fact in facts(Kind.DISTRACTED, FEW):
        meant, *others = fact.sayings
        assert OTHERS - 1 <= len(others) <= OTHERS
        assert {each.where for each in others} == {Where.APART}
        asked = set(stems(fact.question))
        for other in others:
            shared = asked & set(stems(other.text))
            assert len(shared) >= len(asked) / 2
            assert asked & set(stems(meant.text)) > shared


def test_what_is_counted_adds_up_over_four_turns():
    totals = set()
    for fact in facts(Kind.COUNTING):
        assert [each.where for each in fact.sayings] == [Where.AROUND] * 4
        assert all(each.is_needed for each in fact.sayings)
        ones_and_twos = [words(each.text) for each in fact.sayings]
        assert all(sum(each.count(word) for word in ("one", "two")) == 1 for each in ones_and_twos)
        total = sum(1 + each.count("two") for each in ones_and_twos)
        assert fact.accepted == (NUMERALS[total], str(total))
        totals.add(total)
    assert totals == set(NUMERALS)


def test_what_was_never_said_has_a_double_at_the_depth():
    for fact in facts(Kind.ABSENT, FEW):
        (double,) = fact.sayings
        assert (double.where, double.is_needed) == (Where.AT, False)
        assert (fact.expected, fact.accepted, len(fact.wrong)) == (NEVER, (), 1)
        asked = set(stems(fact.question))
        shared = asked & set(stems(double.text))
        assert 2 <= len(shared) < len(asked)


@pytest.mark.parametrize("seed", range(3))
def test_no_question_is_answered_by_another_fact(seed: int):
    """A question shares one word that matters with a turn of another fact, and no more."""
    facts = [
        make(random.Random(seed + at)) for kind in Kind for at, make in enumerate(makers()[kind])
    ]
    for one, other in permutations(facts, 2):
        asked = _matter(one.question)
        for saying in other.sayings:
            shared = asked & (_matter(saying.text) | _matter(saying.reply))
            assert len(shared) <= min(1, len(asked) / 2), (one.name, other.name, shared)


def with_near(kind: Kind, near: int, seeds: int = FEW) -> list[tuple[Fact, Fact]]:
    """Each fact as it is made, and with so many near-duplicates."""
    return [
        (made, make.with_near(made, near, random.Random(seed)))
        for make in makers()[kind]
        for seed in range(seeds)
        for made in [make(random.Random(seed))]
    ]


def apart(fact: Fact) -> list[str]:
    return [each.text for each in fact.sayings if each.where is Where.APART]


@every_kind
@pytest.mark.parametrize("near", [0, 2, MOST_NEAR])
def test_a_fact_has_as_many_near_duplicates_as_are_wanted_and_stays_the_same(kind: Kind, near: int):
    for made, fact in with_near(kind, near):
        own = [each for each in made.sayings if each.where is not Where.APART]
        assert list(fact.sayings[: len(own)]) == own
        assert (fact.question, fact.accepted) == (made.question, made.accepted)
        assert len(apart(fact)) == max(0, near - (kind is Kind.ABSENT))
        assert len({each.reply for each in fact.sayings}) == len(fact.sayings)
        assert len(set(apart(fact))) == len(apart(fact))
        assert not any(each.is_needed for each in fact.sayings if each.where is Where.APART)


def obedient(fact: Fact) -> str:
    """An answer that does what the instruction wants, and no more."""
    count = {"one": 1, "two": 2, "three": 3}.get(fact.expected.split()[0], 1)
    return " ".join(["They eat fish."] * count) if fact.rule == "sentences" else fact.expected


@every_kind
def test_near_duplicates_say_the_same_with_wrong_values_and_never_the_answer(kind: Kind):
    for made, fact in with_near(kind, MOST_NEAR):
        for text in apart(fact):
            found = finds(fact, text)
            assert not any(map(found, fact.accepted)) or kind is Kind.COUNTING
            assert kind is Kind.COUNTING or any(map(found, fact.wrong)), text
            assert 10 <= len(text.split()) <= 45, text
            shared = set(stems(text)) & set(stems(said(made)))
            assert len(shared) >= 2, text
        answer = obedient(fact) if fact.rule else fact.expected.replace("never", "not")
        assert grade(fact, answer).is_right, (fact.question, answer, fact.wrong)


def test_a_fact_with_more_near_duplicates_has_those_of_the_one_with_fewer():
    for kind in Kind:
        few, many = with_near(kind, 2), with_near(kind, 6)
        for (_, fewer), (_, more) in zip(few, many, strict=True):
            assert apart(more)[: len(apart(fewer))] == apart(fewer)


def test_an_old_value_is_told_from_one_of_somebody_else():
    for made, fact in with_near(Kind.UPDATED, 2, seeds=1):
        theirs = next(each for each in fact.wrong if each not in made.wrong)
        assert grade(fact, made.wrong[0]).rule == f"says the old value {made.wrong[0]}"
        assert grade(fact, theirs).rule == f"says another's value {theirs}"


def test_no_question_shares_a_word_with_a_near_duplicate_of_a_paraphrased_fact():
    for _, fact in with_near(Kind.PARAPHRASED, MOST_NEAR, seeds=3):
        assert not set(stems(fact.question)) & set(stems(said(fact)))


def test_people_of_near_duplicates_are_in_no_other_fact():
    assert len(people()) >= 16
    folder = resources.files("jitchat.lab") / "data" / "facts"
    book = "\n".join((folder / f"{kind}.toml").read_text("utf-8") for kind in Kind)
    for who in people():
        name = who.split()[-1]
        assert not re.search(rf"\b{name}\b", book), name


@pytest.mark.parametrize("seed", range(2))
def test_no_question_is_answered_by_a_near_duplicate_of_another_fact(seed: int):
    drawn = [fact for kind in Kind for _, fact in with_near(kind, 3, seeds=seed + 1)]
    asked = {fact.name: _matter(fact.question) for fact in drawn}
    for other in drawn:
        heard = [_matter(text) for text in apart(other)]
        for name, wanted in asked.items():
            if name != other.name:
                shared = max((wanted & each for each in heard), key=len, default=frozenset())
                assert len(shared) <= 1, (name, other.name, shared)


@every_kind
def test_fillers_avoid_what_matters_and_are_left_everyday_words(kind: Kind):
    for fact in facts(kind, FEW):
        named = stems_to_avoid(fact)
        assert _matter(fact.question) | _matter(said(fact)) <= named
        assert all(_matter(value) <= named for value in (*fact.accepted, *fact.wrong))
        assert not named & everyday()
        assert len(named) <= 40


@cache
def _matter(text: str) -> frozenset[str]:
    return frozenset(stems(text)) - everyday()
