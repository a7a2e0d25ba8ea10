"""What a provider is to the rest of the app: messages in, a stream of pieces out."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any, Protocol

from jitchat.text.sanitize import shorten
from jitchat.values import Message, Usage

if TYPE_CHECKING:
    import httpx


_WHOLE = frozenset({"stop", "stop_sequence", "end_turn", "eos", "eos_token", "complete"})
"""What servers call it when the model came to an end by itself."""
_BY_LENGTH = frozenset({"length", "max_tokens", "model_length", "model_context_window_exceeded"})
_BY_FILTER = frozenset(
    {"content_filter", "safety", "recitation", "blocklist", "prohibited_content", "spii"}
)
_BY_CALL = frozenset({"tool_calls", "tool_use", "function_call", "malformed_function_call"})
_REFUSED = "refusal"


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of the answer's text."""

    text: str


@dataclass(frozen=True, slots=True)
class Reasoning:
    """A piece of what the model thinks before it answers. Shown, kept, never sent back."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningEnded:
    """All text so far was reasoning: its opening tag was a part of the model's template."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The model wants a tool, although none was offered to it."""

    name: str
    arguments: str
    """JSON as the model wrote it, which may be broken."""


@dataclass(frozen=True, slots=True)
class Finished:
    """The answer is complete, as far as the provider is concerned."""

    reason: str
    """`stop`, `length` or the provider's own word."""
    details: str = ""
    """What the provider says of the reason besides; mostly empty."""

    @property
    def told(self) -> str:
        """The reason and, where it is no end, what is said of it besides: `refusal: cyber`."""
        details = "" if self.is_whole else self.details
        return ": ".join(filter(None, (self.reason, details)))

    @property
    def is_whole(self) -> bool:
        """Whether the model came to an end, and was not stopped by a limit or a filter."""
        return self.reason.lower() in _WHOLE

    @property
    def is_by_length(self) -> bool:
        """Whether it had more to say, and no room for it."""
        return self.reason.lower() in _BY_LENGTH

    @property
    def why(self) -> str:
        """What the reason means, as a clause."""
        reason = self.reason.lower()
        if self.is_by_length:
            return "the reply is as long as it may be"
        if reason == _REFUSED:
            return "the model refused to answer"
        if reason in _BY_FILTER:
            return "a filter of the provider stopped the reply"
        if reason in _BY_CALL:
            return "the model called a tool, and none was offered to it"
        return "the provider stopped before the end of the reply"

    @property
    def remedy(self) -> str:
        """What to do about it, as a sentence; empty where the reason does not tell."""
        reason = self.reason.lower()
        if self.is_by_length:
            return "Have it go on, or raise max_tokens under [provider]."
        if reason == _REFUSED or reason in _BY_FILTER:
            return "Say it in other words, or choose another model."
        return "Nothing was run: ask for words." if reason in _BY_CALL else ""


@dataclass(frozen=True, slots=True)
class Retrying:
    """The request failed before any of the answer came, and is sent again."""

    seconds: float
    """From now on; closing the stream calls it off."""
    why: str
    """As a clause, in the provider's own words."""
    asks_for_less: bool = False
    """Whether the server wants fewer requests, rather than failed."""


@dataclass(frozen=True, slots=True)
class Adapted:
    """The request was sent anew in another form, for the server refused a part of it."""

    sentence: str
    """What was left out or changed, and what undoes that."""


def forgetting(provider: str, model: str) -> str:
    """Write the command that forgets what a model's server taught."""
    name = shlex.quote(shorten(f"{provider}/{model}", 80))
    return f"`jitchat tokens {name} --forget`"


@dataclass(frozen=True, slots=True)
class Options:
    """What goes along with the messages. Nothing is sent that the user did not set."""

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    seed: int | None = None
    effort: str | None = None
    """How hard a reasoning model thinks: low, medium, high or the provider's own word."""
    max_tokens: int | None = None
    """The longest answer, reasoning included."""
    context: int | None = None
    """The model's context size, for a server that has to be told; None where nobody knows it."""
    room: int | None = None
    """Tokens that the window leaves for the answer; for a protocol that demands a cap."""
    longest: int | None = None
    """The longest answer that the model gives, in tokens; None where nobody knows it."""
    without: frozenset[str] = frozenset()
    """Parts of a request that the server refuses for this model: names of its parameters, or
    `system` for messages of that role."""


@dataclass(frozen=True, slots=True)
class Posted:
    """A request is on its way; the last one for a window is the one that was answered."""

    provider: str
    """As the settings call it."""
    url: str
    """Without secrets."""
    options: Options
    """With what was left out for this very request."""
    sha256: str
    """Of the body, in hexadecimal."""


Piece = (
    Delta | Reasoning | ReasoningEnded | ToolCall | Usage | Finished | Retrying | Adapted | Posted
)


@dataclass(frozen=True, slots=True)
class Wire:
    """A request as it is posted, but for its secrets, which are blotted out."""

    method: str
    url: str
    headers: tuple[tuple[str, str], ...]
    """Names and values, in their order."""
    body: bytes
    key_variable: str = ""
    """The environment variable that may hold the key; empty where the settings name none."""

    @property
    def sha256(self) -> str:
        """SHA-256 of the body, in hexadecimal."""
        return hashlib.sha256(self.body).hexdigest()


class Lessons(Protocol):
    """What a server taught about one of its models. Kept between runs; safe to use in a thread."""

    def refused(self) -> frozenset[str]:
        """List the parameters that were refused."""

    def refuse(self, parameter: str) -> None:
        """Keep that a parameter was refused."""


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

    def wire(
        self, messages: Sequence[Message], options: Options, *, as_posted: bool = False
    ) -> Wire | None:
        """Make the request that `stream` would post first; None where nothing leaves. Slow.

        `as_posted` leaves out what the options say, and not also what was learnt since.

        Raises:
            ProviderError: No request can be made: of its key or its address.

        """

    async def aclose(self) -> None:
        """Give back connections."""


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


_OPTIONS = frozenset(field.name for field in fields(Options))


def posted_fields(posted: Posted) -> dict[str, Any]:
    """Describe it; what was not set is left out."""
    options = {
        name: sorted(value) if isinstance(value, frozenset) else value
        for name, value in asdict(posted.options).items()
        if value not in (None, frozenset())
    }
    return {
        "provider": posted.provider,
        "url": posted.url,
        "options": options,
        "sha256": posted.sha256,
    }


def posted_from(described: Mapping[str, Any]) -> Posted:
    """Make what the fields describe.

    Raises:
        LookupError: One is missing.

    """
    options = {name: value for name, value in described["options"].items() if name in _OPTIONS}
    options["without"] = frozenset(options.get("without", ()))
    return Posted(described["provider"], described["url"], Options(**options), described["sha256"])
