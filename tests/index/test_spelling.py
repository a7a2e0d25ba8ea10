"""A draft's words are matched to the conversation's spelling."""

from __future__ import annotations

import pytest

from jitchat.index.lexical import EITHER, Postings
from jitchat.index.retrieve import Query, make_query
from jitchat.index.spelling import CORRECTED, Spelling
from jitchat.text.words import stem, stems

SAID = (
    "The restaurant by the canal was good.",
    "The password of the wireless network is on the fridge.",
    "An appointment with the accountant, port 8443.",
    "The ferry leaves, and the configuration is in the repository.",
    "Die Schlüssel liegen im Keller beim Hausmeister.",
    "Der Zahnarzttermin ist am Montag.",
    "Где лежат документы?",
)


@pytest.fixture
def postings() -> Postings:
    made = Postings()
    for text in SAID:
        made.add(stems(text))
    return made


def expanded(postings: Postings, draft: str) -> Query:
    return Spelling(postings).expanded(make_query(draft, "", frozenset()))


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("restarant", "restaurant"),
        ("pasword", "password"),
        ("apointment", "appointment"),
        ("acountant", "accountant"),
        ("fery", "ferry"),
        ("cofnigurtion", "configuration"),
        ("repositry", "repository"),
        ("wierless", "wireless"),
        ("дакументы", "документы"),
    ],
)
def test_a_misspelt_word_counts_as_the_nearest_that_was_said(postings, wrong, right):
    query = expanded(postings, f"and the {wrong}")
    assert query.weights == {stems(right)[0]: CORRECTED}


def test_the_word_that_was_found_is_shown(postings):
    assert list(expanded(postings, "the pasword").spelled.values()) == ["password"]


@pytest.mark.parametrize("word", ["8444", "port8443", "fridges", "canal", "cart", "ort", "xferry"])
def test_figures_known_words_and_other_beginnings_are_not_corrected(postings, word):
    given = make_query(word, "", frozenset())
    assert Spelling(postings).expanded(given).weights == given.weights


def test_a_word_that_was_said_in_two_is_found_in_its_parts(postings):
    query = expanded(postings, "the wirelessnetwork")
    assert query.weights == dict.fromkeys(stems("wireless network"), CORRECTED)


def test_a_german_compound_is_found_by_its_parts_and_finds_them(postings):
    parts = {stem(word, "german") for word in ("keller", "schlussel")}
    assert set(expanded(postings, "Wo ist der Kellerschlüssel?").weights) == parts
    assert set(expanded(postings, "Wann ist der Termin?").weights) == {"zahnarzttermin"}


def test_a_word_is_found_in_whichever_language_it_was_stemmed(postings):
    query = expanded(postings, "Schlüsseln?")
    assert set(query.weights) == {"schlussel"}


def test_forms_of_a_word_count_together_as_one(postings):
    postings.add(["schlussel"])
    postings.add(["ersatzschlussel", "schlussel"])
    query = expanded(postings, "Wo sind die Schlüssel?")
    (both,) = query.weights
    assert set(both.split(EITHER)) == {"schlussel", "ersatzschlussel"}
    assert postings.having(both) == 3
    (match,) = postings.matches(query.weights)
    assert match.documents.tolist() == [4, 7, 8]


@pytest.mark.parametrize("draft", ["3 boats", "the third boat", "three boats", "the 3rd boat"])
def test_a_number_is_found_in_figures_and_in_words(postings, draft):
    postings.add(stems("We hired three boats."))
    postings.add(stems("Boat 3 leaks."))
    number, _ = expanded(postings, draft).weights
    assert set(number.split(EITHER)) == {"three", "3"}
    assert set(expanded(postings, "drei mit dem und für die").weights) == {"3"}


def test_stems_of_removed_documents_correct_nothing(postings):
    spelling = Spelling(postings)
    query = make_query("the restarant", "", frozenset())
    assert "restaur" in spelling.expanded(query).weights
    postings.truncate(0)
    assert spelling.expanded(query).weights == query.weights


def test_stems_in_packs_and_after_them_correct_alike(postings):
    spelling, query = Spelling(postings), make_query("the restarant by the hrbour", "", frozenset())
    assert "harbour" not in spelling.expanded(query).weights
    postings.pack(0, len(SAID))
    postings.add(["harbour"])
    assert {"restaur", "harbour"} <= spelling.expanded(query).weights.keys()
