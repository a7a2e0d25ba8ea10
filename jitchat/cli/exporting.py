"""`jitchat export` and `jitchat backup`: conversations, or the whole database, to a file."""

import codecs
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from jitchat.cli import cold_store, options, output
from jitchat.errors import UsageError
from jitchat.store.store import ColdStore
from jitchat.text.figures import megabytes, plural
from jitchat.transfer.export import Write
from jitchat.transfer.exports import EXPORTS
from jitchat.values import Conversation

_FORMATS = "; ".join(f"{each.name}: {each.description}" for each in EXPORTS.values())


@click.command("export", cls=options.SharingCommand)
@options.conversation_option(
    "Conversation id or title (default: the most recent; repeatable).", "wanted", multiple=True
)
@options.flag("--all", "Export every conversation.", name="is_all")
@options.flag(
    "--format", f"{_FORMATS}.", name="name", type=click.Choice(list(EXPORTS)), default="markdown"
)
@options.flag("--out FILE", "Output file (default: standard output).", type=options.FILE)
def export_command(
    flags: options.Flags, wanted: tuple[str, ...], name: str, out: Path | None, *, is_all: bool
) -> None:
    """Export conversations as Markdown, JSON, JSONL or HTML.

    JSON contains every branch, with the project's facts and memory document, and can be imported
    again. The other formats contain the current branch.
    """
    if is_all and wanted:
        raise UsageError("--all and --conversation cannot be combined.", "Give one of them.")
    with cold_store.opened_store(flags.paths()) as store:
        names = wanted or ((flags.conversation,) if flags.conversation else ())
        conversations = _chosen(store, names, is_all=is_all)
        with _writer(out) as write:
            EXPORTS[name].write(store, conversations, write)
    if out is not None:
        output.say(f"{plural(len(conversations), 'conversation')} exported to {out}.", err=True)


def _chosen(store: ColdStore, names: Sequence[str], *, is_all: bool) -> list[Conversation]:
    if names:
        found = [store.conversation(name) for name in names]
        return list({each.id: each for each in found}.values())
    known = store.conversations()
    if not known:
        raise UsageError("There are no conversations.", "Start a chat, or import some.")
    return known if is_all else known[:1]


@contextmanager
def _writer(out: Path | None) -> Iterator[Write]:
    """Write to standard output, or to a file that appears once it is complete."""
    if out is None:
        if sys.stdout is None:
            raise UsageError("Standard output is closed.", "Name a file with --out.")
        encoding = getattr(sys.stdout, "encoding", None) or "ascii"
        if codecs.lookup(encoding).name not in ("utf-8", "utf-8-sig"):
            raise UsageError("Standard output is not UTF-8.", "Name a file with --out.")
        yield lambda piece: output.say(piece, newline=False)
        return
    output.require_writable(out)
    part = out.with_name(f"{out.name}.part")
    try:
        # conversations are private to their owner
        handle = os.open(part, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            yield file.write
        part.replace(out)
    except OSError as error:
        raise output.OutputError(f"{out} cannot be written: {error.strerror}.") from error
    finally:
        part.unlink(missing_ok=True)


@click.command("backup", cls=options.SharingCommand)
@click.argument("file", type=options.PATH)
def backup_command(flags: options.Flags, file: Path, as_json: bool) -> None:
    """Copy the database to FILE, which must not exist.

    The copy contains everything that the database contains, and can be opened with --db. Erasing a
    conversation does not change it. jitchat can be in use meanwhile.
    """
    with cold_store.opened_store(flags.paths()) as store:
        size = store.database.back_up(file)
    text = f"{store.database.path} was copied to {file}: {megabytes(size)}."
    output.tell({"file": str(file), "bytes": size}, text, as_json=as_json)
