"""Small models in addition to the chat's: their requests, time limits and replies."""

import asyncio
import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from importlib.resources import files

from jitchat.errors import JitchatError, NotAnAnswer, RequestRefused, Unreachable
from jitchat.metering import MeteredProvider, Metering
from jitchat.providers.catalogue.table import Prices
from jitchat.providers.provider import Options, Provider, ReplyDelta, SentRequest
from jitchat.providers.writing import stream_written
from jitchat.store.requests import Purpose
from jitchat.text.fences import fence, free_tag
from jitchat.values import Message, Role
from jitchat.window.tokens import TokenCounter, request_tokens

LONGEST = 32_000
"""Maximum characters of an answer; a longer one does not answer the request."""
_ANSWER = 2_000
"""Tokens that are at least reserved for an answer."""


def request_of(
    task: str, values: Mapping[str, object] | None = None, **groups: Sequence[str]
) -> tuple[Message, ...]:
    """Make the request for a task; each group of texts is in a fence that no text can close.

    `values` are put into the task's instructions, in `data`.
    """
    instructions = (files(__package__) / "data" / f"{task}.txt").read_text("utf-8")
    for name, value in (values or {}).items():
        instructions = instructions.replace(f"{{{name}}}", f"{value}")
    texts = [text for group in groups.values() for text in group]
    fences = [fence(free_tag(tag, texts), group) for tag, group in groups.items()]
    blocks = "".join(piece for pieces in fences for piece in pieces)
    return Message(Role.SYSTEM, " ".join(instructions.split())), Message(Role.USER, blocks)


@dataclass(slots=True)
class Hearing:
    takes_schema: bool = True
    """Whether the server accepts a schema, as far as is known."""
    text: str = ""

    async def hear(self, provider: Provider, messages: Sequence[Message], options: Options) -> None:
        """Send one request and read the answer to its end; cancelling the task hangs up."""
        async with aclosing(stream_written(provider, messages, options)) as pieces:
            async for piece in pieces:
                if isinstance(piece, SentRequest):
                    self.takes_schema = piece.options.takes_schema
                elif isinstance(piece, ReplyDelta):
                    if len(self.text) + len(piece.text) > LONGEST:
                        raise NotAnAnswer("Its answer does not end.", "Try it with another model.")
                    self.text += piece.text


@dataclass(frozen=True, slots=True)
class SmallModelReply:
    text: str
    error: JitchatError | None
    """Why there is no complete answer."""
    input_tokens: int
    """Of all requests that were billed, as reported or counted; so are those of the output."""
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

    def failure(self, error: JitchatError) -> str:
        """State why the model's answer is not used, as a clause."""
        return f"{self.name}: {error.what.rstrip('.')}"

    async def ask(
        self, messages: Sequence[Message], schema: Mapping[str, object] | None = None
    ) -> SmallModelReply:
        """Send one request; errors of the model or its server are not raised.

        The answer has the `schema`, a JSON Schema, if the server enforces it.
        """
        text = json.dumps(schema) if schema and self.taught.takes_schema else None
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
        ms = (time.perf_counter() - started) * 1000
        self.taught.takes_schema &= hearing.takes_schema
        tokens = metered.sent, metered.answered
        is_exact = self.counter.exact or metered.is_reported
        return SmallModelReply(hearing.text, error, *tokens, is_exact, ms, metered.cost)

    async def _hear(
        self, provider: Provider, hearing: Hearing, messages: Sequence[Message], schema: str | None
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


@dataclass(frozen=True, slots=True)
class SizedModel:
    model: SmallModel
    limit: int
    """The model's context size in tokens, including its answer."""

    def takes(self, messages: Sequence[Message], answer: int) -> bool:
        needed = request_tokens(self.model.counter, messages) + max(_ANSWER, answer)
        return needed <= self.limit


class SizedModels:
    """One task of several models, of which the first that a request fits is asked."""

    def __init__(self, models: Sequence[SizedModel]) -> None:
        """`models` are in order of size, the smallest first; at least one."""
        self.models = tuple(models)

    async def fitting(self, messages: Sequence[Message], answer: int) -> SmallModel | None:
        """Choose the model for a request and an answer of `answer` tokens; None if none is."""
        return await asyncio.to_thread(self._fitting, messages, answer)

    def _fitting(self, messages: Sequence[Message], answer: int) -> SmallModel | None:
        fitting = (sized.model for sized in self.models if sized.takes(messages, answer))
        return next(fitting, None)

    async def aclose(self) -> None:
        for sized in self.models:
            await sized.model.provider.aclose()
