"""How windows look side by side: figures, bars on one scale, and a row a turn. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from textual.content import Content

from jitchat.text.counts import counted
from jitchat.tui.figures import assumed_mark
from jitchat.tui.palette import MUTED
from jitchat.tui.views.what_if_rows import FIGURES, Comparison, Side
from jitchat.tui.widgets.budget_bar import PATTERNS, to_scale
from jitchat.turn import Mode
from jitchat.window.aligned import AlignedRow
from jitchat.window.window import Kind

STYLES = {kind: f"$kind-{kind.value}" for kind in Kind}
_SHORT = {Kind.SYSTEM: "sys", Kind.RECENT: "rec", Kind.INDEX: "idx", Kind.RETRIEVED: "ret"}
_SHORT |= {Kind.PINNED: "pin", Kind.DRAFT: "you"}
_NAME = 9
"""Cells for the name of a mode."""
_COLUMNS = (14, 8, 14, 10, 10, 8)
"""Cells for each of the figures."""
_TURN, _SHARE = 10, 14
"""Cells for a turn's id, and for what one mode has of it."""

TABLE_HEADER = f"{'turn':<{_TURN}}" + "".join(f"{mode:<{_SHARE}}" for mode in Mode) + "begins"


def draw_sides(comparison: Comparison, mode: Mode, width: int) -> Content:
    """A table of the figures, then a bar a mode, then what the bars are made of.

    `mode` is the one in use; `width` is in cells.
    """
    sides = comparison.sides
    lines = [Content.assemble((figures_header(), MUTED))]
    lines += [figures_line(side, in_use=side.mode is mode) for side in sides]
    lines += [bar_line(side, comparison.widest, width) for side in sides]
    return Content("\n").join([*lines, _legend(comparison)])


def mode_at(comparison: Comparison, line: int) -> Mode | None:
    """Tell whose line of that drawing it is, the first of all lines being 0."""
    modes = [side.mode for side in comparison.sides]
    return modes[(line - 1) % len(modes)] if 1 <= line <= 2 * len(modes) else None


def figures_header() -> str:
    """What the figures are."""
    return " " * _NAME + _in_columns(FIGURES)


def figures_line(side: Side, *, in_use: bool) -> Content:
    """A mode's figures, or why it has none."""
    mark, style = ("▸", "bold") if in_use else (" ", "")
    name = f"{mark}{side.mode}".ljust(_NAME)
    if side.overflow:
        return Content.assemble((name, style), ("  " + side.overflow, "$text-error"))
    return Content.assemble((name, style), _in_columns(side.figures))


def _in_columns(texts: tuple[str, ...]) -> str:
    columns = zip(texts, _COLUMNS, strict=True)
    return "".join(f"{text:>{width}}" for text, width in columns)


def bar_line(side: Side, widest: int, width: int) -> Content:
    """A mode's bar: the window that is widest has all of the room."""
    room, name = max(len(Kind), width - _NAME), f" {side.mode}".ljust(_NAME)
    if side.overflow:
        return Content.assemble(name, ("╳" * room, "$text-error"))
    shares = {kind.value: tokens for kind, tokens in side.sizes}
    cells = to_scale(shares | {"free": widest - side.used}, room)
    bar = [(PATTERNS[kind] * cells[kind], STYLES[kind]) for kind, _ in side.sizes]
    return Content.assemble(name, *bar)


def _legend(comparison: Comparison) -> Content:
    there = {kind for side in comparison.sides for kind, _ in side.sizes}
    parts: list[tuple[str, str]] = [(" " * _NAME, "")]
    for kind in (kind for kind in Kind if kind in there):
        parts += [(PATTERNS[kind], STYLES[kind]), (f" {kind}  ", MUTED)]
    return Content.assemble(*parts)


def sections(comparison: Comparison) -> Iterator[tuple[str, list[AlignedRow]]]:
    """The rows by the modes that hold them, each with a heading."""
    for modes, rows in groupby(comparison.rows, key=lambda row: row.modes):
        alike = list(rows)
        turns = sum(len(row.turns) for row in alike if row.turns[0] is not None)
        yield f"{_held_by(modes, comparison.modes)} · {counted(turns, 'turn')}", alike


def _held_by(modes: tuple[Mode, ...], fitting: tuple[Mode, ...]) -> str:
    if len(modes) == len(Mode):
        return "in all three"
    alone = " alone" if len(modes) == 1 < len(fitting) else ""
    return f"in {' and '.join(modes)}{alone}"


def heading(told: str) -> Content:
    """A line between the rows."""
    return Content.assemble((f"── {told} ──", MUTED))


def scale_sentence(comparison: Comparison) -> str:
    """Say how many tokens the bars are wide, and what the limit is."""
    limit = f"limit {comparison.budget.limit:,}{assumed_mark(comparison.budget)}"
    if not comparison.widest:
        return limit
    return f"one scale: the longest bar is {comparison.widest:,} tokens · {limit}"


def row_line(row: AlignedRow, comparison: Comparison) -> Content:
    """A row of the table."""
    parts: list[tuple[str, str]] = [(label_of(row).ljust(_TURN), "")]
    for mode in Mode:
        share = row.shares.get(mode)
        told = "·" if share is None else f" {_SHORT[share.kind]} {share.tokens:,}"
        sign = [] if share is None else [(PATTERNS[share.kind], STYLES[share.kind])]
        parts += [*sign, (told.ljust(_SHARE - len(sign)), MUTED if share is None else "")]
    return Content.assemble(*parts, (beginning_of(row, comparison), MUTED))


def label_of(row: AlignedRow) -> str:
    """`#12`, or `#1…#54` for several; empty for what is no turn."""
    first, last = row.turns[0], row.turns[-1]
    if first is None:
        return ""
    return f"#{first}" if first == last else f"#{first}…#{last}"


def beginning_of(row: AlignedRow, comparison: Comparison) -> str:
    """How the turn begins, or of how many the row is."""
    first = row.turns[0]
    if first is None:
        return "instructions"
    if len(row.turns) > 1:
        return counted(len(row.turns), "turn")
    return comparison.texts.get(first, "") or "nothing is asked yet"


def plain(comparison: Comparison, mode: Mode) -> str:
    """All of it as text, a bar of 60 cells included."""
    lines = [line.rstrip() for line in str(draw_sides(comparison, mode, 60 + _NAME)).splitlines()]
    lines += ["", TABLE_HEADER]
    for told, rows in sections(comparison):
        lines += [f"── {told}", *(str(row_line(row, comparison)).rstrip() for row in rows)]
    return "\n".join(lines)
