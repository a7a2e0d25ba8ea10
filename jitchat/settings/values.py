"""Every setting: its type, default, meaning, and which values it may have.

A key is written `section.name`, everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from jitchat.text.safe import one_line


class Secret(str):
    """A key: never shown by `repr`, so neither by a traceback nor by a log line."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "'•••'" if self else "''"


def _setting(
    default: Any,  # noqa: ANN401  a default has its field's type
    help_text: str,
    *,
    env: str = "",
    choices: tuple[str, ...] = (),
    least: int | None = None,
) -> Any:  # noqa: ANN401
    meta = {"help": help_text, "env": env, "choices": choices, "least": least}
    return field(default=default, metadata=meta)


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """How a conversation is held."""

    mode: str = _setting(
        "jit", "how the window is chosen", env="JITCHAT_MODE", choices=("full", "recency", "jit")
    )
    system: str = _setting("", "instructions in place of the built-in ones")


@dataclass(frozen=True, slots=True)
class ProviderSettings:
    """Who answers."""

    name: str = _setting("reader", "who answers", choices=("reader", "openai"))
    base_url: str = _setting("https://api.openai.com/v1", "address of an OpenAI-compatible API")
    model: str = _setting("", "the model's name there")
    api_key: Secret = _setting(Secret(), "its key", env="OPENAI_API_KEY")
    limit: int = _setting(0, "the model's context size in tokens; 0: 32,768", least=0)
    reserve: int = _setting(2_048, "tokens kept free for the reply", least=1)
    temperature: float = _setting(-1.0, "sampling temperature; negative: not sent")
    read_seconds: float = _setting(600.0, "how long a silence of the server may last")


@dataclass(frozen=True, slots=True)
class EmbedderSettings:
    """What turns text into vectors."""

    name: str = _setting("auto", "embedder", choices=("auto", "fastembed", "builtin", "none"))
    model: str = _setting("sentence-transformers/all-MiniLM-L6-v2", "fastembed's model")
    path: str = _setting("", "a local folder with that model's ONNX files")
    download: bool = _setting(True, "with auto: fetch a missing model in the background")


@dataclass(frozen=True, slots=True)
class WindowSettings:
    """What a window spends on what, in tokens."""

    recent: int = _setting(768, "the recent block", least=0)
    retrieved: int = _setting(1_024, "retrieved turns", least=0)
    index: int = _setting(256, "index lines", least=0)


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
    screen: ScreenSettings = field(default_factory=ScreenSettings)
    keys: Mapping[str, str] = field(default_factory=dict)
    """Key bindings by the id of their action, in place of the built-in ones."""
    origins: Mapping[str, str] = field(default_factory=dict)

    def rows(self) -> Iterator[tuple[str, str, str]]:
        """(key, value as text, origin) of every setting; secrets are hidden."""
        for section in SECTIONS:
            values = getattr(self, section)
            for each in fields(values):
                key, value = f"{section}.{each.name}", getattr(values, each.name)
                yield key, shown(value), self.origins.get(key, "default")
        for action, keys in self.keys.items():
            yield f"keys.{action}", keys, self.origins.get("keys", "default")


SECTIONS: dict[str, type] = {
    "chat": ChatSettings,
    "provider": ProviderSettings,
    "embedder": EmbedderSettings,
    "window": WindowSettings,
    "screen": ScreenSettings,
}


def all_keys() -> list[str]:
    return [f"{name}.{each.name}" for name, kind in SECTIONS.items() for each in fields(kind)]


def field_of(key: str) -> Any:  # noqa: ANN401  dataclasses.Field is generic in its value
    section, name = key.split(".")
    return next(each for each in fields(SECTIONS[section]) if each.name == name)


def meta_of(key: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = field_of(key).metadata
    return found


def default_of(key: str) -> object:
    return field_of(key).default


def shown(value: object) -> str:
    if isinstance(value, Secret):
        return "set (hidden)" if value else "not set"
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{one_line(value)}"' if isinstance(value, str) else str(value)
