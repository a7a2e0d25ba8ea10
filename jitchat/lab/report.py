"""The report of a run: its titles, caveats and tables of text."""

from collections.abc import Iterator

from rich.table import Table

from jitchat.bench.output import plain_table
from jitchat.lab import note, read_data, stats
from jitchat.lab.change import change_text, mode_differences
from jitchat.lab.evidence import TITLE, Outcome, evidence_by_mode
from jitchat.lab.run_file import Run, short
from jitchat.lab.stats import LENGTH, Spent, Tallies, Tally
from jitchat.values import Mode


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
