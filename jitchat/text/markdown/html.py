"""Writes a reply as HTML: the same blocks and words as on the screen, all foreign text escaped."""

from collections.abc import Sequence
from html import escape

from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from jitchat.text.markdown.parse import markdown, parse


def html_of(text: str) -> str:
    return _Page().render(parse(text), markdown().options, {})


class _Page(RendererHTML):
    """Nothing is loaded from elsewhere, and nothing is hidden: pictures are links."""

    def text(self, tokens: Sequence[Token], idx: int, *_: object) -> str:
        token = tokens[idx]
        if not token.meta.get("is_math"):
            return escape(token.content)
        source = escape(token.meta["copied"])
        return f'<span class="math" title="{source}">{escape(token.content)}</span>'

    def fence(self, tokens: Sequence[Token], idx: int, *_: object) -> str:
        token = tokens[idx]
        info = f'<div class="language">{escape(token.info)}</div>' if token.info else ""
        return f"{info}<pre><code>{escape(token.content)}</code></pre>\n"

    def image(self, tokens: Sequence[Token], idx: int, *_: object) -> str:
        token = tokens[idx]
        title = f' title="{escape(str(token.attrs["title"]))}"' if "title" in token.attrs else ""
        url = escape(str(token.attrs["src"]))
        words = self.renderInline(token.children or (), markdown().options, {}) or url
        return f'<a href="{url}"{title}>🖼 {words}</a>'

    def link_open(self, tokens: Sequence[Token], idx: int, *_: object) -> str:
        is_empty = tokens[idx + 1].type == "link_close"
        address = escape(str(tokens[idx].attrs["href"])) if is_empty else ""
        return f"<a{self.renderAttrs(tokens[idx])}>{address}"
