"""Names, identifiers and quoted code."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.text.entities import entities
from tests.examples import examples


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I met Caroline in New York.", ("Caroline", "New York")),
        ("He knows the Duke of York.", ("Duke of York",)),
        ("We saw Melanie's dog.", ("Melanie",)),
        ("Hey Mel I've seen it.", ("Mel",)),
        ("Das ist Österreich.", ("Österreich",)),
        ("Run `make all` now", ("make all",)),
        ("The port is 8443, not 7.", ("8443",)),
        ("Meet at 15:00 on v2.1", ("15:00", "v2.1")),
        ("Set max_size and maxSize with --no-cache", ("max_size", "maxSize", "--no-cache")),
        ("It is NASA's idea", ("NASA",)),
        ("See src/app.py or a@b.com", ("src/app.py", "a@b.com")),
        ("he/she and/or e.g. well-known", ()),
        ("Buy milk. Then rest.", ()),
        ("- Buy milk\n- Then rest", ()),
        ("", ()),
    ],
)
def test_what_tells_a_text_from_others_is_found(text, expected):
    assert entities(text) == expected


def test_a_word_that_opens_a_sentence_is_a_name_if_it_is_one_elsewhere():
    assert entities("Postgres is fine. We use Postgres.") == ("Postgres",)
    assert entities("Indeed it is. We use indeed.") == ()


def test_they_come_by_first_use_without_repeats():
    text = " and ".join(f"`item{number}`" for number in range(30)) + " and `item0`"
    assert entities(text) == tuple(f"item{number}" for number in range(30))


def test_code_is_not_taken_apart():
    assert entities("use `pip install foo_bar` here") == ("pip install foo_bar",)


@examples(30)
@given(st.text("AbB1_-.@/:`' \n’É", max_size=200))
def test_every_entity_is_one_short_line(text):
    for name in entities(text):
        assert 1 < len(name) <= 60
        assert "\n" not in name
