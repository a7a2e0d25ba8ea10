"""Windows as text and JSON, one line per segment, and `jitchat replay` for windows already sent."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import click

from jitchat.cli import cold_store, options, output
from jitchat.errors import StoreUnreadable, UsageError
from jitchat.replay import Replay, Replayed, sends_for
from jitchat.savings import Comparison
from jitchat.store.store import ColdStore
from jitchat.store.windows import Send
from jitchat.text.sanitize import one_line, shorten
from jitchat.tool_fields import use_fields
from jitchat.tui import figures
from jitchat.why import parts_told
from jitchat.window import record
from jitchat.window.cost import choosing_sentences
from jitchat.window.message_text import message_texts
from jitchat.window.window import ContextWindow, LedgerRow, OtherRow, Segment

TEXT_WIDTH = 100
"""Maximum characters of a segment's text; fewer if the terminal is narrower."""
_HEADINGS = ("kind", "turn", "tokens", "why", "text")
_COLOURS = {kind: signs.of_terminal[0] for kind, signs in figures.SIGNS.items() if kind != "draft"}
"""The draft has the text's own colour."""


def window_fields(
    window: ContextWindow, conversation: str, compared: Comparison | None
) -> dict[str, Any]:
    """Convert a window to JSON values; `turn` is the #id on screen, the cost is in US dollars."""
    described = [record.segment_fields(segment) for segment in window.segments]
    texts = ("text", "pieces")
    segments = [
        {name: value for name, value in fields.items() if name not in texts} for fields in described
    ]
    sizes = "used band counted free full_tokens stable_tokens"
    return {
        "conversation": conversation,
        **output.json_fields(window, "mode model"),
        "counter": output.json_fields(window, "name=counter exact"),
        **output.json_fields(window.budget, "limit limit_source reserve budget size"),
        **output.json_fields(window, sizes),
        **output.json_fields(compared, "cost=amount full_cost=of_full cached=sent.cached_tokens"),
        "price_source": (compared.source or None) if compared is not None else None,
        **record.choosing_fields(window),
        **record.other_fields(window),
        "segments": segments,
        "ledger": [record.ledger_fields(row) for row in window.ledger],
        "never_candidates": record.never_candidates_fields(window),
        "messages": _message_fields(window),
    }


def _message_fields(window: ContextWindow) -> list[dict[str, Any]]:
    return [
        output.json_fields(message, "role content")
        | ({"use": use_fields(message.use)} if message.use else {})
        for message in window.messages()
    ]


def print_window(window: ContextWindow, conversation: str, compared: Comparison) -> None:
    """Print one line per segment, the sum that the meter shows, and what was considered."""
    print_segments(window)
    output.say("\n".join((*sums(window, conversation), _price_line(window, compared))))
    if excerpts := sum(segment.excerpt is not None for segment in window.segments):
        turns = "turn is" if excerpts == 1 else "turns are"
        output.say(f"{excerpts} {turns} included as an excerpt; `jitchat why` names the passages")
    _print_ledger(window)


def print_segments(window: ContextWindow) -> None:
    rows = [_HEADINGS, *(_row(window, segment) for segment in window.segments)]
    lines = output.columns(rows, right=(1, 2), cut=True)
    for (kind, *_), line in zip(rows, lines, strict=True):
        output.say_painted((line[: len(kind)], _COLOURS.get(kind)), (line[len(kind) :], None))


def _row(window: ContextWindow, segment: Segment) -> Sequence[str]:
    turn = f"#{segment.turn}" if segment.turn is not None else ""
    if segment.source is not None:
        turn = segment.source.name
    if segment.file is not None:
        turn = f"#{segment.file.turn}"
    tokens, text = str(window.figure(segment.tokens)), shorten(segment.text, TEXT_WIDTH)
    return segment.kind.value, turn, tokens, one_line(segment.reason), text


def sums(window: ContextWindow, conversation: str) -> Iterator[str]:
    yield f"{conversation} in {window.mode}: {figures.identity_sentence(window)}"
    yield figures.budget_sentence(window.budget, window.mode)
    corrected = f" as {window.counted:,}, corrected by reported counts" if window.band else ""
    full = window.figure(window.full_tokens)
    counted = f"counted by {window.counter} for {window.model}{corrected}"
    yield f"full would be {full}; {counted}"
    yield from choosing_sentences(window)


def _price_line(window: ContextWindow, compared: Comparison) -> str:
    stable = f"stable prefix {window.figure(window.stable_tokens)} tokens"
    if compared.amount is None:
        return f"{stable}; cost unknown: no price for {window.model}"
    source = f" ({one_line(compared.source)})" if compared.source else ""
    return f"{stable}; cost to send: {compared.cost or 'free'}{source}"


