"""Which sentence of a window answers a question, and when none does."""

from __future__ import annotations

import pytest

from jitchat.providers.passages import Passage
from jitchat.providers.reader import (
    ABOUT,
    cited,
    find_answers,
    is_own,
    no_answer,
    question_of,
    wanted_stems,
)


def said(*texts: str, who: str = "user") -> list[Passage]:
    return [Passage(number, who, "", text, whole=True) for number, text in enumerate(texts, 1)]


def line(turn: int, text: str, who: str = "user") -> Passage:
    return Passage(turn, who, "2026-03-02", text, whole=False)


def answers(passages: list[Passage], question: str) -> list[str]:
    return [found.sentence for found in find_answers(passages, question)]


CHATTER = (
    "The harbour was quiet today. A ferry came in late.",
    "I fed the gulls. They were not grateful.",
    "The metrics endpoint listens on port 9641. Nobody objected.",
    "Tea went cold again. The kettle is broken.",
)


def test_the_sentence_is_quoted_and_not_its_turn():
    assert answers(said(*CHATTER), "which port is the metrics endpoint on?") == [
        "The metrics endpoint listens on port 9641."
    ]


@pytest.mark.parametrize(
    "question", ["what is the capital of Peru?", "who is the release captain?", "zzz?"]
)
def test_what_nobody_said_is_not_answered(question):
    assert answers(said(*CHATTER), question) == []


def test_nothing_is_found_in_nothing():
    assert answers([], "where?") == []


def test_of_two_that_fit_alike_the_later_one_counts_for_it_may_be_the_correction():
    passages = said("The captain is Priya.", *CHATTER, "The captain is Tomasz.")
    assert answers(passages, "who is the captain?") == ["The captain is Tomasz."]


def test_a_question_is_no_answer():
    passages = said("Which port is the endpoint on?", *CHATTER, "It is port 9641 for the endpoint.")
    assert answers(passages, "which port is the endpoint on?") == [
        "It is port 9641 for the endpoint."
    ]


def test_an_answer_may_take_up_the_question_ahead_of_it():
    passages = said(*CHATTER, "When do we deploy the harbour release?", "Tuesday at 02:00 UTC.")
    found = find_answers(passages, "when does the release deploy, Tuesday?")
    assert [each.sentence for each in found] == ["Tuesday at 02:00 UTC."]


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("when is the release window?", "The release window is Tuesday 02:00."),
        ("how many people does the release window need?", "The release window needs 3 people."),
        ("what did we decide about the release window?", "We agreed to move the release window."),
        ("what command opens the release window?", "open-window --release now"),
    ],
)
def test_a_sentence_of_the_kind_that_is_asked_for_is_preferred(question, wanted):
    passages = said(
        "The release window is Tuesday 02:00.",
        "The release window needs 3 people.",
        "We agreed to move the release window.",
        "```\nopen-window --release now\n```",
        "The release window is a strange phrase.",
    )
    assert answers(passages, question) == [wanted]


def test_a_list_is_given_where_several_are_asked_for_one_a_turn_in_order():
    passages = said(
        "Nordwind signed up for the beta. Nordwind signed up for the beta twice.",
        *CHATTER,
        "Pilcrow signed up for the beta.",
        "Halden signed up for the beta.",
    )
    found = find_answers(passages, "list everybody who signed up for the beta")
    assert [each.passage.turn for each in found] == [1, 6, 7]


def test_a_turn_at_full_text_is_preferred_to_a_line_about_it():
    whole = Passage(9, "assistant", "", "The deploy window is Tuesday.", whole=True)
    lines = [line(3, "The deploy window is Tuesday."), line(12, "The deploy window is Tuesday.")]
    assert (
        find_answers([lines[0], whole, lines[1]], "when is the deploy window?")[0].passage is whole
    )
    assert find_answers(lines, "when is the deploy window?")[0].passage is lines[1]


def test_two_words_of_the_question_may_be_one_in_the_window():
    asked = "Which version do we roll back to?"
    assert answers(said("Type harborctl rollback --version v7.", "The cake is late."), asked) == [
        "Type harborctl rollback --version v7."
    ]
    assert answers(said("Type harborctl restore --version v7.", "The cake is late."), asked) == []


def test_words_about_asking_are_not_looked_for():
    assert wanted_stems("what did we decide, again, about the port?") == {"port"}
    assert wanted_stems("how many retries did you mention?") == wanted_stems("retries")
    assert wanted_stems("did we decide?") == wanted_stems("decide"), "unless there is nothing else"
    assert wanted_stems("hi") == frozenset()


@pytest.mark.parametrize(
    ("draft", "question"),
    [
        ("Back from lunch. Where is the key? It was soup.", "Where is the key?"),
        ("Where is the key? And the door? Do you remember?", "And the door?"),
        ("the key, again?", "the key, again?"),
        ("Tell me about the key. Please.", "Tell me about the key. Please."),
        ("", ""),
    ],
)
def test_the_question_is_the_last_one_that_is_about_something(draft, question):
    assert question_of(draft) == question


# its own words


def test_the_reader_knows_what_it_said_itself():
    source = Passage(9, "assistant", "Mon 2026-03-02", "", whole=True)
    one = cited(source, "The deploy window is Tuesday 02:00 UTC.")
    code = cited(source, "harborctl rollback --confirm")
    assert one == "“The deploy window is Tuesday 02:00 UTC.” (#9, assistant, Mon 2026-03-02)"
    assert code.startswith("`harborctl rollback --confirm` (#9")
    own = [one, code, f"- {one}\n- {code}", ABOUT, no_answer(0), no_answer(1), no_answer(7)]
    assert all(is_own(passage) for passage in said(*own, who="assistant"))


def test_the_reader_knows_its_former_wording_in_stored_turns():
    former = (
        "The window does not hold an answer to that. It has no earlier turn at full text.",
        "I am the embedded reader, not a language model: I quote what the window holds. Ask me"
        " about something that was said in this conversation.",
    )
    assert all(is_own(passage) for passage in said(*former, who="assistant"))


def test_a_line_about_its_own_citation_is_its_own_even_where_the_source_was_cut_off():
    assert is_own(line(62, "“The deploy window is Tuesday 02:00 UTC.”", "assistant"))
    assert not is_own(line(62, "“The deploy window is Tuesday 02:00 UTC.”", "user"))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "“Quoted” by me.",
        "“a” (#1, user)\nand I agree",
        "The window does not open.",
        "“a” (#x, user)",
    ],
)
def test_what_only_looks_like_it_is_not(text):
    assert not any(is_own(passage) for passage in said(text))


def test_it_never_cites_its_own_citation():
    source = said(*CHATTER, "The captain is Priya.")
    first = cited(source[4], "The captain is Priya.")
    later = [Passage(6, "user", "", "who is the captain?", whole=True)]
    later += [Passage(7, "assistant", "", first, whole=True), line(9, first, "assistant")]
    (found,) = find_answers([*source, *later], "who is the captain?")
    assert found.passage.turn == 5


def test_a_text_made_of_citations_takes_no_time_to_tell():
    text = "“a” (#1, x)" * 5_000 + "\n!"
    assert not is_own(said(text)[0])


def test_how_much_the_window_held_is_told_in_words_that_fit():
    assert no_answer(0).endswith("It has no earlier turn in full.")
    assert "The only earlier turn in it does not match" in no_answer(1)
    assert "None of the 2 earlier turns in it matches" in no_answer(2)


def test_a_long_quote_is_shortened():
    assert len(cited(said("x")[0], "word " * 1_000)) < 650
