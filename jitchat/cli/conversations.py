"""`jitchat conversations`: what there is."""

import click

from jitchat.cli.cold_store import opened_store
from jitchat.cli.options import Flags, SharingCommand, location_options
from jitchat.cli.output import print_columns, say, say_json
from jitchat.store.windows import Spent, WindowArchive
from jitchat.text.figures import local
from jitchat.values import Conversation


@click.command("conversations", cls=SharingCommand)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@location_options
def conversations_command(flags: Flags, as_json: bool) -> None:
    """List the conversations, the one touched last first."""
    with opened_store(flags.paths()) as store:
        conversations = store.conversations()
        spent = WindowArchive(store.database).spent_by_conversation() if as_json else {}
    if as_json:
        say_json([_fields(known, spent.get(known.id, Spent())) for known in conversations])
    elif conversations:
        rows = [
            (
                known.id,
                f"{known.turns:,} turns",
                f"{local(known.updated_at):%Y-%m-%d %H:%M}",
                known.title,
            )
            for known in conversations
        ]
        print_columns(rows, right=(1,))
    else:
        say("There are no conversations yet. Start `jitchat`, or import one.")


def _fields(conversation: Conversation, spent: Spent) -> dict[str, str | int | float]:
    """Turn it into what JSON knows; the cost is in US dollars, but for replies of unknown cost."""
    return {
        "id": conversation.id,
        "title": conversation.title,
        "turns": conversation.turns,
        "created_at": conversation.created_at.isoformat(),
        "updated_at": conversation.updated_at.isoformat(),
        "cost": spent.amount,
        "cost_unknown": spent.unknown,
    }
