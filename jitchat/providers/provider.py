"""What a provider is to the rest of the app: messages in, a stream of pieces out."""

import hashlib
import json
import shlex
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache
from importlib.resources import files
from typing import Any, Protocol

from jitchat.text.sanitize import shorten
from jitchat.values import Echo, Message, Tool, ToolCall, Usage


@cache
def _endings() -> Mapping[str, Mapping[str, Any]]:
    """Read by kind: the servers' words for a reason, what it means, and what to do about it."""
    text = files(__package__).joinpath("endings.json").read_text(encoding="utf-8")
    endings: Mapping[str, Mapping[str, Any]] = json.loads(text)
    return endings


@dataclass(frozen=True, slots=True)
class ReplyDelta:
    """A piece of the answer's text."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """A piece of what the model thinks before it answers. Shown, and kept.

    Where the server wants it back with a call, it comes once more in an `Echo`.
    """

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningFound:
    """All text so far was reasoning: its opening tag was a part of the model's template."""


@dataclass(frozen=True, slots=True)
class Finished:
    """The answer is complete, as far as the provider is concerned."""

    reason: str
    """`stop`, `length` or the provider's own word."""
    details: str = ""
    """What the provider says of the reason besides; mostly empty."""

    @property
    def label(self) -> str:
        """The reason and, where it is no end, its details: `refusal: cyber`."""
        details = "" if self.is_whole else self.details
        return ": ".join(filter(None, (self.reason, details)))

    @property
    def is_whole(self) -> bool:
        """Whether the model came to an end, and was not stopped by a limit or a filter."""
        return self._ending is _endings()["whole"]

    @property
    def is_by_length(self) -> bool:
        """Whether the model had more to say, and no room for it."""
        return self._ending is _endings()["by length"]

    @property
    def is_withheld(self) -> bool:
        """Whether the answer was stopped for what it says: nothing is done that it calls for."""
        return self._ending in (_endings()["refused"], _endings()["filtered"])

    @property
    def why(self) -> str:
        """What the reason means, as a clause."""
        return str(self._ending["why"])

    @property
    def remedy(self) -> str:
        """What to do about it, as a sentence; empty where the reason does not tell."""
        return str(self._ending["remedy"])

    @property
    def _ending(self) -> Mapping[str, Any]:
        reason, endings = self.reason.lower(), _endings()
        known = (ending for ending in endings.values() if reason in ending["reasons"])
        return next(known, endings["unknown"])


@dataclass(frozen=True, slots=True)
class RetryScheduled:
    """The request failed before any of the answer came, and is sent again."""

    seconds: float
    """From now on; closing the stream calls it off."""
    why: str
    """As a clause, in the provider's own words."""
    asks_for_less: bool = False
    """Whether the server wants fewer requests, rather than failed."""


@dataclass(frozen=True, slots=True)
class RequestAdapted:
    """The request is sent in another form: the server refused a part of it, or would."""

    sentence: str
    """What was left out or changed, and what undoes that."""


def forgetting(provider: str, model: str) -> str:
    """Write the command that forgets what a model's server taught."""
    name = shlex.quote(shorten(f"{provider}/{model}", 80))
    return f"`jitchat tokens {name} --forget`"


UNREASONED = "answers without reasoning"
"""What some servers refuse of a model that reasons, where a turn before called tools."""


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
    schema: str | None = None
    """JSON Schema, as text, that the answer has to have; left out where a server cannot."""
    without: frozenset[str] = frozenset()
    """Parts of a request that the server refuses for this model: names of its parameters, or
    `system` for messages of that role, or
    `UNREASONED`."""
    tools: tuple[Tool, ...] = ()
    """What the model may call; sent by name, so that the same ones are the same bytes."""
    tool_choice: str | None = None
    """`none`: the tools stay in the request, and are not to be called, for the last step of a
    turn. None for the model to choose."""


@dataclass(frozen=True, slots=True)
class SentRequest:
    """A request is on its way; the last one for a window is the one that was answered."""

    provider: str
    """As the settings call it."""
    url: str
    """Without secrets."""
    options: Options
    """With what was left out for this very request."""
    sha256: str
    """Of the body, in hexadecimal."""


ShownPiece = ReplyDelta | ReasoningDelta | ReasoningFound | RetryScheduled | RequestAdapted
"""What is reported as it came."""
Piece = ShownPiece | ToolCall | Echo | Usage | Finished | SentRequest


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
        return hashlib.sha256(self.body).hexdigest()


class ServerQuirks(Protocol):
    """What a server taught about one of its models. Kept between runs; safe to use in a thread."""

    def refused(self) -> frozenset[str]: ...

    def refuse(self, parameter: str) -> None:
        """Keep that a parameter was refused."""


class Provider(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def model(self) -> str: ...

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

    async def aclose(self) -> None: ...


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


_OPTIONS = frozenset(field.name for field in fields(Options))


def request_fields(request: SentRequest) -> dict[str, Any]:
    """Describe a request as JSON knows it; options that were not set are left out.

    The tools are, too: they are a part of the window.
    """
    described = asdict(replace(request, options=replace(request.options, tools=())))
    described["options"] = {
        name: sorted(value) if isinstance(value, frozenset) else value
        for name, value in described["options"].items()
        if value not in (None, frozenset(), ())
    }
    return described


def request_from(described: Mapping[str, Any]) -> SentRequest:
    """Make what `request_fields` described.

    Raises:
        LookupError: A field is missing.

    """
    options = {name: value for name, value in described["options"].items() if name in _OPTIONS}
    options["without"] = frozenset(options.get("without", ()))
    provider, url, sha256 = (described[name] for name in ("provider", "url", "sha256"))
    return SentRequest(provider, url, Options(**options), sha256)
