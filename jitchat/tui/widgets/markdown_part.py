"""A part of a Markdown text, which grows block by block and is not laid out while folded.

A style that depends on a block's position among its siblings would be recomputed for all of them
whenever one is mounted, so the widget sets the margin of the last block itself. Inline styles such
as emphasis are computed once for the widget, not for each block.
"""

import re
from functools import cache, lru_cache
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widget import AwaitMount, Widget
from textual.widgets import Markdown
from textual.widgets._markdown import MarkdownBlock, MarkdownBlockQuote, MarkdownFence

from jitchat.tui.drawing import Content


class _Fence(MarkdownFence):
    @classmethod
    def highlight(cls, code: str, language: str, ansi: bool = False, dark: bool = False) -> Content:
        """Highlight code in its named language; guessing the language takes a second."""
        del ansi, dark
        return _highlighted(code, language) if language else Content(code)


@lru_cache(maxsize=16)
def _highlighted(code: str, language: str) -> Content:
    """Cached: Textual requests it twice when mounting code, and on each style update."""
    from textual.highlight import HighlightTheme, highlight  # noqa: PLC0415  not before there is code

    class Readable(HighlightTheme):
        """The theme's colours, including terminal colours, at full opacity."""

        STYLES = {  # noqa: RUF012  Textual's own shape
            token: re.sub(r" \d+%", "", style) for token, style in HighlightTheme.STYLES.items()
        }

    return highlight(code, language=language, theme=Readable)


class _Quote(MarkdownBlockQuote):
    def compose(self) -> ComposeResult:
        blocks = list(super().compose())
        for block in blocks[:-1]:
            block.styles.margin = (0, 0, 1, 0)
        yield from blocks


@cache
def _plain(block: type[MarkdownBlock]) -> type[MarkdownBlock]:
    """Derive a block class whose inline styles come from the widget."""
    made: type[MarkdownBlock] = type(block.__name__, (block,), {})
    # Widget classes do not accept this as a class keyword argument.
    setattr(made, "_inherit_component_classes", False)  # noqa: B010
    return made


class PlainMarkdown(Markdown):
    COMPONENT_CLASSES: ClassVar[set[str]] = set(MarkdownBlock.COMPONENT_CLASSES)
    DEFAULT_CSS = """
    PlainMarkdown {
        &:dark > .code_inline { background: $warning 10%; color: $text-warning 95%; }
        &:light > .code_inline { background: $error 5%; color: $text-error 95%; }
        &:ansi > .code_inline { background: ansi_default; }
        & > .em { text-style: italic; }
        & > .strong { text-style: bold; }
        & > .s { text-style: strike; }
    }
    """
    BLOCKS = {  # noqa: RUF012  Textual's own shape
        **Markdown.BLOCKS,
        "fence": _Fence,
        "code_block": _Fence,
        "blockquote_open": _Quote,
    }

    def get_block_class(self, block_name: str) -> type[MarkdownBlock]:
        return _plain(super().get_block_class(block_name))

    def mount(
        self,
        *widgets: Widget,
        before: int | str | Widget | None = None,
        after: int | str | Widget | None = None,
    ) -> AwaitMount:
        """Mount blocks; the last of all blocks has no margin below."""
        for last in self.children[-1:]:
            last.styles.clear_rule("margin")
        widgets[-1].styles.margin = 0
        return super().mount(*widgets, before=before, after=after)


class MarkdownPart(Vertical):
    """Some blocks of a text; when folded, empty space of the same height."""

    def __init__(self, text: str, *, first: bool) -> None:
        super().__init__(classes="reply-part" if first else "reply-part -next")
        self.markdown = PlainMarkdown(text, open_links=False)

    def compose(self) -> ComposeResult:
        yield self.markdown

    @property
    def blocks(self) -> list[MarkdownBlock]:
        return [child for child in self.markdown.children if isinstance(child, MarkdownBlock)]

    def fold(self, *, folded: bool) -> None:
        if folded == (not self.markdown.display) or (folded and not self.size.height):
            return
        self.styles.height = self.size.height if folded else "auto"
        self.markdown.display = not folded

    async def split(self) -> str:
        """Remove the last block and return its text, which starts the next part."""
        *_, before, last = self.blocks
        text = "".join(self.markdown.source.splitlines(keepends=True)[last.source_range[0] :])
        await last.remove()
        before.styles.margin = 0
        return text
