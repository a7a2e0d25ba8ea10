"""The flags that every command takes, and the settings that they lead to."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from jitchat.paths import Paths, locate

if TYPE_CHECKING:
    from jitchat.settings import Settings

_FLAGS = (
    ("--mode", "chat.mode", "full, recency or jit.", str),
    ("--provider", "provider.name", "Who answers: reader or openai.", str),
    ("--base-url", "provider.base_url", "Address of an OpenAI-compatible API.", str),
    ("--model", "provider.model", "The model's name there.", str),
    ("--limit", "provider.limit", "The model's context size in tokens.", int),
    ("--reserve", "provider.reserve", "Tokens kept free for the reply.", int),
    ("--embedder", "embedder.name", "auto, fastembed, builtin or none.", str),
    ("--embedder-path", "embedder.path", "A local folder with an embedding model.", str),
)


@dataclass(frozen=True, slots=True)
class Flags:
    """What was given on the command line."""

    config: Path | None = None
    database: Path | None = None
    given: Mapping[str, object] = field(default_factory=dict)
    """By `section.key`; only what was given."""

    def over(self, other: Flags) -> Flags:
        """These, and the other's where these are silent."""
        config, database = self.config or other.config, self.database or other.database
        return Flags(config, database, {**other.given, **self.given})

    def paths(self) -> Paths:
        """Where things are."""
        return locate(os.environ, self.config, self.database)

    def settings(self) -> Settings:
        """The settings with these flags on top."""
        from jitchat.settings import load_settings  # noqa: PLC0415

        return load_settings(self.paths().config, os.environ, self.given)


def common_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the flags; the command gets them as `flags`."""

    @wraps(command)
    def with_flags(*args: object, **values: Any) -> object:  # noqa: ANN401
        given = {
            key: value
            for option, key, _, _ in _FLAGS
            if (value := values.pop(_name(option))) is not None
        }
        own = Flags(values.pop("config"), values.pop("db"), given)
        outer = click.get_current_context().obj
        return command(*args, flags=own.over(outer) if isinstance(outer, Flags) else own, **values)

    wrapped: Callable[..., Any] = with_flags
    for option, _, text, kind in reversed(_FLAGS):
        wrapped = click.option(option, type=kind, help=text)(wrapped)
    file = click.Path(path_type=Path, dir_okay=False)
    wrapped = click.option("--db", type=file, help="The database to use.")(wrapped)
    return click.option("--config", type=file, help="The configuration to use.")(wrapped)


def _name(option: str) -> str:
    return option.removeprefix("--").replace("-", "_")
