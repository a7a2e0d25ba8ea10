"""`jitchat import`: conversations from a file, and a report of what was taken."""

from collections.abc import Mapping
from pathlib import Path

import click

from jitchat.cli import compose
from jitchat.cli.opening import opened_store
from jitchat.cli.options import Flags, SharingCommand, embedder_options
from jitchat.cli.output import progress, say, warn
from jitchat.index.embedder import Embedder, NoEmbedder
from jitchat.store.store import ColdStore
from jitchat.text.figures import plural
from jitchat.transfer.formats import read_file, store_all
from jitchat.transfer.report import FileConversation
from jitchat.values import Conversation


@click.command("import", cls=SharingCommand)
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--pick", metavar="NAME", help="Take only this conversation of the file.")
@click.option("--no-vectors", is_flag=True, help="Index without vectors; they follow later.")
@embedder_options
def import_command(flags: Flags, file: Path, pick: str | None, no_vectors: bool) -> None:
    """Import conversations from a file.

    FILE is LoCoMo's JSON, or a JSON or JSONL list of objects with role and content, perhaps
    with created_at and name.
    """
    settings, paths = flags.settings(), flags.paths()
    found = read_file(file, pick)
    embedder = NoEmbedder() if no_vectors else compose.make_embedder(settings, paths, warn)
    with opened_store(paths) as store:
        for each, made in store_all(store, found):
            say(_report(each, made))
            if made is not None:
                _index(store, made, embedder)


def _index(store: ColdStore, conversation: Conversation, embedder: Embedder) -> None:
    from jitchat.index.indexer import Indexer  # noqa: PLC0415  loads numpy

    indexer = Indexer(store, conversation.id, embedder)
    with progress(f"{conversation.id}: indexing", conversation.turns) as advance:
        try:
            for entries in indexer.catch_up():
                advance(len(entries))
        except KeyboardInterrupt:
            say(
                f"{conversation.id} is stored; what is not indexed yet is, when it is next used.",
                err=True,
            )
            raise
    if indexer.failure:
        say(f"{conversation.id} has no vectors yet: {indexer.failure}", err=True)


def _report(found: FileConversation, made: Conversation | None) -> str:
    """Say what became of one conversation of the file."""
    parts = [f"{plural(made.turns, 'turn')} taken as “{made.title}”" if made else "nothing to take"]
    if made and made.id != found.id:
        parts.append(f"stored as {made.id}")
    left = _listed(found.skipped)
    parts.append(f"left out: {left}" if left else "nothing left out")
    if found.changed:
        parts.append(f"taken with a change: {_listed(found.changed)}")
    return f"{found.id}: {'; '.join(parts)}"


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {reason}" for reason, count in sorted(counts.items()))
