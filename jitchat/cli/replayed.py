"""A send on paper: its window, the decisions behind it, and how it ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from jitchat.cli.columns import fitted
from jitchat.cli.output import emit, say
from jitchat.cli.report import print_segments, sums, window_fields
from jitchat.text.safe import one_line
from jitchat.tui.figures import part_figure, stable_sentence
from jitchat.tui.sent_figures import ending_sentences, hash_sentence, send_sentence
from jitchat.window.why import parts_told

if TYPE_CHECKING:
    from jitchat.replay import Replayed
    from jitchat.window.window import ContextWindow, LedgerRow

_HEADINGS = ("verdict", "turn", "rank", "tokens", "score", "why", "parts")


def replayed_fields(replayed: Replayed, conversation: str) -> dict[str, Any]:
    """Describe all that is kept of a send; the cost is in US dollars, of the answer too."""
    send, reply = replayed.send, replayed.reply
    fields = window_fields(replayed.window, conversation, None)
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


def message_fields(replayed: Replayed, _: str) -> list[dict[str, str]]:
    """Describe the messages alone, exactly as they left."""
    return [
        {"role": message.role.value, "content": message.content}
        for message in replayed.window.messages()
    ]


def print_messages(replayed: Replayed) -> None:
    """Print the messages in order, each under its number and role."""
    messages = replayed.window.messages()
    for number, message in enumerate(messages, start=1):
        say(f"── message {number} of {len(messages)}: {message.role} ──")
        say(message.content)


def print_replayed(
    replayed: Replayed, conversation: str, place: tuple[int, int], width: int | None
) -> None:
    """Print a send: its segments and sums, its ledger, its hash, and the reply.

    `place` is the number among the sends of its turn, and how many there are. `width` is the
    terminal's, in cells; None where there is no terminal.
    """
    window = replayed.window
    say(send_sentence(replayed.send, *place))
    print_segments(window, width)
    for line in (*sums(window, conversation), stable_sentence(window, replayed.send.usage)):
        say(line)
    _print_ledger(window, width)
    say(hash_sentence(replayed, whole=True))
    for line in ending_sentences(replayed):
        say(line)
    if replayed.reply is not None:
        say(replayed.reply.content)


def _print_ledger(window: ContextWindow, width: int | None) -> None:
    if window.ledger:
        say("")
        for line in fitted([_HEADINGS, *(_row(window, row) for row in window.ledger)], width):
            emit(line)
    if (never := window.never_candidates) is not None:
        say(f"{one_line(never.sentence)} ({part_figure(window, never.tokens)} tokens)")
    say("")


def _row(window: ContextWindow, row: LedgerRow) -> Sequence[str]:
    return (
        *(row.verdict.value, f"#{row.turn}", "" if row.rank is None else str(row.rank)),
        *(part_figure(window, row.tokens), f"{row.score:.2f}"),
        *(one_line(row.reason), parts_told(row.parts)),
    )
