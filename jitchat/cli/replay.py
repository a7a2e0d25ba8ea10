"""`jitchat replay`: a window that was sent, as it was, with its ledger and what came of it."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import click

from jitchat.cli import cold_store, options, output, report
from jitchat.errors import StoreUnreadable, UsageError
from jitchat.replay import Replay, Replayed, sends_for
from jitchat.store.store import ColdStore
from jitchat.store.windows import Send
from jitchat.text.sanitize import one_line
from jitchat.tui import figures
from jitchat.why import parts_told
from jitchat.window.window import ContextWindow, LedgerRow


@click.command("replay", cls=options.SharingCommand)
@click.argument("turn", type=options.turn_number)
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
@options.location_options
def replay_command(flags: options.Flags, turn: int, **wanted: Any) -> None:  # noqa: ANN401  as click calls it
    """Show the window that was sent for TURN; send nothing.

    TURN is the number of a message, such as 12, or of a reply to it.
    """
    with cold_store.opened_store(flags.paths()) as store:
        identity = cold_store.choose_conversation(store, flags.conversation).id
        replay = Replay(store, identity)
        chosen = _sends_for(replay, store, identity, turn)
        send, number = _pick(chosen, turn, wanted["number"])
        replayed = replay.open(send)
    if wanted["messages"]:
        _print_messages(replayed, as_json=wanted["as_json"])
    elif wanted["as_json"]:
        output.say_json(_fields(replayed, identity))
    else:
        _print_replayed(replayed, identity, (number, len(chosen)))
    if not replayed.is_as_sent:
        raise StoreUnreadable(
            f"What is kept of this window of #{send.said} is damaged: its hash is not the one"
            " of what was sent.",
            "It is shown as far as it can be read; the other windows can still be whole.",
        )


def _sends_for(replay: Replay, store: ColdStore, conversation: str, position: int) -> list[Send]:
    sends = replay.sends()
    if chosen := sends_for(sends, position):
        return chosen
    if store.turn(conversation, position) is None:
        raise UsageError(f"{conversation} has no turn #{position}.", "`jitchat` shows the numbers.")
    known = f"The last one that was sent is #{sends[-1].said}." if sends else "Send one first."
    raise UsageError(f"#{position} was not sent from here, so no window is kept for it.", known)


def _pick(chosen: list[Send], position: int, number: int | None) -> tuple[Send, int]:
    """Take the one of that number, from 1; the last if there is none."""
    place = len(chosen) if number is None else number
    if place > len(chosen):
        times = "once" if len(chosen) == 1 else f"{len(chosen)} times"
        raise UsageError(
            f"--window: #{position} was sent {times}.", f"Give a number up to {len(chosen)}."
        )
    return chosen[place - 1], place


_HEADINGS = ("verdict", "turn", "rank", "tokens", "score", "why", "parts")


def _fields(replayed: Replayed, conversation: str) -> dict[str, Any]:
    """Describe all that is kept of a send; the cost is in US dollars, of the answer too."""
    send, reply = replayed.send, replayed.reply
    fields = report.window_fields(replayed.window, conversation, None)
    del fields["price_source"]
    return fields | {
        "said": replayed.said.position,
        "sent_at": send.sent_at.isoformat() if send.sent_at else None,
        "provider": send.provider,
        "request": send.request,
        "sha256": send.digest,
        "as_sent": replayed.is_as_sent,
        "usage": asdict(send.usage) if send.usage else None,
        "cost": send.cost,
        "stop": send.stop,
        "reply": {"turn": reply.position, "status": reply.status.value, "content": reply.content}
        if reply
        else None,
    }


def _print_messages(replayed: Replayed, *, as_json: bool) -> None:
    messages = replayed.window.messages()
    if as_json:
        output.say_json([{"role": sent.role.value, "content": sent.content} for sent in messages])
        return
    for number, message in enumerate(messages, start=1):
        output.say(f"── message {number} of {len(messages)}: {message.role} ──")
        output.say(message.content)


def _print_replayed(replayed: Replayed, conversation: str, place: tuple[int, int]) -> None:
    """Print a send: its segments and sums, its ledger, its hash, and the reply.

    `place` is the number among the sends of its turn, and how many there are.
    """
    window = replayed.window
    output.say(figures.send_sentence(replayed.send, *place))
    report.print_segments(window)
    for line in (
        *report.sums(window, conversation),
        figures.stable_sentence(window, replayed.send.usage),
    ):
        output.say(line)
    _print_ledger(window)
    output.say(figures.hash_sentence(replayed, whole=True))
    for line in figures.ending_sentences(replayed):
        output.say(line)
    if replayed.reply is not None:
        output.say(replayed.reply.content)


def _print_ledger(window: ContextWindow) -> None:
    if window.ledger:
        output.say("")
        rows = [_HEADINGS, *(_row(window, row) for row in window.ledger)]
        for line in output.fitted_columns(rows, right=(1, 2, 3, 4)):
            output.emit(line)
    if (never := window.never_candidates) is not None:
        output.say(
            f"{one_line(never.sentence)} ({figures.part_figure(window, never.tokens)} tokens)"
        )
    output.say("")


def _row(window: ContextWindow, row: LedgerRow) -> Sequence[str]:
    return (
        *(row.verdict.value, f"#{row.turn}", "" if row.rank is None else str(row.rank)),
        *(figures.part_figure(window, row.tokens), f"{row.score:.2f}"),
        *(one_line(row.reason), parts_told(row.parts)),
    )
