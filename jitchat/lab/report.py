"""The report of a run: its caveats and tables of text; the run as a file.

A file is JSON, as `data/json_format.txt` describes it, or a page of HTML that loads nothing: heat
maps, the curve by length, and the tables.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

from rich.console import Console
from rich.table import Table

from jitchat.bench.output import plain_table
from jitchat.lab import note, read_data, stats
from jitchat.lab.change import Change, ModeDifference, change_text, mode_differences
from jitchat.lab.colours import MODE_COLOURS, ink_on
from jitchat.lab.evidence import TITLE, Outcome, evidence_by_mode
from jitchat.lab.experiment import Experiment, Result
from jitchat.lab.run_file import Run, short
from jitchat.lab.square import square_of
from jitchat.lab.stats import LENGTH, Spent, Tallies, Tally, count_results
from jitchat.text.sanitize import for_terminal, one_line, repair
from jitchat.typed_data import fields_of
from jitchat.values import Mode

_PAGE = files(__package__) / "data" / "page.html"
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
    for table in tables(run, tallies):
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


SCHEMA = "jitchat rot 2"


def json_text(run: Run, results: Sequence[Result]) -> str:
    return json.dumps(fields(run, results), indent=2) + "\n"


def fields(run: Run, results: Sequence[Result]) -> dict[str, Any]:
    cells = [fields_of(result) for result in results]
    return {
        "schema": SCHEMA,
        "caveat": " ".join(caveats(run)) or None,
        "run": fields_of(run) | {"title": run.title, "settings": dict(run.settings)},
        "figures": _figures(count_results(results)),
        "cells": [cell.pop("cell") | cell for cell in cells],
    }


def _figures(tallies: Tallies) -> dict[str, Any]:
    modes = {(mode,): tally for mode, tally in tallies.by_mode.items()}
    return {
        "by_mode": _rows(("mode",), modes),
        **{f"by_{name}": _rows(("mode", name), at) for name, at in tallies.along.items()},
        "by_kind": _rows(("mode", "kind"), tallies.by_kind),
        "squares": _rows(("mode", "length", "depth"), tallies.squares),
        "differences": [
            row for each in mode_differences(tallies) for row in _difference_rows(each)
        ],
        "evidence": [
            {"mode": mode} | {each.name.lower(): found.counts[each] for each in Outcome}
            for mode, found in evidence_by_mode(tallies).items()
        ],
        "spent": [{"mode": mode} | asdict(spent) for mode, spent in tallies.spent.items()],
    }


def _rows(names: Sequence[str], tallies: Mapping[Any, Tally]) -> list[dict[str, Any]]:
    rows = []
    for place, tally in tallies.items():
        row = dict(zip(names, place, strict=True)) | asdict(tally) | {"share": tally.share}
        row["low"], row["high"] = tally.interval or (None, None)
        rows.append(row)
    return rows


def _difference_rows(each: ModeDifference) -> Iterator[dict[str, Any]]:
    changes: list[tuple[int | None, Change]] = [*each.at.items(), (None, each.whole)]
    for length, change in changes:
        low, high = change.interval
        yield {
            "mode": each.mode,
            "against": each.against,
            "length": length,
            "cells": change.after.answered,
            "left_out": each.left_out if length is None else None,
            "share": change.after.share,
            "share_against": change.before.share,
            "difference": change.points,
            "low": low,
            "high": high,
        }


FORMATS: Mapping[str, Callable[[Run, Sequence[Result]], str]] = {
    "json": json_text,
    "html": html_page,
}


def exported(ending: str, run: Run, results: Sequence[Result]) -> bytes:
    """Write a run, finished or not, in the format of a file's ending, such as `html`.

    Raises:
        LookupError: There is no format with this ending; `FORMATS` lists them.

    """
    return repair(FORMATS[ending](run, results)).encode()


def caveats(run: Run) -> list[str]:
    """List the caveats that apply to all figures of a run."""
    distils = any(mode.distils for mode in run.experiment.modes)
    names = ["reader"] * run.is_reader + ["distilled"] * distils
    return [note(name) for name in names]


def tables(run: Run, tallies: Tallies) -> Iterator[Table]:
    """Yield the tables of a run, finished or not: right answers, evidence, tokens and cost."""
    asked, modes, lengths = run.experiment, run.experiment.modes, run.experiment.lengths
    for axis in stats.axes_of(asked):
        at, values = tallies.along[axis.name], axis.values(asked)
        rows = [
            [axis.write(value), *(stats.share_of(at.get((mode, value))) for mode in modes)]
            for value in values
        ]
        title, notes = f"Right answers by {axis.about}", []
        if axis is LENGTH:
            rows.append(["all", *(stats.share_of(tallies.by_mode.get(mode)) for mode in modes)])
            title, notes = f"{run.title}\n{title}", [note("interval")]
        yield plain_table(title, [axis.name, *modes], rows, *notes, gap=0)
    rows = [
        [kind.value, *(stats.share_of(tallies.by_kind.get((mode, kind))) for mode in modes)]
        for kind in asked.kinds
    ]
    of_kinds = read_data("notes")["kinds"]
    notes = [of_kinds[kind] for kind in asked.kinds if kind in of_kinds]
    yield plain_table("Right answers by kind of question", ["kind", *modes], rows, *notes, gap=0)
    yield from _differences(tallies)
    outcomes = evidence_by_mode(tallies)
    rows = [[mode, *map(found.text, Outcome)] for mode, found in outcomes.items()]
    if rows:
        columns = ["mode", *(outcome.replace(", ", ",\n") for outcome in Outcome)]
        yield plain_table(TITLE, columns, rows, note("evidence"), gap=0)
    rows = [
        [short(length), *(_tokens_at(tallies, mode, length) for mode in modes)]
        for length in lengths
    ]
    yield plain_table("Tokens of the window, medians", ["length", *modes], rows)
    rows = [[mode, *stats.spent_texts(tallies.spent.get(mode, Spent()))] for mode in modes]
    notes = [stats.cells_text(run, tallies.whole), *caveats(run)]
    yield plain_table("Medians of a question, and the total cost", _TOOK, rows, *notes)


def _differences(tallies: Tallies) -> Iterator[Table]:
    """Yield the table of differences between modes; none if no two modes share a cell."""
    rows, left = [], []
    for each in mode_differences(tallies):
        for length, change in each.named():
            shares = f"{_points(change.after)} − {_points(change.before)}"
            cells = f"{change.after.answered:,}"
            rows.append([each.name, length, cells, shares, change_text(change)])
        left += [f"{each.name} {each.left_out:,}"] if each.left_out else []
    if rows:
        notes = [_DIFFERENCE_NOTE]
        notes += [f"Cells left out, with no answer in one mode: {', '.join(left)}."] if left else []
        yield plain_table(_AGAINST, _DIFFERENCE, rows, *notes)


def _points(tally: Tally) -> str:
    return stats.percent(tally.share).removesuffix(" %")


_TOOK = ("mode", "sent", "tokens", "to first token", "time", "cached", "total cost")
_AGAINST = "Differences between modes, on the same facts"
_DIFFERENCE = ("modes", "length", "cells", "shares, %", "points")
_DIFFERENCE_NOTE = "In brackets: 95 % intervals (Newcombe, for pairs)."


def _tokens_at(tallies: Tallies, mode: Mode, length: int) -> str:
    spent = tallies.spent_at.get((mode, length), Spent())
    unanswered = stats.without_answer(tallies.by_length.get((mode, length)))
    return stats.tokens(spent.tokens) if spent.tokens is not None else unanswered
