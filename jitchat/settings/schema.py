"""The settings as a whole: every value, where it came from, and the providers that they make.

A key is written `section.name`, everywhere.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from jitchat.errors import SettingsError
from jitchat.providers.catalogue.table import PRESETS
from jitchat.settings.profiles import Profile, make_profile
from jitchat.settings.sections import (
    SECTIONS,
    ChatSettings,
    EmbedderSettings,
    NamedModel,
    NamedProvider,
    PickerSettings,
    ProviderSettings,
    Rule,
    ScreenSettings,
    Secret,
    Setting,
    SummariserSettings,
    WindowSettings,
    settings_of,
    shown,
)

__all__ = [
    "SECTIONS", "Secret", "Settings", "all_keys", "kind_of", "rule_of",
    "setting_of", "shown", "variables_of",
]  # fmt: skip


_SHORTEST_SECRET = 16
"""Characters; a shorter header is a name or a word, which may stand anywhere."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting, and its origin by `section.key`."""

    chat: ChatSettings = field(default_factory=ChatSettings)
    provider: ProviderSettings = field(default_factory=ProviderSettings)
    embedder: EmbedderSettings = field(default_factory=EmbedderSettings)
    window: WindowSettings = field(default_factory=WindowSettings)
    picker: PickerSettings = field(default_factory=PickerSettings)
    summariser: SummariserSettings = field(default_factory=SummariserSettings)
    screen: ScreenSettings = field(default_factory=ScreenSettings)
    providers: Mapping[str, NamedProvider] = field(default_factory=dict)
    """The tables `[providers.NAME]`, by their names."""
    models: Mapping[str, NamedModel] = field(default_factory=dict)
    """The tables `[models."NAME"]`, by their names: `MODEL` or `PROVIDER/MODEL`."""
    keys: Mapping[str, str] = field(default_factory=dict)
    """Key bindings by the id of their action, in place of the built-in ones."""
    addresses: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """By preset, the address that a well-known variable gives it, and that variable."""
    origins: Mapping[str, str] = field(default_factory=dict)

    def provider_names(self) -> list[str]:
        """Every provider that there is: the presets, then the user's own."""
        return list(PRESETS | dict.fromkeys(self.providers))

    def profile(self, name: str) -> Profile:
        """Look up a provider as it is configured.

        Raises:
            SettingsError: There is none of that name.

        """
        return make_profile(self, name)

    def profiles(self) -> list[Profile]:
        """List every provider, the presets first."""
        return [self.profile(name) for name in self.provider_names()]

    def in_use(self) -> Profile:
        """Look up the provider that answers."""
        return self.profile(self.provider.name)

    def model_name(self) -> str:
        """Name the model that answers.

        Raises:
            SettingsError: An endpoint is configured and no model.

        """
        profile = self.in_use()
        if not profile.model:
            raise SettingsError(
                f"No model is named for the provider {profile.name}"
                f" ({self.origin('provider.name')}).",
                "Add --model NAME, or model under [provider] in the configuration.",
            )
        return profile.model

    def rows(self) -> Iterator[tuple[str, str, str]]:
        """(key, value as text, origin) of every setting; secrets are hidden."""
        for section, kind in SECTIONS.items():
            yield from self._rows_of(getattr(self, section), settings_of(kind, section))
        for name, provider in self.providers.items():
            yield from self._rows_of(provider, settings_of(NamedProvider, f"providers.{name}"))
        for name, model in self.models.items():
            yield from self._rows_of(model, settings_of(NamedModel, f'models."{name}"'))
        for action, keys in self.keys.items():
            yield f"keys.{action}", shown(keys), self.origin("keys")

    def secrets(self) -> list[str]:
        """Every key that the settings hold, for who must blot them out."""
        holders = [*(getattr(self, name) for name in SECTIONS), *self.providers.values()]
        found = [getattr(holder, "api_key", "") for holder in holders]
        headers = [value for each in self.providers.values() for value in each.headers.values()]
        found += [value for value in headers if len(value) >= _SHORTEST_SECRET]
        return [str(key) for key in found if key]

    def origin(self, key: str) -> str:
        """Where a value came from: a flag, a $VARIABLE, a file's path, or `default`."""
        return self.origins.get(key, "default")

    def _rows_of(
        self, table: object, known: Mapping[str, Setting]
    ) -> Iterator[tuple[str, str, str]]:
        """Rows of a section; of a table of the user's own only what is set in it."""
        for name, each in known.items():
            origin = self.origin(each.key)
            if origin != "default" or each.key.partition(".")[0] in SECTIONS:
                yield each.key, shown(getattr(table, name), hidden=each.rule.hidden), origin


def all_keys() -> list[str]:
    """Every `section.name`, in order."""
    return [
        each.key for name, kind in SECTIONS.items() for each in settings_of(kind, name).values()
    ]


def setting_of(key: str) -> Setting:
    """Look up the setting `key`."""
    section, name = key.split(".")
    return settings_of(SECTIONS[section], section)[name]


def rule_of(key: str) -> Rule:
    """Look up what is known of the setting `key`."""
    return setting_of(key).rule


def kind_of(key: str) -> type:
    """Its value's type."""
    return setting_of(key).kind


def variables_of(key: str) -> tuple[str, ...]:
    """Name the environment variables that set it; the last one that is set wins."""
    own = f"JITCHAT_{key.replace('.', '_').upper()}"
    known = rule_of(key).variable
    return (known, own) if known else (own,)
