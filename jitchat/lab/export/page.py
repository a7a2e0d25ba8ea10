"""A run as one HTML page that loads nothing: heat maps, the curve by length, and the tables."""

from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files
from string import Template

from rich.console import Console

from jitchat.lab import report, stats
from jitchat.lab.colours import MODE_COLOURS, ink_on
from jitchat.lab.experiment import Experiment, Result
from jitchat.lab.run_file import Run, short
from jitchat.lab.square import square_of
from jitchat.lab.stats import Tallies, Tally
from jitchat.text.sanitize import for_terminal, one_line
from jitchat.values import Mode

_PAGE = files(__package__) / "page.html"
_COLUMNS = 110
"""Width of the tables."""
_LEFT, _RIGHT, _TOP, _BOTTOM = 50, 820, 15, 215
"""Edges of the curve, in pixels if the page has room."""


def html_page(run: Run, results: Sequence[Result]) -> str:
    tallies = stats.count_results(results)
    asked = run.experiment
    return Template(_PAGE.read_text("utf-8")).substitute(
        title=_text(f"Context rot: {run.title}"),
        state=_text(stats.cells_text(run, tallies.whole)),
        settings=_text(" · ".join(stats.setting_parts(run))),
        maps="\n".join(_heat_map(mode, asked, tallies) for mode in asked.modes),
        axes="\n".join(_axes(asked)),
        lines="\n".join(_line(mode, asked, tallies) for mode in asked.modes),
        tables=escape(_tables(run, tallies)),
    )


def _text(text: str) -> str:
    """Escape any text, on one line; the page may be printed in a terminal."""
    return escape(for_terminal(one_line(text)).cells)


def _tables(run: Run, tallies: Tallies) -> str:
    console = Console(width=_COLUMNS, color_system=None)
    drawn = []
    for table in report.tables(run, tallies):
        with console.capture() as printed:
            console.print(table)
        drawn.append(printed.get().rstrip())
    return "\n\n".join(drawn)


def _heat_map(mode: Mode, asked: Experiment, tallies: Tallies) -> str:
    share = stats.share_of(tallies.by_mode.get(mode))
    lengths = "".join(f"<th>{short(length)}</th>" for length in asked.lengths)
    rows = [f"<caption>{mode}: {share}</caption>", f"<tr><th></th>{lengths}</tr>"]
    for depth in asked.depths:
        squares = [_square(tallies.squares.get((mode, at, depth))) for at in asked.lengths]
        rows.append(f"<tr><th>{stats.percent(depth)}</th>{''.join(squares)}</tr>")
    return "\n".join(("<table>", *rows, "</table>"))


def _square(tally: Tally | None) -> str:
    square = square_of(tally)
    style = ""
    if square.colour:
        style = f"background: {square.colour}; color: {ink_on(square.colour)}"
    return f'<td style="{style}" title="{stats.share_of(tally)}">{square.text}</td>'


def _axes(asked: Experiment) -> Iterator[str]:
    for share in (0.0, 0.5, 1.0):
        y = _y(share)
        yield f'<path d="M{_LEFT} {y}H{_RIGHT}" stroke="#dfe2e6"/>'
        yield f'<text x="0" y="{y + 4}">{stats.percent(share)}</text>'
    for column, length in enumerate(asked.lengths):
        x = _x(column, asked)
        yield f'<text x="{x}" y="{_BOTTOM + 20}" text-anchor="middle">{short(length)}</text>'


def _line(mode: Mode, asked: Experiment, tallies: Tallies) -> str:
    """Draw the shares of a mode, with its name beside them; each mode has its own dashes."""
    row, colour = asked.modes.index(mode), MODE_COLOURS[mode]
    points = []
    dots = []
    for column, length in enumerate(asked.lengths):
        share = tallies.by_length.get((mode, length), Tally()).share
        if share is not None:
            x, y = _x(column, asked), _y(share)
            points.append(f"{x},{y}")
            dots.append(f'<circle cx="{x}" cy="{y}" r="4"/>')
    dashes = f'stroke-width="2" stroke-dasharray="8 {3 * row}"'
    line = f'<polyline points="{" ".join(points)}" fill="none" stroke="{colour}" {dashes}/>'
    name = f'<text x="{_RIGHT + 15}" y="{_TOP + 18 * row}">{mode}</text>'
    return f'<g fill="{colour}">{line}{"".join(dots)}{name}</g>'


def _x(column: int, asked: Experiment) -> int:
    return round(_LEFT + (_RIGHT - _LEFT) * (column + 0.5) / len(asked.lengths))


def _y(share: float) -> int:
    return round(_BOTTOM - (_BOTTOM - _TOP) * share)
