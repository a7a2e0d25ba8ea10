"""Normalised answers: markup, numerals, and the forms of a value."""

from __future__ import annotations

import signal
import sys
from itertools import product

import pytest

from jitchat.lab.grade import grade
from jitchat.lab.spelling import exact_places, has, numbered, plain, stated
from tests.lab.known import FACTS

UNITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
TENS = {20: "twenty", 30: "thirty", 40: "forty", 70: "seventy", 90: "ninety"}
ASKED = "How many jars of quince jam have I given away in all?"
RUNS = (
    *(" ", "a", "A.", "(", "[", "“", '"', "`", "*", "_", "~~", "#1", "(#1", "- 1\n", "1 ", "1, "),
    *("7443 ", "7440 or ", "7301, ", "not ", "was ", "I do not ", "maybe ", "no a ", "of of "),
    *("six ", "DE89 ", "3-", "Tariq 6468 ", " —", "\\boxed{", "<think>", "in total 1 ", "é", "\n"),
)


SPELLINGS = [
    ("**Bold** and _slanted_ `code`", "bold and slanted code"),
    ("snake_case stays", "snake_case stays"),
    ("# Heading\n> quoted", "heading\nquoted"),
    ("Ekström—yes – no", "ekstrom - yes - no"),
    ("[a link](https://a.example)", "a link"),
    ("$\\boxed{17}$ \\_x\\_", "$17$ x"),
    ("At 4:40 P.M., or 5 pm", "at 4:40 pm, or 5 pm"),
    ("１７ No.\u202f5 ﬁne", "17 no. 5 fine"),
    ("the third, 21st and twenty-second", "the 3, 21 and 22"),
    ("“It’s” 'his' Ines' own", "it's his ines own"),
]


def test_a_text_has_one_spelling():
    for written, read in SPELLINGS:
        assert " ".join(plain(written).split(" ")).replace("  ", " ") == read, written


def test_thoughts_struck_words_and_sources_are_not_stated():
    answer = "<think>7440?</think>It is ~~7440~~ 7443 (#12, user, Tue 2026-03-03), I think [#4]."
    assert stated(answer).split() == ["It", "is", "7443", ",", "I", "think", "."]


NUMERALS = [
    *(("a hundred", "100"), ("one hundred", "100"), ("hundredth", "100"), ("tenant", "tenant")),
    *(("seventeen", "17"), ("ninety-ninth", "99"), ("eightieth", "80"), ("3rd", "3")),
    *(("2nd", "second"), ("1st", "first"), ("someone", "someone"), ("often", "often")),
]


def test_numerals_are_written_as_digits():
    assert {words: numbered(words) for words, _ in NUMERALS} == dict(NUMERALS)


def test_numerals_up_to_a_hundred_are_read():
    for tens, units, between in product(TENS, range(1, 10), "- "):
        words = f"{TENS[tens]}{between}{UNITS[units]} jars"
        assert numbered(words) == f"{tens + units} jars", words


FORMS = [
    ("17", "17|bay 17.|#17|seventeen|17th|17 km|17km|(17)", "1700|117|17.5|17a|17:30|2017|7"),
    ("3400", "3,400|3.400|3 400|3'400|€3400.00", "34000|13,400|3,4000|3400.5|340 0"),
    ("16:40", "16.40|4:40 pm|4.40pm|16h40|twenty to five", "4:40 am|6:40|16:400|16:45|4 pm"),
    ("10:30", "10.30|half past ten|10:30 am", "10:30 pm|22:30|10:3"),
    ("7 March", "March 7|7th of March|Mar 7|07 March|2026-03-07", "17 March|March 70|7 May"),
    ("Thursday", "Thursdays|thu|Thurs.", "Tuesday|thuja"),
    ("March", "in march|Mar", "marching|May"),
    ("Ann", "ANN|Ann's|(Ann)", "Annette|Ann-Marie|Joann|Anna"),
    ("walnuts", "walnut|Walnuts!|walnut-free", "nuts|walnutty"),
    ("garden shed", "garden-shed|gardenshed|Garden Sheds", "garden, shed|shed"),
    ("C4", "c4|C 4|C-4", "C40|AC4"),
    ("fourth", "4|four|4th", "fourteen|40|forty"),
]


def test_a_value_is_found_in_every_form_and_within_nothing_else():
    for value, there, not_there in FORMS:
        assert [text for text in there.split("|") if not has(plain(text), value)] == [], value
        assert [text for text in not_there.split("|") if has(plain(text), value)] == [], value


LETTERS = [
    *(("`a-B 1`", True), ("a-B\n1.", True), ("(a-B 1), so", True), ("x: “a-B 1”!", True)),
    *(("A-B 1", False), ("a-B 12", False), ("xa-B 1", False), ("a-B 1.2", False)),
    *(("a-B 1 --force", False), ("a-B 1 && b", False), ("a-B1", False), ("/a-B 1", False)),
]


def test_to_the_letter_means_upper_case_and_punctuation_too():
    for text, is_there in LETTERS:
        assert has(text, "a-B 1", exact_places) is is_there, text


@pytest.fixture
def alarm():
    if sys.platform == "win32":
        pytest.skip("needs an alarm")

    def give_up(*_):
        raise TimeoutError("this answer is read for ever")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(30)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("name", ["port", "jam", "extension"])
def test_a_long_run_of_anything_is_ruled_on_in_one_go(name: str, alarm):
    for run in RUNS:
        assert grade(FACTS[name], run * (2_000 // len(run))).rule
