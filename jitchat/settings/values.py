"""Every setting: its type, default, meaning, and which values it may have.

A key is written `section.name`, everywhere. What is said here is what `--help`, the checks and
`jitchat config` go by.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from jitchat.errors import SettingsError
from jitchat.memory.embedder import DEFAULT_MODEL
from jitchat.text.safe import one_line


class Secret(str):
    """A key: never shown by `repr`, so neither by a traceback nor by a log line."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "'•••'" if self else "''"


@dataclass(frozen=True, slots=True)
class Rule:
    """What is known of one setting beside its type and its default."""

    help: str
    flag: str = ""
    """The command line's name for it; empty where it has none."""
    unit: str = "TEXT"
    """What the flag takes, as `--help` writes it."""
    variable: str = ""
    """A well-known variable; every setting has JITCHAT_SECTION_NAME besides."""
    choices: tuple[str, ...] = ()
    least: float | None = None


def _setting(default: Any, help_text: str, **rule: Any) -> Any:  # noqa: ANN401  as its field's type
    return field(default=default, metadata={"rule": Rule(help_text, **rule)})


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """How a conversation is held."""

    mode: str = _setting(
        "jit",
        "how the window is chosen",
        flag="--mode",
        unit="full|recency|jit",
        variable="JITCHAT_MODE",
        choices=("full", "recency", "jit"),
    )
    system: str = _setting("", "instructions in place of the built-in ones")


@dataclass(frozen=True, slots=True)
class ProviderSettings:
    """Who answers."""

    name: str = _setting(
        "reader",
        "who answers",
        flag="--provider",
        unit="reader|openai",
        choices=("reader", "openai"),
    )
    base_url: str = _setting(
        "https://api.openai.com/v1",
        "address of an OpenAI-compatible API",
        flag="--base-url",
        unit="URL",
    )
    model: str = _setting("", "the model's name there", flag="--model", unit="NAME")
    api_key: Secret = _setting(  # noqa: RUF009  a Secret is as immutable as any str
        Secret(), "the key of that API", variable="OPENAI_API_KEY"
    )
    limit: int = _setting(
        0,
        "the model's context size; 0: 32,768 for the reader, else 8,192",
        flag="--limit",
        unit="N",
        least=0,
    )
    reserve: int = _setting(
        2_048, "tokens kept free for the reply", flag="--reserve", unit="N", least=1
    )
    temperature: float = _setting(-1.0, "sampling temperature; negative: not sent")
    read_seconds: float = _setting(600.0, "how long a silence of the server may last", least=1)


@dataclass(frozen=True, slots=True)
class EmbedderSettings:
    """What turns text into vectors."""

    name: str = _setting(
        "auto",
        "the embedder: auto, fastembed, builtin or none",
        flag="--embedder",
        unit="NAME",
        choices=("auto", "fastembed", "builtin", "none"),
    )
    model: str = _setting(DEFAULT_MODEL, "the model for fastembed")
    path: str = _setting(
        "", "a folder with the embedding model's ONNX files", flag="--embedder-path", unit="DIR"
    )
    download: bool = _setting(True, "with auto: fetch a missing model in the background")


@dataclass(frozen=True, slots=True)
class WindowSettings:
    """What a window spends on what, in tokens."""

    recent: int = _setting(384, "tokens for the recent block; of long turns it holds more", least=0)
    retrieved: int = _setting(
        1_536, "tokens for retrieved turns at most; a short conversation gets fewer", least=0
    )
    index: int = _setting(256, "tokens for index lines", least=0)


@dataclass(frozen=True, slots=True)
class SmallModelSettings:
    """A small model that does a part of the work; each part says which and how long, anew."""

    model: str = _setting("", "a small model; empty: none")
    base_url: str = _setting("", "address of its API; empty: that of the provider")
    api_key: Secret = _setting(  # noqa: RUF009  see ProviderSettings
        Secret(), "the key of its API; where it is the provider's, so is the key"
    )
    timeout: float = _setting(2.0, "how many seconds its answer may take", least=0.1)


@dataclass(frozen=True, slots=True)
class PickerSettings(SmallModelSettings):
    """A small model that picks the turns to recall."""

    model: str = _setting("", "a small model that picks the turns to recall; empty: none")


@dataclass(frozen=True, slots=True)
class SummariserSettings(SmallModelSettings):
    """A small model that writes index lines, behind the chat."""

    model: str = _setting("", "a small model that writes index lines; empty: none")
    timeout: float = _setting(60.0, "how many seconds its answer may take", least=0.1)


@dataclass(frozen=True, slots=True)
class ScreenSettings:
    """How it looks."""

    theme: str = _setting("textual-dark", "one of Textual's themes")
    inspector: bool = _setting(True, "whether the inspector is open at the start")


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
    keys: Mapping[str, str] = field(default_factory=dict)
    """Key bindings by the id of their action, in place of the built-in ones."""
    origins: Mapping[str, str] = field(default_factory=dict)

    def model_name(self) -> str:
        """Name the model that answers.

        Raises:
            SettingsError: An endpoint is configured and no model.

        """
        if self.provider.name == "reader":
            return "reader"
        if not self.provider.model.strip():
            raise SettingsError(
                f"No model is named for the provider openai ({self.origin('provider.name')}).",
                "Add --model NAME, or model under [provider] in the configuration.",
            )
        return self.provider.model

    def rows(self) -> Iterator[tuple[str, str, str]]:
        """(key, value as text, origin) of every setting; secrets are hidden."""
        for key in all_keys():
            section, name = key.split(".")
            value = getattr(getattr(self, section), name)
            yield key, shown(value), self.origin(key)
        for action, keys in self.keys.items():
            yield f"keys.{action}", shown(keys), self.origin("keys")

    def secrets(self) -> list[str]:
        """Every key that is set, for who must blot them out."""
        found = (getattr(getattr(self, name), "api_key", "") for name in SECTIONS)
        return [str(key) for key in found if key]

    def origin(self, key: str) -> str:
        """Where a value came from: a flag, a $VARIABLE, a file's path, or `default`."""
        return self.origins.get(key, "default")


SECTIONS: dict[str, type[Any]] = {
    "chat": ChatSettings,
    "provider": ProviderSettings,
    "embedder": EmbedderSettings,
    "window": WindowSettings,
    "picker": PickerSettings,
    "summariser": SummariserSettings,
    "screen": ScreenSettings,
}


def all_keys() -> list[str]:
    """Every `section.name`, in order."""
    return [f"{name}.{each.name}" for name, kind in SECTIONS.items() for each in fields(kind)]


def rule_of(key: str) -> Rule:
    """Look up what is known of the setting `key`."""
    found: Rule = _field_of(key).metadata["rule"]
    return found


def default_of(key: str) -> object:
    """Its default; the value's type is the setting's."""
    return _field_of(key).default


def variables_of(key: str) -> tuple[str, ...]:
    """Name the environment variables that set it; the last one that is set wins."""
    own = f"JITCHAT_{key.replace('.', '_').upper()}"
    known = rule_of(key).variable
    return (known, own) if known else (own,)


def shown(value: object) -> str:
    """Write a value as `jitchat config` does: on one line, and never a secret."""
    if isinstance(value, Secret):
        return "set (hidden)" if value else "not set"
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{one_line(value)}"' if isinstance(value, str) else str(value)


def _field_of(key: str) -> Any:  # noqa: ANN401  dataclasses.Field is generic in its value
    section, name = key.split(".")
    return next(each for each in fields(SECTIONS[section]) if each.name == name)
