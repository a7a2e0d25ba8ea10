"""Small models that follow a script, and servers that answer for one."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from jitchat.providers.provider import Options, Piece, ReplyDelta
from jitchat.small_models.small_model import SmallModel
from jitchat.values import Usage
from jitchat.window.tokens import EstimateCounter
from tests.support import ScriptedProvider

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from jitchat.values import Message

_ABOUT = ("harbour", "lighthouse", "ferry", "crane", "buoy", "pilot", "anchor", "quay", "tide")
TURNS = [
    f"Note {number}: the {_ABOUT[number % len(_ABOUT)]} has the number {number * 7} painted on it, "
    + "and then we talked of other things for quite a while. " * 6
    for number in range(1, 61)
]
QUESTION = "Which number is painted on the ferry, the crane and the quay?"


def picks(*ids: int) -> str:
    """The answer that a well-behaved picker gives."""
    return json.dumps({"ids": list(ids)})


def small(*script: object, seconds: float = 5.0, name: str = "small-1") -> SmallModel:
    """A small model that follows the script; its requests are its provider's `requests`."""
    return SmallModel(ScriptedProvider(script, model=name), EstimateCounter(), seconds)


UNREPORTED = Usage(None, 10)
"""The answer's tokens alone: those of the request are counted."""


@dataclass
class Bare(ScriptedProvider):
    """Sends the script and nothing else: no usage, no end. Tells when it was closed."""

    closed: list[bool] = field(default_factory=list)

    async def stream(self, messages: Sequence[Message], options: Options) -> AsyncIterator[Piece]:
        self.requests.append(tuple(messages))
        try:
            for step in self.script:
                if hasattr(step, "wait"):
                    await step.wait()
                elif isinstance(step, Exception):
                    raise step
                else:
                    yield ReplyDelta(step) if isinstance(step, str) else step
        finally:
            self.closed.append(True)
