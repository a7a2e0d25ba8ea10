"""Generated talk: reproducible, varied, without avoided words, and endless."""

from __future__ import annotations

import random
import re
from hashlib import sha256
from itertools import islice
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.lab.filler import Exchange, exchanges, stretches, without
from jitchat.text.stance import disclaims, is_decision
from jitchat.text.words import stems
from tests.examples import examples

NOTHING: frozenset[str] = frozenset()


@pytest.fixture(scope="module")
def talk() -> list[Exchange]:
    return list(islice(exchanges("a long talk", NOTHING), 2_000))


@pytest.fixture(scope="module")
def turns(talk: list[Exchange]) -> list[str]:
    return [text for each in talk[:1000] for text in (each.text, each.reply)]


@pytest.fixture(scope="module")
def every_stem(talk: list[Exchange]) -> list[str]:
    return sorted({stem for each in talk for stem in said_in(each)})


def said_in(exchange: Exchange) -> set[str]:
    return set(stems(exchange.text)) | set(stems(exchange.reply))


def test_it_is_the_same_for_the_same_seed_in_every_run_and_every_python():
    first = list(islice(exchanges("golden", NOTHING), 50))
    assert first == list(islice(exchanges("golden", NOTHING), 50))
    assert first != list(islice(exchanges("another", NOTHING), 50))
    whole = "\0".join(text for each in first for text in (each.text, each.reply))
    assert (
        sha256(whole.encode()).hexdigest()
        == "a6fda61651a87fd239f5f52a1c6aecffc5e2af3cbabf236ae65f787ac5d42969"
    )


def test_no_exchange_comes_twice_in_the_first_2_000(talk: list[Exchange]):
    assert len(talk) == len(set(talk)) == 2_000


def test_words_come_in_ever_new_rows(turns: list[str]):
    rows = [
        tuple(words[start : start + 8])
        for words in map(str.split, turns)
        for start in range(len(words) - 7)
    ]
    assert len(set(rows)) / len(rows) > 0.6
    assert len({stem for turn in turns for stem in stems(turn)}) > 2000


def test_turns_are_as_long_as_people_make_them(talk: list[Exchange], turns: list[str]):
    asked = [len(each.text.split()) for each in talk]
    replied = [len(each.reply.split()) for each in talk]
    assert 5 <= min(asked) < 10
    assert 50 < max(asked) <= 66
    assert 15 <= min(replied) < 20
    assert 80 < max(replied) <= 120
    assert 30 < fmean(len(re.findall(r"\w+|[^\w\s]", turn)) for turn in turns) < 45
    assert 0.02 < sum("\n- " in turn or "\n1. " in turn for turn in turns) / len(turns) < 0.2
    assert any("`" in turn for turn in turns)


def test_it_goes_in_stretches_in_another_order_for_each_seed():
    lengths = [len(stretch) for stretch in stretches("talk")]
    assert set(lengths) == set(range(4, 15))
    firsts = {next(exchanges(f"seed {number}", NOTHING)) for number in range(20)}
    assert len(firsts) > 10
    assert firsts <= {stretch[0] for stretch in stretches("talk")}


def test_a_sentence_that_is_avoided_is_left_out_and_an_exchange_that_needs_it():
    said = Exchange("I bake. It burns. Why?", "The oven is hot. Wait. Turn it down.")
    assert without(said, NOTHING) == said
    burnt = Exchange("I bake. Why?", "The oven is hot. Wait.")
    assert without(said, frozenset(("burn", "turn"))) == burnt
    for required in ("bake", "oven"):
        assert without(said, frozenset((required,))) is None
    listed = Exchange("Why?", "Well.\n\n- Cool it\n- Turn it down")
    assert without(listed, NOTHING) == listed
    assert without(listed, frozenset(("turn",))) is None


def test_few_turns_look_like_decisions_or_like_not_knowing(turns: list[str]):
    assert sum(map(is_decision, turns)) / len(turns) < 0.02
    assert sum(map(disclaims, turns)) / len(turns) < 0.01


@pytest.mark.parametrize(
    "slip",
    [
        r"(?:^|[.?!] |\n\n|\n- |\n\d\. )[a-z]",  # a sentence that begins small
        r"\b(?!Code)(\w+) \1\b",
        r"\b[Aa] (?!one|uni|use|euro)[aeio]\w",
        r"\b[Aa]n (?!hour|honest)[^aeiou\W]",
        r"\b(?:the|my|your|our|a|an) (?:a|an|the|my|your|our|some)\b",
        r"[.,;:?!]\s*[.,;]|:\s*[?!]|  | [.,;:?!]",
        r"[\[\]{}|]",
    ],
)
def test_no_sentence_reads_as_if_a_machine_had_joined_it(talk: list[Exchange], slip: str):
    bare = (re.sub(r"`[^`]*`", "Code", f"{each.text}\f{each.reply}") for each in talk)
    found = (re.search(slip, text) for both in bare for text in both.split("\f"))
    assert [match.string for match in found if match] == []


@examples(6)
@given(st.integers(0, 1200), st.integers(0, 2**32))
def test_no_word_has_a_stem_that_is_avoided(every_stem: list[str], size: int, seed: int):
    avoided = frozenset(random.Random(seed).sample(every_stem, size))
    for each in islice(exchanges(str(seed), avoided), 30):
        assert not said_in(each) & avoided


def test_every_stem_that_is_ever_said_can_be_avoided(every_stem: list[str]):
    mixed = random.Random(1).sample(every_stem, len(every_stem))
    for start in range(0, len(mixed), 600):
        avoided = frozenset(mixed[start : start + 600])
        talk = islice(exchanges("some", avoided), 60)
        assert not avoided & {stem for each in talk for stem in said_in(each)}


def test_where_the_words_of_other_subjects_are_avoided_it_goes_on_in_plain_ones(
    every_stem: list[str],
):
    spoken = {stem for each in stretches("talk")[-1] for stem in said_in(each)}
    avoided = frozenset(every_stem) - spoken
    left = list(islice(exchanges("plain", avoided), 200))
    assert all(map(said_in, left))
    assert not {stem for each in left for stem in said_in(each)} & avoided


def test_where_every_word_is_avoided_it_goes_on_in_words_that_have_no_stem(
    every_stem: list[str],
):
    vague = list(islice(exchanges("vague", frozenset(every_stem)), 400))
    assert len(set(vague)) == 400
    assert not {stem for each in vague for stem in said_in(each)} & set(every_stem)
    assert fmean(not said_in(each) for each in vague) > 0.9


def test_it_never_ends_and_says_nothing_twice_before_everything_was_said():
    size = sum(map(len, stretches("talk")))
    talk = exchanges("on and on", NOTHING)
    assert len(set(islice(talk, size))) == size > 5_000
    assert next(talk).text
