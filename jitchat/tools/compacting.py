"""Compacts a large text by an instruction, with the built-in extractor or a model."""

import asyncio
import re
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Protocol

from jitchat.errors import JitchatError
from jitchat.text.sanitize import one_line, shorten
from jitchat.tools.extracting import extract, preview
from jitchat.window.tokens import TokenCounter


@dataclass(frozen=True, slots=True)
class Compacted:
    text: str
    by: str
    """A model's name, or what was done instead, with the reason if it was a fallback."""


class Compactor(Protocol):
    async def compact(self, text: str, instruction: str, limit: int) -> Compacted:
        """State in at most `limit` tokens what a text contains of what the instruction asks for.

        Raises:
            JitchatError: There is no such text; `what` says why, as a clause.

        """

    async def aclose(self) -> None:
        """Close the compactor's connections."""


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


class Compacting:
    """Compacts texts by a model, if there is one; the extractor is the fallback."""

    def __init__(self, counter: TokenCounter, compactor: Compactor | None = None) -> None:
        self._counter, self._compactor = counter, compactor

    async def told(self, what: str, text: str, instruction: str, limit: int) -> str:
        """Compact a text to at most `limit` tokens, in at most ten seconds.

        A line above it says how it was compacted; `what` names the original.
        """
        wanted = instruction or "what matters most"
        made = await self._compacted(text, wanted, limit)
        tokens = await asyncio.to_thread(self._counter.count, made.text)
        size = await asyncio.to_thread(self._counter.count, text)
        return (
            f"[{what} compacted by {one_line(made.by)} for “{shorten(wanted, _LONGEST)}”:"
            f" {tokens:,} of {size:,} tokens; all of it is kept.]\n{made.text}"
        )

    async def _compacted(self, text: str, wanted: str, limit: int) -> Compacted:
        if self._compactor is None:
            return await self._extracted(text, wanted, limit, MODEL_SECONDS)
        try:
            async with asyncio.timeout(MODEL_SECONDS):
                made = await self._compactor.compact(text, wanted, limit)
        except TimeoutError:
            why = f"no answer in {MODEL_SECONDS:g} s"
        except JitchatError as error:
            why = error.what
        else:
            kept = await asyncio.to_thread(self._counter.count, made.text)
            if made.text.strip() and kept <= limit:
                return made
            why = "the compacted text did not fit"
        made = await self._extracted(text, wanted, limit, EXTRACTOR_SECONDS)
        return replace(made, by=f"{made.by} ({why})")

    async def _extracted(self, text: str, wanted: str, limit: int, seconds: float) -> Compacted:
        """Have the extractor compact the text; if that is too slow, take its head and tail."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                found = await asyncio.to_thread(extract, text, wanted, limit, self._counter)
                return Compacted(*found)
        seen = await asyncio.to_thread(preview, text, limit, self._counter)
        return Compacted(seen, "its head and tail")
