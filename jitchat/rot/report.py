"""A run's figures → the tables that are read, each for 80 columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from jitchat.rot import figures
from jitchat.rot.caveat import ABSENT_CAVEAT, READER_CAVEAT
from jitchat.rot.compare import Change, Comparison, change_told, interval_told, left_out, signed
from jitchat.rot.kinds import Kind
from jitchat.rot.run import Run, short
from jitchat.rot.spent import Spent
from jitchat.rot.tally import Tallies
from jitchat.text.safe import visible
from jitchat.turn import Mode

_INTERVAL = "Of so many answers, and in brackets the 95 % interval (Wilson), in per cent."
_NO_INTERVAL = "None over all lengths, for each fact is asked for again at each length."


def tables(run: Run, tallies: Tallies) -> Iterator[Table]:
    """Make the tables of a run, finished or not: shares by length and kind, and what it took."""
    asked, modes = run.experiment, run.experiment.modes
    lengths = [(short(length), length) for length in asked.lengths]
    by_length = [
        [name, *(figures.share_of(tallies.by_length.get((mode, length))) for mode in modes)]
        for name, length in lengths
    ]
    whole = ["all", *(figures.total(tallies.by_mode.get(mode)) for mode in modes)]
    title = f"{run.title}\nRight answers by length of the conversation"
    told = (_INTERVAL, _NO_INTERVAL)
    yield _table(title, ["length", *modes], [*by_length, whole], *told, gap=0)
    yield _by_kind(run, tallies)
    sizes = [
        [name, *(_tokens_at(tallies, mode, length) for mode in modes)] for name, length in lengths
    ]
    yield _table("Tokens of the window, medians", ["length", *modes], sizes)
    notes = [figures.decided(run, tallies.whole), *([READER_CAVEAT] if run.is_reader else [])]
    took = [_took(mode, tallies.spent.get(mode, Spent())) for mode in modes]
    yield _table("What a question took, medians, and all of them cost", _TOOK, took, *notes)


def comparison_tables(compared: Comparison) -> Iterator[Table]:
    """Make the table of two runs, over what both have answers for."""
    rows = []
    for mode, whole in compared.of.items():
        lengths = [(length, each) for (of, length), each in compared.at.items() if of is mode]
        rows += [_change(mode, short(length), each) for length, each in lengths]
        rows.append(_change_of_all(mode, whole))
    title = f"Right answers\nbefore: {compared.before.title}\nafter: {compared.after.title}"
    notes = [_CHANGE.format(interval_told(compared)), left_out(compared)]
    if compared.differences:
        notes += ["What differs:", *compared.differences]
    else:
        notes.append("The settings are the same.")
    if compared.before.is_reader or compared.after.is_reader:
        notes.append(READER_CAVEAT)
    yield _table(title, _CHANGED, rows, *notes, gap=0)


_TOOK = ("mode", "sent", "tokens", "to first token", "time", "cached", "cost of all")
_CHANGED = ("mode", "length", "cells", "before", "after", "change, points", "")
_CHANGE = "In brackets the 95 % interval: of shares Wilson's, of changes {}."


def _by_kind(run: Run, tallies: Tallies) -> Table:
    kinds, modes = run.experiment.kinds, run.experiment.modes
    rows = [
        [kind.value, *(figures.total(tallies.by_kind.get((mode, kind))) for mode in modes)]
        for kind in kinds
    ]
    notes = [ABSENT_CAVEAT] if Kind.ABSENT in kinds else []
    return _table("Right answers by kind of question", ["kind", *modes], rows, *notes)


def _tokens_at(tallies: Tallies, mode: Mode, length: int) -> str:
    spent = tallies.spent_at.get((mode, length), Spent())
    unanswered = figures.without_answer(tallies.by_length.get((mode, length)))
    return figures.tokens(spent.tokens) if spent.tokens is not None else unanswered


def _took(mode: Mode, spent: Spent) -> list[str]:
    return [
        mode.value,
        f"{spent.sent:,}",
        figures.tokens(spent.tokens),
        figures.duration(spent.to_first),
        figures.duration(spent.seconds),
        figures.percent(spent.cached),
        figures.cost(spent),
    ]


def _change(mode: Mode, length: str, change: Change) -> list[str]:
    shares = (figures.share(change.before), figures.share(change.after))
    cells = f"{change.before.answered:,}"
    return [mode.value, length, cells, *shares, change_told(change), change.outcome]


def _change_of_all(mode: Mode, change: Change) -> list[str]:
    shares = (figures.percent(change.before.share), figures.percent(change.after.share))
    return [mode.value, "all", f"{change.before.answered:,}", *shares, signed(change.points), ""]


def _table(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], *notes: str, gap: int = 1
) -> Table:
    """`gap` is what stands between two columns beside one blank."""
    made = Table(title=Text(visible(title)), title_justify="left", box=SIMPLE_HEAD)
    made.padding = (0, gap, 0, 0)
    if notes:
        made.caption, made.caption_justify = Text(visible("\n".join(notes))), "left"
    for at, name in enumerate(columns):
        made.add_column(name, justify="right" if at else "left")
    for row in rows:
        made.add_row(*(Text(visible(cell)) for cell in row))
    return made
