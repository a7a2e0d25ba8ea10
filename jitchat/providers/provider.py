"""What a provider is to the rest of the app: messages in, a stream of pieces out."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Protocol

from jitchat.turn import Message, Usage

_WHOLE = frozenset({"stop", "stop_sequence", "end_turn", "eos", "eos_token", "complete"})
"""What servers call it when the model came to an end by itself."""


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of the answer's text."""

    text: str


@dataclass(frozen=True, slots=True)
class Finished:
    """The answer is complete, as far as the provider is concerned."""

    reason: str
    """`stop`, `length` or the provider's own word."""

    @property
    def is_whole(self) -> bool:
        """Whether the model came to an end, and was not stopped by a limit or a filter."""
        return self.reason.lower() in _WHOLE


Piece = Delta | Usage | Finished


@dataclass(frozen=True, slots=True)
class Options:
    """What goes along with the messages. Nothing is sent that the user did not set."""

    temperature: float | None = None


class Provider(Protocol):
    """Who answers."""

    @property
    def name(self) -> str:
        """As the settings call it."""

    @property
    def model(self) -> str:
        """The model's own name."""

    def stream(self, messages: Sequence[Message], options: Options) -> AsyncGenerator[Piece, None]:
        """Stream the answer, piece by piece; closing the generator stops it.

        Raises:
            ProviderError: One of its kinds, with what to do about it.

        """

    async def aclose(self) -> None:
        """Give back connections."""
