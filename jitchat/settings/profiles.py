"""What somebody may have meant.

What is no address is on no machine; it is refused when it is used.

`[provider]` counts for the one provider that is in use, and for no other. A profile holds no
key but the one that the configuration spells out; `jitchat.settings.keys` finds the others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import SplitResult, urlsplit

from jitchat.errors import SettingsError
from jitchat.providers.catalogue.table import PRESETS, READER, Preset
from jitchat.providers.provider import Endpoint, Options
from jitchat.providers.this_machine import is_this_machine
from jitchat.settings.sections import NamedModel, NamedProvider, ProviderSettings, Secret
from jitchat.text.sanitize import shorten

if TYPE_CHECKING:
    from jitchat.settings.schema import Settings


def nearest(wrong: str, known: Iterable[str]) -> str:
    """Ask for the closest of `known`, as a sentence; empty where none is close."""
    from difflib import get_close_matches  # noqa: PLC0415  needed only when something is wrong

    found = get_close_matches(wrong[:80], list(known), n=1, cutoff=0.5)
    return f" Did you mean {found[0]!r}?" if found else ""


_PORTS = {"http": 80, "https": 443}
_OLLAMA_PORT = 11_434


def parts_of(url: str) -> SplitResult | None:
    """Take an address apart; None where it is none."""
    try:
        parts = urlsplit(url.strip())
        _ = parts.port
    except ValueError:
        return None
    return parts if parts.scheme in _PORTS and parts.hostname else None


def is_loopback(url: str) -> bool:
    """Whether what is sent there does not leave this machine."""
    parts = parts_of(url)
    return parts is not None and is_this_machine(parts.hostname or "")


def same_server(one: str, other: str) -> bool:
    """Whether both addresses have the same scheme, host and port."""
    first, second = parts_of(one), parts_of(other)
    if first is None or second is None:
        return one == other
    return _server(first) == _server(second)


def ollama_address(host: str) -> str:
    """Read OLLAMA_HOST as Ollama does: a host, a port, both, or an address.

    What a server listens on everywhere is this machine to its clients.
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


CHOSEN = "chosen in the app"
"""The origin of a provider and a model that nobody configured."""
MOST_RESERVED = 2_048
"""Tokens kept free for the reply where nobody says how many; a quarter of a small limit."""


