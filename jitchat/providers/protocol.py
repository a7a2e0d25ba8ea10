"""What a wire protocol has to translate. Pure: values in, values out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from jitchat.providers.provider import Options, Piece
from jitchat.turn import Message

if TYPE_CHECKING:
    import httpx


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model is served."""

    name: str
    base_url: str = field(repr=False)
    """It may hold a login."""
    model: str
    key: str = field(default="", repr=False)
    renew: Callable[[str], str] | None = field(default=None, repr=False, compare=False)
    """Gives another key in place of a refused one; slow, and raises SettingsError where it
    cannot. None where there is no other."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Sent besides; they may hold a key, too."""
    key_help: str = ""
    """What to do where the key is missing or refused, as a sentence."""
    key_variable: str = ""
    """The environment variable that may hold the key; empty where none is known."""
    wants_key: bool = False
    """Whether nothing is sent there without one."""
    connect_seconds: float = 5.0
    read_seconds: float = 600.0

    def help_of(self, status: int) -> str:
        """What to do about the key where a server refuses with that status."""
        if status == 403 and self.key:
            return "Check what the key may use: this model, this project, this region."
        return self.key_help


class AnswerParser(Protocol):
    """Reads one answer. Made anew for each; what it holds back comes with `end`."""

    over: bool
    """Whether nothing more will come, so that there is no need to wait for the end."""

    def parse(self, event: str, data: str) -> Iterator[Piece]:
        """Yield what one event of the stream says; `data` may be a whole answer, too.

        Raises:
            ProviderError: The event is an error, or is not of this protocol.

        """

    def end(self) -> Iterator[Piece]:
        """Yield what was held back when the stream is over, whether whole or cut."""


class WireProtocol(Protocol):
    """One provider's dialect."""

    def request(
        self, endpoint: Endpoint, messages: Sequence[Message], options: Options
    ) -> httpx.Request:
        """Make the request that asks for a streamed answer."""

    def parser(self) -> AnswerParser:
        """Make what reads the answer."""
