"""A turn on screen: a header with its place in the window, its text, and a note."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.style import Style
from textual.widget import Widget
from textual.widgets import Static

from jitchat.attachments import Attachment
from jitchat.errors import StoreError
from jitchat.providers.provider import Finished
from jitchat.store.attachments import AttachmentStore
from jitchat.store.reply_notes import ReplyNote, notes_of
from jitchat.store.store import ColdStore
from jitchat.text.sanitize import one_line
from jitchat.tools.compacting import told_of
from jitchat.tui.drawing import Content, Verbatim
from jitchat.tui.figures import note_sentence
from jitchat.tui.palette import MUTED, slug
from jitchat.tui.widgets.pictures import picture_widget, thumbnail
from jitchat.tui.widgets.reply import Reasoning, ReplyBody, beginning, left_out
from jitchat.tui.widgets.tool_block import ToolBlock, called_lines
from jitchat.values import Role, Status, ToolCall, Turn
from jitchat.window.steering import Hold
from jitchat.window.window import Kind, Segment

_ENDED = {
    Status.CUT: "cut off",
    Status.CANCELLED: "cancelled",
    Status.INTERRUPTED: "interrupted",
    Status.UNANSWERED: "not answered, left out of later windows",
    Status.STREAMING: "answering",
}
_GUTTER = {
    Kind.DOCUMENT: "in the document",
    Kind.OBSERVATIONS: "observed",
    Kind.PINNED: "pinned",
    Kind.RECENT: "recent",
    Kind.INDEX: "index line",
    Kind.RETRIEVED: "retrieved",
    Kind.DRAFT: "sent",
    Kind.TOOL_CALLS: "called in this turn",
    Kind.TOOL_RESULTS: "result in this turn",
    Kind.REQUESTED: "requested",
}


@dataclass(frozen=True, slots=True)
class Detail:
    note: ReplyNote | None = None
    versions: tuple[int, ...] = ()
    """The positions of all versions of the turn, including its own; empty if there is only one."""
    files: tuple[Attachment, ...] = ()
    """The files attached to it."""
    pictures: tuple[Any, ...] = ()
    """Thumbnails of the attached pictures."""

    @property
    def attached(self) -> str:
        """`attached: notes.md, shot.png (picture, 900×500)`; empty if nothing was attached."""
        named = (
            one_line(each.name)
            + (f" (picture, {each.picture.width}×{each.picture.height})" if each.picture else "")
            for each in self.files
        )
        return f"attached: {', '.join(named)}" if self.files else ""

    def sentence_of(self, turn: Turn) -> str:
        """Return the note on the model, usage and stop reason; without the reason after calls."""
        is_step = self.note is not None and bool(turn.use.calls)
        return note_sentence(replace(self.note, stop=None) if is_step and self.note else self.note)

    @property
    def reasoning(self) -> str:
        return self.note.reasoning if self.note is not None else ""

    @property
    def reasoning_tokens(self) -> int:
        """As reported by the provider; 0 if it reported none."""
        usage = self.note.usage if self.note is not None else None
        return usage.reasoning_tokens if usage is not None else 0


NOTHING = Detail()


def is_broken_off(reply: Turn, stop: str | None) -> bool:
    """Whether a reply ended before the model finished; `stop` is the model's stop reason."""
    return reply.status is not Status.COMPLETE and not stop


def is_cut(reply: Turn, detail: Detail) -> bool:
    if reply.status in (Status.CUT, Status.CANCELLED, Status.INTERRUPTED):
        return True
    stop = detail.note.stop if detail.note is not None else None
    return stop is not None and Finished(stop).is_by_length


