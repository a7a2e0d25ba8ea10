"""Compacts a large text by an instruction, with the built-in extractor or a model."""

import asyncio
import re
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
    """`the extractor` or a model's name, with the reason if it was a fallback."""


class Compactor(Protocol):
    async def compact(self, text: str, instruction: str, limit: int) -> Compacted:
        """State in at most `limit` tokens what a text contains of what the instruction asks for.

        Failures of a model or its server are not raised.
        """

    async def aclose(self) -> None:
        """Close the compactor's connections."""


EXTRACTOR = "the extractor"


class Extractor:
    """Takes the lines that contain what is asked for, verbatim; needs no model."""

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter

    async def compact(self, text: str, instruction: str, limit: int) -> Compacted:
        return await asyncio.to_thread(self.now, text, instruction, limit)

    async def aclose(self) -> None: ...

    def now(self, text: str, instruction: str, limit: int, why: str = "") -> Compacted:
        """Compact the text synchronously; `why` is the reason if this is a fallback."""
        found = extract(text, instruction, limit, self._counter)
        by = f"{EXTRACTOR}, {found.kept:,} of {found.of:,} parts"
        if not found.kept:
            by = f"{EXTRACTOR}, which found no match: errors, head and tail"
        return Compacted(found.text, f"{by} ({why})" if why else by)


LARGE_MESSAGE = 16_000
"""Tokens above which the user is asked how much of a message to send."""
MODEL_SECONDS, EXTRACTOR_SECONDS = 8.0, 2.0
"""Timeouts of the model and of its fallback: ten seconds in total."""
_LONGEST = 300
"""Maximum characters of an instruction when it is repeated."""


_TOLD = re.compile(r"^\[(.+)[;,] all of it is kept\.\]$", re.MULTILINE)


def told_of(form: str) -> str:
    """Return what the model is told about a text that windows have in part."""
    found = _TOLD.search(form)
    return one_line(found[1]) if found is not None else "a part of it"


@dataclass(frozen=True, slots=True)
class Form:
    """A compacted text."""

    text: str
    by: str
    wanted: str
    tokens: int
    of: int
    """Tokens of the whole text."""

    def told(self, what: str) -> str:
        """Write the text below a line that describes the compaction; `what` names the original."""
        return (
            f"[{what} compacted by {one_line(self.by)} for “{shorten(self.wanted, _LONGEST)}”:"
            f" {self.tokens:,} of {self.of:,} tokens; all of it is kept.]\n{self.text}"
        )


class Compacting:
    """Compacts texts; the extractor is the fallback."""

    def __init__(self, counter: TokenCounter, compactor: Compactor | None = None) -> None:
        self._counter, self._extractor = counter, Extractor(counter)
        self._compactor = compactor or self._extractor

    async def form_of(self, text: str, instruction: str, limit: int) -> Form:
        """Compact a text to at most `limit` tokens, in at most ten seconds."""
        wanted = instruction or "what matters most"
        try:
            async with asyncio.timeout(MODEL_SECONDS):
                made = await self._compactor.compact(text, wanted, limit)
        except TimeoutError:
            made = await self._extracted(text, wanted, limit, f"no answer in {MODEL_SECONDS:g} s")
        kept = await asyncio.to_thread(self._counter.count, made.text)
        if not made.text.strip() or kept > limit:
            made = await self._extracted(text, wanted, limit, "the compacted text did not fit")
            kept = await asyncio.to_thread(self._counter.count, made.text)
        size = await asyncio.to_thread(self._counter.count, text)
        return Form(made.text, made.by, wanted, kept, size)

    async def _extracted(self, text: str, wanted: str, limit: int, why: str) -> Compacted:
        """Fall back to the extractor; if that is too slow as well, to the head and tail."""
        with suppress(TimeoutError):
            async with asyncio.timeout(EXTRACTOR_SECONDS):
                return await asyncio.to_thread(self._extractor.now, text, wanted, limit, why)
        seen = await asyncio.to_thread(preview, text, limit, self._counter)
        return Compacted(seen, f"its head and tail ({why})")
