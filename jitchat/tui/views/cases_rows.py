"""How noted cases are drawn: a line each, and all that is known of one. Pure."""

from __future__ import annotations

from rich.cells import cell_len
from textual.content import Content

from jitchat.cases import Checked
from jitchat.memory.cold.cases import Case, CaseKind
from jitchat.text.safe import one_line, shortened
from jitchat.tui.cells import cut
from jitchat.tui.palette import MUTED
from jitchat.window.why import Standing

_KINDS = {CaseKind.MISS: "missing", CaseKind.KEPT: "kept"}
_MOST = 200
"""Characters of a message."""


def header() -> str:
    """Name the columns."""
    return _columns("", "turn", "noted", "then", "now") + "message"


def case_line(case: Case, checked: Checked | None, width: int) -> Content:
    """`✓ #9  missing  left out  in the window  #61 what did we …`: at most `width` cells.

    None stands for a case that was not tried yet.
    """
    mark, style = "…", MUTED
    if checked is not None:
        mark, style = ("✓", "") if checked.passes else ("✗", "bold")
    then = _told(checked.then) if checked is not None else ""
    now = _told(checked.now) if checked is not None else "not tried yet"
    line = _columns(mark, f"#{case.wanted.position}", _KINDS[case.kind], then, now)
    said = one_line(f"#{case.said.position} {case.said.content[:_MOST]}")
    text = cut(said, max(0, width - cell_len(line)))
    return Content.assemble((line + text, style))


def note_of(case: Case, checked: Checked | None) -> str:
    """Say what the wanted turn says, and why it is found or not."""
    turn = case.wanted
    what = f"#{turn.position} {one_line(turn.speaker)}: {shortened(turn.content, _MOST)}"
    return what if checked is None else f"{' '.join(checked.sentences)}\n{what}"


def _columns(mark: str, turn: str, kind: str, then: str, now: str) -> str:
    return f"{mark:<1} {turn:<6} {kind:<8} {then:<17} {now:<17} "


def _told(standing: Standing | None) -> str:
    return standing.value if standing is not None else "no window"
