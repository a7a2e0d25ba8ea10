"""`jitchat replay`: a window that was sent, as it was, with its ledger and what came of it."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING, Any

import click

from jitchat.cli.options import Flags, SharingCommand, location_options
from jitchat.cli.output import is_terminal, say_json
from jitchat.errors import StoreUnreadable, UsageError

if TYPE_CHECKING:
    from jitchat.memory.cold.sends import Send
    from jitchat.memory.cold.store import ColdStore
    from jitchat.replay import Replay


@click.command("replay", cls=SharingCommand)
@click.argument("turn")
@click.option(
    "--conversation", metavar="ID", help="Its id or title; the one touched last if not given."
)
@click.option(
    "--window",
    "number",
    type=click.IntRange(min=1),
    metavar="K",
    help="The K-th send of a turn that was sent several times; the last if not given.",
)
@click.option(
    "--messages", is_flag=True, help="Print the messages that left; with --json, exactly."
)
@click.option("--json", "as_json", is_flag=True, help="Print all of it as JSON.")
@location_options
def replay_command(flags: Flags, turn: str, conversation: str | None, **wanted: Any) -> None:  # noqa: ANN401  as click calls it
    """Show the window that was sent for TURN; send nothing.

    TURN is the number of a message, such as 12, or of a reply to it.
    """
    from jitchat.cli.opening import choose_conversation, opened_store  # noqa: PLC0415  loads much
    from jitchat.replay import Replay  # noqa: PLC0415

    position = _position(turn)
    with opened_store(flags.paths()) as store:
        identity = choose_conversation(store, conversation or flags.conversation).id
        replay = Replay(store, identity)
        chosen = _sends_for(replay, store, identity, position)
        send, number = _pick(chosen, position, wanted["number"])
        replayed = replay.open(send)
    from jitchat.cli import replayed as paper  # noqa: PLC0415  loads the planner

    if wanted["as_json"]:
        fields = paper.message_fields if wanted["messages"] else paper.replayed_fields
        say_json(fields(replayed, identity))
    elif wanted["messages"]:
        paper.print_messages(replayed)
    else:
        paper.print_replayed(replayed, identity, (number, len(chosen)), _terminal_width())
    if not replayed.is_as_sent:
        raise StoreUnreadable(
            f"What is kept of this window of #{send.said} is damaged: its hash is not the one"
            " of what was sent.",
            "It is shown as far as it can be read; the other windows can still be whole.",
        )


def _position(turn: str) -> int:
    """Read `12` or `#12`.

    Raises:
        UsageError: It is no number.

    """
    digits = turn.removeprefix("#")
    if not (digits.isascii() and digits.isdigit() and len(digits) < 10):
        raise UsageError(f"{turn!r} is not the number of a turn.", "Write it as 12 or '#12'.")
    return int(digits)


def _sends_for(replay: Replay, store: ColdStore, conversation: str, position: int) -> list[Send]:
    """Choose the sends of a turn.

    Raises:
        UsageError: There is none, or no such turn.

    """
    from jitchat.replay import sends_for  # noqa: PLC0415

    sends = replay.sends()
    if chosen := sends_for(sends, position):
        return chosen
    if store.turn(conversation, position) is None:
        raise UsageError(f"{conversation} has no turn #{position}.", "`jitchat` shows the numbers.")
    known = f"The last one that was sent is #{sends[-1].said}." if sends else "Send one first."
    raise UsageError(f"#{position} was not sent from here, so no window is kept for it.", known)


def _pick(chosen: list[Send], position: int, number: int | None) -> tuple[Send, int]:
    """Take the one of that number, from 1; the last if there is none.

    Raises:
        UsageError: There are not so many.

    """
    place = len(chosen) if number is None else number
    if place > len(chosen):
        times = "once" if len(chosen) == 1 else f"{len(chosen)} times"
        raise UsageError(
            f"--window: #{position} was sent {times}.", f"Give a number up to {len(chosen)}."
        )
    return chosen[place - 1], place


def _terminal_width() -> int | None:
    return shutil.get_terminal_size().columns if is_terminal(sys.stdout) else None
