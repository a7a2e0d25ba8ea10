"""A turn on screen: a header with its place in the window, its text, and a note."""

from collections.abc import Iterable, Iterator

from textual.style import Style

from jitchat.text.figures import plural
from jitchat.text.sanitize import one_line
from jitchat.tools.compacting import told_of
from jitchat.tui.drawing import MUTED, kind_style
from jitchat.tui.render.verbatim import Styled, verbatim
from jitchat.tui.render.wrap import Line, Look
from jitchat.tui.widgets.line_view import Part
from jitchat.tui.widgets.pictures import picture_lines
from jitchat.tui.widgets.reply import ReplyBlock, beginning, left_out
from jitchat.tui.widgets.tool_block import called_lines, folded, whole
from jitchat.tui.widgets.turn_details import NOTHING, Detail
from jitchat.values import Role, Status, ToolCall, Turn
from jitchat.window.carriers import Carrier
from jitchat.window.steering import Hold
from jitchat.window.window import Kind

_ENDED = {
    Status.CUT: "cut off",
    Status.CANCELLED: "cancelled",
    Status.INTERRUPTED: "interrupted",
    Status.UNANSWERED: "not answered, left out of later windows",
    Status.STREAMING: "answering",
}
_DASHED, _HEAVY, _DOUBLE, _HALF, _FULL = "╏┃║▌█"
_MARKS = {
    Kind.DOCUMENT: ("in the document", _DASHED),
    Kind.OBSERVATIONS: ("observed", _DASHED),
    Kind.PINNED: ("pinned", _FULL),
    Kind.RECENT: ("recent", _HEAVY),
    Kind.INDEX: ("index line", _DASHED),
    Kind.RETRIEVED: ("retrieved", _HALF),
    Kind.DRAFT: ("sent", _DOUBLE),
    Kind.TOOL_CALLS: ("called in this turn", _HEAVY),
    Kind.TOOL_RESULTS: ("result in this turn", _HEAVY),
    Kind.REQUESTED: ("requested", _HALF),
}
"""The label and the bar of a turn by its place in the window."""
_HELD = {Hold.PINNED: (_FULL, kind_style("pinned")), Hold.EXCLUDED: ("|", "$error")}

MOST_UNFOLDED = 40_000
"""Maximum characters of unfolded reasoning or of a call; the exact text has all of it."""
_LATEST = 100
"""Pieces of which the last line of growing reasoning is taken."""


