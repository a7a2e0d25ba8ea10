"""A parameter that a server refuses is omitted, remembered and reported."""

from __future__ import annotations

import json
from contextlib import aclosing
from typing import TYPE_CHECKING

import httpx
import pytest

from jitchat.errors import RequestRefused, StoreFull
from jitchat.providers.http.provider import HttpProvider
from jitchat.providers.protocols.anthropic import AnthropicProtocol
from jitchat.providers.provider import (
    Finished,
    Options,
    Piece,
    ReplyDelta,
    RequestAdapted,
    RetryScheduled,
)
from tests.providers.streams import (
    ASKED,
    DONE,
    HELLO,
    answered,
    endpoint,
    event,
    provider,
    streamed,
)

if TYPE_CHECKING:
    from collections.abc import Callable

SET = Options(temperature=0.2, top_p=0.9, seed=7, effort="low", max_tokens=99)
FORGOTTEN = "until you run `jitchat tokens openai/gpt-5 --forget`"
ANSWER = [ReplyDelta("Hel"), ReplyDelta("lo"), Finished("stop")]


class Kept:
    """Lessons that are kept, in a list."""

    def __init__(self, *refused: str) -> None:
        self.names = list(refused)

    def refused(self) -> frozenset[str]:
        return frozenset(self.names)

    def refuse(self, parameter: str) -> None:
        self.names.append(parameter)


class Strict:
    """A server that knows only some parameters."""

    def __init__(self, *unknown: str, status: int = 400) -> None:
        self.unknown, self.status = unknown, status
        self.asked: list[dict[str, object]] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        sent = json.loads(request.content)
        self.asked.append(sent)
        for name in self.unknown:
            if name in sent:
                said = f"Unsupported parameter: '{name}' is not supported with this model."
                error = {"message": said, "param": name, "code": "unsupported_parameter"}
                return httpx.Response(self.status, json={"error": error})
        return streamed(HELLO, DONE)


async def ask(
    server: Callable[[httpx.Request], httpx.Response],
    lessons: Kept,
    options: Options = SET,
    **more: str,
) -> tuple[list[Piece], str]:
    """The pieces of an answer, and what the user is told if it fails."""
    pieces: list[Piece] = []
    wanted = provider(server, quirks=lessons, model="gpt-5", **more)
    try:
        async with aclosing(answered(wanted, ASKED, options)) as stream:
            async for piece in stream:
                pieces.append(piece)  # noqa: PERF401  what came before an error counts
    except RequestRefused as error:
        return pieces, error.what
    finally:
        await wanted.aclose()
    return pieces, ""


@pytest.mark.parametrize("status", [400, 422])
async def test_a_refused_parameter_is_left_out_remembered_and_told(status):
    server, lessons = Strict("temperature", status=status), Kept()
    told = RequestAdapted(f"gpt-5 does not accept temperature: sent without it, {FORGOTTEN}.")
    assert await ask(server, lessons) == ([told, *ANSWER], "")
    assert lessons.names == ["temperature"]
    first, second = server.asked
    assert first == {**second, "temperature": 0.2}


async def test_an_answer_comes_although_what_was_learnt_cannot_be_kept():
    class Full(Kept):
        def refuse(self, parameter: str) -> None:
            raise StoreFull("There is no space left.", "Make room.")

    pieces, failure = await ask(Strict("temperature"), Full())
    assert (pieces[1:], failure) == (ANSWER, "")


async def test_what_was_learnt_is_not_sent_again():
    server, lessons = Strict("temperature"), Kept("temperature", "seed")
    assert await ask(server, lessons) == (ANSWER, "")
    assert len(server.asked) == 1
    assert not {"temperature", "seed"} & set(server.asked[0])


async def test_without_a_place_for_lessons_a_provider_remembers_by_itself():
    server = Strict("temperature")
    wanted = provider(server)
    for _ in range(2):
        async for _piece in answered(wanted, ASKED, SET):
            pass
    assert ["temperature" in sent for sent in server.asked] == [True, False, False]
    await wanted.aclose()


