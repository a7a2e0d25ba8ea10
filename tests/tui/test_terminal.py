"""Keys as terminals send them."""

from __future__ import annotations

from codecs import getincrementaldecoder

import pytest
from textual import constants, events
from textual._xterm_parser import XTermParser
from textual.drivers import linux_driver

from jitchat.tui.terminal import widen_input


@pytest.fixture(autouse=True)
def _widened():
    widen_input()


@pytest.mark.parametrize(
    ("sent", "key"), [("\x1b\r", "alt+enter"), ("\x1b[13;3u", "alt+enter"), ("\r", "enter")]
)
def test_alt_enter_is_a_key_of_its_own(sent: str, key: str):
    pressed = [each.key for each in XTermParser().feed(sent) if isinstance(each, events.Key)]
    assert pressed == [key]


def test_bytes_that_are_no_text_are_replaced_and_the_rest_is_read():
    decode = linux_driver.getincrementaldecoder("utf-8")().decode
    assert decode(b"ok \xff\xfe tail \xe2\x82") + decode(b"\xac", final=True) == "ok �� tail €"
    assert getincrementaldecoder("utf-8")().decode(b"plain", final=True) == "plain"


def test_esc_is_a_key_soon_enough_to_stop_a_reply_within_a_tenth_of_a_second():
    assert constants.ESCAPE_DELAY <= 0.03
