"""Server-sent events: however the bytes are cut, the events are the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.providers.http.decode import MAX_EVENT_BYTES, EventTooLargeError, SseDecoder
from tests.examples import examples

Events = list[tuple[str, str]]
NASTY = (
    b"\xef\xbb\xbf: a comment\r\n"
    b"event: greeting\rdata: one\ndata: two\r\n\r\n"
    b'data:{"text": "\xe2\x80\xa8 and \xc2\x85 are no line ends"}\n\n'
    b"id: 7\nretry: 10\ndata\n\n"
    b":\n\n\n"
    b"data: caf\xc3\xa9 \xf0\x9f\x98\x80\r\r"
    b"data:  two blanks\n\n"
    b"data: \xff\xfe broken\n\n"
    b"event: last\ndata: left open"
)
READ = [
    ("greeting", "one\ntwo"),
    ("", '{"text": "\u2028 and \x85 are no line ends"}'),
    ("", ""),
    ("", "café 😀"),
    ("", " two blanks"),
    ("", "\ufffd\ufffd broken"),
    ("last", "left open"),
]


def decoded(*chunks: bytes) -> Events:
    decoder = SseDecoder()
    found = [event for chunk in chunks for event in decoder.feed(chunk)]
    return [*found, *decoder.end()]


def test_a_stream_reads_as_the_standard_says_and_its_open_end_counts():
    assert decoded(NASTY) == READ


def test_a_stream_may_be_cut_at_every_byte():
    for place in range(len(NASTY) + 1):
        assert decoded(NASTY[:place], NASTY[place:]) == READ


def test_a_stream_may_come_a_byte_at_a_time():
    assert decoded(*(NASTY[place : place + 1] for place in range(len(NASTY)))) == READ


@pytest.mark.parametrize("newline", ["\n", "\r", "\r\n"])
def test_an_event_is_told_as_soon_as_its_blank_line_is_there(newline):
    decoder = SseDecoder()
    head = f"data: one{newline}data: two{newline}".encode()
    assert list(decoder.feed(head)) == []
    after = list(decoder.feed(newline.encode()))
    # a carriage return may yet be followed by its line feed
    assert after == ([] if newline == "\r" else [("", "one\ntwo")])
    assert [*after, *decoder.feed(b"data: x")] == [("", "one\ntwo")]


def test_a_line_feed_that_follows_its_carriage_return_late_is_no_blank_line():
    assert decoded(b"data: one\r", b"\ndata: two\r", b"\n\r", b"\n") == [("", "one\ntwo")]


def test_half_a_byte_order_mark_is_data():
    assert decoded(b"\xef\xbb") == []
    assert decoded(b"\xef\xbb", b"\xbfdata: x") == [("", "x")]
    assert decoded(b"d", b"ata: x") == [("", "x")]


def test_an_event_of_eight_mebibytes_is_read_and_a_larger_one_is_refused():
    chunk = b"x" * (1 << 20)
    decoder = SseDecoder()
    list(decoder.feed(b"data:"))
    for _ in range(7):
        assert list(decoder.feed(chunk)) == []
    (large,) = decoder.feed(b"\n\n")
    assert len(large[1]) == 7 << 20
    list(decoder.feed(b"data:"))
    for _ in range(7):
        list(decoder.feed(chunk))
    with pytest.raises(EventTooLargeError):
        list(decoder.feed(chunk))


def test_an_event_of_many_small_lines_is_refused_too():
    decoder = SseDecoder()
    lines = b"data: " + b"x" * 1_000 + b"\n"
    for _ in range(MAX_EVENT_BYTES // 1_100):
        list(decoder.feed(lines))
    with pytest.raises(EventTooLargeError):
        list(decoder.feed(lines * 1_000))


@examples(20)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["", "error", "ping"]),
            st.lists(st.text(st.characters(exclude_characters="\r\n", codec="utf-8")), min_size=1),
        ),
        max_size=5,
    ),
    st.sampled_from(["\n", "\r", "\r\n"]),
    st.integers(1, 7),
)
def test_whatever_is_written_is_read_back(events, newline, width):
    lines = []
    for name, texts in events:
        lines += [f"event: {name}"] * bool(name) + [": note"] + [f"data: {t}" for t in texts] + [""]
    data = newline.join([*lines, ""]).encode()
    chunks = [data[start : start + width] for start in range(0, len(data), width)]
    assert decoded(*chunks) == [(name, "\n".join(texts)) for name, texts in events]
