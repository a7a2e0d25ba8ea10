"""How the figures of a run are told: its titles, caveats and tables of text."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from jitchat.lab import stats
from jitchat.lab.compare import Change, Comparison, change_told, interval_told, left_out, signed
from jitchat.lab.costs import Spent
from jitchat.lab.experiment import Experiment
from jitchat.lab.facts import Kind
from jitchat.lab.run_file import Run, short
from jitchat.lab.stats import Tallies, Tally
from jitchat.text.sanitize import for_terminal, shorten
from jitchat.values import Mode

READER_CAVEAT = (
    "The embedded reader is no language model: it quotes the sentences of the window that share"
    " the question's words. A longer window does not tire it, so its curve shows what a window of"
    " each mode holds and what retrieval finds, not how a language model's attention fades."
    " It answers no paraphrased question and counts nothing, in any mode; asked what was never"
    " said, it often quotes a near-duplicate."
)
ABSENT_CAVEAT = (
    "Of the kind absent only a near-duplicate lies at the depth: recency is right on it because it"
    " sees nothing."
)
"""What was never said has no turn of its own that a mode could miss."""


_LONGEST = 40
"""Characters of a model's name."""
_BOUND = "\N{NO-BREAK SPACE}"


def brief_title(run: Run) -> str:
    """Name a run as `Run.title` does, the model cut so that the rest has room."""
    return replace(run, model=shorten(run.model, _LONGEST)).title


def settings_line(run: Run) -> str:
    """Tell what the figures depend on; lines are broken between its parts only."""
    return f"{_BOUND}· ".join(part.replace(" ", _BOUND) for part in stats.setting_parts(run))


def mode_lines(mode: Mode, asked: Experiment, tallies: Tallies) -> Iterator[str]:
    """Tell of a mode what share is right, what a question took, and where it does not fit."""
    tally, spent = tallies.by_mode.get(mode, Tally()), tallies.spent.get(mode, Spent())
    yield stats.total(tally) + (" right" if tally.answered else "")
    if spent.sent:
        yield _windows(mode, asked, tallies)
        first, whole = stats.duration(spent.to_first), stats.duration(spent.seconds)
        yield f"medians: first token {first}, answer {whole}"
        in_all = " in all" if spent.cost else ""
        yield f"{stats.percent(spent.cached)} of the input cached, {stats.cost(spent)}{in_all}"
    unfit = [at for at in asked.lengths if tallies.by_length.get((mode, at), Tally()).unfit]
    if unfit:
        yield f"does not fit from {short(unfit[0])} on"


def _windows(mode: Mode, asked: Experiment, tallies: Tallies) -> str:
    """Tell how large its windows are at the shortest and at the longest length that has any."""
    at = [(length, tallies.spent_at.get((mode, length), Spent())) for length in asked.lengths]
    sent = [(short(length), stats.tokens(each.tokens)) for length, each in at if each.sent]
    (first, few), (last, many) = sent[0], sent[-1]
    return f"window {few} tokens at {first}" + (f", {many} at {last}" if sent[1:] else "")


_INTERVAL = "Of so many answers, and in brackets the 95 % interval (Wilson), in per cent."
_NO_INTERVAL = "None over all lengths, for each fact is asked for again at each length."


def tables(run: Run, tallies: Tallies) -> Iterator[Table]:
    """Make the tables of a run, finished or not: shares by length and kind, and what it took."""
    asked, modes = run.experiment, run.experiment.modes
    lengths = [(short(length), length) for length in asked.lengths]
    by_length = [
        [name, *(stats.share_of(tallies.by_length.get((mode, length))) for mode in modes)]
        for name, length in lengths
    ]
    whole = ["all", *(stats.total(tallies.by_mode.get(mode)) for mode in modes)]
    title = f"{run.title}\nRight answers by length of the conversation"
    told = (_INTERVAL, _NO_INTERVAL)
    yield _table(title, ["length", *modes], [*by_length, whole], *told, gap=0)
    yield _by_kind(run, tallies)
    sizes = [
        [name, *(_tokens_at(tallies, mode, length) for mode in modes)] for name, length in lengths
    ]
    yield _table("Tokens of the window, medians", ["length", *modes], sizes)
    notes = [stats.decided(run, tallies.whole), *([READER_CAVEAT] if run.is_reader else [])]
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
        [kind.value, *(stats.total(tallies.by_kind.get((mode, kind))) for mode in modes)]
        for kind in kinds
    ]
    notes = [ABSENT_CAVEAT] if Kind.ABSENT in kinds else []
    return _table("Right answers by kind of question", ["kind", *modes], rows, *notes)


def _tokens_at(tallies: Tallies, mode: Mode, length: int) -> str:
    spent = tallies.spent_at.get((mode, length), Spent())
    unanswered = stats.without_answer(tallies.by_length.get((mode, length)))
    return stats.tokens(spent.tokens) if spent.tokens is not None else unanswered


def _took(mode: Mode, spent: Spent) -> list[str]:
    return [
        mode.value,
        f"{spent.sent:,}",
        stats.tokens(spent.tokens),
        stats.duration(spent.to_first),
        stats.duration(spent.seconds),
        stats.percent(spent.cached),
        stats.cost(spent),
    ]


def _change(mode: Mode, length: str, change: Change) -> list[str]:
    shares = (stats.share(change.before), stats.share(change.after))
    cells = f"{change.before.answered:,}"
    return [mode.value, length, cells, *shares, change_told(change), change.outcome]


def _change_of_all(mode: Mode, change: Change) -> list[str]:
    shares = (stats.percent(change.before.share), stats.percent(change.after.share))
    return [mode.value, "all", f"{change.before.answered:,}", *shares, signed(change.points), ""]


def _table(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], *notes: str, gap: int = 1
) -> Table:
    """`gap` is what stands between two columns beside one blank."""
    made = Table(title=Text(for_terminal(title)), title_justify="left", box=SIMPLE_HEAD)
    made.padding = (0, gap, 0, 0)
    if notes:
        made.caption, made.caption_justify = Text(for_terminal("\n".join(notes))), "left"
    for at, name in enumerate(columns):
        made.add_column(name, justify="right" if at else "left")
    for row in rows:
        made.add_row(*(Text(for_terminal(cell)) for cell in row))
    return made
