"""Shell completion of values: conversation ids, projects, personas, providers, settings.

Invariant: completing prints, changes and waits for nothing; unreadable data gives no completions.
Only values that need no quotes in any shell are offered: bash inserts them as they are, even after
a quote that the user opened.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from jitchat.errors import JitchatError
from jitchat.paths import locate
from jitchat.text.sanitize import for_terminal, one_line, shorten

if TYPE_CHECKING:
    from jitchat.store.names import ConversationName

_Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]
_PLAIN = re.compile(r"\w[\w.:/@%+=-]*")
"""A value that means itself in every shell."""
_HELP = 60
"""Maximum characters of a value's description."""


def _completer(values: Callable[[], Iterable[tuple[str, str]]]) -> _Completer:
    """Make click's completion function from values and their descriptions."""

    def complete(
        context: click.Context, parameter: click.Parameter, typed: str
    ) -> list[CompletionItem]:
        del context, parameter
        with suppress(JitchatError):
            return [
                CompletionItem(value, help=for_terminal(shorten(about, _HELP)).cells)
                for value, about in values()
                if value.startswith(typed) and _PLAIN.fullmatch(value)
            ]
        return []

    return complete


def one_of(choices: Sequence[str]) -> _Completer:
    return _completer(lambda: ((choice, "") for choice in choices))


def _conversations() -> "list[ConversationName]":
    from jitchat.store.names import conversation_names  # noqa: PLC0415  not for every command

    return conversation_names(locate(os.environ).database)


def _ids() -> Iterator[tuple[str, str]]:
    return ((one_line(each.id), each.title) for each in _conversations())


def _projects() -> Iterator[tuple[str, str]]:
    return ((name, "") for name in dict.fromkeys(each.project for each in _conversations()))


def _personas() -> Iterator[tuple[str, str]]:
    from jitchat.settings import load_settings  # noqa: PLC0415

    settings = load_settings(locate(os.environ).config, os.environ)
    return ((name, persona.system) for name, persona in settings.personas.items())


def _providers() -> Iterator[tuple[str, str]]:
    from jitchat.settings import load_settings  # noqa: PLC0415

    settings = load_settings(locate(os.environ).config, os.environ)
    return ((name, "") for name in settings.provider_names())


def _settings() -> Iterator[tuple[str, str]]:
    from jitchat.settings.sections import SETTINGS  # noqa: PLC0415

    return ((key, known.help) for key, known in SETTINGS.items())


CONVERSATIONS = _completer(_ids)
PROJECTS = _completer(_projects)
SETTINGS = _completer(_settings)
BY_SETTING = {"chat.persona": _completer(_personas), "provider.name": _completer(_providers)}
"""Completers for the flags of settings whose values are the user's own names."""