async def test_the_longest_answer_has_two_names():
    server, lessons = Strict("max_tokens"), Kept()
    pieces, failure = await ask(server, lessons)
    told = f"gpt-5 does not accept max_tokens: sent as max_completion_tokens, {FORGOTTEN}."
    assert (pieces, failure) == ([RequestAdapted(told), *ANSWER], "")
    assert server.asked[-1]["max_completion_tokens"] == 99
    assert lessons.names == ["max_tokens"]


async def test_an_answer_longer_than_the_model_gives_is_asked_for_shorter():
    asked = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(json.loads(request.content)["max_tokens"])
        said = f"max_tokens: {asked[-1]} > 8192, which is the maximum allowed number of tokens"
        events = event({"type": "message_delta", "delta": {"stop_reason": "end_turn"}})
        return streamed(events) if asked[-1] <= 8192 else httpx.Response(400, json={"error": said})

    wanted = HttpProvider(endpoint(), AnthropicProtocol(), httpx.MockTransport(answer))
    async with aclosing(answered(wanted, ASKED, Options(room=50_000))) as stream:
        pieces = [piece async for piece in stream]
    told = (
        "m does not accept so large a max_tokens: sent a smaller one,"
        " until you run `jitchat tokens openai/m --forget`."
    )
    assert pieces == [RequestAdapted(told), Finished("end_turn")]
    assert asked == [16_384, 4_096]
    await wanted.aclose()


async def test_the_text_of_the_system_goes_with_the_first_question():
    def answer(request: httpx.Request) -> httpx.Response:
        if "system" in {turn["role"] for turn in json.loads(request.content)["messages"]}:
            return httpx.Response(500, json={"error": {"message": "System role not supported"}})
        return streamed(HELLO, DONE)

    lessons = Kept()
    pieces, failure = await ask(answer, lessons)
    assert failure == ""
    assert pieces[0] == RequestAdapted(
        f"gpt-5 does not accept a system message: sent in the first message, {FORGOTTEN}."
    )
    assert lessons.names == ["system"]


async def test_three_parameters_are_left_out_and_no_fourth():
    names = ("temperature", "top_p", "seed", "reasoning_effort")
    for count, (told, asked) in {3: (3, 4), 4: (3, 4)}.items():
        server, lessons = Strict(*names[:count]), Kept()
        pieces, failure = await ask(server, lessons)
        assert [type(piece) for piece in pieces[:told]] == [RequestAdapted] * told
        assert len(server.asked) == asked
        assert bool(failure) == (count == 4)
        assert lessons.names == list(names[:3])


async def test_what_is_refused_although_it_was_not_sent_stays_refused():
    def answer(request: httpx.Request) -> httpx.Response:
        error = {"message": "Unsupported parameter: 'temperature'", "param": "temperature"}
        return httpx.Response(400, json={"error": error})

    lessons = Kept()
    pieces, failure = await ask(answer, lessons)
    assert len(pieces) == 1
    assert failure.startswith("The provider refused the request (HTTP 400): ")
    assert lessons.names == ["temperature"]


@pytest.mark.parametrize("status", [400, 404, 500])
async def test_an_error_about_something_else_stands(status):
    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(status, json={"error": {"message": "the model is broken"}})

    lessons = Kept()
    pieces, failure = await ask(answer, lessons)
    assert not [piece for piece in pieces if isinstance(piece, RequestAdapted)]
    assert "the model is broken" in failure
    assert lessons.names == []


async def test_a_request_may_be_adapted_between_two_tries():
    failures = [httpx.Response(503, json={"error": "busy"}), None, httpx.Response(503), None]
    strict = Strict("temperature")

    def answer(request: httpx.Request) -> httpx.Response:
        return failures.pop(0) or strict(request)

    pieces, failure = await ask(answer, Kept())
    assert failure == ""
    assert [type(piece) for piece in pieces[:3]] == [RetryScheduled, RequestAdapted, RetryScheduled]
    assert pieces[3:] == ANSWER


async def test_a_long_name_of_a_model_is_shortened():
    wanted = provider(Strict("temperature"), model="evil\x1b[2J" + "x" * 900)
    stream = answered(wanted, ASKED, SET)
    told = await anext(stream)
    assert isinstance(told, RequestAdapted)
    assert "evil\x1b[2Jxxx" in told.sentence
    assert len(told.sentence) < 250
    await stream.aclose()
    await wanted.aclose()
