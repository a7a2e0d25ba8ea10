"""`jitchat folders`: the folders that the user allowed mentions to attach files from."""

from collections.abc import Sequence
from pathlib import Path

import click

from jitchat.cli import cold_store, options, output
from jitchat.store.pins import AllowedFolders
from jitchat.text.sanitize import one_line


@click.command("folders", cls=options.SharingCommand)
@options.flag(
    "--forget FOLDER",
    "Ask again before a mention attaches files of FOLDER (repeatable).",
    multiple=True,
)
def folders_command(flags: options.Flags, forget: Sequence[str]) -> None:
    """List the folders whose files @path may attach.

    Before it attaches hidden files or files outside the current folder, the chat asks once for each
    folder. This lists the folders that are still allowed.
    """
    with cold_store.opened_store(flags.paths()) as store:
        allowed = AllowedFolders(store.database)
        for folder in forget:
            allowed.remove(str(Path(folder).expanduser().resolve()))
        for path in sorted(allowed.all()):
            output.say(one_line(path))
