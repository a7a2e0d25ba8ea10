import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.text.contradiction import supersedes


@pytest.mark.parametrize(
    ("newer", "older"),
    [
        ("From now on answer in German.", "Always answer in French."),
        ("Antworte ab jetzt auf Englisch.", "Antworte immer auf Deutsch."),
        ("Always use spaces.", "Always use tabs for indentation."),
        ("Never use semicolons.", "Always use semicolons."),
        ("The port is 9642.", "The port is 9641."),
        ("We moved the deploy window to Wednesday.", "The deploy window is on Tuesday."),
        ("Let's go with MySQL for the database.", "We decided to use Postgres for the database."),
        ("We agreed on a budget of 800 euros.", "The budget is 500 euros."),
        ("I prefer tea.", "I prefer coffee."),
        ("Please always answer in French!", "always answer in french"),
    ],
)
def test_a_later_statement_of_the_same_takes_the_place_of_the_earlier(newer, older):
    assert supersedes(newer, older)
    assert supersedes(older, newer)


@pytest.mark.parametrize(
    ("newer", "older"),
    [
        ("Always use type hints.", "Always use pnpm."),
        ("Answer briefly.", "Answer in French."),
        ("Write commit messages in English.", "Answer in German."),
        ("We decided to hire Anna for design.", "We decided to hire Bob for the backend."),
        ("The relay listens on 9641.", "The budget is 500 euros."),
        ("Hamid is allergic to hazelnuts.", "Birgit turns 40 on Friday."),
        ("Let's go with Postgres.", "Let's go with Docker."),
    ],
)
def test_statements_of_different_things_both_stand(newer, older):
    assert not supersedes(newer, older)


@given(st.text(max_size=80))
def test_a_statement_restates_itself(text):
    assert supersedes(text, text)
