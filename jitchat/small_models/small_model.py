"""Small models in addition to the chat's: requests, their time limit, the JSON of replies."""

import asyncio
import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from importlib.resources import files
from typing import TypeVar

from jitchat.errors import JitchatError, NotAnAnswer, RequestRefused, Unreachable
from jitchat.metering import MeteredProvider, Metering
from jitchat.providers.catalogue.table import Prices
from jitchat.providers.provider import Options, Provider, ReplyDelta, SentRequest
from jitchat.store.requests import Purpose
from jitchat.values import Message, Usage
from jitchat.window.tokens import TokenCounter, request_tokens

LONGEST = 32_000
"""Maximum characters of an answer; a longer one does not answer the request."""
_FENCE = "```"
_SCHEMA_PARTS = frozenset(
    ("response_format", "json_schema", "format", "responseJsonSchema", "output_config")
)
"""Protocols' names for the part of a request that holds the schema."""
_Value = TypeVar("_Value", list[object], dict[str, object])


def prompt(name: str) -> str:
    """Read the instructions for a task, without their line breaks."""
    text = (files(__package__) / "data" / f"{name}.txt").read_text("utf-8")
    return " ".join(text.split())


def parse_value(reply: str, name: str, kind: type[_Value]) -> _Value:
    """Read a value of the JSON object in `reply`; a code fence around the object is ignored.

    Raises:
        NotAnAnswer: The reply is something else.

    """
    text = reply.strip()
    if text.startswith(_FENCE) and text.endswith(_FENCE) and "\n" in text:
        text = text.partition("\n")[2].removesuffix(_FENCE)
    try:
        found = json.loads(text, strict=False)
    except (ValueError, RecursionError):  # not JSON, or malicious nesting or numbers
        found = None
    value = found.get(name) if isinstance(found, dict) else None
    if not isinstance(value, kind):
        raise wrong_format()
    return value


def wrong_format() -> NotAnAnswer:
    return NotAnAnswer("Its answer is not the JSON that was asked for.", "Name another model.")


@dataclass(slots=True)
class Hearing:
    began: bool = False
    """Whether the server accepted the request."""
    without: frozenset[str] = frozenset()
    """Parts of the request that the server refuses."""
    reported: Usage | None = None
    _pieces: list[str] = field(default_factory=list)
    _length: int = 0

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    async def hear(self, provider: Provider, messages: Sequence[Message], options: Options) -> None:
        """Send one request and read the answer to its end; cancelling the task hangs up."""
        async with aclosing(provider.stream(messages, options)) as pieces:
            async for piece in pieces:
                self.began |= not isinstance(piece, SentRequest)
                if isinstance(piece, SentRequest):
                    self.without = piece.options.without
                elif isinstance(piece, Usage):
                    self.reported = piece
                elif isinstance(piece, ReplyDelta):
                    self._length += len(piece.text)
                    if self._length > LONGEST:
                        raise NotAnAnswer("Its answer does not end.", "Try it with another model.")
                    self._pieces.append(piece.text)


@dataclass(frozen=True, slots=True)
class SmallModelReply:
    text: str
    error: JitchatError | None
    """Why there is no complete answer."""
    input_tokens: int
    """Tokens of the request; 0 if the server accepted none."""
    output_tokens: int
    exact: bool
    ms: float
    cost: float | None = None
    """In US dollars; None if the price is unknown."""

    def whole(self) -> str:
        """Return the text, or raise the error that made it incomplete."""
        if self.error is not None:
            raise self.error
        return self.text


@dataclass(slots=True)
class Taught:
    """What was learned about the model's server, for as long as the model is used."""

    takes_schema: bool = True


@dataclass(frozen=True, slots=True)
class SmallModel:
    """A model for an auxiliary task, with a time limit."""

    provider: Provider
    counter: TokenCounter
    seconds: float
    prices: Prices | None = None
    """None if unknown."""
    answers: bool = False
    """Whether it is also the model that replies in the chat, on the same server."""
    taught: Taught = field(default_factory=Taught, compare=False)
    context: Callable[[], int | None] = lambda: None
    """Returns the context size to request: Ollama reloads a model when the size changes."""
    purpose: Purpose = Purpose.ANSWER
    """The purpose of its requests."""
    metering: Metering | None = field(default=None, compare=False)
    """Records its requests; None if they are not recorded."""

    @property
    def name(self) -> str:
        return self.provider.model

    async def ask(
        self, messages: Sequence[Message], schema: Mapping[str, object] | None = None
    ) -> SmallModelReply:
        """Send one request; errors of the model or its server are not raised.

        The answer has the `schema`, a JSON Schema, if the server enforces it.
        """
        text = json.dumps(schema) if schema and self.taught.takes_schema else None
        sent = await asyncio.to_thread(request_tokens, self.counter, messages)
        started, hearing = time.perf_counter(), Hearing()
        metered = MeteredProvider(
            self.provider, self.purpose, self.metering, self.counter, self.prices
        )
        error: JitchatError | None = None
        try:
            async with asyncio.timeout(self.seconds):
                await self._hear(metered, hearing, messages, text)
        except TimeoutError:
            error = Unreachable(f"No answer in {self.seconds:g} s.", "Give it more time.")
        except JitchatError as failed:
            error = failed
            sent = sent if hearing.began else 0  # a refused request is not charged
        ms = (time.perf_counter() - started) * 1000
        reported = hearing.reported
        self.taught.takes_schema &= _SCHEMA_PARTS.isdisjoint(hearing.without)
        if text and sent and self.taught.takes_schema:
            sent += await asyncio.to_thread(self.counter.count, text)
        answered = (reported.output_tokens or 0) if reported else 0
        if not answered:
            answered = await asyncio.to_thread(self.counter.count, hearing.text)
        exact, cost = self.counter.exact, metered.cost
        return SmallModelReply(hearing.text, error, sent, answered, exact, ms, cost)

    async def _hear(
        self,
        provider: Provider,
        hearing: Hearing,
        messages: Sequence[Message],
        schema: str | None,
    ) -> None:
        """Read the answer; if the server refuses a request with a schema, resend it without one.

        Servers refuse schemas in many different ways, so any refusal is retried.
        """
        options = Options(context=self.context(), schema=schema)
        try:
            await hearing.hear(provider, messages, options)
        except (RequestRefused, NotAnAnswer):
            if schema is None or hearing.text:
                raise
            await hearing.hear(provider, messages, replace(options, schema=None))
            self.taught.takes_schema = False
