"""Draws a reply: a text and a look give lines of styled pieces with their offsets in the text."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from markdown_it.tree import SyntaxTreeNode

from jitchat.text.markdown.parse import parse
from jitchat.tui.render.code import code_lines
from jitchat.tui.render.look import Layout, Line, Look, Parts, Piece
from jitchat.tui.render.tables import row_parts
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
        case "bullet_list" | "ordered_list" | "table":
            return chain.from_iterable(lines for _, lines in parts_of(node, look)[1])
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


def parts_of(node: SyntaxTreeNode, look: Look, drawn: Layout | None = None) -> tuple[Layout, Parts]:
    """Draw the items of a list, the rows of a table, or any other block as one part.

    `drawn` is the layout of parts that were drawn already and, but for a header, are not in `node`.
    """
    match node.type:
        case "table":
            return row_parts(node, look, drawn)
        case "bullet_list" | "ordered_list":
            return _item_parts(node, look, drawn)
    return Layout((), (), is_spread=False), [(node.meta["start"], list(_lines(node, look)))]


def _item_parts(node: SyntaxTreeNode, look: Look, drawn: Layout | None) -> tuple[Layout, Parts]:
    bullet = _BULLETS[min(look.depth, len(_BULLETS) - 1)] if node.type == "bullet_list" else ""
    blocks = [block for item in node.children for block in item.children]
    is_loose = any(block.type == "paragraph" and not block.hidden for block in blocks)
    widest = max(len(bullet or item.content) for item in node.children)
    if drawn is not None and drawn.widths:
        is_loose |= drawn.is_spread
        widest = max(widest, *drawn.widths)
    inner = look.narrower(0, deeper=1)
    parts: Parts = []
    for item in node.children:
        text, style = bullet or item.content, look.style("marker")
        marker = Piece(text, style, item.meta["span"], copied=item.meta["copied"])
        before = look.decoration(" " * (widest - len(text)))
        first = [before, marker, look.decoration(" ")]
        rest = [look.decoration(" " * (widest + 1))]
        blank: list[Line] = [[]] if is_loose and (parts or drawn) else []
        lines = _behind(first, rest, item, inner, is_tight=not is_loose)
        parts.append((item.meta["start"], [*blank, *lines]))
    return Layout((), [widest], is_loose), parts
