"""Options shared by commands, and loading the settings with them applied."""

import os
import re
import stat
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields, is_dataclass
from enum import StrEnum
from functools import partial, wraps
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from jitchat.cli import output, shell_values
from jitchat.draft import Draft
from jitchat.errors import SettingsError, UsageError
from jitchat.paths import Paths, is_missing, locate
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
        names = [field.name for field in fields(self)]
        merged: dict[str, Any] = {
            name: getattr(self, name) or getattr(other, name) for name in names
        }
        return Flags(**merged | {"given": {**other.given, **self.given}})

    def paths(self) -> Paths:
        return locate(os.environ, self.config, self.database)

    def settings(self, picked: tuple[str, str] | None = None) -> "Settings":
        """Load the settings and apply these flags.

        `picked` is the provider and model picked in the app; used if nothing else names one.
        """
        from jitchat.settings import load_settings  # noqa: PLC0415  not needed for --help

        config = self.paths().config
        if self.config is not None and is_missing(config):
            raise SettingsError(f"--config: there is no file {config}.", "Check the name.")
        return load_settings(config, os.environ, self.given, picked)


def text_given(text: str) -> str:
    """Return the text, or standard input if the text is `-`."""
    return text if text != "-" else _standard_input()


def text_and_piped(text: str | None) -> Draft:
    """Return the text, followed by anything piped or redirected into the command.

    With `-`, or without a text if something is piped, return standard input alone, which is
    foreign.
    """
    if text == "-" or (text is None and is_piped()):
        return Draft.foreign(_standard_input())
    if text is None:
        raise UsageError(
            "TEXT is missing.", 'Give a message, as in jitchat send "…", or pipe it in.'
        )
    piped = _standard_input() if is_piped() else ""
    typed = Draft.by_user(text)
    return typed + Draft.foreign(f"\n\n{piped}") if piped.strip() else typed


def is_piped() -> bool:
    """Whether standard input is a pipe or a file, and so meant for the command."""
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (AttributeError, OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode)


_PATIENCE = 1.0
"""Seconds of reading after which the command says what it waits for."""
_WAITS = "waiting for the end of standard input. `< /dev/null` gives the command none."


def _standard_input() -> str:
    """Read the text as it is, except for a byte-order mark.

    Raises:
        UsageError: It is not text in UTF-8.

    """
    waiting = threading.Timer(_PATIENCE, output.warn, [_WAITS])
    waiting.daemon = True
    waiting.start()
    data = sys.stdin.buffer.read() if sys.stdin else b""
    waiting.cancel()
    text = require_text(data.decode("utf-8", "surrogateescape"), "Standard input")
    if text.startswith("\ufeff"):
        output.warn("the byte-order mark of standard input was taken off.")
    return text.removeprefix("\ufeff")


_NO_TEXT = re.compile("[\0\ud800-\udfff]")


def require_text(text: str, name: str) -> str:
    """Refuse a text with a NUL or, as a lone surrogate, a byte that is not UTF-8."""
    if (found := _NO_TEXT.search(text)) is not None:
        at = len(text[: found.start()].encode("utf-8", "surrogateescape"))
        what = "a NUL" if found[0] == "\0" else "no UTF-8"
        raise UsageError(f"{name} has {what} at byte {at:,}.", "Give a text in UTF-8.")
    return text


def turn_number(text: str) -> int:
    """Read `12` or `#12`; a click type."""
    digits = text.removeprefix("#")
    if not (digits.isascii() and digits.isdigit() and len(digits) < 10):
        raise UsageError(f"{text!r} is not a turn number.", "Write it as 12 or '#12'.")
    return int(digits)


_OF_OTHERS = re.compile(r"[./ _]\w")
"""Found in names of files, facts and tools."""


def turn_name(text: str) -> int | str:
    """Read a turn number, or the name of a row: `chat-3#12`, a file, `fact 7`; a click type."""
    if "#" not in text and _OF_OTHERS.search(text):
        return text
    conversation, sign, number = text.rpartition("#")
    return f"{conversation}#{turn_number(number)}" if conversation and sign else turn_number(text)


def known_name(flag: str, name: str, names: Sequence[str]) -> str:
    if name not in names:
        quoted = repr(shorten(name, 60))
        plain = [str(known) for known in names]  # not members, whose repr is not their name
        raise UsageError(f"{flag} cannot be {quoted}.", checks.choose_one(name, plain))
    return name


