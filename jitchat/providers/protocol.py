"""What a wire protocol has to translate. Pure: values in, values out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from jitchat.providers.provider import Options, Piece
from jitchat.turn import Message

if TYPE_CHECKING:
    import httpx

    from jitchat.errors import ProviderError


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model is served."""

    name: str
    base_url: str
    model: str
    key: str = field(default="", repr=False)
    connect_seconds: float = 5.0
    read_seconds: float = 600.0


class WireProtocol(Protocol):
    """One provider's dialect."""

    def request(
        self, endpoint: Endpoint, messages: Sequence[Message], options: Options
    ) -> httpx.Request:
        """Make the request that asks for a streamed answer."""

    def parse(self, event: str, data: str) -> Iterator[Piece]:
        """Yield what one event of the stream says; `data` may be a whole answer, too.

        Raises:
            ProviderError: The event is an error, or is not of this protocol.

        """

    def is_last(self, data: str) -> bool:
        """Whether this event says that nothing more will come."""

    def refusal(self, status: int, body: str) -> ProviderError:
        """Make the error that an answer without success means."""