class TurnDetails:
    """Loads what is stored in addition to the turns of a conversation."""

    def __init__(self, store: ColdStore, conversation: str) -> None:
        self._store, self._conversation = store, conversation
        self._files = AttachmentStore(store.database, conversation)

    async def of(self, turns: Sequence[Turn]) -> Mapping[int, Detail]:
        """Load the details of turns, by position; empty if the store fails."""
        stored = [turn for turn in turns if turn.id and turn.status is not Status.STREAMING]
        with suppress(StoreError):
            if stored:
                return await asyncio.to_thread(self._read, stored)
        return {}

    def _read(self, stored: Sequence[Turn]) -> Mapping[int, Detail]:
        notes = notes_of(self._store.database, [turn.id for turn in stored])
        versions = self._store.branches(self._conversation)
        files = self._files.of(self._store.path(self._conversation))
        return {
            turn.position: _detail(
                Detail(notes.get(turn.id), versions.get(turn.position, ())),
                [file for file in files if file.turn == turn.position],
            )
            for turn in stored
        }


def _detail(detail: Detail, files: Sequence[Attachment]) -> Detail:
    """Add the attached files, with thumbnails of pictures."""
    if not files:
        return detail
    pictures = (thumbnail(file.picture) for file in files if file.picture is not None)
    return replace(detail, files=tuple(files), pictures=tuple(each for each in pictures if each))


