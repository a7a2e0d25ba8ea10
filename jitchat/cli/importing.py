"""`jitchat import`: conversations from a file, and a report of what was taken."""

from collections.abc import Mapping
from pathlib import Path

import click

from jitchat import models
from jitchat.cli import cold_store, options, output
from jitchat.index.embedder import Embedder, NoEmbedder
from jitchat.index.indexer import Indexer
from jitchat.store.store import ColdStore
from jitchat.text.figures import plural
from jitchat.transfer.formats import read_file, store_all
from jitchat.transfer.report import FileConversation
from jitchat.values import Conversation


@click.command("import", cls=options.SharingCommand)
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--pick", metavar="NAME", help="Take only this conversation of the file.")
@click.option("--no-vectors", is_flag=True, help="Index without vectors; they follow later.")
@options.embedder_options
def import_command(flags: options.Flags, file: Path, pick: str | None, no_vectors: bool) -> None:
    """Import conversations from a file.

    FILE is LoCoMo's JSON, or a JSON or JSONL list of objects with role and content, perhaps
    with created_at and name.
    """
    settings, paths = flags.settings(), flags.paths()
    found = read_file(file, pick)
    embedder = NoEmbedder() if no_vectors else models.make_embedder(settings, paths, output.warn)
    with cold_store.opened_store(paths) as store:
        for conversation, made in store_all(store, found):
            output.say(_report(conversation, made))
            if made is not None:
                _index(store, made, embedder)


def _index(store: ColdStore, conversation: Conversation, embedder: Embedder) -> None:
    indexer = Indexer(store, conversation.id, embedder)
    with output.progress(f"{conversation.id}: indexing", conversation.turns) as advance:
        try:
            for entries in indexer.catch_up():
                advance(len(entries))
        except KeyboardInterrupt:
            output.say(
                f"{conversation.id} is stored; what is not indexed yet is, when it is next used.",
                err=True,
            )
            raise
    if indexer.failure:
        output.say(f"{conversation.id} has no vectors yet: {indexer.failure}", err=True)


def _report(found: FileConversation, made: Conversation | None) -> str:
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
