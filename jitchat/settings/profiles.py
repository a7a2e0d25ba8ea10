"""Making a profile: a preset, changed by `[providers.NAME]`, changed by `[provider]`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeVar

from jitchat.errors import SettingsError
from jitchat.providers.catalogue.presets import PRESETS, READER, Preset
from jitchat.providers.provider import Options
from jitchat.settings.addresses import is_loopback, same_server
from jitchat.settings.nearest import nearest
from jitchat.settings.profile import CHOSEN, Profile
from jitchat.settings.rules import Secret
from jitchat.settings.sections import NamedModel, NamedProvider, ProviderSettings
from jitchat.text.safe import shortened

if TYPE_CHECKING:
    from jitchat.settings.values import Settings

_T = TypeVar("_T")
_HOME_OF = {name: PRESETS[name].base_url for name in ("anthropic", "gemini", "ollama")}
"""Where a protocol is spoken when no address is given; `openai` is spoken in many places."""


def unknown_provider(name: str, origin: str, key: str, names: list[str]) -> SettingsError:
    """Make the error for a provider that there is not."""
    return SettingsError(
        f"{origin}: {key} cannot be {shortened(name, 60)!r}: no provider has that name.",
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
        told = f"There is no provider {shortened(name, 60)!r}."
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
