"""Talk like chats with a model: long answers with lists and code, without avoided words."""

from __future__ import annotations

import random
import re
from hashlib import sha256
from itertools import islice
from statistics import fmean

import pytest

from jitchat.lab.facts import Kind, makers, stems_to_avoid
from jitchat.lab.filler import Exchange, Talk, exchanges, stretches
from jitchat.text.words import stems

NOTHING: frozenset[str] = frozenset()


def long_exchanges(seed, avoided):
    return exchanges(seed, avoided, Talk.LONG)


@pytest.fixture(scope="module")
def talk() -> list[Exchange]:
    return list(islice(long_exchanges("a long talk", NOTHING), 250))


def test_answers_are_long_with_a_list_and_fenced_code_and_questions_are_short(talk):
    sizes = [len(each.reply.split()) for each in talk]
    assert min(sizes) >= 180
    assert max(sizes) <= 500
    assert 200 <= fmean(sizes) <= 400
    for each in talk:
        assert "?" in each.text
        assert len(each.text.split()) <= 40
        assert len(re.findall(r"^(?:- |\d\. )", each.reply, re.MULTILINE)) >= 4
        assert each.reply.count("```") in (2, 4)
        assert "$" not in each.text
        assert "${" not in re.sub(r"```bash.*?```", "", each.reply, flags=re.DOTALL)


def test_no_answer_is_given_twice(talk):
    assert len({each.reply for each in talk}) == len(talk)


def test_it_is_the_same_for_the_same_seed_in_every_run_and_every_python():
    first = list(islice(long_exchanges("golden", NOTHING), 20))
    assert first == list(islice(long_exchanges("golden", NOTHING), 20))
    assert first != list(islice(long_exchanges("another", NOTHING), 20))
    whole = "\0".join(text for each in first for text in (each.text, each.reply))
    assert (
        sha256(whole.encode()).hexdigest()
        == "06cd26b69831216260a9e5845ec04ac1f666f36a558e98f3d5630c79a7e72955"
    )


@pytest.mark.parametrize(
    "kind",
    [*list(Kind)[:3], *(pytest.param(k, marks=pytest.mark.long("whole")) for k in list(Kind)[3:])],
)
def test_it_is_free_of_what_matters_in_a_fact(kind):
    for number, make in enumerate(makers()[kind]):
        avoided = stems_to_avoid(make(random.Random(number)))
        said = list(islice(long_exchanges(str(number), avoided), 12))
        heard = {stem for each in said for stem in stems(f"{each.text} {each.reply}")}
        assert not heard & avoided
        assert fmean(len(each.reply.split()) for each in said) > 150, "long answers, mostly"


def test_where_next_to_every_word_is_avoided_short_talk_stands_in():
    long = [each for stretch in stretches("long") for each in stretch]
    avoided = frozenset(stem for each in long for stem in stems(f"{each.text} {each.reply}"))
    said = list(islice(long_exchanges("none", avoided), 30))
    assert not {stem for each in said for stem in stems(f"{each.text} {each.reply}")} & avoided
    assert max(len(each.reply.split()) for each in said) < 150
