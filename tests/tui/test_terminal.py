"""Keys as terminals send them."""

from __future__ import annotations

import pytest
from textual import constants, events
from textual._xterm_parser import XTermParser

from jitchat.tui.driver import _IDLE, InputReader, _patience, widen_input


@pytest.fixture(autouse=True)
def _widened():
    widen_input()


@pytest.mark.parametrize(
    ("sent", "key"), [("\x1b\r", "alt+enter"), ("\x1b[13;3u", "alt+enter"), ("\r", "enter")]
)
def test_alt_enter_is_a_key_of_its_own(sent: str, key: str):
    pressed = [each.key for each in XTermParser().feed(sent) if isinstance(each, events.Key)]
    assert pressed == [key]


def test_alt_and_a_letter_is_a_key_whatever_comes_right_behind_it():
    sent = "\x1bd\x1bc\x1btup\x1bb\x1b[A\x1bdx"
    pressed = [each for each in XTermParser().feed(sent) if isinstance(each, events.Key)]
    keys = ["alt+d", "alt+c", "alt+t", "u", "p", "ctrl+left", "up", "alt+d", "x"]
    assert [each.key for each in pressed] == keys
    assert [each.character for each in pressed if each.is_printable] == ["u", "p", "x"]


def test_esc_is_a_key_soon_enough_to_stop_a_reply_within_a_tenth_of_a_second():
    assert constants.ESCAPE_DELAY <= 0.03


def test_what_is_typed_after_esc_is_no_part_of_it_once_that_long_has_passed():
    parser = XTermParser()
    waits = []
    for typed in ("a", "\x1b", "[", "A"):
        list(parser.feed(typed))
        waits.append(_patience(parser))
    assert waits == [_IDLE, constants.ESCAPE_DELAY, constants.ESCAPE_DELAY, _IDLE]


PASTED = "\x1b[200~abc \x1b[2Jdef\x1b\x11 日\x1b[201~z"


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 100])
def test_an_esc_inside_of_a_paste_is_text_however_it_arrives(size: int):
    decode, parser = InputReader().decode, XTermParser()
    sent = f"a{PASTED}\x1b\r".encode()
    told: list[events.Event] = []
    for start in range(0, len(sent), size):
        text = decode(sent[start : start + size])
        told += parser.feed(text) if text else ()
    pasted = [each.text for each in told if isinstance(each, events.Paste)]
    assert pasted == ["abc ␛[2Jdef␛\x11 日"]
    pressed = [each.key for each in told if isinstance(each, events.Key)]
    assert pressed == ["a", "z", "alt+enter"]


def test_nothing_that_is_typed_waits_for_more():
    decode = InputReader().decode
    assert [decode(bytes([each])) for each in b"\x1b[20"] == ["\x1b", "[", "2", "0"]


def test_what_is_pasted_at_the_very_end_is_not_held():
    decode = InputReader().decode
    assert decode(b"\x1b[200~a\x1b[20", final=True) == "\x1b[200~a␛[20"
