"""Keys as terminals send them."""

from __future__ import annotations

import os
import sys
import threading
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from textual import constants, events
from textual._xterm_parser import XTermParser
from textual.message import Message

from jitchat.tui import driver
from jitchat.tui.driver import _IDLE, InputReader, TerminalDriver, _patience, widen_input
from jitchat.tui.frames import Frames

if TYPE_CHECKING:
    from collections.abc import Sequence


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
    reader = InputReader()
    sent = f"a{PASTED}\x1b\r".encode()
    told: list[Message] = []
    for start in range(0, len(sent), size):
        told += reader.events(sent[start : start + size])
    pasted = [each.text for each in told if isinstance(each, events.Paste)]
    assert pasted == ["abc \x1b[2Jdef\x1b\x11 日"]
    pressed = [each.key for each in told if isinstance(each, events.Key)]
    assert pressed == ["a", "z", "alt+enter"]


def test_nothing_that_is_typed_waits_for_more():
    reader = InputReader()
    pressed = [[each.key for each in reader.events(bytes([each]))] for each in b"ab\t"]
    assert pressed == [["a"], ["b"], ["tab"]]


def test_an_empty_paste_is_reported_since_the_clipboard_may_hold_a_picture():
    told = list(InputReader().events(b"\x1b[200~\x1b[201~"))
    assert [each.text for each in told if isinstance(each, events.Paste)] == [""]


@pytest.mark.parametrize(
    ("sent", "pasted"),
    [
        ("first\rsecond\r", "first\rsecond\r"),
        ("日本\r\n\tsecond", "日本\r\n\tsecond"),
        ("sent at once\r", None),
        ("\rnext", None),
        ("a\r\r", None),
        ("a\x1b[Ab\rc", None),
        ("a\x7fb\rc", None),
    ],
)
def test_lines_that_arrive_at_once_are_one_paste(sent: str, pasted: str | None):
    told = list(InputReader().events(sent.encode()))
    texts = [each.text for each in told if isinstance(each, events.Paste)]
    assert texts == ([] if pasted is None else [pasted])
    assert pasted is None or len(told) == 1


class PipeDriver(TerminalDriver):
    """Reads from a pipe until that is closed."""

    def __init__(self, fileno: int) -> None:
        self.fileno = fileno
        self.exit_event = threading.Event()
        self._app = SimpleNamespace(exit=None)  # type: ignore[assignment]
        self._loop = SimpleNamespace(call_soon_threadsafe=lambda call, *_: call and call())  # type: ignore[assignment]
        self._came = 0.0
        self.frames = Frames(lambda *_: None, lambda: False)
        self.frames.begin()
        self.told: list[str] = []

    def process_message(self, message: Message) -> None:
        self.told.append(message.text if isinstance(message, events.Paste) else message.key)


@pytest.mark.skipif(sys.platform == "win32", reason="its driver is Textual's")
@pytest.mark.parametrize(
    ("pieces", "pause", "told"),
    [
        (("first\r", "second\r"), 5.0, ["first\rsecond\r"]),
        (("first\rsec", "ond\r"), 5.0, ["first\rsecond\r"]),
        (("ab", "\r", "second"), 5.0, ["a", "b", "\rsecond"]),
        (("ab\r", "\r", "\r", "second"), 5.0, ["ab\r\r\rsecond"]),
        (("ab", "\r", "second"), 0.0, ["a", "b", "enter", *"second"]),
        (("\r", "\r", "a"), 5.0, ["enter", "enter", "a"]),
        (("\x1b[A", "\r", "a"), 5.0, ["up", "enter", "a"]),
    ],
)
def test_lines_that_arrive_in_pieces_are_one_paste_unless_there_are_pauses(
    monkeypatch: pytest.MonkeyPatch, pieces: tuple[str, ...], pause: float, told: list[str]
):
    monkeypatch.setattr(driver, "_BURST_SECONDS", pause)
    assert read_in_pieces(monkeypatch, pieces).told == told


def read_in_pieces(monkeypatch: pytest.MonkeyPatch, pieces: Sequence[str]) -> PipeDriver:
    reading, writing = os.pipe()
    pipe = PipeDriver(reading)
    read, waiting = pipe._read_some, list(pieces)

    def read_piece() -> bytes:
        """The next piece comes when the one before was read."""
        data = read()
        if waiting:
            os.write(writing, waiting.pop(0).encode())
        elif data:
            os.close(writing)
        return data

    monkeypatch.setattr(pipe, "_read_some", read_piece)
    os.write(writing, waiting.pop(0).encode())
    pipe.run_input_thread()
    os.close(reading)
    return pipe


@pytest.mark.skipif(sys.platform == "win32", reason="its driver is Textual's")
@pytest.mark.parametrize(
    ("sent", "told", "size"),
    [
        *(("a{}b", ["a", "b"], size) for size in (1, 2, 3, 100)),
        *(("\x1b{}b", ["escape", "b"], size) for size in (1, 2, 3, 100)),
        *(("\x1b[200~one {}two\x1b[201~c", ["one two", "c"], size) for size in (1, 2, 3, 100)),
        ("first\rsec{}ond\r", ["first\rsecond\r"], 100),
    ],
)
def test_an_answer_of_the_terminal_is_no_key_however_it_arrives(
    monkeypatch: pytest.MonkeyPatch, sent: str, told: list[str], size: int
):
    monkeypatch.setattr(driver, "_BURST_SECONDS", 5.0)
    text = sent.format("\x1b[0n")
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    pipe = read_in_pieces(monkeypatch, pieces)
    assert (pipe.told, pipe.frames.answers) == (told, 1)
