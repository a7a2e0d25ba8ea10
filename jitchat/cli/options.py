"""The flags that commands share, and the settings that they lead to."""

import os
import re
import stat
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from jitchat.cli import shell_values
from jitchat.errors import SettingsError, UsageError
from jitchat.paths import Paths, locate
from jitchat.settings import sections

if TYPE_CHECKING:
    from jitchat.settings import Settings

_Command = Callable[..., Any]
_Option = Callable[[_Command], _Command]


@dataclass(frozen=True, slots=True)
class Flags:
    config: Path | None = None
    database: Path | None = None
    given: Mapping[str, object] = field(default_factory=dict)
    """By `section.key`; only what was given."""
    conversation: str | None = None
    """An id or a title, given ahead of the command or as an option of its own."""
    project: str | None = None
    """Likewise; None for any."""
    temporary: bool = False
    """Whether a conversation is wanted that is deleted afterwards."""
    new: bool = False
    """Whether a new conversation is wanted."""

    def over(self, other: "Flags") -> "Flags":
        """Merge: these, and the other's where these are silent."""
        return Flags(
            self.config or other.config,
            self.database or other.database,
            {**other.given, **self.given},
            self.conversation or other.conversation,
            self.project or other.project,
            self.temporary or other.temporary,
            self.new or other.new,
        )

    def paths(self) -> Paths:
        return locate(os.environ, self.config, self.database)

    def settings(self, picked: tuple[str, str] | None = None) -> "Settings":
        """Load the settings, with these flags on top.

        `picked` are the provider and the model that were picked in the app, which count where
        nothing else names any.
        """
        from jitchat.settings import load_settings  # noqa: PLC0415  the help does without

        config = self.paths().config
        if self.config is not None and not config.exists():
            raise SettingsError(f"--config: there is no file {config}.", "Check the name.")
        return load_settings(config, os.environ, self.given, picked)


def text_given(text: str) -> str:
    """Take the text that was given, or what comes on standard input for `-`."""
    return text if text != "-" else _standard_input()


def text_and_piped(text: str | None) -> str:
    """Take the text, and what is piped or redirected into the command behind it.

    `-`, and no text where something is piped, stand for what comes on standard input alone.
    """
    if text == "-" or (text is None and is_piped()):
        return _standard_input().rstrip("\r\n")
    if text is None:
        raise UsageError("There is no TEXT.", 'Say something: jitchat send "…", or pipe it in.')
    piped = _standard_input().rstrip("\r\n") if is_piped() else ""
    return f"{text}\n\n{piped}" if piped.strip() else text


def is_piped() -> bool:
    """Whether standard input is a pipe or a file: what it has is meant for the command."""
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (AttributeError, OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode)


def _standard_input() -> str:
    return sys.stdin.buffer.read().decode("utf-8-sig", "replace") if sys.stdin else ""


def turn_number(text: str) -> int:
    """Read `12` or `#12`; a click type."""
    digits = text.removeprefix("#")
    if not (digits.isascii() and digits.isdigit() and len(digits) < 10):
        raise UsageError(f"{text!r} is not the number of a turn.", "Write it as 12 or '#12'.")
    return int(digits)


_OF_FILE = re.compile(r"[./]\w")
"""What names of files have, and those of conversations and turns have not."""


def turn_name(text: str) -> int | str:
    """Read the number of a turn, the name of one of another conversation, or of a file.

    A click type.
    """
    if "#" not in text and _OF_FILE.search(text):
        return text
    conversation, sign, number = text.rpartition("#")
    return f"{conversation}#{turn_number(number)}" if conversation and sign else turn_number(text)


attaching = click.option(
    "--attach",
    multiple=True,
    metavar="PATH",
    help="Attach a file, a folder or a pattern; may be given several times.",
)


class SharedOption(click.Option):
    """An option that commands share; a command's help lists its own options first."""


