"""Draws a reply: a text and a look give lines of styled pieces with their offsets in the text."""

from collections.abc import Iterable, Iterator, Sequence

from markdown_it.tree import SyntaxTreeNode

from jitchat.text.markdown.parse import parse
from jitchat.tui.render.code import code_lines
from jitchat.tui.render.look import Line, Look, Piece
from jitchat.tui.render.tables import table_lines
from jitchat.tui.render.wrap import prose, width_of, wrap

_BULLETS = "•◦▪"
_QUOTED = "▌ "


def render(text: str, look: Look) -> list[Line]:
    """Draw a Markdown text in lines of at most the look's width."""
    return list(block_lines(SyntaxTreeNode(parse(text)).children, look))


def block_lines(
    nodes: Sequence[SyntaxTreeNode], look: Look, *, is_tight: bool = False
) -> Iterator[Line]:
    for number, node in enumerate(nodes):
        if number and not is_tight:
            yield []
        yield from _lines(node, look)


def _lines(node: SyntaxTreeNode, look: Look) -> Iterable[Line]:
    match node.type:
        case "fence" | "code_block":
            return code_lines(node, look)
        case "blockquote":
            bar = [look.decoration(_QUOTED, "rule")]
            return _behind(bar, bar, node, look)
        case "bullet_list" | "ordered_list":
            return _list_lines(node, look)
        case "table":
            return table_lines(node, look)
        case "hr":
            return [[look.decoration("─" * look.width, "rule")]]
    return wrap(list(prose(node.children[0].children, look, node.tag)), look.width)


def _behind(
    first: Line, others: Line, node: SyntaxTreeNode, look: Look, *, is_tight: bool = False
) -> Iterator[Line]:
    """Draw blocks behind a marker."""
    inner = look.narrower(width_of(first))
    before = first
    for line in block_lines(node.children, inner, is_tight=is_tight):
        yield [*before, *line]
        before = others
    if before is first and not node.children:
        yield first


def _list_lines(node: SyntaxTreeNode, look: Look) -> Iterator[Line]:
    bullet = _BULLETS[min(look.depth, len(_BULLETS) - 1)] if node.type == "bullet_list" else ""
    widest = max(len(bullet or item.content) for item in node.children)
    inner = look.narrower(0, deeper=1)
    is_tight = not any(
        block.type == "paragraph" and not block.hidden
        for item in node.children
        for block in item.children
    )
    for number, item in enumerate(node.children):
        if number and not is_tight:
            yield []
        text, style = bullet or item.content, look.style("marker")
        marker = Piece(text, style, item.meta["span"], copied=item.meta["copied"])
        before = look.decoration(" " * (widest - len(text)))
        first = [before, marker, look.decoration(" ")]
        rest = [look.decoration(" " * (widest + 1))]
        yield from _behind(first, rest, item, inner, is_tight=is_tight)
