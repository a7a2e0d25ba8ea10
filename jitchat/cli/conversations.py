"""`jitchat conversations` and `jitchat import`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from jitchat.cli.options import Flags, common_options
from jitchat.text.safe import visible


@click.command("conversations")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@common_options
def conversations_command(flags: Flags, as_json: bool) -> None:
    """List the conversations, the one touched last first."""
    from jitchat.cli.compose import open_store  # noqa: PLC0415

    found = open_store(flags.paths()).conversations()
    if as_json:
        rows = [
            {
                "id": each.id,
                "title": each.title,
                "turns": each.turns,
                "created_at": each.created_at.isoformat(),
                "updated_at": each.updated_at.isoformat(),
            }
            for each in found
        ]
        click.echo(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    for each in found:
        day = f"{each.updated_at:%Y-%m-%d %H:%M}"
        click.echo(visible(f"{each.id:<16} {each.turns:>7,} turns  {day}  {each.title}"))
    if not found:
        click.echo("There are no conversations yet. Start `jitchat`, or import one.")


@click.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--pick", metavar="NAME", help="Only this conversation of the file.")
@click.option("--no-vectors", is_flag=True, help="Index without vectors; they can follow later.")
@common_options
def import_command(flags: Flags, file: Path, pick: str | None, no_vectors: bool) -> None:
    """Import conversations from FILE: LoCoMo's JSON, or a JSON or JSONL list of turns."""
    from jitchat.cli.compose import make_embedder, open_store  # noqa: PLC0415
    from jitchat.memory.embedder import NoEmbedder  # noqa: PLC0415
    from jitchat.transfer.formats import read_file  # noqa: PLC0415
    from jitchat.transfer.intake import index_conversation, store_found  # noqa: PLC0415

    settings, paths = flags.settings(), flags.paths()
    found = read_file(file, pick)
    store = open_store(paths)
    embedder = NoEmbedder() if no_vectors else make_embedder(settings, paths)
    for each in found:
        if not each.turns:
            click.echo(visible(f"{each.id}: nothing to take{_reasons(each.skipped)}"))
            continue
        made = store_found(store, each)
        with click.progressbar(length=made.turns, label=visible(f"{made.id}: indexing")) as bar:
            for progress in index_conversation(store, made, embedder):
                bar.update(progress.done - bar.pos)
        click.echo(
            visible(f"{made.id}: {made.turns:,} turns taken as “{made.title}”")
            + visible(_reasons(each.skipped))
        )


def _reasons(skipped: dict[str, int]) -> str:
    """What was left out and why, as the end of a sentence."""
    total = sum(skipped.values())
    if not total:
        return ", nothing left out"
    return f", {total:,} left out or changed: " + ", ".join(
        f"{count:,} {reason}" for reason, count in sorted(skipped.items())
    )
