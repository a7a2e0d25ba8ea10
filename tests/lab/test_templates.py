"""Templates: parsing and rendering; every template in the data can be rendered."""

from __future__ import annotations

import random
import re
from importlib.resources import files
from itertools import islice

import pytest

from jitchat.lab.filler import Topic, exchanges, read_topic, topics
from jitchat.lab.templates import (
    Exhausted,
    Vocabulary,
    Wording,
    scenes,
    sentences,
    word_lists,
)
from jitchat.text.words import stems

COMMON, BARE = read_topic("common"), read_topic("bare")
TOPICS = (*topics(), COMMON, BARE)
LIST = re.compile(r"\{(?:\w+ )?([a-z_]+)\d?[!?]?\}", re.IGNORECASE)
BESIDE = re.compile(r"\{[^{}]*\}|[\[\]|]")
LISTS = """
dish: pea risotto | onion soup | [thick|thick] noodles
tip: salt it. | wait a little.
step: chop it | stir it | taste it
"""


def vocabulary(*avoided: str) -> Vocabulary:
    return Vocabulary(word_lists(LISTS), frozenset(avoided))


def said(template: str, *avoided: str, seed: int = 1) -> str | None:
    words = vocabulary(*avoided)
    kept = words.without(template)
    return None if kept is None else Wording(words, random.Random(seed).random).say(kept)


def test_a_word_stays_the_same_all_through_and_a_new_one_is_new():
    assert len({*str(said("{dish}, {dish}, {dish}")).split(", ")}) == 1
    assert len({*str(said("{dish}, {dish2}, {dish!}")).split(", ")}) == 3
    with pytest.raises(Exhausted):
        said("{dish!} {dish!} {dish!} {dish!}")
    assert str(said("{tip?} {tip?} {tip?}")).count(".") == 3


def test_a_slot_has_its_article_and_begins_a_sentence():
    texts = {said("{A dish} and {a dish}. {Dish}!", seed=seed) for seed in range(20)}
    assert texts == {
        "A pea risotto and a pea risotto. Pea risotto!",
        "An onion soup and an onion soup. Onion soup!",
        "A thick noodles and a thick noodles. Thick noodles!",
    }


def test_a_listing_has_three_lines_or_more_and_never_one_twice():
    assert sorted(str(said("{list step}")).strip().splitlines()) == [
        "- Chop it",
        "- Stir it",
        "- Taste it",
    ]
    assert str(said("{numbered step}")).strip().startswith("1. ")
    assert str(said("{numbered step}", "2")).strip().startswith("- ")
    assert said("{list step}", "chop") is None


def test_what_is_avoided_is_left_out_and_its_form_if_nothing_is_left():
    assert said("[hot|cold] soup", "hot") == "cold soup"
    assert said("[hot|{dish}]", "hot", "pea", "thick") == "onion soup"
    assert said("[hot|cold] soup", "soup") is None
    assert said("[hot|cold] soup", "hot", "cold") is None
    assert said("{dish}", "pea", "thick") == "onion soup"
    assert said("{dish} at last", "pea", "thick", "onion") is None


def test_sentences_end_outside_of_brackets_and_take_what_opens_them_along():
    assert sentences("[Yes.|] Do. [A.|B.] {tip!} Why? So: {list step} Then go.") == [
        "[Yes.|] Do.",
        "[A.|B.]",
        "{tip!} Why?",
        "So: {list step}",
        "Then go.",
    ]


def test_a_scene_ends_ahead_of_what_cannot_be_said_and_replies_lose_sentences():
    scene = scenes("""
> May I ask?
  Is it hot?
< It is. Take care. [Blow.|Wait.]

> Soup?
< No.
> Cake?
< Yes.
""")
    assert [len(each) for each in scene] == [1, 2]
    (left,) = vocabulary("care", "blow").scene(scene[0])
    assert len(left.text) == 2
    assert [Wording(vocabulary(), lambda: 0).say(each) for each in left.reply] == [
        "It is.",
        "Wait.",
    ]
    assert len(vocabulary("cake").scene(scene[1])) == 1
    assert not vocabulary("soup").scene(scene[1])
    assert not vocabulary("hot").scene(scene[0])
    with pytest.raises(ValueError, match="shorter"):
        scenes("> Alone.")


def stems_in(topic: Topic) -> set[str]:
    texts = [text for each in templates_of(topic) for text in BESIDE.split(each)]
    return {stem for text in texts for stem in stems(text)}


def templates_of(topic: Topic) -> list[str]:
    lists = [topic.words, *topic.cases]
    moves = [move for each in topic.scenes.values() for scene in each for move in scene]
    words = [value for each in lists for values in each.values() for value in values]
    return [*words, *(each for move in moves for each in (*move.text, *move.reply))]


def test_every_part_of_a_template_is_written_in_a_known_way():
    part = r"\{(?:(?:a|list|numbered) )?[a-z_]+\d?[!?]?\}"
    sentence = re.compile(rf"(?:[^\[\]{{}}|]|{part}|\[(?:[^\[\]{{}}]|{part})*\])*", re.IGNORECASE)
    wrong = [
        each for topic in TOPICS for each in templates_of(topic) if not sentence.fullmatch(each)
    ]
    assert wrong == []


def test_scenes_alternate_between_user_and_assistant():
    for each in (files("jitchat.lab") / "data" / "talk").iterdir():
        for scene in re.split(r"\n\n|==\n", each.read_text("utf-8")):
            marks = "".join(re.findall(r"^[<>] ", scene, re.MULTILINE))
            assert marks == "> < " * (len(marks) // 4), scene


def test_every_list_that_a_template_draws_from_is_there_in_every_case():
    for topic in TOPICS:
        wanted = {name.lower() for each in templates_of(topic) for name in LIST.findall(each)}
        for case in topic.cases:
            there = {*COMMON.words, *topic.words, *case}
            if topic is COMMON:
                there |= {"it", "tip", "lore", "note"}
            assert wanted <= there, topic.cases[0]
        is_whole = {"it", "tip", "lore", "note"} <= there
        assert topic in (COMMON, BARE) or is_whole, topic.cases[0]


def test_no_word_is_joined_of_two_parts_of_a_template():
    parts = set("12345").union(*map(stems_in, TOPICS))
    talk = islice(exchanges("parts", frozenset()), 1000)
    assert {stem for each in talk for stem in stems(f"{each.text}\n{each.reply}")} <= parts


def test_talk_without_a_stem_has_none():
    assert not stems_in(BARE)
