"""References to turns in a draft."""

from __future__ import annotations

import pytest

from jitchat.text.sentences import turn_references, without_references


@pytest.mark.parametrize(
    ("draft", "named"),
    [
        ("what did #12 say?", {12}),
        ("#1", {1}),
        ("(#3, #4; #5.) #6's", {3, 4, 5, 6}),
        ("twice #9 and #9", {9}),
        ("#12\n#13", {12, 13}),
    ],
)
def test_a_number_after_a_hash_names_a_turn(draft: str, named: set[int]):
    assert turn_references(draft) == named


@pytest.mark.parametrize(
    "draft",
    [
        *("", "12", "# 12", "#0", "#012", "#1a2b3c", "##12", "C#12", "&#12;", "#12.5", "#7#8"),
        *("http://example.org/#12", "#1_2", "#" + "9" * 40, "#\N{ARABIC-INDIC DIGIT TWO}"),
    ],
)
def test_what_only_looks_like_it_names_none(draft: str):
    assert turn_references(draft) == frozenset()


def test_only_what_names_a_turn_that_is_there_is_left_out_of_the_search() -> None:
    draft = "#12 and ticket #4812: which port, #12?"
    assert without_references(draft, lambda turn: turn == 12) == " and ticket #4812: which port, ?"
