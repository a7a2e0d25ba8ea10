"""Markdown whose blocks stand a line apart, cheaply.

A style that depends on a block's place among the others would be found anew for each of them
whenever one is mounted; so the last one is told by the widget that it has none below it.
"""

from __future__ import annotations

from textual.app import ComposeResult
from textual.content import Content
from textual.widget import AwaitMount, Widget
from textual.widgets import Markdown
from textual.widgets._markdown import MarkdownBlockQuote, MarkdownFence


class _Fence(MarkdownFence):
    """Code, coloured as the language that it names; which one it may be is not guessed.

    Trying every language that is known takes a second.
    """

    @classmethod
    def highlight(cls, code: str, language: str, ansi: bool = False, dark: bool = False) -> Content:
        """Colour it; without a language, it stays as it is."""
        return super().highlight(code, language, ansi, dark) if language else Content(code)


class _Quote(MarkdownBlockQuote):
    """A quotation."""

    def compose(self) -> ComposeResult:
        """Its blocks, a line apart."""
        blocks = list(super().compose())
        for block in blocks[:-1]:
            block.styles.margin = (0, 0, 1, 0)
        yield from blocks


class ReplyMarkdown(Markdown):
    """What a model wrote, or a part of it."""

    BLOCKS = {  # noqa: RUF012  Textual's own shape
        **Markdown.BLOCKS,
        "fence": _Fence,
        "code_block": _Fence,
        "blockquote_open": _Quote,
    }

    def mount(
        self,
        *widgets: Widget,
        before: int | str | Widget | None = None,
        after: int | str | Widget | None = None,
    ) -> AwaitMount:
        """Mount blocks; the last one of all has no line below it."""
        for last in self.children[-1:]:
            last.styles.clear_rule("margin")
        widgets[-1].styles.margin = 0
        return super().mount(*widgets, before=before, after=after)
