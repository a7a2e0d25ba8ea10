"""What compacts a large text by an instruction: the extractor that is built in, or a model."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from jitchat.text.sanitize import one_line, shorten
from jitchat.tools.extracting import extract
from jitchat.tools.preview import preview
from jitchat.window.tokens import TokenCounter


@dataclass(frozen=True, slots=True)
class Compacted:
    text: str
    by: str
    """Who did it: `the extractor`, or a model's name; with why, where another stood in."""


class Compactor(Protocol):
    async def compact(self, text: str, instruction: str, limit: int) -> Compacted:
        """Say in at most `limit` tokens what a text holds of what is asked for.

        Nothing that a model or its server does is raised.
        """

    async def aclose(self) -> None:
        """Give back its connections."""


EXTRACTOR = "the extractor"


class Extractor:
    """Takes the lines that hold what is asked for, word for word; needs no model."""

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter

    async def compact(self, text: str, instruction: str, limit: int) -> Compacted:
        return await asyncio.to_thread(self.now, text, instruction, limit)

    async def aclose(self) -> None: ...

    def now(self, text: str, instruction: str, limit: int, why: str = "") -> Compacted:
        """Do it at once; `why` tells why nobody else did."""
        found = extract(text, instruction, limit, self._counter)
        by = f"{EXTRACTOR}, {found.kept:,} of {found.of:,} parts"
        if not found.kept:
            by = f"{EXTRACTOR}, which found nothing of it: errors, head and tail"
        return Compacted(found.text, f"{by} ({why})" if why else by)


LARGE_MESSAGE = 16_000
"""Tokens from which on a user is asked what of a message is sent."""
MODEL_SECONDS, EXTRACTOR_SECONDS = 8.0, 2.0
"""For all that is compacted at once, ten in all: for the model, then for what stands in for it."""
_LONGEST = 300
"""Characters of an instruction that are told."""


@dataclass(frozen=True, slots=True)
class Form:
    """A text as it is when it was compacted."""

    text: str
    by: str
    wanted: str
    tokens: int
    of: int
    """Tokens of the whole text."""

    def told(self, what: str) -> str:
        """Write it below a line on what was done to it; `what` names it."""
        return (
            f"[{what} compacted by {one_line(self.by)} for “{shorten(self.wanted, _LONGEST)}”:"
            f" {self.tokens:,} of {self.of:,} tokens; all of it is kept.]\n{self.text}"
        )


class Compacting:
    """Has texts compacted, by the extractor where nobody else can."""

    def __init__(self, counter: TokenCounter, compactor: Compactor | None = None) -> None:
        self._counter, self._extractor = counter, Extractor(counter)
        self._compactor = compactor or self._extractor

    async def form_of(self, text: str, instruction: str, limit: int) -> Form:
        """Compact a text to at most `limit` tokens, in ten seconds at the most."""
        wanted = instruction or "what matters most"
        try:
            async with asyncio.timeout(MODEL_SECONDS):
                made = await self._compactor.compact(text, wanted, limit)
        except TimeoutError:
            made = await self._extracted(text, wanted, limit, f"no answer in {MODEL_SECONDS:g} s")
        kept = await asyncio.to_thread(self._counter.count, made.text)
        if not made.text.strip() or kept > limit:
            made = await self._extracted(text, wanted, limit, "what was made of it did not fit")
            kept = await asyncio.to_thread(self._counter.count, made.text)
        size = await asyncio.to_thread(self._counter.count, text)
        return Form(made.text, made.by, wanted, kept, size)

    async def _extracted(self, text: str, wanted: str, limit: int, why: str) -> Compacted:
        """Have the extractor stand in; where it takes too long, too, the head and the tail do."""
        with suppress(TimeoutError):
            async with asyncio.timeout(EXTRACTOR_SECONDS):
                return await asyncio.to_thread(self._extractor.now, text, wanted, limit, why)
        seen = await asyncio.to_thread(preview, text, limit, self._counter)
        return Compacted(seen.text, f"its head and tail ({why})")
