"""Thousands of broken streams of every protocol: none crashes it, and what was received is kept."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from jitchat.errors import ProviderError
from jitchat.providers.http.decode import ResponseDecoder
from jitchat.providers.provider import Finished, Piece, ReplyDelta
from tests.providers.dialects import DIALECTS, Dialect

if TYPE_CHECKING:
    from collections.abc import Iterator

every_dialect = pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
MEDIA = ("", "text/event-stream", "application/json", "application/x-ndjson", "text/html")
GARBAGE = (
    b"\x00",
    b"\xff",
    b"\r",
    b"\n",
    b"\n\n",
    b"data:",
    b": x\n\n",
    b"event: error\n",
    b"{",
    b"}",
    b"[DONE]",
    b'"',
    b"\xe2\x80\xa8",
    b"null",
    b"[" * 2_000,
    b"9" * 5_000,
    b'\n\ndata: {"error":1}\n\n',
    b'\n{"error":"x"}\n',
    b'\n{"message":{"content":7}}\n',
    b'\n\ndata: {"type":"error","error":{"type":"overloaded_error"}}\n\n',
    b'\n\ndata: {"candidates":[{"content":[]}]}\n\n',
    b"data: {}\n\n",
    b'data: {"choices":[{"delta":[]}]}\n\n',
    b"\\ud800",
    b"\xef\xbb\xbf",
)


def valid(dialect: Dialect, rng: random.Random) -> tuple[bytes, str]:
    """A stream as a server may send it, and the text that it carries."""
    newline = rng.choice(["\n", "\r\n"] if dialect.is_lines else ["\n", "\r", "\r\n"])
    words = rng.choices(["Hel", "lo ", "漢字", "\u2028", "😀", "\n\n", '"'], k=rng.randrange(9))
    written = ["\ufeff" * rng.randrange(2)]
    for event in (*map(dialect.piece, words), *rng.choice(dialect.ends)):
        written.append(_between(dialect, newline, rng))
        written.append(dialect.written(event, newline, ensure_ascii=rng.random() < 0.5))
    return "".join(written).encode(), "".join(words)


def _between(dialect: Dialect, newline: str, rng: random.Random) -> str:
    """What may stand between two events, and says nothing."""
    said_in_events = (f": ping{newline}", f"id: 1{newline}")
    return rng.choice(["", newline, *(() if dialect.is_lines else said_in_events)])


def mutated(data: bytes, rng: random.Random) -> bytes:
    mutable = bytearray(data)
    for _ in range(rng.randrange(1, 5)):
        place = rng.randrange(len(mutable) + 1)
        match rng.randrange(5):
            case 0:
                del mutable[place : place + rng.randrange(40)]
            case 1:
                mutable[place:place] = rng.choice(GARBAGE)
            case 2:
                mutable[place : place + 1] = bytes([rng.randrange(256)])
            case 3:
                between = mutable.find(b"\n", place) + 1
                mutable[between:between] = rng.choice(GARBAGE)
            case _:
                del mutable[place:]
    return bytes(mutable)


def chunked(data: bytes, rng: random.Random) -> Iterator[bytes]:
    start = 0
    while start < len(data):
        width = rng.choice([1, 2, 3, 50, 1_000])
        yield data[start : start + width]
        start += width


def read(
    dialect: Dialect, data: bytes, rng: random.Random
) -> tuple[list[Piece], ProviderError | None]:
    answer = ResponseDecoder(dialect.protocol.parser(), rng.choice((dialect.media, *MEDIA)))
    pieces: list[Piece] = []
    try:
        for chunk in chunked(data, rng):
            pieces.extend(answer.feed(chunk))
        pieces.extend(answer.end())
    except ProviderError as error:
        return pieces, error
    return pieces, None


def text_of(pieces: list[Piece]) -> str:
    return "".join(piece.text for piece in pieces if isinstance(piece, ReplyDelta))


@every_dialect
def test_a_whole_stream_is_read_whole_however_it_is_written_and_cut(dialect, rounds):
    for seed in range(rounds(80, 4_000)):
        rng = random.Random(seed)
        data, text = valid(dialect, rng)
        answer = ResponseDecoder(dialect.protocol.parser(), dialect.media)
        pieces = [piece for chunk in chunked(data, rng) for piece in answer.feed(chunk)]
        pieces += answer.end()
        assert text_of(pieces) == text, seed
        (finished,) = (piece for piece in pieces if isinstance(piece, Finished))
        assert finished.is_whole, seed


@every_dialect
def test_a_broken_stream_ends_in_an_error_of_ours_or_in_an_answer(dialect, rounds):
    outcomes = set()
    for seed in range(rounds(250, 10_000)):
        rng = random.Random(seed)
        data, _ = valid(dialect, rng)
        pieces, failure = read(dialect, mutated(data, rng), rng)
        outcomes.add(type(failure).__name__)
        if failure is not None:
            assert failure.what, seed
            assert failure.remedy, seed
        else:
            assert any(isinstance(piece, Finished) for piece in pieces), seed
    assert {"NoneType", "StreamCut", "NotAnAnswer", "RequestRefused"} <= outcomes


@every_dialect
def test_what_came_ahead_of_the_damage_is_kept(dialect, rounds):
    for seed in range(rounds(80, 10_000)):
        rng = random.Random(seed)
        data, _ = valid(dialect, rng)
        answer = ResponseDecoder(dialect.protocol.parser(), dialect.media)
        pieces = list(answer.feed(dialect.written(dialect.piece("kept")).encode()))
        try:
            for chunk in chunked(mutated(data, rng), rng):
                pieces.extend(answer.feed(chunk))
        except ProviderError:
            pass
        assert text_of(pieces).startswith("kept"), seed
