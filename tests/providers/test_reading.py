"""Readings of passages are cached and skipped, without changing any answer."""

from __future__ import annotations

import random
from math import log
from typing import TYPE_CHECKING

import pytest

from jitchat.providers import reader
from jitchat.providers.passages import Passage
from jitchat.providers.reader import (
    ABOUT,
    ENOUGH,
    Reading,
    Readings,
    cited,
    find_answers,
    is_own,
    wanted_stems,
)
from jitchat.text.sentences import is_question, sentences
from jitchat.text.words import stems

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

WORDS = ("gateway", "port", "8443", "captain", "Priya", "harbour", "deploy", "the", "of", "Ana")
Unit = tuple[str, set[str], set[str], set[str], set[str], bool]


def text(rng: random.Random) -> str:
    ends = (".", "?", ". ", "!\n\n", "\n- ")
    said = (" ".join(rng.choices(WORDS, k=rng.randrange(6))) for _ in range(rng.randrange(4)))
    return "".join(each + rng.choice(ends) for each in said)


def talk(rng: random.Random) -> list[Passage]:
    found: list[Passage] = []
    for turn in range(1, rng.randrange(2, 14)):
        said = text(rng)
        if found and rng.random() < 0.2:
            said = rng.choice([ABOUT, cited(found[-1], said)])
        who = rng.choice(["user", "assistant", "Ana"])
        found.append(Passage(turn, who, "", said, whole=rng.random() < 0.8))
    return found


def units_of(passages: Sequence[Passage]) -> Iterator[Unit]:
    asked = set[str]()
    for passage in (each for each in passages if not is_own(each)):
        around, beside = set(stems(passage.text)), set[str]()
        for sentence in sentences(passage.text):
            own = set(stems(f"{passage.who} {sentence}"))
            yield sentence, own, beside, around, asked, passage.whole
            beside = own
        asked = around if is_question(passage.text) else set()


def plainly(passages: Sequence[Passage], question: str) -> str | None:
    """Score every sentence of a window by all that is known of it; the best and latest one."""
    wanted, units = wanted_stems(question), list(units_of(passages))
    having = {stem: sum(stem in unit[1] for unit in units) for stem in wanted}
    rarity = {s: min(5.0, log(1 + (len(units) + 1) / (having[s] + 0.5))) for s in wanted}
    best, found = ENOUGH, None
    for sentence, own, beside, around, asked, whole in units if wanted else []:
        held = ((own, 1.0), (beside, 0.8), (around, 0.5), (asked, 0.4))
        worth = sum(
            value * max(weight * (stem in place) for place, weight in held)
            for stem, value in rarity.items()
        )
        score = worth / sum(rarity.values())
        if score >= ENOUGH:
            score *= 0.5 if is_question(sentence) else 1.0 if whole else 0.9
        if round(score, 3) >= round(best, 3) and score >= ENOUGH:
            best, found = score, sentence
    return found


def test_on_any_talk_the_answer_is_that_of_looking_at_every_sentence_anew():
    rng = random.Random(7)
    kept, short_of_room, answered = Readings(), Readings(1_000), 0
    for _ in range(160):
        passages, question = talk(rng), " ".join(rng.choices(WORDS, k=rng.randrange(1, 5)))
        wanted = plainly(passages, question)
        for readings in (None, kept, short_of_room):
            found = find_answers(passages, question, readings)
            assert [each.sentence for each in found] == ([] if wanted is None else [wanted])
        answered += wanted is not None
    assert 40 < answered < 120


def said(*texts: str, who: str = "user") -> list[Passage]:
    return [Passage(number, who, "", text, whole=True) for number, text in enumerate(texts, 1)]


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that were split into sentences."""
    found: list[str] = []
    monkeypatch.setattr(reader, "sentences", lambda each: found.append(each) or sentences(each))
    return found


def test_a_passage_is_read_once_for_all_windows_that_hold_it(read):
    readings, passages = Readings(), said("One.", "Two.", "Three.")
    first = readings.of(passages)
    assert readings.of([passages[2], *said("Four.")])[0] is first[2]
    assert read == ["One.", "Two.", "Three.", "Four."]


def test_who_says_it_and_whether_it_is_a_line_about_it_make_another_reading():
    readings = Readings()
    line = Passage(9, "assistant", "", "“The captain is Priya.”", whole=False)
    quote, other = said(line.text, who="assistant")[0], said(line.text)[0]
    found = readings.of([line, quote, other])
    assert [each.is_own for each in found] == [True, False, False]
    assert found[1].sentences != found[2].sentences
    assert readings.of([other, quote, line]) == found[::-1]


def test_what_is_kept_is_bounded_and_of_a_window_that_is_too_long_its_beginning_stays(read):
    readings = Readings(1_000)
    early, late = said(*"abc"), said(*"defghijk")
    readings.of(early)
    assert readings.of([*late, late[0]]) == [Reading.of(each) for each in (*late, late[0])]
    read.clear()
    readings.of(late[:4])
    assert read == []
    readings.of([late[4], early[0]])
    assert read == ["h", "a"]