class SharingCommand(click.Command):
    """A command with options of its own and shared ones, which its help lists apart."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        _format_own_first(self, ctx, formatter)


class SharingGroup(click.Group):
    """A group likewise; its commands are listed first, in the order in which they were added."""

    command_class = SharingCommand

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.format_commands(ctx, formatter)
        _format_own_first(self, ctx, formatter)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  click's signature
        return list(self.commands)


def _format_own_first(
    command: click.Command, ctx: click.Context, formatter: click.HelpFormatter
) -> None:
    parts: dict[str, list[tuple[str, str]]] = {"Options": [], "Settings": []}
    for parameter in command.get_params(ctx):
        record = parameter.get_help_record(ctx)
        if record is not None and not isinstance(parameter, click.Argument):
            shared = isinstance(parameter, SharedOption)
            parts["Settings" if shared else "Options"].append(record)
    for title, records in parts.items():
        if records:
            with formatter.section(title):
                formatter.write_dl(records)


def _made_of(
    options: Sequence[_Option], name: str, make: Callable[[dict[str, Any]], object]
) -> _Option:
    """Add options to a command, in the order in which its help is to list them.

    The command gets what `make` makes of their values as the argument `name`; `make` takes them
    out of all values.
    """

    def add(command: _Command) -> _Command:
        @wraps(command)
        def with_made(*args: object, **values: Any) -> object:  # noqa: ANN401  as click calls it
            made = make(values)
            return command(*args, **{name: made}, **values)

        for option in reversed(options):
            option(with_made)  # notes it on the function
        return with_made

    return add


def option(help_text: str, **more: Any) -> Any:  # noqa: ANN401  as its field's type
    """Make the field of a dataclass that is an option, too: `--judge-model` of `judge_model`."""
    return field(metadata={"help": help_text, **more})


def options_as(name: str, kind: type[Any]) -> _Option:
    """Add the options of a dataclass, which the command gets as the argument `name`."""
    parts = [part for part in fields(kind) if part.metadata]
    options = [click.option(f"--{part.name.replace('_', '-')}", **part.metadata) for part in parts]
    return _made_of(
        options, name, lambda values: kind(**{part.name: values.pop(part.name) for part in parts})
    )


def _shared_options(keys: Sequence[str], *, has_db: bool = True) -> _Option:
    """Add --config, --db and the flags of settings; the command gets them as `flags`.

    What the command has besides of `CHOOSING` goes into them, too.
    """
    file = click.Path(path_type=Path, dir_okay=False)
    shared = partial(click.option, cls=SharedOption)
    options = [shared("--config", type=file, metavar="FILE", help="The configuration to use.")]
    if has_db:
        options.append(shared("--db", type=file, metavar="FILE", help="The database to use."))
    for key in keys:
        known, name = sections.SETTINGS[key], key.replace(".", "_")
        help_text = f"{known.help[0].upper()}{known.help[1:]}."
        completer = shell_values.BY_SETTING.get(key) or shell_values.one_of(known.choices)
        option = shared(  # what the value may be is checked with the settings
            known.flag, name, type=known.kind, metavar=known.unit, help=help_text,
            shell_complete=completer,
        )  # fmt: skip
        options.append(option)

    def make(values: dict[str, Any]) -> Flags:
        values_by_key = {key: values.pop(key.replace(".", "_")) for key in keys}
        given = {key: value for key, value in values_by_key.items() if value is not None}
        config, database = values.pop("config"), values.pop("db", None)
        chosen = {name: values.pop(name) for name in CHOOSING if name in values}
        own = Flags(config, database, given, **chosen)
        outer = click.get_current_context().obj
        return own.over(outer) if isinstance(outer, Flags) else own

    return _made_of(options, "flags", make)


CHOOSING = ("conversation", "project", "temporary", "new")
"""Options that choose a conversation."""
in_project = click.option(
    "--project",
    metavar="NAME",
    help="The project that the conversation is in; any if not given.",
    shell_complete=shell_values.PROJECTS,
)
as_temporary = click.option(
    "--temporary",
    is_flag=True,
    help="In a new conversation that no memory is written of, and that is deleted afterwards.",
)


as_new = click.option(
    "--new/--continue", "new", help="In a new conversation, or in the one touched last, as a rule."
)


def in_conversation(command: _Command) -> _Command:
    """Add --conversation and --project."""
    of = "Its id or title; the one touched last if not given."
    named = click.option(
        "--conversation", metavar="ID", help=of, shell_complete=shell_values.CONVERSATIONS
    )
    return named(in_project(command))


_FLAGGED = [key for key, known in sections.SETTINGS.items() if known.flag]

location_options = _shared_options([])
embedder_options = _shared_options([key for key in _FLAGGED if key.startswith("embedder.")])
endpoint_options = _shared_options(["provider.base_url", "provider.limit", "provider.reserve"])
provider_options = _shared_options(["provider.name", "provider.base_url"])
model_options = _shared_options(
    [key for key in _FLAGGED if key.startswith(("provider.", "embedder."))]
)
common_options = _shared_options(_FLAGGED)
tour_options = _shared_options([key for key in _FLAGGED if key != "chat.mode"], has_db=False)
"""Without what the tour decides by itself: it has a database and a choice of modes of its own."""
