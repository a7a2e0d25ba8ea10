"""`jitchat conversations`: list, search and manage conversations."""

from dataclasses import dataclass
from typing import Any

import click

from jitchat.cli import cold_store, options, output, shell_values
from jitchat.errors import UsageError
from jitchat.lab.run_file import Runs
from jitchat.store import deletion
from jitchat.store.requests import RequestLog, Spent
from jitchat.store.search import FILTERS, SYNTAX, Filter, Found, parse_query
from jitchat.store.store import ColdStore
from jitchat.text.figures import megabytes, plural
from jitchat.text.sanitize import one_line
from jitchat.text.words import fold
from jitchat.values import DEFAULT_PROJECT, Conversation

_QUERY = click.argument("query", nargs=-1)
_ID = click.argument("wanted", metavar="ID", shell_complete=shell_values.CONVERSATIONS)
_FILTERS = f"Filters: {SYNTAX}"
_LOG_IS_READ = (
    "another jitchat is open: the database's log keeps the deleted text until that one is closed."
)


@dataclass(frozen=True, slots=True)
class HowToDelete:
    yes: bool = options.option("Delete without asking for confirmation.")
    erase: bool = options.option(
        "Remove its text from the database file entirely, and the memory made from it."
    )
    keep_memory: bool = options.option("With --erase: keep facts and document lines.")


_IN_PROJECT = options.project_option("List only this project's conversations.")


@click.group("conversations", cls=options.ListingGroup)
@_IN_PROJECT
@options.flag("--json", "Print JSON.", name="as_json")
@options.location_options
def conversations_command(**_: object) -> None:
    """List, search, rename, tag, archive and delete conversations.

    Without a command, the conversations are listed, most recent first. ID is an id or a title.
    """


@conversations_command.command("list", epilog=_FILTERS)
@_QUERY
@_IN_PROJECT
def list_command(flags: options.Flags, query: tuple[str, ...], as_json: bool) -> None:
    """List the conversations that match QUERY.

    QUERY consists of words of the title and of filters.
    """
    _list(flags, _joined(query), as_json=as_json)


@conversations_command.command("search", epilog=_FILTERS)
@_QUERY
@options.flag("--limit N", "Maximum number of results.", type=options.COUNT, default=50)
def search_command(flags: options.Flags, query: tuple[str, ...], as_json: bool, limit: int) -> None:
    """Find the turns that contain all words of QUERY, best match first.

    Tools, files, reasoning, titles, tags and system prompts are searched, too. Words in quotes are
    found in that order and form. With filters alone, conversations are listed.
    """
    with cold_store.opened_store(flags.paths()) as store:
        text, where = parse_query(_joined(query), store.now())
        if not text and where == Filter(is_archived=False):
            raise UsageError("There is nothing to search for.", "Name a word or a filter.")
        titles = {known.id: known.title for known in store.conversations()}
        matches = store.search(text, limit, where=where)
    if not text:
        _list(flags, _joined(query), as_json=as_json)
        return
    if as_json:
        output.say_json([{**hit._asdict(), "title": titles[hit.conversation]} for hit in matches])
        return
    for match in matches:
        place = f"{match.conversation} #{match.position}" if match.position else match.conversation
        part = f" ({one_line(match.part)})" if match.part else ""
        output.say_painted((place, "cyan"), (f"{part}  ", None), *_marked(match))
    if matches.notice or not matches:
        output.say(matches.notice or "Nothing found.", err=True)


@conversations_command.command("rename")
@_ID
@click.argument("title")
def rename_command(flags: options.Flags, wanted: str, title: str, as_json: bool) -> None:
    """Rename a conversation to TITLE."""
    with cold_store.opened_store(flags.paths()) as store:
        found = store.conversation(wanted)
        store.rename(found.id, title)
        _print_outcome(store, found.id, "was renamed", as_json=as_json)


@conversations_command.command("archive")
@_ID
@options.flag("--undo", "Restore an archived conversation.")
def archive_command(flags: options.Flags, wanted: str, undo: bool, as_json: bool) -> None:
    """Hide a conversation from lists and searches.

    The filter is:archived still finds it.
    """
    with cold_store.opened_store(flags.paths()) as store:
        found = store.conversation(wanted)
        store.archive(found.id, archived=not undo)
        what = "was restored" if undo else "was archived"
        _print_outcome(store, found.id, what, as_json=as_json)


@conversations_command.command("tag")
@_ID
@click.argument("tags", metavar="TAG...", nargs=-1, required=True)
@options.flag("--remove", "Remove the tags instead.")
def tag_command(
    flags: options.Flags, wanted: str, tags: tuple[str, ...], remove: bool, as_json: bool
) -> None:
    """Add tags to a conversation; each TAG is one word."""
    with cold_store.opened_store(flags.paths()) as store:
        found = store.conversation(wanted)
        store.tag(found.id, () if remove else tags, tags if remove else ())
        has = " ".join(f"#{tag}" for tag in store.conversation(found.id).tags) or "no tags"
        _print_outcome(store, found.id, f"has {has}", as_json=as_json)


