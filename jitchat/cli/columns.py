"""Tables on paper and in a terminal: the last two columns share what its width leaves."""

from __future__ import annotations

from collections.abc import Sequence

_NARROWEST = 12
_GAP = "  "
_TO_THE_RIGHT = ("turn", "tokens", "rank", "score")


def fitted(rows: Sequence[Sequence[str]], width: int | None) -> list[str]:
    """Make a line of each row, the headings first; `width` in cells, None for what it takes."""
    columns = _columns(rows, width)
    return [_line(row, rows[0], columns) for row in rows]


def _columns(rows: Sequence[Sequence[str]], width: int | None) -> list[int]:
    """Choose the width of each column in cells; 0 for a text that has no room at all."""
    from rich.cells import cell_len  # noqa: PLC0415  not needed for JSON

    *fixed, why, text = (max(map(cell_len, cells)) for cells in zip(*rows, strict=True))
    if width is None:
        return [*fixed, why, text]
    room = max(_NARROWEST, width - sum(fixed) - len(_GAP) * (len(fixed) + 1))
    why = min(why, max(_NARROWEST, room // 2))
    return [*fixed, why, room - why if room - why >= _NARROWEST else 0]


def _line(row: Sequence[str], headings: Sequence[str], columns: Sequence[int]) -> str:
    from rich.cells import cell_len, set_cell_size  # noqa: PLC0415  not needed for JSON

    cells: list[str] = []
    for heading, cell, width in zip(headings, row, columns, strict=True):
        if cell_len(cell) > width:
            cells.append(f"{set_cell_size(cell, width - 1)}…" if width else "")
        else:
            blank = " " * (width - cell_len(cell))
            cells.append(blank + cell if heading in _TO_THE_RIGHT else cell + blank)
    return _GAP.join(cells).rstrip()