def names_of(flag: str, text: str, kind: type[_Name]) -> tuple[_Name, ...]:
    """Parse a list of names, each once, in the given order."""
    names = [member.value for member in kind]
    given = [piece.strip() for piece in text.split(",")]
    return tuple(dict.fromkeys(kind(known_name(flag, name, names)) for name in given))


COUNT = click.IntRange(min=1)
PATH = click.Path(path_type=Path)
FILE = click.Path(path_type=Path, dir_okay=False)


def flag(usage: str, help_text: str, *, name: str = "", **more: Any) -> _Option:  # noqa: ANN401
    """Add an option as the help shows it: `--limit N`. Without a placeholder it takes no value.

    The command receives its value as `name`; by default, `--no-index` is `no_index`.
    """
    spelling, _, placeholder = usage.partition(" ")
    names = [spelling, name] if name else [spelling]
    return click.option(*names, **_described(help_text, placeholder, more))


def _described(help_text: str, placeholder: str, more: dict[str, Any]) -> dict[str, Any]:
    """Return click's arguments for an option."""
    described: dict[str, Any] = {
        "help": help_text,
        "show_default": more.get("default") is not None,
    }
    if placeholder:
        described["metavar"] = placeholder
    elif "type" not in more:
        described["is_flag"] = True
    return described | more


attaching = flag(
    "--attach PATH",
    "Attach a file, a folder or a glob pattern (repeatable).",
    name="attached",
    multiple=True,
)


class SharedOption(click.Option):
    """An option shared by several commands; listed after a command's own options."""


