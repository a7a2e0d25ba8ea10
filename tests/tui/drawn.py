"""What the transcript draws: its turns, their parts, and where a text stands on screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.geometry import Offset
from textual.selection import Selection

from jitchat.tui.widgets.line_view import ROW
from jitchat.tui.widgets.transcript import Transcript
from jitchat.values import Status
from tests.tui.render.looks import rows

if TYPE_CHECKING:
    from textual.screen import Screen

    from jitchat.tui.widgets.line_view import LineView
    from jitchat.tui.widgets.turn_block import TurnBlock


def transcript_of(screen: Screen) -> Transcript:
    return screen.query_one(Transcript)


def blocks(screen: Screen) -> list[TurnBlock]:
    """The turns that are loaded, drawn."""
    transcript = transcript_of(screen)
    for block in transcript.turn_blocks:
        block.draw(transcript.look)
    return transcript.turn_blocks


def positions(screen: Screen) -> list[int]:
    return [block.turn.position for block in transcript_of(screen).turn_blocks]


def block_at(screen: Screen, position: int) -> TurnBlock:
    return next(each for each in blocks(screen) if each.turn.position == position)


def part(block: TurnBlock, name: str) -> str:
    """The texts of all parts of a name, or the rows of what is drawn from a source."""
    texts: list[str] = []
    for each in block.parts:
        if each.name == name:
            texts += rows(each.lines) if isinstance(each.text, str) else [each.text.source]
    return "\n".join(texts)


def header(screen: Screen, position: int) -> str:
    return part(block_at(screen, position), "header")


def streams(screen: Screen) -> bool:
    """Whether a reply streams."""
    turns = (block.turn for block in transcript_of(screen).turn_blocks)
    return any(turn.status is Status.STREAMING for turn in turns)


def on_screen(view: LineView) -> list[str]:
    """The rows in view, without the margin."""
    return rows(row.line for row in view._rows)


def offset_of(view: LineView, text: str) -> Offset:
    """Where a text stands in the view; the first one."""
    for y, row in enumerate(on_screen(view)):
        if text in row:
            return Offset(view.LEFT + row.index(text), y)
    raise AssertionError(f"not in view: {text}")


def body_of(block: TurnBlock) -> Selection:
    """What selects the body of a turn."""
    first = block.number * ROW + block.line_of("body")
    lines = next(len(each.lines) for each in block.parts if each.name == "body")
    return Selection(Offset(0, first), Offset(0, first + lines))
