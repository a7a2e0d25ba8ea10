"""`jitchat backup`: a copy of the database."""

from pathlib import Path

import click

from jitchat.cli import cold_store, options, output
from jitchat.text.figures import megabytes


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