class TurnView(Vertical):
    """A turn; replies are rendered as Markdown, other texts are shown verbatim."""

    def __init__(
        self, turn: Turn, segment: Segment | None = None, detail: Detail = NOTHING
    ) -> None:
        """`segment` is the turn's segment in the window; None if it is not in the window."""
        super().__init__(classes=f"turn {turn.role.value}")
        self.turn, self.detail = turn, detail
        self._segment = segment
        self._kind = segment.kind if segment is not None else None
        self._hold: Hold | None = None
        self._is_chosen = False
        self._header = Static(classes="turn-header")
        self.reply = ReplyBody(turn.content) if turn.role is Role.ASSISTANT else None
        self.reasoning: Reasoning | None = None
        if detail.reasoning:
            self.reasoning = Reasoning(detail.reasoning, detail.reasoning_tokens)
        self._note: Static | None = None
        self._warning: Static | None = None
        self.block: ToolBlock | None = None
        """The block of a tool result."""
        self._calls: Static | None = None
        self._open_calls: dict[ToolCall, bool] = {}
        """Its calls without a result yet, and whether each is running."""

    def compose(self) -> ComposeResult:
        yield self._header
        if self.reasoning is not None:
            yield self.reasoning
        if self.reply is not None:
            yield self.reply
            if self.turn.use.calls:
                self._calls = Static(classes="turn-note")
                self._draw_calls()
                yield self._calls
        elif (call := self.turn.use.answers) is not None:
            self.block = ToolBlock(self.turn, call, self._segment)
            yield self.block
        else:
            begun = beginning(self.turn.content)
            left = len(self.turn.content) - len(begun)
            more = f"\n{left_out(left)}" if left else ""
            yield Verbatim(f"{begun}{more}", classes="turn-body")
            if (form := self.turn.use.form) is not None:
                yield Static(Content(f"sent in part: {told_of(form.text)}"), classes="turn-note")
            if attached := self.detail.attached:
                yield Static(Content(attached), classes="turn-note")
                yield from map(picture_widget, self.detail.pictures)
        if sentence := self.detail.sentence_of(self.turn):
            self._note = Static(Content(sentence), classes="turn-note")
            yield self._note

    @property
    def foldable(self) -> Reasoning | ToolBlock | None:
        """The part of the turn that can be folded and unfolded; None if it has none."""
        return self.reasoning or self.block

    def on_mount(self) -> None:
        self._draw_header()

    def mark(self, segment: Segment | None) -> None:
        self._segment = segment
        if self.block is not None:
            self.block.mark(segment)
        kind = segment.kind if segment is not None else None
        if kind is not self._kind:
            self._kind = kind
            self._draw_header()

    def choose(self, *, chosen: bool) -> None:
        if chosen != self._is_chosen:
            self._is_chosen = chosen
            self._set_classes()
            self._header.set_class(chosen, "-chosen")
            for inside in self.walk_children(Widget):
                inside.notify_style_update()  # the colours are blended with the turn's

    def hold(self, hold: Hold | None) -> None:
        if hold is not self._hold:
            self._hold = hold
            if self.is_mounted:
                self._draw_header()

    def show_call(self, call: ToolCall, *, runs: bool) -> None:
        self._open_calls[call] = runs
        self._draw_calls()

    def take_result(self, call: ToolCall) -> None:
        if self._open_calls.pop(call, None) is not None:
            self._draw_calls()

    def _draw_calls(self) -> None:
        if self._calls is not None:
            self._calls.update(called_lines(self.turn, self._open_calls))

    async def think(self, delta: str) -> None:
        (await self._mounted_reasoning()).add(delta)

    async def _mounted_reasoning(self) -> Reasoning:
        if self.reasoning is None:
            self.reasoning = Reasoning()
            await self.mount(self.reasoning, after=self._header)
        return self.reasoning

    async def warn(self, sentence: str) -> None:
        """Show a warning below the turn; empty to hide it."""
        if self._warning is None and sentence:
            self._warning = Static(classes="turn-note")
            await self.mount(self._warning)
        if self._warning is not None:
            self._warning.display = bool(sentence)
            self._warning.update(Content(sentence))

    async def finish(self, turn: Turn, detail: Detail = NOTHING) -> None:
        self.turn, self.detail = turn, detail
        if not self.is_attached:  # the app ended while the details were loaded
            return
        if self.reply is not None:
            self.reply.finish(turn.content)
        if self.reasoning is not None:
            self.reasoning.end()
        if detail.reasoning:
            reasoning = await self._mounted_reasoning()
            reasoning.settle(detail.reasoning, detail.reasoning_tokens)
        if turn.use.calls and self._calls is None:
            self._calls = Static(called_lines(turn, self._open_calls), classes="turn-note")
            await self.mount(self._calls)
        if (sentence := detail.sentence_of(turn)) and self._note is None:
            self._note = Static(Content(sentence), classes="turn-note")
            await self.mount(self._note)
        self._draw_header()

    def _set_classes(self) -> None:
        """Set the classes of the turn, without updating its children, which do not depend on them.

        Textual would recompute the styles of all children, which takes a second for a long reply.
        """
        before = self.classes
        self.set_class(self.turn.status is Status.STREAMING, "-streaming", update=False)
        self.set_class(self._is_chosen, "-chosen", update=False)
        for kind in Kind:
            self.set_class(kind is self._kind, f"-{slug(kind.value)}", update=False)
        for hold in Hold:
            self.set_class(hold is self._hold, f"-held-{hold.value}", update=False)
        if self.is_attached and self.classes != before:
            self.app.stylesheet.apply(self)

    def _draw_header(self) -> None:
        self._set_classes()
        turn, at = self.turn, self.turn.created_at
        when = f" · {at:%a} {at.day} {at:%b %Y, %H:%M}" if at else ""
        ended = f" · {_ENDED[turn.status]}" if turn.status in _ENDED else ""
        is_pin_named = self._hold is not None and self._kind is Kind.PINNED
        is_labelled = self._kind in _GUTTER and not is_pin_named
        label = f" · {_GUTTER[self._kind]}" if self._kind and is_labelled else ""
        held = f" · {self._hold.value} by you" if self._hold else ""
        number = f"#{turn.position} " if turn.position else ""
        self._header.update(
            Content.assemble(
                (number, "bold"),
                (one_line(turn.speaker), "bold"),
                self._versions(),
                (when, MUTED),
                (ended, "italic"),
                (label, "italic"),
                (held, "bold"),
            ),
            layout=False,
        )

    def _versions(self) -> Content:
        """Show which version of the turn this is; a click shows the next one."""
        versions, place = self.detail.versions, self.turn.position
        if place not in versions:
            return Content()
        which = f"{versions.index(place) + 1} of {len(versions)}"
        click = Style.from_meta({"@click": f"screen.do('version', 1, {place})"})
        return Content.assemble(" · ", (which, click))
