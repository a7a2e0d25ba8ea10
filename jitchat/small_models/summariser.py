"""The summariser: index lines by a small model, in the background, while the user is idle.

Its lines are stored batch by batch, so that it can be stopped at any moment and continue from
there. It gives up easily: a server error, or two consecutive answers without lines, stops it until
the conversation is opened again.

The rules for a line are those that public measurements favour: self-contained, names instead of
pronouns, dates instead of "yesterday", numbers unchanged, assertions distinguished from questions.

A conversation that has no title gets one: what its first message is about. A built-in rule makes
one at once. If a small model is set, it makes a better one from the first exchange, in the
background. A title that the user or the import gave is never changed.
"""

import asyncio
from bisect import bisect_left
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from jitchat.draft import GO_ON
from jitchat.errors import JitchatError, NotAnAnswer, SummariserStopped
from jitchat.index.entry import SUMMARY_WIDTH, summarised
from jitchat.memory import Memory
from jitchat.small_models.replies import parse_value, wrong_format
from jitchat.small_models.small_model import SmallModel, SmallModelReply, request_of
from jitchat.store.requests import Purpose
from jitchat.store.store import NEW_TITLE, ColdStore
from jitchat.text.entities import entities
from jitchat.text.expressions import expressions
from jitchat.text.sanitize import both_ends, shorten
from jitchat.values import Conversation, Message, Role, Turn
from jitchat.window.render import quote_all
from jitchat.writing.calls import flattened, full_text

TITLE_WIDTH = 60
_AROUND = " \"'“”«».,;:?!。？！"
_TITLE_REACH = 20_000
_EXCHANGE = 4
"""Turns at the beginning that are shown to a model."""


def title_of(text: str) -> str:
    """Return what a first message is about; empty if it has no content, such as a greeting."""
    text = both_ends(text, _TITLE_REACH, "\n\n").lstrip()
    lead_in = expressions("titles")["lead_in"].match(text)
    content = text[lead_in.end() :] if lead_in is not None else text
    title = summarised(content, entities(content), decides=False, width=TITLE_WIDTH).strip(_AROUND)
    if not any(map(str.isalnum, title)):
        return ""
    return title[0].upper() + title[1:]


def name_new(store: ColdStore, conversation: Conversation, text: str) -> None:
    """Give a conversation without a title one from its first message."""
    if conversation.title == NEW_TITLE and text != GO_ON and (title := title_of(text)):
        store.suggest_title(conversation.id, title)


async def improve_title(memory: Memory, model: SmallModel) -> bool:
    """Have a model make a title from the first exchange, unless one was given.

    Return whether it did. Failures are not reported, because the existing title is good enough.
    """
    store, conversation = memory.store, memory.conversation.id
    turns = memory.turns[:_EXCHANGE]
    is_first = sum(turn.role is Role.USER for turn in memory.turns[: _EXCHANGE + 1]) == 1
    if not is_first or not await asyncio.to_thread(store.lacks_title, conversation):
        return False
    request = request_of("title", turns=quoted_turns(turns))
    model = replace(model, purpose=Purpose.TITLE)
    with suppress(JitchatError):
        titles = parse_value((await model.ask(request)).whole(), "titles", list)
        title = shorten(str(titles[0]), TITLE_WIDTH).strip(_AROUND) if titles else ""
        if any(map(str.isalnum, title)):
            await asyncio.to_thread(store.suggest_title, conversation, title)
            return True
    return False


BATCH = 8
"""Turns per request."""
_AHEAD = 2
_PATIENCE = 2
"""The summariser stops after this many consecutive answers without lines."""


@dataclass(frozen=True, slots=True)
class LinesWritten:
    turns: tuple[int, ...]
    """The positions of the turns whose index lines were written."""
    left: int
    """Number of turns that are still to be processed."""
    input_tokens: int
    """Of all requests so far."""
    output_tokens: int
    """Of all requests so far."""


