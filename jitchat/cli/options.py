"""The flags that commands share, and the settings that they lead to."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import Any

import click

from jitchat.errors import SettingsError
from jitchat.paths import Paths, locate
from jitchat.settings import Settings
from jitchat.settings.schema import all_keys, kind_of, rule_of


@dataclass(frozen=True, slots=True)
class Flags:
    """What was given on the command line."""

    config: Path | None = None
    database: Path | None = None
    given: Mapping[str, object] = field(default_factory=dict)
    """By `section.key`; only what was given."""
    conversation: str | None = None
    """An id or a title, given ahead of the command."""

    def over(self, other: Flags) -> Flags:
        """Merge: these, and the other's where these are silent."""
        return Flags(
            self.config or other.config,
            self.database or other.database,
            {**other.given, **self.given},
            self.conversation or other.conversation,
        )

    def paths(self) -> Paths:
        """Say where things are."""
        return locate(os.environ, self.config, self.database)

    def settings(self, chosen: tuple[str, str] | None = None) -> Settings:
        """Load the settings, with these flags on top.

        `chosen` are the provider and the model that were picked in the app, which count where
        nothing else names any.

        Raises:
            SettingsError: A source of them is wrong, or `--config` names no file.

        """
        from jitchat.settings import load_settings  # noqa: PLC0415  not needed to print help

        config = self.paths().config
        if self.config is not None and not config.exists():
            raise SettingsError(f"--config: there is no file {config}.", "Check the name.")
        return load_settings(config, os.environ, self.given, chosen)


class SharedOption(click.Option):
    """An option that commands share; a command's help lists its own options first."""


class _OwnOptionsFirst:
    """Help in two parts, for a command or a group."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the command's own options, then the shared ones."""
        parts: dict[str, list[tuple[str, str]]] = {"Options": [], "Settings": []}
        for parameter in ctx.command.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None and not isinstance(parameter, click.Argument):
                shared = isinstance(parameter, SharedOption)
                parts["Settings" if shared else "Options"].append(record)
        for title, records in parts.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


class SharingCommand(_OwnOptionsFirst, click.Command):
    """A command with options of its own and shared ones."""


class SharingGroup(_OwnOptionsFirst, click.Group):
    """A group likewise; its commands are listed first, in the order in which they were added."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands and the options."""
        self.format_commands(ctx, formatter)
        super().format_options(ctx, formatter)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  click's signature
        """Name the commands."""
        return list(self.commands)


def location_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --config and --db; the command gets them as `flags`."""
    return _with_flags(command, [])


def embedder_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add those and the flags of the embedder."""
    return _with_flags(command, [key for key in _flagged() if key.startswith("embedder.")])


def endpoint_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --config and --db, and the flags that say where a model is and how much it takes."""
    return _with_flags(command, ["provider.base_url", "provider.limit", "provider.reserve"])


def provider_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --config and --db, and the flags that say who serves a model."""
    return _with_flags(command, ["provider.name", "provider.base_url"])


def common_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add every shared flag; the command gets them as `flags`."""
    return _with_flags(command, _flagged())


def tour_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add what the tour leaves open: it has a database and a choice of modes of its own."""
    return _with_flags(command, [key for key in _flagged() if key != "chat.mode"], has_db=False)


def _flagged() -> list[str]:
    return [key for key in all_keys() if rule_of(key).flag]


def _with_flags(
    command: Callable[..., Any], keys: list[str], *, has_db: bool = True
) -> Callable[..., Any]:
    @wraps(command)
    def with_flags(*args: object, **values: Any) -> object:  # noqa: ANN401  as click calls it
        given = {key: found for key in keys if (found := values.pop(_name(key))) is not None}
        own = Flags(values.pop("config"), values.pop("db", None), given)
        outer = click.get_current_context().obj
        return command(*args, flags=own.over(outer) if isinstance(outer, Flags) else own, **values)

    wrapped: Callable[..., Any] = with_flags
    for key in reversed(keys):
        wrapped = _setting_option(key)(wrapped)
    file = click.Path(path_type=Path, dir_okay=False)
    if has_db:
        wrapped = click.option(
            "--db", type=file, metavar="FILE", cls=SharedOption, help="The database to use."
        )(wrapped)
    return click.option(
        "--config", type=file, metavar="FILE", cls=SharedOption, help="The configuration to use."
    )(wrapped)


def _setting_option(key: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make the option that stands for a setting; what it may be is checked with the settings."""
    rule, kind = rule_of(key), kind_of(key)
    text = rule.help[0].upper() + rule.help[1:]
    return click.option(
        rule.flag,
        _name(key),
        type=kind,
        metavar=rule.unit,
        cls=SharedOption,
        help=f"{text}.",
    )


def _name(key: str) -> str:
    return key.replace(".", "_")