class SharingCommand(click.Command):
    """A command whose help lists its own options and the shared ones separately.

    If its function takes a dataclass of options, it has these. If its function takes `as_json`, it
    has the option --json. If its function takes `flags`, it has --config and --db, unless the
    function has shared options already.
    """

    def __init__(
        self,
        name: str | None,
        *,
        callback: _Command,
        params: list[click.Parameter],
        **more: Any,  # noqa: ANN401  as click calls it
    ) -> None:
        arguments = signature(callback).parameters
        existing = {parameter.name for parameter in params}
        for argument in arguments.values():
            if parts := _option_fields(argument.annotation):
                callback = _options_as(argument.name, argument.annotation, parts)(callback)
                params.extend(reversed(vars(callback).pop("__click_params__")))
        if "as_json" in arguments and "as_json" not in existing:
            params.append(click.Option(["--json", "as_json"], is_flag=True, help="Print JSON."))
        if "flags" in arguments and "config" not in existing:
            callback = location_options(callback)
            params.extend(reversed(vars(callback)["__click_params__"]))
        super().__init__(name, callback=callback, params=params, **more)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        flags = [each for each in self.params if "--json" in each.opts]
        if "--json" in args and any(getattr(each, "is_flag", False) for each in flags):
            output.expect_json(expected=True)
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        parts: dict[str, list[tuple[str, str]]] = {"Options": [], "Settings": []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None and not isinstance(parameter, click.Argument):
                shared = isinstance(parameter, SharedOption)
                parts["Settings" if shared else "Options"].append(record)
        for title, records in parts.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


class SharingGroup(SharingCommand, click.Group):
    """A group with such a help page; its commands come first, in the order they were added."""

    command_class = SharingCommand

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.format_commands(ctx, formatter)
        super().format_options(ctx, formatter)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  click's signature
        return list(self.commands)


class ListingGroup(SharingGroup):
    """A group that runs its command `list` if no command is named."""

    def __init__(self, name: str | None, **more: Any) -> None:  # noqa: ANN401  as click calls it
        super().__init__(name, invoke_without_command=True, **more)

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401  as click's
        value = super().invoke(ctx)
        return value if ctx.invoked_subcommand else ctx.forward(self.commands["list"])


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


def option(help_text: str, placeholder: str = "", **more: Any) -> Any:  # noqa: ANN401  as its field's type
    """Make a dataclass field that is also an option: `judge_model` becomes `--judge-model`.

    Without a placeholder it takes no value.
    """
    return field(metadata=_described(help_text, placeholder, more))


def count_option(help_text: str, most: int | None = None, **more: Any) -> Any:  # noqa: ANN401
    """Make such a field for a whole number from 1 to `most`."""
    return option(help_text, "N", type=click.IntRange(1, most), **more)


def _option_fields(kind: Any) -> list[Field[Any]]:  # noqa: ANN401  what an argument is declared as
    """Return the fields of a dataclass that are options; none for anything else."""
    return [part for part in fields(kind) if part.metadata] if is_dataclass(kind) else []


def _options_as(name: str, kind: type[Any], parts: Sequence[Field[Any]]) -> _Option:
    """Add a dataclass's options to a command, which receives an instance as the argument `name`."""
    options = [click.option(f"--{part.name.replace('_', '-')}", **part.metadata) for part in parts]
    return _made_of(
        options, name, lambda values: kind(**{part.name: values.pop(part.name) for part in parts})
    )


def _shared_options(keys: Sequence[str], *, has_db: bool = True) -> _Option:
    """Add --config, --db and the settings' flags; the command receives them as `flags`.

    The command's options named in `CHOOSING` become part of `flags`, too. Those given before a
    command of a group hold for the command.
    """
    shared = partial(click.option, cls=SharedOption)
    options = [shared("--config", type=FILE, metavar="FILE", help="Configuration file to use.")]
    if has_db:
        options.append(shared("--db", type=FILE, metavar="FILE", help="Database file to use."))
    for key in keys:
        known, name = sections.SETTINGS[key], key.replace(".", "_")
        help_text = f"{known.help[0].upper()}{known.help[1:]}."
        kind = _number_or_word if known.kind is int and known.choices else known.kind
        completer = shell_values.BY_SETTING.get(key) or shell_values.one_of(known.choices)
        option = shared(  # the value itself is checked with the settings
            known.flag, name, type=kind, metavar=known.unit, help=help_text,
            shell_complete=completer,
        )  # fmt: skip
        options.append(option)

    def make(values: dict[str, Any]) -> Flags:
        values_by_key = {key: values.pop(key.replace(".", "_")) for key in keys}
        given = {key: value for key, value in values_by_key.items() if value is not None}
        config, database = values.pop("config"), values.pop("db", None)
        chosen = {name: values.pop(name) for name in CHOOSING if name in values}
        flags = Flags(config, database, given, **chosen)
        context = click.get_current_context()
        if isinstance(context.obj, Flags):
            flags = flags.over(context.obj)
        if isinstance(context.command, click.Group):
            context.obj = flags
        return flags

    return _made_of(options, "flags", make)


def _number_or_word(text: str) -> int | str:
    """Read `8000` or `auto`; a click type."""
    return int(text) if text.isdecimal() else text


CHOOSING = ("conversation", "project", "temporary", "new")
"""The options that choose a conversation."""


def project_option(help_text: str) -> _Option:
    return flag("--project NAME", help_text, shell_complete=shell_values.PROJECTS)


def conversation_option(help_text: str, *names: str, **more: Any) -> _Option:  # noqa: ANN401
    more = {"metavar": "ID", "shell_complete": shell_values.CONVERSATIONS, **more}
    return click.option("--conversation", *names, help=help_text, **more)


in_project = project_option("Project of the conversation (default: any).")
as_temporary = flag(
    "--temporary", "Use a new conversation that is kept out of memory and deleted afterwards."
)


as_new = flag(
    "--new/--continue",
    "Start a new conversation or continue the most recent one (default: continue).",
    name="new",
)


def in_conversation(command: _Command) -> _Command:
    """Add --conversation and --project."""
    named = conversation_option("Conversation id or title (default: the most recent).")
    return named(in_project(command))


_FLAGGED = [key for key, known in sections.SETTINGS.items() if known.flag]

location_options = _shared_options([])
embedder_options = _shared_options([key for key in _FLAGGED if key.startswith("embedder.")])
_ENDPOINT = ["provider.base_url", "provider.limit", "provider.reserve"]
endpoint_options = _shared_options(_ENDPOINT)
_PLANNED = ["embedder.path", *_ENDPOINT, "window.size", "tools.request_context"]
measuring_options = _shared_options(["embedder.name", *_PLANNED])
recall_options = _shared_options(_PLANNED)
"""Without --embedder: several are measured."""
provider_options = _shared_options(["provider.name", "provider.base_url"])
model_options = _shared_options(
    [key for key in _FLAGGED if key.startswith(("provider.", "embedder."))]
)
common_options = _shared_options(_FLAGGED)
tour_options = _shared_options([key for key in _FLAGGED if key != "chat.mode"], has_db=False)
"""Without --mode and --db: the tour shows several modes and uses a temporary database."""
