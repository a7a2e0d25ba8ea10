"""What compacts a large text by an instruction: the extractor that is built in, or a model."""

from dataclasses import dataclass
from typing import Protocol

from jitchat.tools.extracting import extract
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


EXTRACTOR = "the extractor"


class Extractor:
    """Takes the lines that hold what is asked for, word for word; needs no model."""

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter

    async def compact(self, text: str, instruction: str, limit: int) -> Compacted:
        return self.now(text, instruction, limit)

    def now(self, text: str, instruction: str, limit: int, why: str = "") -> Compacted:
        """Do it at once; `why` tells why nobody else did."""
        found = extract(text, instruction, limit, self._counter)
        by = f"{EXTRACTOR}, {found.kept:,} of {found.of:,} parts"
        return Compacted(found.text, f"{by} ({why})" if why else by)
