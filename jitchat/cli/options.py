"""Options shared by commands, and loading the settings with them applied."""

import os
import re
import stat
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from jitchat.cli import shell_values
from jitchat.errors import SettingsError, UsageError
from jitchat.paths import Paths, locate
from jitchat.settings import checks, sections
from jitchat.text.sanitize import shorten

if TYPE_CHECKING:
    from jitchat.settings import Settings

_Command = Callable[..., Any]
_Option = Callable[[_Command], _Command]
_Name = TypeVar("_Name", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class Flags:
    config: Path | None = None
    database: Path | None = None
    given: Mapping[str, object] = field(default_factory=dict)
    """The settings given as flags, by `section.key`."""
    conversation: str | None = None
    """An id or a title, given before the command or as an option of the command."""
    project: str | None = None
    """A project's name, given in the same ways; None for any."""
    temporary: bool = False
    """Whether to use a new conversation that is deleted afterwards."""
    new: bool = False
    """Whether to use a new conversation."""

    def over(self, other: "Flags") -> "Flags":
        """Merge two sets of flags; those of `self` win."""
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
        """Load the settings and apply these flags.

        `picked` is the provider and model picked in the app; used if nothing else names one.
        """
        from jitchat.settings import load_settings  # noqa: PLC0415  not needed for --help

        config = self.paths().config
        if self.config is not None and not config.exists():
            raise SettingsError(f"--config: there is no file {config}.", "Check the name.")
        return load_settings(config, os.environ, self.given, picked)


def text_given(text: str) -> str:
    """Return the text, or standard input if the text is `-`."""
    return text if text != "-" else _standard_input()


def text_and_piped(text: str | None) -> str:
    """Return the text, followed by anything piped or redirected into the command.

    With `-`, or without a text if something is piped, return standard input alone.
    """
    if text == "-" or (text is None and is_piped()):
        return _standard_input().rstrip("\r\n")
    if text is None:
        raise UsageError(
            "TEXT is missing.", 'Give a message, as in jitchat send "…", or pipe it in.'
        )
    piped = _standard_input().rstrip("\r\n") if is_piped() else ""
    return f"{text}\n\n{piped}" if piped.strip() else text


def is_piped() -> bool:
    """Whether standard input is a pipe or a file, and so meant for the command."""
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
        raise UsageError(f"{text!r} is not a turn number.", "Write it as 12 or '#12'.")
    return int(digits)


_OF_FILE = re.compile(r"[./]\w")
"""Found in file names, but not in names of conversations and turns."""


def turn_name(text: str) -> int | str:
    """Read a turn number, a turn of another conversation (`chat-3#12`) or a file; a click type."""
    if "#" not in text and _OF_FILE.search(text):
        return text
    conversation, sign, number = text.rpartition("#")
    return f"{conversation}#{turn_number(number)}" if conversation and sign else turn_number(text)


def known_name(flag: str, name: str, names: Sequence[str]) -> str:
    if name not in names:
        quoted = repr(shorten(name, 60))
        raise UsageError(f"{flag} cannot be {quoted}.", checks.choose_one(name, names))
    return name


def names_of(flag: str, text: str, kind: type[_Name]) -> tuple[_Name, ...]:
    """Parse a list of names, each once, in the given order."""
    names = [member.value for member in kind]
    given = [piece.strip() for piece in text.split(",")]
    return tuple(dict.fromkeys(kind(known_name(flag, name, names)) for name in given))


attaching = click.option(
    "--attach",
    multiple=True,
    metavar="PATH",
    help="Attach a file, a folder or a glob pattern (repeatable).",
)


class SharedOption(click.Option):
    """An option shared by several commands; listed after a command's own options."""


class SharingCommand(click.Command):
    """A command whose help lists its own options and the shared ones separately."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        _format_own_first(self, ctx, formatter)


class SharingGroup(click.Group):
    """A group with such a help page; its commands come first, in the order they were added."""

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
    """Add options to a command, in the order of its help.

    `make` removes their values from all values and returns an object, which is passed to the
    command as the argument `name`.
    """

    def add(command: _Command) -> _Command:
        @wraps(command)
        def with_made(*args: object, **values: Any) -> object:  # noqa: ANN401  as click calls it
            made = make(values)
            return command(*args, **{name: made}, **values)

        for option in reversed(options):
            option(with_made)  # records the option on the function
        return with_made

    return add


def option(help_text: str, **more: Any) -> Any:  # noqa: ANN401  as its field's type
    """Make a dataclass field that is also an option: `judge_model` becomes `--judge-model`."""
    return field(metadata={"help": help_text, **more})


def options_as(name: str, kind: type[Any]) -> _Option:
    """Add a dataclass's options to a command, which receives an instance as the argument `name`."""
    parts = [part for part in fields(kind) if part.metadata]
    options = [click.option(f"--{part.name.replace('_', '-')}", **part.metadata) for part in parts]
    return _made_of(
        options, name, lambda values: kind(**{part.name: values.pop(part.name) for part in parts})
    )


def _shared_options(keys: Sequence[str], *, has_db: bool = True) -> _Option:
    """Add --config, --db and the settings' flags; the command receives them as `flags`.

    The command's options named in `CHOOSING` become part of `flags`, too.
    """
    file = click.Path(path_type=Path, dir_okay=False)
    shared = partial(click.option, cls=SharedOption)
    options = [shared("--config", type=file, metavar="FILE", help="Configuration file to use.")]
    if has_db:
        options.append(shared("--db", type=file, metavar="FILE", help="Database file to use."))
    for key in keys:
        known, name = sections.SETTINGS[key], key.replace(".", "_")
        help_text = f"{known.help[0].upper()}{known.help[1:]}."
        completer = shell_values.BY_SETTING.get(key) or shell_values.one_of(known.choices)
        option = shared(  # the value itself is checked with the settings
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
"""The options that choose a conversation."""


def project_option(help_text: str) -> _Option:
    completer = shell_values.PROJECTS
    return click.option("--project", metavar="NAME", help=help_text, shell_complete=completer)


in_project = project_option("Project of the conversation (default: any).")
as_temporary = click.option(
    "--temporary",
    is_flag=True,
    help="Use a new conversation that is kept out of memory and deleted afterwards.",
)


as_new = click.option(
    "--new/--continue",
    "new",
    help="Start a new conversation or continue the most recent one (default: continue).",
)


def in_conversation(command: _Command) -> _Command:
    """Add --conversation and --project."""
    named = click.option(
        "--conversation",
        metavar="ID",
        help="Conversation id or title (default: the most recent).",
        shell_complete=shell_values.CONVERSATIONS,
    )
    return named(in_project(command))


_FLAGGED = [key for key, known in sections.SETTINGS.items() if known.flag]

location_options = _shared_options([])
embedder_options = _shared_options([key for key in _FLAGGED if key.startswith("embedder.")])
_ENDPOINT = ["provider.base_url", "provider.limit", "provider.reserve"]
endpoint_options = _shared_options(_ENDPOINT)
measuring_options = _shared_options(["embedder.name", "embedder.path", *_ENDPOINT])
recall_options = _shared_options(["embedder.path", *_ENDPOINT])
"""Without --embedder: several are measured."""
provider_options = _shared_options(["provider.name", "provider.base_url"])
model_options = _shared_options(
    [key for key in _FLAGGED if key.startswith(("provider.", "embedder."))]
)
common_options = _shared_options(_FLAGGED)
tour_options = _shared_options([key for key in _FLAGGED if key != "chat.mode"], has_db=False)
"""Without --mode and --db: the tour shows several modes and uses a temporary database."""
