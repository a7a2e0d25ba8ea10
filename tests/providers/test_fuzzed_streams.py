"""Thousands of broken streams: none crashes the provider, and what came is kept."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator

from jitchat.errors import ProviderError
from jitchat.providers.http.answer import Answer
from jitchat.providers.protocols.openai import OpenAiProtocol
from jitchat.providers.provider import Delta, Finished, Piece
from tests.providers.streams import delta, event

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
    b"data: {}\n\n",
    b'data: {"choices":[{"delta":[]}]}\n\n',
    b"\\ud800",
    b"\xef\xbb\xbf",
)


def valid(rng: random.Random) -> tuple[bytes, str]:
    """A stream as a server may send it, and the text that it carries."""
    newline = rng.choice(["\n", "\r", "\r\n"])
    words = rng.choices(["Hel", "lo ", "漢字", "\u2028", "😀", "\n\n", '"'], k=rng.randrange(9))
    written = ["\ufeff" * rng.randrange(2)]
    for word in words:
        written.append(rng.choice(["", f": ping{newline}", f"{newline}", f"id: 1{newline}"]))
        chunk = json.dumps(delta(word), ensure_ascii=rng.random() < 0.5)
        written.append(f"data:{rng.choice(['', ' '])}{chunk}{newline}{newline}")
    written.append(rng.choice([event(delta(None, finish_reason="stop"), newline), ""]))
    written.append(f"data: [DONE]{newline}{newline}")
    return "".join(written).encode(), "".join(words)


def mutated(data: bytes, rng: random.Random) -> bytes:
    mutable = bytearray(data)
    for _ in range(rng.randrange(1, 5)):
        place = rng.randrange(len(mutable) + 1)
        match rng.randrange(4):
            case 0:
                del mutable[place : place + rng.randrange(40)]
            case 1:
                mutable[place:place] = rng.choice(GARBAGE)
            case 2:
                mutable[place : place + 1] = bytes([rng.randrange(256)])
            case _:
                del mutable[place:]
    return bytes(mutable)


def chunked(data: bytes, rng: random.Random) -> Iterator[bytes]:
    start = 0
    while start < len(data):
        width = rng.choice([1, 2, 3, 50, 1_000])
        yield data[start : start + width]
        start += width


def read(data: bytes, rng: random.Random) -> tuple[list[Piece], ProviderError | None]:
    answer = Answer(OpenAiProtocol(), rng.choice(MEDIA))
    pieces: list[Piece] = []
    try:
        for chunk in chunked(data, rng):
            pieces.extend(answer.feed(chunk))
        pieces.extend(answer.end())
    except ProviderError as error:
        return pieces, error
    return pieces, None


def text_of(pieces: list[Piece]) -> str:
    return "".join(piece.text for piece in pieces if isinstance(piece, Delta))


def test_a_whole_stream_is_read_whole_however_it_is_written_and_cut(rounds):
    for seed in range(rounds(500, 4_000)):
        rng = random.Random(seed)
        data, text = valid(rng)
        answer = Answer(OpenAiProtocol())
        pieces = [piece for chunk in chunked(data, rng) for piece in answer.feed(chunk)]
        pieces += answer.end()
        assert text_of(pieces) == text, seed
        assert [p for p in pieces if isinstance(p, Finished)] == [Finished("stop")], seed


def test_a_broken_stream_ends_in_an_error_of_ours_or_in_an_answer(rounds):
    outcomes = set()
    for seed in range(rounds(2_000, 10_000)):
        rng = random.Random(seed)
        data, _ = valid(rng)
        pieces, failure = read(mutated(data, rng), rng)
        outcomes.add(type(failure).__name__)
        if failure is not None:
            assert failure.what, seed
            assert failure.remedy, seed
        else:
            assert any(isinstance(piece, Finished) for piece in pieces), seed
    assert {"NoneType", "StreamCut", "NotAnAnswer", "RequestRefused"} <= outcomes


def test_what_came_ahead_of_the_damage_is_kept(rounds):
    for seed in range(rounds(200, 2_000)):
        rng = random.Random(seed)
        head = event(delta("kept")).encode()
        data, _ = valid(rng)
        answer = Answer(OpenAiProtocol())
        pieces = list(answer.feed(head))
        try:
            for chunk in chunked(mutated(data, rng), rng):
                pieces.extend(answer.feed(chunk))
        except ProviderError:
            pass
        assert text_of(pieces).startswith("kept"), seed
