"""What is copied from drawn lines is what was said, and what is found in them is located."""

from __future__ import annotations

import re

import pytest

from jitchat.tui.render.reading import between, copied, found
from jitchat.tui.render.render import render
from tests.tui.render.looks import look, rows


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ("one two\nthree **four** five", "one two\nthree four five"),
        ("a\\\nb<br>c", "a\nb\nc"),
        ("# Head\n\nText", "Head\n\nText"),
        ("- a\n  - b\n\n7. c", "- a\n  - b\n\n7. c"),
        ("> - a\n> - b", "- a\n- b"),
        ("```py\nif x:\n\treturn  1\n```", "if x:\n\treturn  1"),
        ('[a link](https://e.org/x "T").', 'a link (https://e.org/x "T").'),
        ("<https://e.org> https://e.org/y", "https://e.org https://e.org/y"),
        (r"so $\alpha_1$ is", r"so $\alpha_1$ is"),
        ("a &amp; b", "a & b"),
        ("a\u200bb \u3000c\u202ed \xad\U000e0041e", "a\u200bb \u3000c\u202ed \xad\U000e0041e"),
        ("日本語の文章がここにあります。", "日本語の文章がここにあります。"),
    ],
)
def test_a_copy_has_the_words_without_syntax_and_without_the_breaks_of_lines(reply, text):
    for width in (80, 12):
        assert copied(reply, render(reply, look(width))) == text


def test_a_part_is_copied_from_character_to_character():
    reply = "One **two** three four five six"
    lines = render(reply, look(13))
    assert rows(lines) == ["One two three", "four five six"]
    assert copied(reply, between(lines, (0, 4), (1, 4))) == "two three four"
    assert copied(reply, between(lines, (0, 5), (0, 7))) == "wo"


def test_a_match_is_found_across_styles_and_lines_and_within_a_cell():
    reply = "A nee**dle** in a hay\nstack.\n\n| hay stack of words | b |\n|--|--|\n| x | y |"
    for width in (16, 12):
        _require_matches(reply, width)


def _require_matches(reply: str, width: int) -> None:
    lines = render(reply, look(width))
    drawn = rows(lines)
    for places in found(reply, lines, re.compile(r"needle|hay\s+stack")):
        words = "".join(drawn[place.line][place.start : place.end] for place in places)
        assert words in ("needle", "haystack", "hay stack")
    assert len(found(reply, lines, re.compile(r"needle|hay\s+stack"))) == 3
