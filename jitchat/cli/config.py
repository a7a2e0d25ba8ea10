"""`jitchat config`, `paths` and `conversations`: what there is, and where it comes from."""

import os
from collections.abc import Iterator

import click

from jitchat.cli import cold_store, options, output
from jitchat.settings import Settings, keys, load
from jitchat.store.windows import Spent, WindowArchive
from jitchat.text.figures import local
from jitchat.values import DEFAULT_PROJECT, Conversation


@click.command("paths", cls=options.SharingCommand)
@options.location_options
def paths_command(flags: options.Flags) -> None:
    """Print where things are, and what decided it."""
    rows = [
        (name, str(path), origin if path.exists() else f"{origin} (not there yet)")
        for name, path, origin in flags.paths().rows()
    ]
    output.print_columns(rows)


@click.command("config", cls=options.SharingCommand)
@options.common_options
def config_command(flags: options.Flags) -> None:
    """Print every setting and where its value comes from."""
    settings = cold_store.load_settings(flags)
    cold_store.check_key_bindings(settings)
    output.print_columns(list(_with_the_key(settings, flags)))
    for warning in load.unknown_variables(os.environ):
        output.say(warning, err=True)


def _with_the_key(settings: Settings, flags: options.Flags) -> Iterator[tuple[str, str, str]]:
    """Go through every setting; the key is told of wherever it comes from, and never shown."""
    for key, value, origin in settings.rows():
        if key == "provider.api_key" and origin == "default":
            source = keys.key_source(settings.in_use(), os.environ, flags.paths().keys)
            yield (key, "set (hidden)", source) if source else (key, value, origin)
        else:
            yield key, value, origin


@click.command("conversations", cls=options.SharingCommand)
@options.in_project
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@options.location_options
def conversations_command(flags: options.Flags, as_json: bool) -> None:
    """List the conversations, the one touched last first."""
    with cold_store.opened_store(flags.paths()) as store:
        conversations = [
            known for known in store.conversations() if flags.project in (None, known.project)
        ]
        spent = WindowArchive(store.database).spent_by_conversation() if as_json else {}
    if as_json:
        output.say_json([_fields(known, spent.get(known.id, Spent())) for known in conversations])
    elif conversations:
        in_projects = any(known.project != DEFAULT_PROJECT for known in conversations)
        rows = [
            (
                known.id,
                f"{known.turns:,} turns",
                f"{local(known.updated_at):%Y-%m-%d %H:%M}",
                *([known.project] if in_projects else []),
                known.title + (" (temporary)" if known.is_temporary else ""),
            )
            for known in conversations
        ]
        output.print_columns(rows, right=(1,))
    else:
        output.say("There are no conversations yet. Start `jitchat`, or import one.")


def _fields(conversation: Conversation, spent: Spent) -> dict[str, str | int | float]:
    """Turn it into what JSON knows; the cost is in US dollars, but for replies of unknown cost."""
    return {
        "id": conversation.id,
        "title": conversation.title,
        "project": conversation.project,
        "temporary": conversation.is_temporary,
        "turns": conversation.turns,
        "created_at": conversation.created_at.isoformat(),
        "updated_at": conversation.updated_at.isoformat(),
        "cost": spent.amount,
        "cost_unknown": spent.unknown,
    }
