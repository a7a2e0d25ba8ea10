"""The parts of reading an answer: spelling, numerals, forms, standing, refusals, totals."""

from __future__ import annotations

import signal
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.lab.judging import ruled
from jitchat.lab.reading.forms import exact_places, has, places
from jitchat.lab.reading.mentions import mentions
from jitchat.lab.reading.numerals import numbered
from jitchat.lab.reading.plain import plain, stated
from jitchat.lab.reading.refusals import refuses
from jitchat.lab.reading.standing import Standing, standing
from jitchat.lab.reading.totals import total
from tests.lab.known import FACTS

UNITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
TENS = {20: "twenty", 30: "thirty", 40: "forty", 70: "seventy", 90: "ninety"}
ASKED = "How many jars of quince jam have I given away in all?"
RUNS = (
    *(" ", "a", "A.", "(", "[", "“", '"', "`", "*", "_", "~~", "#1", "(#1", "- 1\n", "1 ", "1, "),
    *("7443 ", "7440 or ", "7301, ", "not ", "was ", "I do not ", "maybe ", "no a ", "of of "),
    *("six ", "DE89 ", "3-", "Tariq 6468 ", " —", "\\boxed{", "<think>", "in total 1 ", "é", "\n"),
)


@pytest.mark.parametrize(
    ("written", "read"),
    [
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
    ],
)
def test_a_text_has_one_spelling(written: str, read: str):
    assert " ".join(plain(written).split(" ")).replace("  ", " ") == read


def test_thoughts_struck_words_and_sources_are_not_stated():
    answer = "<think>7440?</think>It is ~~7440~~ 7443 (#12, user, Tue 2026-03-03), I think [#4]."
    assert stated(answer).split() == ["It", "is", "7443", ",", "I", "think", "."]


@pytest.mark.parametrize(
    ("words", "digits"),
    [
        *(("a hundred", "100"), ("one hundred", "100"), ("hundredth", "100"), ("tenant", "tenant")),
        *(("seventeen", "17"), ("ninety-ninth", "99"), ("eightieth", "80"), ("3rd", "3")),
        *(("2nd", "second"), ("1st", "first"), ("someone", "someone"), ("often", "often")),
    ],
)
def test_numerals_are_written_as_digits(words: str, digits: str):
    assert numbered(words) == digits


@given(st.sampled_from(sorted(TENS)), st.integers(1, 9), st.sampled_from("- "))
def test_numerals_up_to_a_hundred_are_read(tens: int, units: int, between: str):
    assert numbered(f"{TENS[tens]}{between}{UNITS[units]} jars") == f"{tens + units} jars"


@pytest.mark.parametrize(
    ("value", "there", "not_there"),
    [
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
    ],
)
def test_a_value_is_found_in_every_form_and_within_nothing_else(
    value: str, there: str, not_there: str
):
    assert [text for text in there.split("|") if not has(plain(text), value)] == []
    assert [text for text in not_there.split("|") if has(plain(text), value)] == []


@pytest.mark.parametrize(
    ("text", "is_there"),
    [
        *(("`a-B 1`", True), ("a-B\n1.", True), ("(a-B 1), so", True), ("x: “a-B 1”!", True)),
        *(("A-B 1", False), ("a-B 12", False), ("xa-B 1", False), ("a-B 1.2", False)),
        *(("a-B 1 --force", False), ("a-B 1 && b", False), ("a-B1", False), ("/a-B 1", False)),
    ],
)
def test_to_the_letter_means_upper_case_and_punctuation_too(text: str, is_there: bool):
    assert has(text, "a-B 1", exact_places) is is_there


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("It is 7440.", Standing.SAID),
        ("It is 7440 now, but 7443 was said", Standing.SAID),
        ("It is now 7440.", Standing.NOW),
        ("previously 7440", Standing.PAST),
        ("It used to be 7440", Standing.PAST),
        ("changed from 7440 to 7443", Standing.PAST),
        ("7440 (old)", Standing.PAST),
        ("7440 was replaced by 7443", Standing.PAST),
        ("It was 7440", Standing.FAINT),
        ("7440? No.", Standing.FAINT),
        ("not 7440", Standing.DENIED),
        ("It isn't 7440", Standing.DENIED),
        ("7440 is not correct", Standing.DENIED),
        ("rather than 7440", Standing.DENIED),
        ("Don't forget: 7440", Standing.SAID),
        ("not sure, but 7440", Standing.SAID),
    ],
)
def test_a_value_stands_as_its_nearest_cue_says(text: str, meant: Standing):
    assert standing(mentions(plain(text), FACTS["pin"], places)[0]) is meant


@pytest.mark.parametrize(
    "text",
    [
        *("I don't know.", "The conversation doesn't say.", "There is no mention of that."),
        *("That is not in our conversation.", "I don't have that information.", "Not mentioned."),
        *("You haven't told me.", "It has not come up.", "Unknown", "never", "No idea."),
        *("The window does not hold an answer to that.", "You only told me about Tariq."),
        *("I can't find it anywhere.", "I’m unable to tell.", "Could you tell me?"),
    ],
)
def test_a_refusal_is_known_in_many_wordings(text: str):
    assert refuses(plain(text))


@pytest.mark.parametrize(
    "text",
    ["It is 7443.", "Ines is on 6468.", "The kettle, in November.", "Tariq can be reached there."],
)
def test_an_answer_is_no_refusal(text: str):
    assert not refuses(plain(text))


@pytest.mark.parametrize(
    ("answer", "number"),
    [
        ("four", 4),
        ("1 + 2 + 1 = 4", 4),
        ("Two, one and one: four.", 4),
        ("In March 2026 it was 3 jars, on 4 May as well.", 3),
        ("On 12 May and at 16:40, as turn 9 says: half a dozen.", 6),
        ("None.", 0),
        ("Not 3 but 4.", 4),
        ("the first one, the second one", None),
        ("- a\n- b\n- two of them", 4),
        ("1. a\n2. b\n\nThat makes 2.", 2),
        ("nothing to count here", None),
    ],
)
def test_a_total_is_read(answer: str, number: int | None):
    found = total(answer, ASKED)
    assert (found.number if found else None) == number


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
        assert ruled(FACTS[name], run * (2_000 // len(run))).rule