@conversations_command.command("delete")
@_ID
def delete_command(flags: options.Flags, wanted: str, how: HowToDelete, as_json: bool) -> None:
    """Delete a conversation permanently.

    Its forks, windows and index are deleted, too. Facts and document lines made from it remain,
    marked as having a deleted source.
    """
    if how.keep_memory and not how.erase:
        raise UsageError("--keep-memory requires --erase.", "Without --erase, memory is kept.")
    with cold_store.opened_store(flags.paths()) as store:
        found = store.conversation(wanted)
        turns = plural(found.turns, "turn")
        if not output.may_delete(f"Delete {found.id} ({turns})?", given=how.yes):
            raise click.Abort
        if not how.erase:
            deletion.delete_conversation(store, found.id)
        elif not deletion.erase(store, found.id, with_memory=not how.keep_memory):
            output.warn(_LOG_IS_READ)
    if how.erase and (copies := Runs(flags.paths().rot).copies_of(found.id)):
        output.warn(copies)
    fields = {"id": found.id, "deleted": True, "erased": how.erase}
    text = f"{found.id} was {'erased' if how.erase else 'deleted'}: {found.title}"
    output.tell(fields, text, as_json=as_json)


@conversations_command.command("vacuum")
def vacuum_command(flags: options.Flags, as_json: bool) -> None:
    """Rewrite the database to free disk space.

    Deleted data is dropped from the file. This temporarily needs twice the size of the database. It
    also completes an erasure that had too little space.
    """
    path = flags.paths().database
    with cold_store.opened_store(flags.paths()) as store:
        before = path.stat().st_size
        if not deletion.vacuum(store):
            output.warn(_LOG_IS_READ)
        after = path.stat().st_size
    text = f"{path} was rewritten: {megabytes(after)}, previously {megabytes(before)}."
    output.tell({"bytes": after, "bytes_before": before}, text, as_json=as_json)


def _joined(query: tuple[str, ...]) -> str:
    """Join the shell's words, quoting again the value of a filter that has blanks."""
    return " ".join(map(_quoted, query))


def _quoted(word: str) -> str:
    """Quote the value of a word that is one filter: `project:Wine cellar`."""
    name, _, value = word.partition(":")
    others = [each.partition(":") for each in value.split()[1:]]
    is_one = others and not any(colon and each in FILTERS for each, colon, _ in others)
    return f'{name}:"{value}"' if name in FILTERS and is_one and '"' not in value else word


def _marked(found: Found) -> list[tuple[str, str | None]]:
    """Divide an excerpt into its matches, with their colour, and the text between."""
    pieces: list[tuple[str, str | None]] = []
    at = 0
    for start, end in found.marks:
        pieces += [(found.excerpt[at:start], None), (found.excerpt[start:end], "green")]
        at = end
    return [*pieces, (found.excerpt[at:], None)]


def _print_outcome(store: ColdStore, identity: str, what: str, *, as_json: bool) -> None:
    found = store.conversation(identity)
    spent = RequestLog(store.database).spent(identity)
    output.tell(_fields(found, spent), f"{identity} {what}: {found.title}", as_json=as_json)


def _list(flags: options.Flags, query: str, *, as_json: bool) -> None:
    with cold_store.opened_store(flags.paths()) as store:
        text, where = parse_query(query, store.now())
        conversations = [
            known
            for known in store.conversations(where)
            if flags.project in (None, known.project) and fold(text) in fold(known.title)
        ]
        spent = RequestLog(store.database).spent_by_conversation() if as_json else {}
    if as_json:
        output.say_json([_fields(known, spent.get(known.id, Spent())) for known in conversations])
    elif conversations:
        _print(conversations)
    elif where == Filter(is_archived=False) and not text:
        output.say("No conversations yet. Run `jitchat` to start one, or import some.", err=True)
    else:
        output.say("No matching conversations.", err=True)


def _print(conversations: list[Conversation]) -> None:
    in_projects = any(known.project != DEFAULT_PROJECT for known in conversations)
    rows = [
        (
            known.id,
            plural(known.turns, "turn"),
            f"{known.updated_at:%Y-%m-%d %H:%M}",
            *([known.project] if in_projects else []),
            " ".join((known.title, *marks_of(known))),
        )
        for known in conversations
    ]
    output.print_columns(rows, right=(1,))


def marks_of(known: Conversation) -> list[str]:
    marks = ["(temporary)"] * known.is_temporary + ["(archived)"] * known.is_archived
    marks += [f"(persona {known.persona})"] if known.persona else []
    return marks + [f"#{tag}" for tag in known.tags]


def _fields(conversation: Conversation, spent: Spent) -> dict[str, Any]:
    """Convert a conversation to JSON values; the cost is in US dollars, unknown costs excluded."""
    names = "id title project temporary=is_temporary archived=is_archived tags persona turns"
    return {
        **output.json_fields(conversation, f"{names} created_at updated_at"),
        "persona": conversation.persona or None,
        **output.json_fields(spent, "cost=amount cost_unknown=unknown"),
    }
