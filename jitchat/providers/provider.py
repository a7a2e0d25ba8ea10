"""The provider interface: messages in, a stream of deltas, tool calls and events out."""

import hashlib
import json
import shlex
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache
from importlib.resources import files
from typing import Any, Protocol

from jitchat.errors import ProviderError
from jitchat.text.sanitize import shorten
from jitchat.values import Echo, Message, Tool, ToolCall, Usage
from jitchat.writing.pieces import WritingRules


@cache
def _endings() -> Mapping[str, Mapping[str, Any]]:
    """Read, by kind of ending: the servers' names for it, its meaning, and the remedy."""
    text = files(__package__).joinpath("endings.json").read_text(encoding="utf-8")
    endings: Mapping[str, Mapping[str, Any]] = json.loads(text)
    return endings


@dataclass(frozen=True, slots=True)
class ReplyDelta:
    """A chunk of the answer's text."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """A chunk of the model's reasoning. It is shown and stored.

    If the server requires the reasoning back with a tool call, it is also in an `Echo`.
    """

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningFound:
    """All text so far was reasoning, because the opening tag is part of the model's template."""


@dataclass(frozen=True, slots=True)
class Finished:
    """The provider ended the answer."""

    reason: str
    """`stop`, `length` or the provider's own value."""
    details: str = ""
    """The provider's explanation of the reason; usually empty."""

    @property
    def label(self) -> str:
        """The reason and, if the answer was stopped, the details: `refusal: cyber`."""
        details = "" if self.is_whole else self.details
        return ": ".join(filter(None, (self.reason, details)))

    @property
    def is_whole(self) -> bool:
        """Whether the model finished, rather than being stopped by a limit or a filter."""
        return self._ending is _endings()["whole"]

    @property
    def is_by_length(self) -> bool:
        """Whether the answer was cut at a length limit."""
        return self._ending is _endings()["by length"]

    @property
    def is_withheld(self) -> bool:
        """Whether the answer was refused or filtered; its tool calls must not be run."""
        return self._ending in (_endings()["refused"], _endings()["filtered"])

    @property
    def why(self) -> str:
        """The meaning of the reason, as a clause."""
        return str(self._ending["why"])

    @property
    def remedy(self) -> str:
        """What to do about it, as a sentence; empty if unknown."""
        return str(self._ending["remedy"])

    @property
    def _ending(self) -> Mapping[str, Any]:
        reason, endings = self.reason.lower(), _endings()
        known = (ending for ending in endings.values() if reason in ending["reasons"])
        return next(known, endings["unknown"])


@dataclass(frozen=True, slots=True)
class RetryScheduled:
    """The request failed before any of the answer arrived, and will be retried."""

    seconds: float
    """Until the retry; closing the stream cancels it."""
    why: str
    """The provider's reason, as a clause."""
    asks_for_less: bool = False
    """Whether the server asked for fewer requests (a rate limit) rather than failed."""


@dataclass(frozen=True, slots=True)
class RequestAdapted:
    """The request is sent with changes, because the server refused a part of it, or would."""

    sentence: str
    """What was omitted or changed, and how to undo that."""


def forgetting(provider: str, model: str) -> str:
    """Return the command that discards what was learnt from a model's server."""
    name = shlex.quote(shorten(f"{provider}/{model}", 80))
    return f"`jitchat tokens {name} --forget`"


UNREASONED = "answers without reasoning"
"""Some servers refuse these for a reasoning model if an earlier turn called tools."""


_SCHEMA_PARTS = frozenset(
    ("response_format", "json_schema", "format", "responseJsonSchema", "output_config")
)
"""Protocols' names for the part of a request that holds the schema."""


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a request. An option that is not set is not sent."""

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    seed: int | None = None
    effort: str | None = None
    """Reasoning effort: low, medium, high or the provider's own value."""
    max_tokens: int | None = None
    """The longest answer in tokens, reasoning included."""
    context: int | None = None
    """The model's context size in tokens, for servers that need it; None if unknown."""
    room: int | None = None
    """Tokens that the window leaves for the answer, for protocols that require a maximum."""
    longest: int | None = None
    """The longest answer that the model can give, in tokens; None if unknown."""
    schema: str | None = None
    """JSON Schema of the answer, as text; omitted if the server does not support it."""
    without: frozenset[str] = frozenset()
    """Parts of a request that the server refuses for this model: names of parameters, `system`
    for messages of that role, or `UNREASONED`."""
    tools: tuple[Tool, ...] = ()
    """The tools that the model can call; sent sorted by name, so that equal sets have equal
    bytes."""
    tool_choice: str | None = None
    """`none` for the last step of a turn: the tools stay in the request but must not be called.
    None lets the model choose."""

    @property
    def takes_schema(self) -> bool:
        """Whether the server accepts a schema, as far as is known."""
        return _SCHEMA_PARTS.isdisjoint(self.without)


