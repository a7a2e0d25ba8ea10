"""An answer in any framing, whatever its content type says."""

from __future__ import annotations

import json
from itertools import product

import pytest

from jitchat.errors import ProviderError, RequestRefused, StreamCut
from jitchat.providers.http.decode import ResponseDecoder, media_type
from jitchat.providers.protocols.openai import OpenAiProtocol
from jitchat.providers.provider import Finished, Piece
from tests.providers.streams import (
    DONE,
    STOP,
    collect,
    delta,
    event,
    provider,
    streamed,
    text_of,
)

PARTS = (delta("Hel"), delta("lo\u2028"), STOP)
LINES = "\n".join(json.dumps(part, ensure_ascii=False) for part in PARTS)
FRAMED = {
    "events": "".join(map(event, PARTS)) + DONE,
    "lines": LINES,
    "an array": json.dumps(PARTS, indent=1, ensure_ascii=False),
    "nothing between": "".join(json.dumps(part) for part in PARTS),
}
TYPES = [
    "",
    "text/event-stream",
    "application/x-ndjson",
    "application/jsonl; charset=utf-8",
    "application/json",
    "text/plain",
    "text/html; charset=UTF-8",
    "no type",
]


PAIRS = [
    (framing, kind)
    for framing in FRAMED
    for kind in TYPES
    if framing != "nothing between"
    or not kind.startswith(("application/x-nd", "application/jsonl"))
]


def read(body: bytes, kind: str, width: int) -> tuple[list[Piece], ProviderError | None]:
    """What a body of this type says that comes in chunks of `width` bytes, and how it fails."""
    decoder = ResponseDecoder(OpenAiProtocol().parser(), media_type(kind))
    pieces: list[Piece] = []
    try:
        for at in range(0, len(body), width):
            pieces += decoder.feed(body[at : at + width])
        pieces += decoder.end()
    except ProviderError as error:
        return pieces, error
    return pieces, None


@pytest.mark.parametrize("start", ["", "\ufeff", "\r\n\n"])
def test_an_answer_is_read_in_any_framing_whatever_its_type_says(start):
    for (framing, kind), width in product(PAIRS, (1, 2, 3, 50, 1_000)):
        body = (start + FRAMED[framing]).encode()
        assert len(body) < 1_000
        pieces, failure = read(body, kind, width)
        assert failure is None, (framing, kind, width)
        assert text_of(pieces) == "Hello\u2028", (framing, kind, width)
        assert pieces[-1] == Finished("stop"), (framing, kind, width)


@pytest.mark.parametrize("framing", FRAMED)
async def test_an_error_after_the_start_keeps_what_came_in_any_framing(framing):
    error = {"error": {"message": "Overloaded", "code": 529}}
    parts = (delta("Hel"), error)
    body = {
        "events": "".join(map(event, parts)),
        "lines": "\n".join(map(json.dumps, parts)),
        "an array": json.dumps(parts),
        "nothing between": "".join(map(json.dumps, parts)),
    }[framing]
    pieces, failure = await collect(provider(streamed(body)))
    assert text_of(pieces) == "Hel"
    assert isinstance(failure, RequestRefused)
    assert failure.what == "The provider stopped: Overloaded."


@pytest.mark.parametrize("framing", FRAMED)
async def test_an_answer_that_just_ends_was_cut_in_any_framing(framing):
    body = FRAMED[framing]
    cut = body[: body.index("2028" if "2028" in body else "\u2028")]
    pieces, failure = await collect(provider(streamed(cut)))
    assert text_of(pieces) == "Hel"
    assert isinstance(failure, StreamCut)
