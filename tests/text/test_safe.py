"""Sanitizing text for storage and for the terminal."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.text.sanitize import for_terminal, one_line, repair, shorten, stand_ins
from tests.examples import examples

quick = examples(30)
anything = st.text(st.characters(codec=None), max_size=200)
NON_JOINER = "\u200c"
SEEN_FORMATS = ("ARABIC", "SYRIAC", "KAITHI", "EGYPTIAN")


def test_escape_becomes_a_picture_of_itself():
    assert for_terminal("\x1b[31mred\x07").cells == "␛[31mred␇"


def test_tabs_and_line_feeds_stay_and_every_line_end_is_a_line_feed():
    assert for_terminal("a\tb\r\nc\u2028d\x85e").cells == "a\tb\nc\nd\ne"


def test_a_bare_carriage_return_cannot_overwrite_the_line():
    assert for_terminal("safe\revil").cells == "safe␍evil"


def test_text_cannot_change_its_direction_or_hide():
    assert for_terminal("a\u202eb\u2066c").cells == "a\ufffdb\ufffdc"
    assert for_terminal("a\u200bb\u00adc\ufeffd\U000e0041e\U000e0100f").cells == "abcdef"


def test_families_of_emoji_and_joined_scripts_survive():
    assert for_terminal("👩‍👩‍👧 ❤️ क्‍ष").cells == "👩‍👩‍👧 ❤️ क्‍ष"


@pytest.mark.parametrize(
    "text", ["r\u200dm", "\u200d\u200d漢a", "👩\u200dm", "क\u200dm", "a\u200d👩", "\u200d"]
)
def test_a_joiner_hides_nothing_that_a_terminal_draws(text: str):
    drawn = text.replace("\u200d", "")
    assert for_terminal(text).cells == drawn
    assert len(stand_ins(text)) == len(text)
    assert "\u200d" not in stand_ins(text)


def test_no_format_character_but_the_non_joiner_and_those_with_a_shape_is_shown():
    left = {
        character
        for character in map(chr, range(sys.maxunicode + 1))
        if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")
        and for_terminal(character).cells == character
        and not unicodedata.name(character, "").startswith(SEEN_FORMATS)
    }
    assert left == {"\t", "\n", NON_JOINER}


@quick
@given(anything)
def test_what_is_visible_holds_no_control_character(text):
    shown = for_terminal(text).cells
    assert not [c for c in shown if unicodedata.category(c) in ("Cc", "Cs") and c not in "\t\n"]


@quick
@given(anything, st.integers(0, 200))
def test_a_stream_may_be_cut_anywhere(text, cut):
    text = text.replace("\r", "").replace("\u200d", "")
    parts = for_terminal(text[:cut]).cells, for_terminal(text[cut:]).cells
    assert "".join(parts) == for_terminal(text).cells


@quick
@given(anything)
def test_what_is_repaired_can_be_encoded_and_holds_no_nul(text):
    assert repair(text).encode("utf-8").decode("utf-8") == repair(text)
    assert "\0" not in repair(text)


@quick
@given(st.text(max_size=100))
def test_text_without_nul_and_surrogates_is_left_as_it_is(text):
    text = text.replace("\0", "")
    assert repair(text) == text


def test_split_surrogates_are_joined_and_lone_ones_replaced():
    assert repair("\ud83d\ude00") == "😀"
    assert repair("a\ud83db\udc00c") == "a\ufffdb\ufffdc"
    assert repair("a\0b") == "a␀b"


def test_white_space_of_any_kind_becomes_one_blank():
    assert one_line("  a\n\n\tb\u00a0 c\u2029") == "a b c"


@quick
@given(anything, st.integers(0, 60))
def test_a_shortened_line_keeps_its_width(text, width):
    short = shorten(text, width)
    assert "\n" not in short
    assert len(short) <= max(1, width)


@pytest.mark.parametrize("padding", ["", " " * 10_000])
def test_a_shortened_line_is_cut_at_a_word(padding):
    assert shorten(padding + "the quick brown fox jumps", 16) == "the quick brown…"
    assert shorten(padding + "the quick", 16) == "the quick"