@dataclass(frozen=True, slots=True)
class SentRequest:
    """A request was sent. The last one for a window is the one that was answered."""

    provider: str
    """The provider's name in the settings."""
    url: str
    """Without secrets."""
    options: Options
    """With the parts that were omitted from this request in `without`."""
    sha256: str
    """Hexadecimal digest of the body."""


ShownPiece = ReplyDelta | ReasoningDelta | ReasoningFound | RetryScheduled | RequestAdapted
"""Events that are passed on to the user interface unchanged."""
Piece = ShownPiece | ToolCall | Echo | Usage | Finished | SentRequest


@dataclass(frozen=True, slots=True)
class Wire:
    """A request as posted, with secrets redacted."""

    method: str
    url: str
    headers: tuple[tuple[str, str], ...]
    """(name, value), in order."""
    body: bytes
    key_variable: str = ""
    """The environment variable that may hold the key; empty if there is none."""

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.body).hexdigest()


class ServerQuirks(Protocol):
    """What was learnt from a server about one of its models. Persistent and thread-safe."""

    def refused(self) -> frozenset[str]: ...

    def refuse(self, parameter: str) -> None:
        """Record that a parameter was refused."""


class PartRefused(ProviderError):
    """The server refuses a part of the messages: they have to be written again by other rules."""

    def __init__(self, error: ProviderError, part: str, sentence: str) -> None:
        """`error` is the refusal, `sentence` says what is sent instead."""
        super().__init__(error.what, error.remedy)
        self.part, self.sentence = part, sentence


class Provider(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def model(self) -> str: ...

    def rules(self, options: Options) -> WritingRules:
        """Return how messages have to be written for this model, as far as is known."""

    def stream(self, messages: Sequence[Message], options: Options) -> AsyncGenerator[Piece, None]:
        """Stream the answer to messages written by `rules`; closing the generator stops it.

        Raises:
            ProviderError: A subclass, with a remedy.

        """

    def wire(
        self, messages: Sequence[Message], options: Options, *, as_posted: bool = False
    ) -> Wire | None:
        """Return the request that `stream` would post first; None if nothing is sent. Slow.

        `as_posted` omits only the parts in `options.without`, not those learnt since.

        Raises:
            ProviderError: No request can be made with this key or address.

        """

    async def aclose(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The server of a model."""

    name: str
    base_url: str = field(repr=False)
    """May contain credentials."""
    model: str
    key: str = field(default="", repr=False)
    renew: Callable[[str], str] | None = field(default=None, repr=False, compare=False)
    """Returns a new key in place of a refused one. Slow; raises SettingsError if it fails. None
    if there is only one key."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Additional headers; they may contain a key too."""
    key_help: str = ""
    """What to do if the key is missing or refused, as a sentence."""
    key_variable: str = ""
    """The environment variable that may hold the key; empty if unknown."""
    wants_key: bool = False
    """Whether a request must not be sent without a key."""
    connect_seconds: float = 5.0
    read_seconds: float = 600.0


_OPTIONS = frozenset(field.name for field in fields(Options))


def request_fields(request: SentRequest) -> dict[str, Any]:
    """Convert a request to JSON values, without options that were not set.

    The tools are omitted too, because they are part of the window.
    """
    described = asdict(replace(request, options=replace(request.options, tools=())))
    described["options"] = {
        name: sorted(value) if isinstance(value, frozenset) else value
        for name, value in described["options"].items()
        if value not in (None, frozenset(), ())
    }
    return described


def request_from(described: Mapping[str, Any]) -> SentRequest:
    """Convert the result of `request_fields` back to a request.

    Raises:
        LookupError: A field is missing.

    """
    options = {name: value for name, value in described["options"].items() if name in _OPTIONS}
    options["without"] = frozenset(options.get("without", ()))
    provider, url, sha256 = (described[name] for name in ("provider", "url", "sha256"))
    return SentRequest(provider, url, Options(**options), sha256)
