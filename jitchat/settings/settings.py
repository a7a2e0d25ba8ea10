"""All settings: every value, its origin, and the provider profiles made from them.

A key is always written `section.name`. `[provider]` applies only to the provider in use.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace

from jitchat.errors import SettingsError
from jitchat.providers.catalogue.table import READER, Preset, presets
from jitchat.providers.provider import Options
from jitchat.settings import sections
from jitchat.settings.checks import nearest
from jitchat.settings.profiles import Profile, is_loopback, same_server
from jitchat.text.sanitize import shorten
from jitchat.values import Mode

CHOSEN = "chosen in the app"
"""The origin of a provider and a model that were picked in the app, not configured."""
_YIELDED = "given by "
"""Starts the origin of a value that a flag set, and that changes in the app override."""
_SHORTEST_SECRET = 16
"""Minimum characters of a secret header; a shorter one may be an ordinary word in any text."""


@dataclass(frozen=True, slots=True)
class Settings(sections.Sections):
    """Every setting, and the origins by `section.key`."""

    providers: Mapping[str, sections.NamedProvider] = field(default_factory=dict)
    """The tables `[providers.NAME]`, by their names."""
    models: Mapping[str, sections.NamedModel] = field(default_factory=dict)
    """The tables `[models."NAME"]`, by their names: `MODEL` or `PROVIDER/MODEL`."""
    mcp: Mapping[str, sections.McpServer] = field(default_factory=dict)
    """The tables `[mcp.NAME]`, by their names."""
    personas: Mapping[str, sections.NamedPersona] = field(default_factory=dict)
    """The tables `[personas.NAME]`, by their names."""
    keys: Mapping[str, str] = field(default_factory=dict)
    """Key bindings by the id of their action, in place of the built-in ones."""
    addresses: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """By preset, the address set by a well-known variable, and that variable."""
    origins: Mapping[str, str] = field(default_factory=dict)

    def provider_names(self) -> list[str]:
        """Return the names of all providers: the presets, then the user's own."""
        return list({**presets()} | dict.fromkeys(self.providers))

    def profile(self, name: str) -> Profile:
        """Return a provider as configured; raise SettingsError if there is no such provider."""
        preset, table = presets().get(name), self.providers.get(name)
        if preset is None and table is None:
            what = f"There is no provider {shorten(name, 60)!r}."
            raise SettingsError(what, known_providers(name, self.provider_names()))
        return _ProfileMaker(self, preset, table or sections.NamedProvider(name)).profile()

    def profiles(self) -> list[Profile]:
        return [self.profile(name) for name in self.provider_names()]

    def in_use(self) -> Profile:
        return self.profile(self.provider.name)

    def model_name(self) -> str:
        """Return the model in use; raise SettingsError if the provider has none."""
        profile = self.in_use()
        if not profile.model:
            raise SettingsError(
                f"No model is set for the provider {profile.name}"
                f" ({self.origin('provider.name')}).",
                "Add --model NAME, or model under [provider] in the configuration.",
            )
        return profile.model

    def rows(self) -> Iterator[tuple[str, str, str]]:
        """Yield (key, value as text, origin) of every setting; secrets are hidden."""
        for section, kind in sections.SECTIONS.items():
            yield from self._rows_of(getattr(self, section), sections.settings_of(kind, section))
        for section, kind in sections.NAMED.items():
            for name, table in getattr(self, section).items():
                key = sections.key_of_table(section, name)
                yield from self._rows_of(table, sections.settings_of(kind, key))
        for action, keys in self.keys.items():
            yield f"keys.{action}", sections.shown(keys), self.origin("keys")

    def _rows_of(
        self, table: object, known: Mapping[str, sections.Setting]
    ) -> Iterator[tuple[str, str, str]]:
        """Yield every row of a section, but only the values set in a table of the user's own."""
        for name, setting in known.items():
            origin = self.origin(setting.key)
            if origin != "default" or setting.key.partition(".")[0] in sections.SECTIONS:
                value = sections.shown(getattr(table, name), hidden=setting.hidden)
                yield setting.key, value, origin

    def secrets(self) -> list[str]:
        """Return every secret in the settings, for redaction."""
        tables = [*(getattr(self, name) for name in sections.SECTIONS), *self.providers.values()]
        keys = [getattr(table, "api_key", "") for table in tables]
        headers = [value for table in self.providers.values() for value in table.headers.values()]
        for server in self.mcp.values():
            headers += [*server.headers.values(), *server.env.values()]
        keys += [value for value in headers if len(value) >= _SHORTEST_SECRET]
        return [str(key) for key in keys if key]

    def origin(self, key: str) -> str:
        """Return where a value came from: a flag, a $VARIABLE, a file's path, or `default`."""
        return self.origins.get(key, "default")

    def retired(self) -> str:
        """Say what became of settings of earlier versions that are set; usually empty."""
        keys = [key for key in sections.RETIRED if key in self.origins]
        if not keys:
            return ""
        are = "is now a share" if len(keys) == 1 else "are now shares"
        sentence = f"{self.origin(keys[0])}: {', '.join(keys)} {are} of window.size"
        if not self.origin("window.size").startswith("implied by "):
            return f"{sentence}; set that instead."
        return f"{sentence}, which is {self.window.size:,}: what the former parts add up to."

    def yielding(self, key: str) -> "Settings":
        """Let changes made in the app override a flag of this run, which stays as a setting."""
        if not self.is_flag(key):
            return self
        return replace(self, origins={**self.origins, key: _YIELDED + self.origin(key)})

    def mode_in(self, own: str, last: str) -> Mode:
        """Return the mode of a conversation in which `own` was picked, and `last` in any.

        Either may be empty. A flag of this run comes first, a configured mode before the last one.
        """
        origin, configured = self.origin("chat.mode"), self.chat.mode
        if self.is_flag("chat.mode"):
            return Mode(configured)
        is_configured = origin != "default" and not origin.startswith(_YIELDED)
        return Mode(own or (configured if is_configured else last or configured))

    def is_flag(self, key: str) -> bool:
        """Whether a flag of this run sets the value, or implies it."""
        return self.origin(key).removeprefix("implied by ").startswith("--")


