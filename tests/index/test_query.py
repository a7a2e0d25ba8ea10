"""The query that is made of a draft."""

from __future__ import annotations

import pytest

from jitchat.index.retrieve import borrowed_from, make_query

PEOPLE = frozenset({"melanie", "caroline", "mary ann", "user", "assistant"})


def asked(draft: str, before: str = "") -> set[str]:
    return set(make_query(draft, before, PEOPLE).spelled.values())


def test_a_name_becomes_a_preference_and_is_no_word_to_look_for():
    query = make_query("What did Melanie paint?", "", PEOPLE)
    assert query.speakers == {"melanie"}
    assert set(query.weights) == {"paint"}
    assert query.text == "What did paint?"


@pytest.mark.parametrize(
    "draft", ["What is Caroline’s favourite colour?", "CAROLINE'S hobby, please"]
)
def test_a_genitive_names_somebody_too(draft):
    query = make_query(draft, "", PEOPLE)
    assert query.speakers == {"caroline"}
    assert "caroline" not in query.weights


def test_whose_opinion_is_asked_comes_before_whose_plan():
    query = make_query("What did Melanie think of Caroline's plan?", "", PEOPLE)
    assert query.speakers == {"melanie"}
    assert "carolin" not in query.weights


def test_a_name_of_two_words_is_one_name():
    query = make_query("Where does Mary Ann live now?", "", PEOPLE)
    assert query.speakers == {"mary ann"}
    assert set(query.weights) == {"live"}


def test_a_role_is_an_ordinary_word():
    query = make_query("How does a user log in to the assistant?", "", PEOPLE)
    assert query.speakers == frozenset()
    assert {"user", "assist"} <= set(query.weights)


def test_somebody_is_called_by_the_first_name_that_nobody_else_has():
    names = frozenset({"amy lee", "susan nguyen", "susan park", "the baker", "user"})
    driven = make_query("Where did Amy drive Susan?", "", names)
    assert driven.speakers == {"amy lee"}
    assert set(driven.spelled.values()) == {"drive", "susan"}
    assert make_query("And what did Susan Park's friend say?", "", names).speakers == {"susan park"}
    assert make_query("What did the neighbour bake?", "", names).speakers == frozenset()


@pytest.mark.parametrize(
    ("draft", "speaker"),
    [
        ("What did you suggest for the port?", "assistant"),
        ("Did you say what I said about the port?", None),
        ("What did I say about the port?", "user"),
        ("What is the port?", None),
    ],
)
def test_you_and_i_are_speakers_too(draft, speaker):
    query = make_query(draft, "", frozenset({"user", "assistant"}))
    assert query.speakers == ({speaker} if speaker else set())


def test_nobody_is_preferred_who_never_spoke():
    assert make_query("What did you say about it?", "", frozenset({"melanie"})).speakers == set()


def test_a_draft_of_few_words_borrows_at_a_discount():
    query = make_query("And the colour?", "Melanie, which gateway?", PEOPLE)
    assert query.weights["colour"] == 1.0
    assert 0 < query.weights["gateway"] < 1
    assert "melani" not in query.weights
    assert asked("What colour was the old painting?", "Which gateway?") == {
        "colour", "old", "painting",
    }  # fmt: skip


def test_a_draft_borrows_names_and_figures_from_an_answer_and_nothing_else():
    answer = "We compress them with zstd-19, said Melanie, on port 8443, since the ratio is best."
    weights = make_query(
        "why that?", borrowed_from("how are snapshots kept?", answer), PEOPLE
    ).weights
    assert weights.keys() >= {"snapshot", "zstd", "8443"}
    assert not weights.keys() & {"ratio", "best", "compress"}
    assert all(weight < 1 for weight in weights.values())


@pytest.mark.parametrize(
    ("draft", "when", "past"),
    [
        ("When do we deploy?", True, False),
        ("What day is the party?", True, False),
        ("What did we decide about tea?", False, True),
        ("Which plan did we settle on, and when?", True, True),
        ("Have I told you about the party?", False, True),
        ("Who likes tea?", False, False),
        ("Suggest a tea.", False, False),
    ],
)
def test_what_kind_of_answer_is_asked_for(draft, when, past):
    query = make_query(draft, "", PEOPLE)
    assert (query.asks_when, query.asks_past) == (when, past)


@pytest.mark.parametrize(
    ("draft", "spoken"),
    [
        ("What did you suggest for the garden?", {"assistant"}),
        ("You said something on tea, what was it?", {"assistant"}),
        ("What have I told you about tea?", {"user"}),
        ("Can you suggest something for the garden?", set()),
        ("Would you recommend green tea?", set()),
        ("Tell me what I give to the fish.", set()),
    ],
)
def test_who_said_it_counts_where_the_past_is_asked_for(draft, spoken):
    assert make_query(draft, "", frozenset({"user", "assistant"})).speakers == spoken


def test_of_a_long_draft_the_beginning_and_the_end_count():
    draft = "alpha " + "filler " * 100_000 + "omega"
    assert set(make_query(draft, draft, PEOPLE).weights) == {"alpha", "filler", "omega"}


@pytest.mark.parametrize("draft", ["", " ", "?!", "Melanie", "the of and", "\ud800\0"])
def test_a_draft_that_says_nothing_asks_for_nothing_of_its_own(draft):
    query = make_query(draft, "", PEOPLE)
    assert dict(query.weights) == {}
