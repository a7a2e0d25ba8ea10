"""A provider as configured, and the addresses of servers: comparing them, finding local ones.

A profile holds only a key that is written in the configuration; `jitchat.settings.keys` finds
the others.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import SplitResult, urlsplit

from jitchat.providers.catalogue.table import presets
from jitchat.providers.protocols.addresses import is_this_machine
from jitchat.providers.provider import Endpoint, Options
from jitchat.settings.sections import NamedModel, Secret

_PORTS = {"http": 80, "https": 443}
_OLLAMA_PORT = 11_434


def parts_of(url: str) -> SplitResult | None:
    """Split an HTTP address; None if it is not one."""
    try:
        parts = urlsplit(url.strip())
        _ = parts.port
    except ValueError:
        return None
    return parts if parts.scheme in _PORTS and parts.hostname else None


def is_loopback(url: str) -> bool:
    """Whether the address is on this machine."""
    parts = parts_of(url)
    return parts is not None and is_this_machine(parts.hostname or "")


def same_server(one: str, other: str) -> bool:
    first, second = parts_of(one), parts_of(other)
    if first is None or second is None:
        return one == other
    return _server(first) == _server(second)


def ollama_address(host: str) -> str:
    """Read OLLAMA_HOST as Ollama does: a host, a port, both, or an address.

    An address that means "all interfaces" to the server becomes the loopback address.
    """
    scheme, _, rest = host.strip().strip("'\"").rpartition("://")
    port = _PORTS.get(scheme, _OLLAMA_PORT)
    place, slash, path = rest.partition("/")
    found = re.fullmatch(r"(\[[^\]]*\]|[^:\[\]]*)(?::(\d*))?", place)
    name = found[1] if found else f"[{place}]"
    if found and found[2] and int(found[2]) < 1 << 16:
        port = int(found[2])
    name = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "[::]": "[::1]"}.get(name, name)  # noqa: S104  read, not bound
    return f"{scheme or 'http'}://{name}:{port}{slash}{path}".rstrip("/")


def _server(parts: SplitResult) -> tuple[str, str | None, int | None]:
    return parts.scheme, parts.hostname, parts.port or _PORTS[parts.scheme]


MOST_RESERVED = 2_048
"""Default maximum of tokens kept free for the reply; a quarter of the limit if that is less."""


@dataclass(frozen=True, slots=True)
class Profile:
    name: str
    title: str
    """The provider's display name; the same as `name` for one of the user's own."""
    protocol: str
    """openai, responses, anthropic, gemini or ollama; `reader` for the built-in reader."""
    base_url: str = ""
    """Without a trailing slash."""
    model: str = ""
    """The default model; empty if there is none."""
    api_key: Secret = field(default=Secret(), repr=False)
    """The key written in the configuration; see `find_key` for every other source."""
    api_key_cmd: str = field(default="", repr=False)
    """A command that prints the key; it may itself contain a secret."""
    key_variables: tuple[str, ...] = ()
    """The environment variables that may hold the key, in order of precedence."""
    headers: Mapping[str, Secret] = field(default_factory=dict, repr=False)
    reserve: int | None = None
    """In tokens; None for the default, see `reserve_of`."""
    sampling: Options = field(default_factory=Options)
    """The options sent with the messages."""
    connect_seconds: float = 5.0
    read_seconds: float = 600.0
    wants_key: bool = False
    """Whether the server is known to require a key."""
    names_key: bool = False
    """Whether the user names the variable that holds the key: if it is unset, that is an error."""
    is_local: bool = False
    """Whether the server is on this machine."""
    in_use: bool = False
    """Whether this is the provider in use, so that `[provider]` applies to it."""
    configured: bool = False
    """Whether the user names it in a file, a variable or a flag."""
    limits: tuple[tuple[str, int], ...] = ()
    """The user's context sizes, in order of precedence: (model or empty for any, tokens)."""
    models: Mapping[str, NamedModel] = field(default_factory=dict)
    """The user's own data on the provider's models, by their names."""

    @property
    def is_reader(self) -> bool:
        """Whether it is the built-in reader, which has no server and no key."""
        return self.protocol == "reader"

    @property
    def is_local_preset(self) -> bool:
        """Whether it is a preset for a local server, such as Ollama, at a local address.

        Its answers cost nothing. Any other local server may forward requests to a paid service.
        """
        preset = presets().get(self.name)
        return self.is_local and preset is not None and preset.is_local

    @property
    def is_engine(self) -> bool:
        """Whether llama.cpp serves it in a child process of jitchat."""
        preset = presets().get(self.name)
        return preset is not None and preset.is_engine and self.base_url == preset.base_url

    @property
    def is_embedded(self) -> bool:
        """Whether it is part of jitchat, with neither a separate server nor a key."""
        return self.is_reader or self.is_engine

    @property
    def stays_here(self) -> bool:
        """Whether requests to it are known to be free and to stay on this machine."""
        return self.is_embedded or self.is_local_preset

    @property
    def limit(self) -> int | None:
        """The context size that the user set for its default model; None if not set."""
        return self.limit_of(self.model)

    def limit_of(self, model: str) -> int | None:
        """Return the context size that the user set for `model`; None if not set."""
        return next((tokens for name, tokens in self.limits if name in ("", model)), None)

    def reserve_of(self, limit: int) -> int:
        """Return how many tokens of `limit` are kept free for the reply.

        Default: enough for `max_tokens`, up to half of the limit.
        """
        if self.reserve is not None:
            return self.reserve
        longest = min(self.sampling.max_tokens or 0, limit // 2)
        return max(longest, min(MOST_RESERVED, limit // 4))

    def facts_of(self, model: str) -> NamedModel:
        return self.models.get(model) or NamedModel()

    def endpoint(
        self, model: str, key: str = "", renew: Callable[[str], str] | None = None
    ) -> Endpoint:
        """Return the endpoint of `model` with a key; `renew` is described at `FoundKey`."""
        return Endpoint(
            name=self.name,
            base_url=self.base_url,
            model=model,
            key=key,
            renew=renew,
            headers=self.headers,
            key_help=self.key_help,
            key_variable=next(iter(self.key_variables), ""),
            wants_key=self.names_key or (self.wants_key and not self.headers),
            connect_seconds=self.connect_seconds,
            read_seconds=self.read_seconds,
        )

    @property
    def requires_key(self) -> bool:
        """Whether a request must not be sent to it without a key."""
        return self.wants_key or self.names_key

    @property
    def key_help(self) -> str:
        """What to do if its key is missing or refused, as a sentence."""
        stored = f"`jitchat keys set {self.name}`"
        if self.api_key_cmd:
            return f"Check what api_key_cmd of {self.name} prints, or run {stored}."
        if self.key_variables:
            return f"Set {self.key_variables[0]}, or run {stored}."
        return f"Run {stored}."

    @property
    def exposes_key(self) -> str:
        """The host to which a key would be sent unencrypted; empty if there is none."""
        parts = parts_of(self.base_url)
        exposed = parts is not None and parts.scheme == "http" and not is_loopback(self.base_url)
        return (parts.hostname or "") if parts is not None and exposed else ""
