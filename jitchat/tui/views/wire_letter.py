"""What leaves or left for a window, and what there is to say of that. Slow: a thread's work."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from jitchat.exchange import posted_for
from jitchat.memory.cold.sends import Sends
from jitchat.text.safe import one_line
from jitchat.tui.figures import assumed_mark, part_figure
from jitchat.tui.views.wire_rows import LETTERS
from jitchat.window.places import Place, placed
from jitchat.window.record import messages_body

if TYPE_CHECKING:
    from jitchat.providers.provider import Posted, Provider, Wire
    from jitchat.session import Session
    from jitchat.turn import Turn
    from jitchat.window.window import ContextWindow

_SHOWN = 8
"""Characters of a hash: enough to compare by eye."""


@dataclass(frozen=True, slots=True)
class Letter:
    """A request, or the messages where none is made."""

    window: ContextWindow
    wire: Wire | None
    body: str
    """Exactly as posted."""
    told: str
    """Whether it left like that, as a sentence."""

    @property
    def head(self) -> str:
        """Where it goes, and the headers, a line each, and a blank one; empty without a request."""
        if self.wire is None:
            return ""
        lines = [f"{self.wire.method} {self.wire.url}"]
        lines += [f"{name}: {value}" for name, value in self.wire.headers]
        return "\n".join(map(one_line, lines)) + "\n\n"

    def laid_out(self, *, pretty: bool) -> tuple[str, tuple[Place, ...]]:
        """Write head and body, and say where the segments are in that.

        Pretty is the same JSON with line breaks and indentation between its parts.
        """
        body = json.dumps(json.loads(self.body), indent=2) if pretty else self.body
        head = self.head
        moved = (
            replace(place, start=place.start + len(head), end=place.end + len(head))
            for place in placed(self.window, body).places
        )
        return head + body, tuple(moved)


def read_letter(session: Session, window: ContextWindow, sent: Turn | None) -> Letter:
    """Make the request of a window: of the next one, or of one that was sent for a turn.

    Raises:
        JitchatError: No request can be made, or the store cannot be read.

    """
    memory, identity = session.memory, None
    if sent is not None:
        sends = Sends(memory.store.database)
        identity = sends.like(sent, window.mode, window.model, window.digest)
    posted = posted_for(memory, identity) if identity is not None else None
    wire = session.wire(window, posted)
    body = (wire.body if wire is not None else messages_body(window)).decode()
    if sent is None:
        told = not_sent(wire)
    elif posted is not None:
        told = as_left(posted, wire, session.provider, window)
    else:
        ending = memory.archive.ending(identity) if identity is not None else None
        told = not_kept(ending.provider if ending is not None else None, wire)
    return Letter(window, wire, body, told)


def not_sent(wire: Wire | None) -> str:
    """Say of the next window what would leave."""
    if wire is None:
        return (
            "Nothing leaves this machine: the embedded reader is given these messages as they are."
        )
    return f"Not sent yet: {_size(wire)}"


def as_left(posted: Posted, wire: Wire | None, provider: Provider, window: ContextWindow) -> str:
    """Say of a window that was sent whether these are the bytes that left."""
    left = f"sha256 {posted.sha256[:_SHOWN]}…"
    where = one_line(f"for {window.model} at {posted.url}")
    if wire is None:
        return f"It left {where}, {left}. The reader answers now, so these are its messages."
    if wire.sha256 == posted.sha256:
        moved = "" if wire.url == posted.url else f" It went to {one_line(posted.url)}."
        return f"As it left: {_size(wire)} ✓{moved}"
    if (provider.name, provider.model) != (posted.provider, window.model):
        now = one_line(f"{provider.model} of {provider.name}")
        return f"It left {where}, {left}. This is how it would leave for {now}, which answers now."
    return f"It left in another form, {left}: {one_line(provider.name)} is asked otherwise now."


def not_kept(provider: str | None, wire: Wire | None) -> str:
    """Say of a window that was sent why there is nothing to compare with; None: it is not over."""
    if provider is None:
        return "What left is kept when the reply is over; this is how it would leave now."
    now = "these are its messages" if wire is None else "this is how it would leave now"
    if provider == "reader":
        return f"Nothing left for it, for the embedded reader answered; {now}."
    return f"What left for it was not kept; {now}."


def legend(window: ContextWindow) -> list[tuple[str, str]]:
    """List every part of the limit: the name that its style has, and its letter and figure."""
    parts = [
        (kind.value, f"{LETTERS[kind]} {kind.value} {part_figure(window, window.tokens_of(kind))}")
        for kind in LETTERS
        if window.tokens_of(kind)
    ]
    free, reserve, limit = window.free, window.budget.reserve, window.budget.limit
    parts.append(("free", f"free {part_figure(window, free)}"))
    mark = assumed_mark(window.budget)
    parts.append(("reserve", f"reserve {reserve:,} of {limit:,}{mark}"))
    return parts


def _size(wire: Wire) -> str:
    return f"{len(wire.body):,} bytes, sha256 {wire.sha256[:_SHOWN]}…"
