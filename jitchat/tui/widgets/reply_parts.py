"""A long text as Markdown that grows: in parts, for what is on screen costs each drawing anew.

Only the last part grows. One that is far from what the user sees keeps its height and is not laid
out, so that a reply of a hundred pages costs what one of three does.
"""

from __future__ import annotations

from markdown_it import MarkdownIt
from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets.markdown import MarkdownBlock

from jitchat.tui.widgets.reply_markdown import ReplyMarkdown

MOST_BLOCKS = 8
"""Paragraphs, lists and the like in one part, about a screen of them."""
NEAR = 0.25
"""Screens above and below that are laid out, too."""


class ReplyPart(Vertical):
    """Some blocks of it; folded, an empty space as high as they are."""

    def __init__(self, text: str, *, first: bool) -> None:
        super().__init__(classes="reply-part" if first else "reply-part -next")
        self.markdown = ReplyMarkdown(text, open_links=False)

    def compose(self) -> ComposeResult:
        """What is hidden where it is folded."""
        yield self.markdown

    @property
    def blocks(self) -> list[MarkdownBlock]:
        """Its paragraphs, lists and the like."""
        return [each for each in self.markdown.children if isinstance(each, MarkdownBlock)]

    def fold(self, *, folded: bool) -> None:
        """Keep only its height, or show it."""
        if folded == (not self.markdown.display) or (folded and not self.size.height):
            return
        self.styles.height = self.size.height if folded else "auto"
        self.markdown.display = not folded

    async def split(self) -> str:
        """Take the last block away; its text, which begins another part."""
        *_, before, last = self.blocks
        text = "".join(self.markdown.source.splitlines(keepends=True)[last.source_range[0] :])
        await last.remove()
        before.styles.margin = 0
        return text


class ReplyParts(Vertical):
    """The parts of one text, in order."""

    def __init__(self, text: str) -> None:
        super().__init__(classes="turn-body")
        self._parts = [ReplyPart(text, first=True)]
        self._texts = [text]
        """All of it, as it came."""
        self._at_once = bool(text)
        """Whether the only part was parsed as a whole: to that, Textual appends wrongly."""
        self._width = 0

    def compose(self) -> ComposeResult:
        """One part at first."""
        yield from self._parts

    @property
    def source(self) -> str:
        """The text."""
        return "".join(self._texts)

    async def grow(self, text: str) -> None:
        """Append to it."""
        self._texts.append(text)
        part = self._parts[-1]
        with self.app.batch_update():
            if self._at_once:
                self._at_once, text = False, self.source
                await part.markdown.update("")
            await part.markdown.append(text)
            if len(part.blocks) > MOST_BLOCKS:
                begun = await part.split()
                self._parts.append(ReplyPart("", first=False))
                await self.mount(self._parts[-1])
                await self._parts[-1].markdown.append(begun)

    async def become(self, text: str) -> None:
        """Another text, or all of this one, once it is known that nothing more comes.

        What was parsed as it came is parsed again only where it may read otherwise as a whole.
        """
        before = self.source
        if text.startswith(before) and not _defines_links(text):
            if len(text) > len(before):
                await self.grow(text[len(before) :])
            return
        self._texts = [text]
        for part in self._parts[1:]:
            await part.remove()
        del self._parts[1:]
        self._at_once = bool(text)
        self._parts[0].fold(folded=False)
        await self._parts[0].markdown.update(text)

    def fold_away(self) -> None:
        """Lay out only what is near what the user sees."""
        if len(self._parts) == 1 or not self.is_mounted:
            return
        screen = self.screen.region
        near = screen.grow((int(NEAR * screen.height), 0) * 2)
        for part in self._parts[:-1]:
            part.fold(folded=not part.region.overlaps(near))

    def on_resize(self, event: events.Resize) -> None:
        """Heights that were kept are those of the old width."""
        if event.size.width != self._width:
            self._width = event.size.width
            self.measure_again()

    def measure_again(self) -> None:
        """Lay all of it out, for heights that were kept may be others now."""
        for part in self._parts:
            part.fold(folded=False)
        self.call_after_refresh(self.fold_away)


def _defines_links(text: str) -> bool:
    """Whether a line says where links elsewhere in the text go."""
    if "]:" not in text:
        return False
    known: dict[str, object] = {}
    MarkdownIt("gfm-like").parse(text, known)
    return bool(known.get("references"))
