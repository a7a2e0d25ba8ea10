"""Figures of a request as text: what was reported for it, what it cost, who answered and how."""

from collections.abc import Iterator

from jitchat.providers.provider import Finished
from jitchat.replay import Replayed
from jitchat.store.windows import ReplyNote, Send
from jitchat.text.figures import cost_of
from jitchat.text.sanitize import one_line, shorten
from jitchat.tui.figures import reported
from jitchat.values import Usage
from jitchat.window.window import ContextWindow

_STOP_SHOWN = 60
"""Characters of why a reply ended; all of it is in the view of the send."""
_SHORT_HASH = 12


def usage_sentence(
    usage: Usage | None,
    cost: float | None = 0.0,
    window: ContextWindow | None = None,
    *,
    is_broken_off: bool = False,
) -> str:
    """`sent 3,398 ✓ (2,900 cached, 498 new) · answer 210 ✓ (120 reasoning) · $0.0041`.

    `cost` is in US dollars: None where no price is known, 0 where nothing is charged. For what
    the provider does not report, the count of `window` stands, as an estimate; of a reply that
    `is_broken_off` the provider had no occasion to.
    """
    parts = [_input_figure(usage, window, is_broken_off=is_broken_off)]
    if usage is not None and usage.output_tokens is not None:
        thought = f" ({usage.reasoning_tokens:,} reasoning)" if usage.reasoning_tokens else ""
        parts.append(f"answer {reported(usage.output_tokens)}{thought}")
    if cost != 0:
        parts.append(cost_figure(cost, usage))
    return " · ".join(parts)


def cost_figure(cost: float | None, usage: Usage | None) -> str:
    """`$0.0041`; `$0.0041 ✓` where the provider says that it charges that."""
    is_reported = usage is not None and usage.cost is not None
    return f"{cost_of(cost)}{' ✓' if is_reported else ''}"


def _input_figure(usage: Usage | None, window: ContextWindow | None, *, is_broken_off: bool) -> str:
    if usage is None or usage.input_tokens is None:
        own = f"~{window.used:,}, " if window is not None else ""
        if is_broken_off:
            return f"{own}it ended before any usage came"
        what = "input" if usage is not None and usage.output_tokens is not None else "usage"
        return f"{own}the provider reports no {what}"
    cached, sent = usage.cached_tokens, usage.input_tokens
    parts = f" ({cached:,} cached, {max(0, sent - cached):,} new)" if cached else ""
    return f"sent {reported(sent)}{parts}"


def note_sentence(note: ReplyNote | None) -> str:
    """`gpt-5-mini · in 1,187 · cached 900 · out 210 · $0.0012`, and why it ended if not by itself.

    Empty where nothing is known of who answered.
    """
    if note is None or not note.model:
        return ""
    parts, usage = [note.model], note.usage or Usage(None, None)
    if usage.input_tokens is not None:
        parts.append(f"in {usage.input_tokens:,}")
    if usage.cached_tokens:
        parts.append(f"cached {usage.cached_tokens:,}")
    if usage.output_tokens is not None:
        parts.append(f"out {usage.output_tokens:,}")
    if note.cost:
        parts.append(cost_figure(note.cost, usage))
    if note.stop and not Finished(note.stop).is_whole:
        goes_on = " — Alt+G goes on" if Finished(note.stop).is_by_length else ""
        parts.append(f"stopped: {shorten(note.stop, _STOP_SHOWN)}{goes_on}")
    return one_line(" · ".join(parts))


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
    send, reply = replayed.send, replayed.reply
    yield usage_sentence(send.usage, send.cost, replayed.window)
    if reply is None:
        yield "no reply came"
        return
    is_early = send.stop and not Finished(send.stop).is_whole
    stopped = f" · stopped: {one_line(send.stop or '')}" if is_early else ""
    yield f"reply #{reply.position} ({reply.status}){stopped}"
