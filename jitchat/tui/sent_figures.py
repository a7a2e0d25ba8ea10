"""How a send looks in words: which one it is, whether its window is whole, how it ended."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jitchat.providers.provider import Finished
from jitchat.text.safe import one_line
from jitchat.tui.figures import usage_sentence

if TYPE_CHECKING:
    from jitchat.memory.cold.sends import Send
    from jitchat.replay import Replayed

_SHORT_HASH = 12


def send_sentence(send: Send, number: int, of: int) -> str:
    """`send 2 of 5 · #61 · 2026-11-03 09:30 · jit · gpt-5-mini (openai)`."""
    when = f"{send.sent_at:%Y-%m-%d %H:%M}" if send.sent_at is not None else ""
    who = send.model if send.provider in ("", send.model) else f"{send.model} ({send.provider})"
    parts = (f"send {number:,} of {of:,}", f"#{send.said}", when, send.mode.value, who)
    return one_line(" · ".join(filter(None, parts)))


def hash_sentence(replayed: Replayed, *, whole: bool = False) -> str:
    """`sha256 3f2a91c04b77… as sent`, or that the window is no longer what was sent.

    The hash in `whole`, or its beginning.
    """
    sent = replayed.send.digest
    shown = one_line(sent if whole else f"{sent[:_SHORT_HASH]}…")
    if replayed.is_as_sent:
        return f"sha256 {shown} as sent"
    now = replayed.digest if whole else f"{replayed.digest[:_SHORT_HASH]}…"
    return f"sha256 {now}, but {shown} was sent: what is kept of this window is damaged"


def ending_sentences(replayed: Replayed) -> Iterator[str]:
    """Say what was reported and what it cost, then where the reply is and why it ended."""
    send, reply = replayed.send, replayed.reply
    yield usage_sentence(send.usage, send.cost, replayed.window)
    if reply is None:
        yield "no reply came"
        return
    is_early = send.stop and not Finished(send.stop).is_whole
    stopped = f" · stopped: {one_line(send.stop or '')}" if is_early else ""
    yield f"reply #{reply.position} ({reply.status}){stopped}"