class TurnBlock(ReplyBlock):
    """Replies are rendered as Markdown, other texts are shown verbatim."""

    def __init__(
        self,
        turn: Turn,
        carrier: Carrier | None = None,
        detail: Detail = NOTHING,
        hold: Hold | None = None,
        *,
        is_new: bool = False,
    ) -> None:
        """`carrier` is what carries the turn in the window; None if it is not in the window.

        `is_new`: another program has just added the turn.
        """
        super().__init__(turn.content)
        self.turn, self.detail = turn, detail
        self._carrier, self._hold = carrier, hold
        self._is_new = is_new
        self._thoughts = [detail.reasoning]
        """The reasoning in pieces."""
        self._thinks = False
        """Whether it grows."""
        self._warning = ""
        self._open_calls: dict[ToolCall, bool] = {}
        """Its calls without a result yet, and whether each is running."""
        self._pictures: list[list[Line]] | None = None
        self.is_unfolded = False

    @property
    def is_foldable(self) -> bool:
        """Whether a part of it can be folded and unfolded."""
        return any(self._thoughts) or self.turn.use.answers is not None

    @property
    def bar(self) -> tuple[str, str] | None:
        """The sign and the style of its mark in the margin."""
        if self._hold is not None:
            return _HELD[self._hold]
        if self._kind in _MARKS:
            return _MARKS[self._kind][1], kind_style(self._kind.value)
        return None

    @property
    def _kind(self) -> Kind | None:
        return self._carrier.kind if self._carrier is not None else None

    def estimate(self, width: int) -> None:
        """Guess the height, from the length of the text."""
        if self.look is None:
            text = self.turn.content
            self.height = 3 + text.count("\n") + len(text) // max(1, width)

    def mark(self, carrier: Carrier | None) -> None:
        kind, self._carrier = self._kind, carrier
        if self._kind is not kind or self.turn.use.answers is not None:
            self.change()

    def hold(self, hold: Hold | None) -> None:
        if hold is not self._hold:
            self._hold = hold
            self.change()

    def mark_read(self) -> None:
        if self._is_new:
            self._is_new = False
            self.change()

    def toggle(self) -> None:
        """Fold or unfold the reasoning, once it is complete, or the call."""
        if not self._thinks:
            self.is_unfolded = not self.is_unfolded
            self.change()

    def show_call(self, call: ToolCall, *, runs: bool) -> None:
        self._open_calls[call] = runs
        self.change()

    def take_result(self, call: ToolCall) -> None:
        if self._open_calls.pop(call, None) is not None:
            self.change()

    def add(self, delta: str) -> None:
        self._thinks = False
        super().add(delta)

    def think(self, delta: str) -> None:
        self._thinks = True
        self._thoughts.append(delta)

    def take_for_reasoning(self) -> None:
        """Turn all of the reply so far into reasoning."""
        self.think(self.text)
        self.complete("")

    def warn(self, sentence: str) -> None:
        """Show a warning below the turn; empty to hide it."""
        self._warning = sentence
        self.change()

    def finish(self, turn: Turn, detail: Detail = NOTHING) -> None:
        self.turn, self.detail = turn, detail
        self._thinks = False
        if detail.reasoning:
            self._thoughts = [detail.reasoning]
        self.complete(turn.content)

    def drawn(self, look: Look) -> Iterator[Part]:
        yield self._header(look)
        if any(self._thoughts):
            yield self._reasoning_part(look)
        muted = look.style(MUTED)
        if self.turn.role is Role.ASSISTANT:
            yield self.body(look)
            if self.turn.use.calls:
                yield _part("calls", look, (called_lines(self.turn, self._open_calls), muted))
        elif (call := self.turn.use.answers) is not None:
            yield self._result(call, look)
        else:
            yield from self._message(look)
        for sentence in (self.detail.sentence_of(self.turn), self._warning):
            if sentence:
                yield _part("note", look, (sentence, muted))
        yield Part("space", "", [[]])

    def _message(self, look: Look) -> Iterator[Part]:
        text, muted = self.turn.content, look.style(MUTED)
        begun = beginning(text)
        yield _part("body", look, (f"{begun}{_more(len(text) - len(begun))}", look.style("")))
        if (form := self.turn.use.form) is not None:
            yield _part("note", look, (f"sent in part: {told_of(form.text)}", muted))
        if attached := self.detail.attached:
            yield _part("note", look, (attached, muted))
            if self._pictures is None:
                self._pictures = [picture_lines(picture) for picture in self.detail.pictures]
            for lines in self._pictures:
                yield Part("picture", "", lines)

    def _header(self, look: Look) -> Part:
        turn, at = self.turn, self.turn.created_at
        when = f" · {at:%a} {at.day} {at:%b %Y, %H:%M}" if at else ""
        answers = f" · to #{turn.question}" if turn.question else ""
        ended = f" · {_ENDED[turn.status]}" if turn.status in _ENDED else ""
        is_pin_named = self._hold is not None and self._kind is Kind.PINNED
        is_labelled = self._kind in _MARKS and not is_pin_named
        label = f" · {_MARKS[self._kind][0]}" if self._kind and is_labelled else ""
        held = f" · {self._hold.value} by you" if self._hold else ""
        new = " · new" if self._is_new else ""
        number = f"#{turn.position} " if turn.position else ""
        ground = look.style("$text-primary" if turn.role is Role.USER else MUTED)
        bold, italic = look.style("bold"), look.style("italic")
        return _part(
            "header",
            look,
            (f"{number}{one_line(turn.speaker)}", ground + bold),
            *self._versions(look, ground),
            (f"{answers}{when}", look.style(MUTED)),
            (f"{ended}{label}", ground + italic),
            (f"{held}{new}", ground + bold),
            is_cut=True,
        )

    def _versions(self, look: Look, ground: Style) -> Iterable[Styled]:
        """Show which version of the turn this is; a click shows the next one."""
        versions, place = self.detail.versions, self.turn.position
        if place not in versions:
            return ()
        which = f"{versions.index(place) + 1} of {len(versions)}"
        click = Style.from_meta({"@click": f"screen.do('version', 1, {place})"})
        return (" · ", ground), (which, look.style("$link-color underline") + click)

    def _reasoning_part(self, look: Look) -> Part:
        muted = look.style(MUTED)
        if self._thinks:
            lines = "".join(self._thoughts[-_LATEST:]).rstrip().splitlines() or [""]
            thought = f"▾ thinking… {one_line(lines[-1])}"
            return _part("reasoning", look, (thought, muted), is_cut=True, folds=True)
        text, tokens = "".join(self._thoughts), self.detail.reasoning_tokens
        size = f"{tokens:,} tokens ✓" if tokens else plural(len(text), "character")
        shown = f"▸ reasoning · {size}"
        if self.is_unfolded:
            shown = f"▾ reasoning · {size}\n{_unfolded(text)}"
        return _part("reasoning", look, (shown, muted), folds=True)

    def _result(self, call: ToolCall, look: Look) -> Part:
        """Draw a call and its result in two lines, or in full."""
        lines = [(text, look.style(style)) for text, style in folded(self.turn, self._carrier)]
        if self.is_unfolded:
            text = f"\n{_unfolded(whole(self.turn, call))}"
            lines.append((text, look.style("")))
        return _part("body", look, *lines, is_cut=not self.is_unfolded, folds=True)


def _part(name: str, look: Look, *texts: Styled, is_cut: bool = False, folds: bool = False) -> Part:
    return Part(name, *verbatim(look, *texts, is_cut=is_cut), folds)


def _unfolded(text: str) -> str:
    return f"{text[:MOST_UNFOLDED]}{_more(len(text) - MOST_UNFOLDED)}"


def _more(characters: int) -> str:
    return f"\n{left_out(characters)}" if characters > 0 else ""
