"""JSON without an event stream: lines, and objects one after the other."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.providers.http import decode
from jitchat.providers.http.decode import (
    Decoder,
    EventTooLargeError,
    LineDecoder,
    ValueDecoder,
)
from tests.examples import examples

NASTY = '{"a": "\u2028 \x85 \\" } { \\\\"}'
JSON = st.dictionaries(
    st.text(max_size=5),
    st.recursive(
        st.none() | st.integers() | st.text(max_size=9),
        lambda inner: st.lists(inner, max_size=3),
        max_leaves=5,
    ),
    max_size=3,
)


def decoded(decoder: Decoder, *chunks: bytes) -> list[str]:
    events = [event for chunk in chunks for event in decoder.feed(chunk)]
    events += decoder.end()
    assert {name for name, _ in events} <= {""}
    return [data for _, data in events]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(f'{NASTY}\n{{"b": 1}}\n', id="lines"),
        pytest.param(f'{NASTY}\n{{"b": 1}}', id="the last line without an end"),
        pytest.param(f'\ufeff\r\n{NASTY}\r\n\r\n\n{{"b": 1}}\r\n', id="blank lines and a BOM"),
    ],
)
@pytest.mark.parametrize("kind", [LineDecoder, ValueDecoder])
def test_a_line_is_an_event_wherever_it_is_split(kind, body):
    data = body.encode()
    for place in range(len(data) + 1):
        assert decoded(kind(), data[:place], data[place:]) == [NASTY, '{"b": 1}']


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(f'[{NASTY},{{"b": 1}}]', id="an array"),
        pytest.param(f'[{NASTY}\n,\r\n{{"b": 1}}\n]\n', id="an array over lines"),
        pytest.param(f'{NASTY}{{"b": 1}}', id="nothing between"),
        pytest.param(f'[{NASTY}][{{"b": 1}}]', id="two arrays"),
    ],
)
def test_objects_are_found_wherever_they_stand_and_are_split(body):
    data = body.encode()
    for place in range(len(data) + 1):
        decoder = ValueDecoder()
        assert decoded(decoder, data[:place], data[place:]) == [NASTY, '{"b": 1}']
        assert not decoder.is_open


def test_an_object_may_spread_over_lines():
    value = {"choices": [{"message": {"content": "a {curly} text"}}]}
    assert list(map(json.loads, decoded(ValueDecoder(), json.dumps(value, indent=2).encode()))) == [
        value
    ]


@pytest.mark.parametrize("body", ["oops", "null", "[1, 2]", '"text"', "[]"])
def test_where_no_object_is_the_whole_is_told(body):
    assert decoded(ValueDecoder(), body.encode()) == [body]


def test_of_an_object_that_was_cut_nothing_is_told():
    decoder = ValueDecoder()
    assert decoded(decoder, b'{"a": 1}{"b": "}') == ['{"a": 1}']
    assert decoder.is_open


def test_a_line_that_is_no_json_does_not_take_the_next_one_with_it():
    assert decoded(LineDecoder(), b'{"a": "\n{"b": 1}\n') == ['{"a": "', '{"b": 1}']


@pytest.mark.parametrize("kind", [LineDecoder, ValueDecoder])
def test_an_event_of_more_than_there_is_room_for_is_refused_open_or_whole(monkeypatch, kind):
    assert decode.MAX_EVENT_BYTES == 8 << 20
    monkeypatch.setattr(decode, "MAX_EVENT_BYTES", 1 << 16)
    large = b'{"a":"' + b"x" * (1 << 16)
    for chunks in ([large], [large + b'"}\n'], [large[:100], large[100:], b'"}\n']):
        decoder = kind()
        assert list(decoder.feed(b'{"kept": 1}\n')) == [("", '{"kept": 1}')]
        with pytest.raises(EventTooLargeError):
            decoded(decoder, *chunks)


@examples(16)
@given(
    st.lists(JSON, min_size=1, max_size=5),
    st.sampled_from([",", "\n", " , \n", ""]),
    st.integers(1, 9),
)
def test_whatever_is_written_is_read_back(values, between, width):
    data = between.join(json.dumps(value, ensure_ascii=False) for value in values).encode()
    chunks = [data[start : start + width] for start in range(0, len(data), width)]
    assert [json.loads(text) for text in decoded(ValueDecoder(), *chunks)] == values