@dataclass(frozen=True, slots=True)
class Profile:
    """Who may answer."""

    name: str
    title: str
    """As the provider calls itself; its name, for one of the user's own."""
    protocol: str
    """openai, anthropic, gemini or ollama; `reader` for the embedded one."""
    base_url: str = ""
    """Without a slash at its end."""
    model: str = ""
    """The one that answers where no other is named; empty where none is."""
    api_key: Secret = field(default=Secret(), repr=False)
    """As the configuration has it; see `find_key` for every other source."""
    api_key_cmd: str = field(default="", repr=False)
    """A command that prints the key; it may hold a secret, too."""
    key_variables: tuple[str, ...] = ()
    """The environment variables that may hold the key, in the order in which they are looked at."""
    headers: Mapping[str, Secret] = field(default_factory=dict, repr=False)
    reserve: int | None = None
    """In tokens; None: as `reserve_of` has it."""
    sampling: Options = field(default_factory=Options)
    """What goes along with the messages."""
    connect_seconds: float = 5.0
    read_seconds: float = 600.0
    wants_key: bool = False
    """Whether it is known to answer nobody without a key."""
    names_key: bool = False
    """Whether the user names the variable that holds its key: one that is not set is a mistake."""
    is_local: bool = False
    """Whether it is a server on this machine."""
    in_use: bool = False
    """Whether it is the one that answers, so that `[provider]` counts for it."""
    configured: bool = False
    """Whether the user names it in a file, a variable or a flag."""
    limits: tuple[tuple[str, int], ...] = ()
    """What the user said of context sizes, best first: (model or empty for any, tokens)."""
    models: Mapping[str, NamedModel] = field(default_factory=dict)
    """What the user knows of its models, by their own names."""
    origin: str = "default"
    """What configures it: a file, a variable or a flag."""

    @property
    def is_reader(self) -> bool:
        """Whether it is the embedded one, which has no server and no key."""
        return self.protocol == "reader"

    @property
    def is_local_preset(self) -> bool:
        """Whether it is Ollama or another server that is looked for on this machine, and there.

        What it answers costs nothing. Whatever else listens here may pass a request on to
        somebody who charges for it.
        """
        preset = PRESETS.get(self.name)
        return self.is_local and preset is not None and preset.is_local

    @property
    def limit(self) -> int | None:
        """The context size that the user set for its model; None where there is none."""
        return self.limit_of(self.model)

    def limit_of(self, model: str) -> int | None:
        """Say what the user set as the context size of `model`, if anything."""
        return next((tokens for name, tokens in self.limits if name in ("", model)), None)

    def reserve_of(self, limit: int) -> int:
        """Say how many tokens of `limit` are kept free for the reply.

        Where nobody says: for the longest answer that is asked for, up to half of the limit.
        """
        if self.reserve is not None:
            return self.reserve
        longest = min(self.sampling.max_tokens or 0, limit // 2)
        return max(longest, min(MOST_RESERVED, limit // 4))

    def facts_of(self, model: str) -> NamedModel:
        """Say what the user knows of `model`."""
        return self.models.get(model) or NamedModel()

    def endpoint(self, model: str, key: str, renew: Callable[[str], str] | None = None) -> Endpoint:
        """Say where `model` is served, and with which key; `renew` is as `FoundKey` has it."""
        from jitchat.providers.provider import Endpoint  # noqa: PLC0415  the reader needs none

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
        """Whether nothing is to be sent to it without a key."""
        return self.wants_key or self.names_key

    @property
    def key_help(self) -> str:
        """What to do where its key is missing or refused, as a sentence."""
        stored = f"`jitchat keys set {self.name}`"
        if self.api_key_cmd:
            return f"Check what api_key_cmd of {self.name} prints, or run {stored}."
        if self.key_variables:
            return f"Set {self.key_variables[0]}, or run {stored}."
        return f"Run {stored}."

    @property
    def exposes_key(self) -> str:
        """The host that a key would reach unencrypted; empty where none would."""
        parts = parts_of(self.base_url)
        open_way = parts is not None and parts.scheme == "http" and not is_loopback(self.base_url)
        return (parts.hostname or "") if parts is not None and open_way else ""


_T = TypeVar("_T")
_HOME_OF = {name: PRESETS[name].base_url for name in ("anthropic", "gemini", "ollama")}
"""Where a protocol is spoken when no address is given; `openai` is spoken in many places."""


def unknown_provider(name: str, origin: str, key: str, names: list[str]) -> SettingsError:
    """Make the error for a provider that there is not."""
    return SettingsError(
        f"{origin}: {key} cannot be {shorten(name, 60)!r}: no provider has that name.",
        _known(name, names),
    )


def _known(name: str, names: list[str]) -> str:
    return (
        f"Known are {', '.join(names)}; a table [providers.NAME] adds another."
        f"{nearest(name.lower(), names)}"
    )


def home_of(protocol: str) -> str:
    """Where a protocol is spoken when no address is given; empty where nobody can tell."""
    return _HOME_OF.get(protocol, "")


def make_profile(settings: Settings, name: str) -> Profile:
    """Make the profile of a provider.

    Raises:
        SettingsError: There is none of that name.

    """
    preset, table = PRESETS.get(name), settings.providers.get(name)
    if preset is None and table is None:
        told = f"There is no provider {shorten(name, 60)!r}."
        raise SettingsError(told, _known(name, settings.provider_names()))
    if preset is READER:
        return _reader(settings)
    return _Maker(settings, preset, table or NamedProvider(name)).made()


def _reader(settings: Settings) -> Profile:
    table, in_use = settings.providers.get(READER.name), settings.provider.name == READER.name
    own = settings.provider if in_use else ProviderSettings()
    limit = own.limit or (table.limit if table else None)
    reserve = own.reserve or (table.reserve if table else None)
    return Profile(
        READER.name,
        READER.title,
        READER.protocol,
        model=READER.name,
        reserve=reserve,
        in_use=in_use,
        configured=True,
        limits=(("", limit),) if limit else (),
    )


class _Maker:
    """Puts one profile together; what stands in `[provider]` wins where that is this one."""

    def __init__(self, settings: Settings, preset: Preset | None, table: NamedProvider) -> None:
        self._settings, self._preset, self._table = settings, preset, table
        self._in_use = settings.provider.name == table.name
        self._own = settings.provider if self._in_use else ProviderSettings(table.name)

    def made(self) -> Profile:
        table, preset = self._table, self._preset
        protocol = table.protocol or (preset.protocol if preset else "openai")
        base_url = self._base_url(protocol)
        wanting = [each for each in PRESETS.values() if each.key_variables]
        served = [each for each in wanting if same_server(each.base_url, base_url)]
        key, command, variables = self._key_sources(preset or (served[0] if served else None))
        return Profile(
            table.name,
            preset.title if preset else table.name,
            protocol,
            base_url,
            self._own.model.strip() or table.model.strip(),
            api_key=key,
            api_key_cmd=command,
            key_variables=variables,
            headers=table.headers,
            reserve=self._own.reserve or table.reserve,
            sampling=self._sampling(),
            connect_seconds=self._own.connect_seconds or table.connect_seconds or 5.0,
            read_seconds=self._own.read_seconds or table.read_seconds or 600.0,
            wants_key=bool(served),
            names_key=bool(self._key_variable()),
            is_local=is_loopback(base_url),
            in_use=self._in_use,
            configured=self._origin() != "default",
            limits=tuple(self._limits()),
            models=dict(self._models()),
            origin=self._origin(),
        )

    def _base_url(self, protocol: str) -> str:
        """Choose the address: flag or variable, well-known variable, configuration, preset."""
        said, (known, _) = (
            self._own.base_url,
            self._settings.addresses.get(self._table.name, ("", "")),
        )
        first = (said, known) if self._is_explicit("base_url") else (known, said)
        usual = self._preset.base_url if self._preset else home_of(protocol)
        found = (each.strip() for each in (*first, self._table.base_url, usual))
        return next((each for each in found if each), "").rstrip("/")

    def _key_sources(self, served: Preset | None) -> tuple[Secret, str, tuple[str, ...]]:
        """Say which key is configured, by which command, and by which variables."""
        own, table = self._own, self._table
        key = Secret() if self._is_explicit("api_key") else own.api_key
        if not (key or own.api_key_cmd or own.api_key_env):
            key, own = table.api_key, table
        named = self._key_variable()
        usual = served.key_variables if served else ()
        return key, own.api_key_cmd.strip(), (named,) if named else usual

    def _key_variable(self) -> str:
        """Say which variable the user names for the key; empty for none."""
        return self._own.api_key_env.strip() or self._table.api_key_env.strip()

    def _sampling(self) -> Options:
        own, table = self._own, self._table
        return Options(
            temperature=_either(own.temperature, table.temperature),
            top_p=_either(own.top_p, table.top_p),
            top_k=_either(own.top_k, table.top_k),
            seed=_either(own.seed, table.seed),
            effort=own.effort.strip() or table.effort.strip() or None,
            max_tokens=_either(own.max_tokens, table.max_tokens),
        )

    def _limits(self) -> Iterator[tuple[str, int]]:
        """List what is said of limits: flag or variable, the model's table, configuration."""
        own, table = self._own, self._table
        configured = self._settings.origin("provider.model") != CHOSEN
        model = own.model.strip() if configured else ""
        explicit = self._is_explicit("limit")
        if own.limit and explicit:
            yield model, own.limit
        for name, known in self._models():
            if known.limit:
                yield name, known.limit
        if own.limit and not explicit:
            yield model, own.limit
        if table.limit:
            yield table.model.strip(), table.limit

    def _models(self) -> Iterator[tuple[str, NamedModel]]:
        """List what is said of this provider's models; `PROVIDER/MODEL` comes last, and wins."""
        mine: dict[str, NamedModel] = {}
        for name, model in self._settings.models.items():
            provider, slash, rest = name.partition("/")
            if slash and provider == self._table.name:
                mine[rest] = model
        yield from {**self._settings.models, **mine}.items()

    def _is_explicit(self, name: str) -> bool:
        """Whether a flag or a variable says it, rather than the configuration."""
        return self._settings.origin(f"provider.{name}").startswith(("$", "--"))

    def _origin(self) -> str:
        if self._in_use:
            return self._settings.origin("provider.name")
        return self._settings.origin(f"providers.{self._table.name}")


def _either(first: _T | None, second: _T | None) -> _T | None:
    return second if first is None else first
