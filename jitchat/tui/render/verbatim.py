"""Draws texts as they are, in one style or several."""

from collections.abc import Sequence

from textual.style import Style

from jitchat.text.sanitize import TerminalText, for_terminal
from jitchat.tui.render.code import tabbed
from jitchat.tui.render.wrap import Line, Look, Piece, cut, wrap

Styled = tuple[str, Style]


def verbatim(
    look: Look, *texts: Styled, is_cut: bool = False
) -> tuple[TerminalText, Sequence[Line]]:
    """Return texts as one, and its lines, whose spans are places in its cells.

    Lines that are too long are wrapped, or cut off.
    """
    rows: list[list[Piece]] = [[]]
    cells = ""
    for text, style in texts:
        for number, part in enumerate(for_terminal(text).cells.split("\n")):
            if number:
                rows.append([])
                cells += "\n"
            rows[-1].append(Piece(part, style, (len(cells), len(cells) + len(part))))
            cells += part
    shown = TerminalText("".join(text for text, _ in texts), cells)
    drawn: list[Line] = []
    for row in rows:
        line = list(tabbed(row))
        if is_cut:
            style = next((piece.style for piece in reversed(line) if piece.text), row[-1].style)
            drawn.append(cut(line, look.width, Piece("…", style)))
        else:
            drawn += wrap(line, look.width, is_indented=True)
    return shown, drawn
