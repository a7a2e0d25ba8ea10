"""One turn on screen: who and when, whether the window has it and as what, and its text."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from jitchat.text.safe import one_line, visible
from jitchat.tui.widgets.reply_body import ReplyBody
from jitchat.turn import Role, Status, Turn
from jitchat.window.window import Kind

_ENDED = {
    Status.CUT: "cut off",
    Status.CANCELLED: "cancelled",
    Status.INTERRUPTED: "interrupted",
    Status.UNANSWERED: "not answered, left out of later windows",
    Status.STREAMING: "answering",
}
_GUTTER = {
    Kind.PINNED: "pinned",
    Kind.RECENT: "recent",
    Kind.INDEX: "index line",
    Kind.RETRIEVED: "retrieved",
    Kind.DRAFT: "sent",
}


class TurnView(Vertical):
    """A turn. Its text is shown as Markdown where a model wrote it, as it stands otherwise."""

    def __init__(self, turn: Turn, kind: Kind | None = None) -> None:
        super().__init__(classes=f"turn {turn.role.value}")
        self.turn = turn
        self._kind = kind
        self._header = Static(classes="turn-header")
        self._body: ReplyBody | Static
        if turn.role is Role.ASSISTANT:
            self._body = ReplyBody(turn.content)
        else:
            self._body = Static(Content(visible(turn.content)), classes="turn-body")

    def compose(self) -> ComposeResult:
        """Header and body."""
        yield self._header
        yield self._body

    def on_mount(self) -> None:
        """Draw the header, once styles are known."""
        self._draw_header()

    def mark(self, kind: Kind | None) -> None:
        """As what the turn is in the window; None if it is not."""
        if kind is not self._kind:
            self._kind = kind
            self._draw_header()

    @property
    def reply(self) -> ReplyBody | None:
        """What a model wrote; None for what a user did."""
        return self._body if isinstance(self._body, ReplyBody) else None

    async def finish(self, turn: Turn) -> None:
        """The turn as it was stored."""
        self.turn = turn
        if self.reply is not None:
            await self.reply.finish(turn.content)
        self._draw_header()

    def _draw_header(self) -> None:
        self.set_class(self.turn.status is Status.STREAMING, "-streaming")
        for kind in Kind:
            self.set_class(kind is self._kind, f"-{kind.value}")
        turn = self.turn
        said = turn.created_at
        when = f" · {said:%a} {said.day} {said:%b %Y, %H:%M}" if said else ""
        ended = f" · {_ENDED[turn.status]}" if turn.status in _ENDED else ""
        label = f" · {_GUTTER[self._kind]}" if self._kind in _GUTTER else ""
        name = f"#{turn.position} " if turn.position else ""
        self._header.update(
            Content.assemble(
                (name, "bold"),
                (one_line(turn.speaker), "bold"),
                (when, "dim"),
                (ended, "italic"),
                (label, "italic"),
            ),
            layout=False,
        )