class Summariser:
    def __init__(
        self,
        model: SmallModel,
        memory: Memory,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._model, self._memory, self._sleep = model, memory, sleep
        self._after = 0
        """The last position that was processed; skipped turns wait until the next opening."""
        self._refusals = 0
        self._input_tokens = self._output_tokens = 0
        self.stopped = False
        """Whether the summariser gave up."""

    @property
    def name(self) -> str:
        return self._model.name

    async def write(self) -> AsyncGenerator[LinesWritten, None]:
        """Write the missing lines, oldest first.

        Raises:
            SummariserStopped: The summariser gave up; the error states why.
            StoreError: The lines cannot be stored.

        """
        left: int | None = None
        while not self.stopped and await self._quiet():
            turns, ahead = await asyncio.to_thread(self._next)
            if not turns:
                return
            if left is None:
                left = await asyncio.to_thread(self._memory.index.count_without_line, self._after)
            heard = await self._model.ask(summariser_request(turns, ahead))
            written = await asyncio.to_thread(self._take, heard, turns)
            left = max(0, left - len(turns))
            yield LinesWritten(written, left, self._input_tokens, self._output_tokens)

    async def _quiet(self) -> bool:
        """Wait until the user is idle; return whether lines are still wanted."""
        pace = self._memory.index.throttle
        while not pace.halted and (seconds := pace.quiet_in()):
            await self._sleep(seconds)
        return not pace.halted

    def _next(self) -> tuple[Sequence[Turn], Sequence[Turn]]:
        """Find the next turns without a line, and the turns just before them."""
        turns = self._memory.index.without_line(self._after, BATCH)
        if not turns:
            return (), ()
        known = self._memory.turns
        start = bisect_left(known, turns[0].position, key=lambda turn: turn.position)
        return turns, known[max(0, start - _AHEAD) : start]

    def _take(self, heard: SmallModelReply, turns: Sequence[Turn]) -> tuple[int, ...]:
        self._input_tokens += heard.input_tokens
        self._output_tokens += heard.output_tokens
        try:
            lines = self._lines(heard, turns)
            self._memory.index.write_lines(self.name, lines)
        except JitchatError:
            self.stopped = True
            raise
        self._after = turns[-1].position
        return tuple(turn.position for turn in lines)

    def _lines(self, heard: SmallModelReply, turns: Sequence[Turn]) -> dict[Turn, str]:
        try:
            lines = parse_lines(heard.whole(), turns)
        except JitchatError as error:
            self._refusals += 1
            if isinstance(error, NotAnAnswer) and self._refusals < _PATIENCE:
                return {}
            raise SummariserStopped(
                f"The summariser {self.name} stopped: {error.what.rstrip('.')}.",
                "The remaining index lines stay as they were; it continues when the conversation"
                " is opened again. See [summariser] in the configuration.",
            ) from None
        self._refusals = 0
        return lines


_REACH = 750
"""Characters at the beginning and at the end of a long turn that are shown."""
_AHEAD_REACH = 150
"""The same for the preceding turns, which resolve what the others refer to."""


def summariser_request(turns: Sequence[Turn], ahead: Sequence[Turn]) -> tuple[Message, ...]:
    """Ask for a line for each of `turns`; `ahead` are the turns just before."""
    before = quote_all([_cut(turn, _AHEAD_REACH) for turn in ahead])
    return request_of("summariser", ahead=before, turns=quoted_turns(turns))


def quoted_turns(turns: Sequence[Turn]) -> list[str]:
    """Quote turns, long ones cut."""
    return quote_all([_cut(turn, _REACH) for turn in turns])


def parse_lines(reply: str, turns: Sequence[Turn]) -> dict[Turn, str]:
    """Read the lines of `{"lines": {"12": "…"}}`, each made safe, shortened, and put on one line.

    Lines that belong to none of the turns, or are empty, are dropped.

    Raises:
        NotAnAnswer: The reply is something else, or no line is left.

    """
    by_name = {str(turn.position): turn for turn in turns}
    lines: dict[Turn, str] = {}
    for name, written in parse_value(reply, "lines", dict).items():
        turn = by_name.get(name.strip().removeprefix("#"))
        line = shorten(written, SUMMARY_WIDTH) if isinstance(written, str) else ""
        if turn is not None and any(letter.isalnum() for letter in line):
            lines[turn] = line
    if not lines:
        raise wrong_format()
    return lines


def _cut(turn: Turn, reach: int) -> Turn:
    return replace(flattened(turn), content=both_ends(full_text(turn), reach, " … "))