def home_of(protocol: str) -> str:
    """Return a protocol's default address; empty for `openai`, which many servers speak."""
    with_one_address = ("anthropic", "gemini", "ollama")
    return presets()[protocol].base_url if protocol in with_one_address else ""


def known_providers(wrong: str, names: list[str]) -> str:
    """List the providers and suggest the closest one, as a sentence."""
    return (
        f"Known providers: {', '.join(names)}. A table [providers.NAME] adds another."
        f"{nearest(wrong.lower(), names)}"
    )


def _overlaid(
    table: sections.NamedProvider, own: sections.ProviderSettings
) -> sections.NamedProvider:
    """Override the values of the provider's own table with those of `[provider]`."""
    values = {part.name: getattr(own, part.name) for part in fields(own)}
    given = {
        name: value for name, value in values.items() if value is not None and str(value).strip()
    }
    return replace(table, **given)


class _ProfileMaker:
    """Makes one profile; `[provider]` overrides its table if this provider is in use."""

    def __init__(
        self, settings: Settings, preset: Preset | None, table: sections.NamedProvider
    ) -> None:
        self._settings, self._preset, self._table = settings, preset, table
        self._in_use = settings.provider.name == table.name
        self._own = settings.provider if self._in_use else sections.ProviderSettings(table.name)

    def profile(self) -> Profile:
        table, preset = _overlaid(self._table, self._own), self._preset
        if preset is READER:
            return self._of_reader(table)
        protocol = table.protocol or (preset.protocol if preset else "openai")
        base_url = self._base_url(protocol)
        with_key = (known for known in presets().values() if known.key_variables)
        served = next((known for known in with_key if same_server(known.address, base_url)), None)
        named_variable = table.api_key_env.strip()
        usual = preset or served
        usual_variables = usual.key_variables if usual else ()
        key, command = self._configured_key()
        sampling = {name: getattr(table, name) for name in sections.SAMPLING}
        origin = "provider.name" if self._in_use else f"providers.{table.name}"
        return Profile(
            table.name,
            preset.title if preset else table.name,
            protocol,
            base_url,
            table.model.strip() or (preset.model if preset else ""),
            api_key=key,
            api_key_cmd=command,
            key_variables=(named_variable,) if named_variable else usual_variables,
            headers=table.headers,
            reserve=table.reserve,
            sampling=Options(**sampling | {"effort": table.effort.strip() or None}),
            connect_seconds=table.connect_seconds or 5.0,
            read_seconds=table.read_seconds or 600.0,
            wants_key=served is not None,
            names_key=bool(named_variable),
            is_local=is_loopback(base_url),
            in_use=self._in_use,
            configured=self._settings.origin(origin) != "default",
            limits=tuple(self._limits()),
            models=self._models(),
        )

    def _of_reader(self, table: sections.NamedProvider) -> Profile:
        return Profile(
            READER.name,
            READER.title,
            READER.protocol,
            model=READER.name,
            reserve=table.reserve,
            in_use=self._in_use,
            configured=True,
            limits=(("", table.limit),) if table.limit else (),
        )

    def _base_url(self, protocol: str) -> str:
        """Choose the address: flag or variable, well-known variable, configuration, preset."""
        own, given = self._own.base_url, self._settings.addresses
        known, _ = given.get(self._table.name, ("", ""))
        first = (own, known) if self._is_explicit("base_url") else (known, own)
        usual = self._preset.address if self._preset else home_of(protocol)
        addresses = (address.strip() for address in (*first, self._table.base_url, usual))
        return next(filter(None, addresses), "").rstrip("/")

    def _configured_key(self) -> tuple[sections.Secret, str]:
        """Return the key and the key command, from `[provider]` or else from the table."""
        own, table = self._own, self._table
        key = sections.Secret() if self._is_explicit("api_key") else own.api_key
        if key or own.api_key_cmd or own.api_key_env:
            return key, own.api_key_cmd.strip()
        return table.api_key, table.api_key_cmd.strip()

    def _limits(self) -> Iterator[tuple[str, int]]:
        """List the configured limits: flag or variable, the model's table, configuration."""
        own, table = self._own, self._table
        configured = self._settings.origin("provider.model") != CHOSEN
        model = own.model.strip() if configured else ""
        explicit = self._is_explicit("limit")
        if own.limit and explicit:
            yield model, own.limit
        for name, known in self._models().items():
            if known.limit:
                yield name, known.limit
        if own.limit and not explicit:
            yield model, own.limit
        if table.limit:
            yield table.model.strip(), table.limit

    def _models(self) -> dict[str, sections.NamedModel]:
        """Return the tables of this provider's models; `PROVIDER/MODEL` wins over `MODEL`."""
        prefix, models = f"{self._table.name}/", self._settings.models
        own = {
            name.removeprefix(prefix): model
            for name, model in models.items()
            if name.startswith(prefix)
        }
        return {**models, **own}

    def _is_explicit(self, name: str) -> bool:
        return self._settings.origin(f"provider.{name}").startswith(("$", "--"))