@click.command("replay", cls=options.SharingCommand)
@click.argument("turn", type=options.turn_number)
@options.in_conversation
@options.flag(
    "--window K",
    "The K-th send of a turn that was sent several times (default: the last).",
    name="number",
    type=options.COUNT,
)
@options.flag("--messages", "Print the messages that were sent; verbatim with --json.")
@options.flag("--json", "Print everything as JSON.", name="as_json")
def replay_command(flags: options.Flags, turn: int, **wanted: Any) -> None:  # noqa: ANN401  as click calls it
    """Show the window that was sent for TURN.

    TURN is the number of a message or of its reply, such as 12. Nothing is sent.
    """
    with cold_store.opened_store(flags.paths()) as store:
        identity = cold_store.choose_conversation(store, flags.conversation, flags.project).id
        replay = Replay(store, identity)
        chosen = _sends_for(replay, store, identity, turn)
        send, number = _pick(chosen, turn, wanted["number"])
        replayed = replay.open(send)
    if wanted["messages"]:
        _print_messages(replayed, as_json=wanted["as_json"])
    else:
        fields = _replay_fields(replayed, identity)
        shown = partial(_print_replayed, replayed, identity, (number, len(chosen)))
        output.tell(fields, shown, as_json=wanted["as_json"])
    if not replayed.is_as_sent:
        raise StoreUnreadable(
            f"The stored window of #{send.said} is damaged: its hash does not match the request"
            " that was sent.",
            "The readable part is shown; other windows may be intact.",
        )


def _sends_for(replay: Replay, store: ColdStore, conversation: str, position: int) -> list[Send]:
    sends = replay.sends()
    if chosen := sends_for(sends, position):
        return chosen
    if store.turn(conversation, position) is None:
        raise UsageError(
            f"{conversation} has no turn #{position}.", "The chat shows the turn numbers."
        )
    known = f"The last message sent is #{sends[-1].said}." if sends else "Send a message first."
    raise UsageError(f"#{position} was not sent from jitchat, so it has no stored window.", known)


def _pick(chosen: list[Send], position: int, number: int | None) -> tuple[Send, int]:
    """Return the send with that number, counted from 1, and the number; by default the last."""
    place = number or len(chosen)
    if place > len(chosen):
        times = "once" if len(chosen) == 1 else f"{len(chosen)} times"
        raise UsageError(
            f"--window: #{position} was sent {times}.", f"Give a number up to {len(chosen)}."
        )
    return chosen[place - 1], place


_OTHER_HEADINGS = ("verdict", "kind", "tokens", "score", "name", "why")
_LEDGER_HEADINGS = ("verdict", "turn", "rank", "tokens", "score", "why", "parts")


def _replay_fields(replayed: Replayed, conversation: str) -> dict[str, Any]:
    """Convert a stored send to JSON values; the cost is in US dollars and includes the answer."""
    send, reply = replayed.send, replayed.reply
    fields = window_fields(replayed.window, conversation, None)
    del fields["price_source"]
    return {
        **fields,
        "said": replayed.said.position,
        **output.json_fields(send, "sent_at provider request sha256=digest usage cost stop"),
        "as_sent": replayed.is_as_sent,
        "reply": reply and output.json_fields(reply, "turn=position status content"),
    }


def _print_messages(replayed: Replayed, *, as_json: bool) -> None:
    text = "\n".join(message_texts(replayed.window))
    output.tell(_message_fields(replayed.window), text, as_json=as_json)


def _print_replayed(replayed: Replayed, conversation: str, place: tuple[int, int]) -> None:
    """Print a send: its segments and sums, its ledger, its hash and the reply.

    `place` is the send's number among the sends of its turn, and their total.
    """
    window = replayed.window
    output.say(figures.send_sentence(replayed.send, *place))
    print_segments(window)
    stable = figures.stable_sentence(window, replayed.send.usage)
    output.say("\n".join((*sums(window, conversation), stable)))
    _print_ledger(window)
    output.say("")
    ending = figures.ending_sentences(replayed)
    output.say("\n".join((figures.hash_sentence(replayed, whole=True), *ending)))
    if replayed.reply is not None:
        output.say(replayed.reply.content)


def _print_ledger(window: ContextWindow) -> None:
    if window.ledger:
        output.say("")
        rows = [_LEDGER_HEADINGS, *(_ledger_row(window, row) for row in window.ledger)]
        output.print_columns(rows, right=(1, 2, 3, 4), cut=True)
    if window.others:
        output.say("")
        rows = [_OTHER_HEADINGS, *(_other_row(window, row) for row in window.others)]
        output.print_columns(rows, right=(2, 3), cut=True)
    if (never := window.never_candidates) is not None:
        output.say(f"{one_line(never.sentence)} ({window.figure(never.tokens)} tokens)")


def _other_row(window: ContextWindow, row: OtherRow) -> Sequence[str]:
    turn = f" (#{row.file.turn})" if row.file is not None else ""
    score = f"{row.score:.2f}" if row.score else ""
    tokens = str(window.figure(row.tokens))
    named = one_line(f"{row.name}{turn}")
    return row.verdict.value, row.kind.value, tokens, score, named, one_line(row.reason)


def _ledger_row(window: ContextWindow, row: LedgerRow) -> Sequence[str]:
    return (
        *(row.verdict.value, f"#{row.turn}", "" if row.rank is None else str(row.rank)),
        *(str(window.figure(row.tokens)), f"{row.score:.2f}"),
        *(one_line(row.reason), parts_told(row.parts)),
    )
