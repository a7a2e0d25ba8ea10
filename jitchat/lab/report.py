"""How the figures of a run are told: its titles, caveats and tables of text."""

from collections.abc import Iterator
from dataclasses import replace

from rich.table import Table

from jitchat.bench.output import plain_table
from jitchat.lab import stats
from jitchat.lab.compare import Comparison, change_text, interval_note, left_out, signed
from jitchat.lab.experiment import Experiment
from jitchat.lab.facts import Kind
from jitchat.lab.run_file import Run, short
from jitchat.lab.stats import Spent, Tallies, Tally
from jitchat.text.sanitize import shorten
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
        at = [(length, tallies.spent_at.get((mode, length), Spent())) for length in asked.lengths]
        sent = [(short(length), stats.tokens(each.tokens)) for length, each in at if each.sent]
        (first, few), (last, many) = sent[0], sent[-1]
        yield f"window {few} tokens at {first}" + (f", {many} at {last}" if sent[1:] else "")
        first, whole = stats.duration(spent.to_first), stats.duration(spent.seconds)
        yield f"medians: first token {first}, answer {whole}"
        in_all = " in all" if spent.cost else ""
        yield f"{stats.percent(spent.cached)} of the input cached, {stats.cost(spent)}{in_all}"
    unfit = [at for at in asked.lengths if tallies.by_length.get((mode, at), Tally()).unfit]
    if unfit:
        yield f"does not fit from {short(unfit[0])} on"


_INTERVAL = "Of so many answers, and in brackets the 95 % interval (Wilson), in per cent."
_NO_INTERVAL = "None over all lengths, for each fact is asked for again at each length."


def tables(run: Run, tallies: Tallies) -> Iterator[Table]:
    """Make the tables of a run, finished or not: shares by length and kind, and what it took."""
    asked, modes, lengths = run.experiment, run.experiment.modes, run.experiment.lengths
    rows = [
        [short(length), *(stats.share_of(tallies.by_length.get((mode, length))) for mode in modes)]
        for length in lengths
    ]
    rows.append(["all", *(stats.total(tallies.by_mode.get(mode)) for mode in modes)])
    title = f"{run.title}\nRight answers by length of the conversation"
    yield plain_table(title, ["length", *modes], rows, _INTERVAL, _NO_INTERVAL, gap=0)
    rows = [
        [kind.value, *(stats.total(tallies.by_kind.get((mode, kind))) for mode in modes)]
        for kind in asked.kinds
    ]
    notes = [ABSENT_CAVEAT] if Kind.ABSENT in asked.kinds else []
    yield plain_table("Right answers by kind of question", ["kind", *modes], rows, *notes)
    rows = [
        [short(length), *(_tokens_at(tallies, mode, length) for mode in modes)]
        for length in lengths
    ]
    yield plain_table("Tokens of the window, medians", ["length", *modes], rows)
    rows = [_took(mode, tallies.spent.get(mode, Spent())) for mode in modes]
    notes = [stats.cells_text(run, tallies.whole), *([READER_CAVEAT] if run.is_reader else [])]
    yield plain_table("What a question took, medians, and all of them cost", _TOOK, rows, *notes)


def comparison_tables(compared: Comparison) -> Iterator[Table]:
    rows = []
    for mode, whole in compared.of.items():
        for (of, length), change in compared.at.items():
            if of is mode:
                shares = (stats.share(change.before), stats.share(change.after))
                cells = f"{change.before.answered:,}"
                difference = (change_text(change), change.outcome)
                rows.append([mode.value, short(length), cells, *shares, *difference])
        shares = (stats.percent(whole.before.share), stats.percent(whole.after.share))
        cells = f"{whole.before.answered:,}"
        rows.append([mode.value, "all", cells, *shares, signed(whole.points), ""])
    title = f"Right answers\nbefore: {compared.before.title}\nafter: {compared.after.title}"
    notes = [_CHANGE.format(interval_note(compared)), left_out(compared)]
    if compared.differences:
        notes += ["What differs:", *compared.differences]
    else:
        notes.append("The settings are the same.")
    if compared.before.is_reader or compared.after.is_reader:
        notes.append(READER_CAVEAT)
    yield plain_table(title, _CHANGED, rows, *notes, gap=0)


_TOOK = ("mode", "sent", "tokens", "to first token", "time", "cached", "cost of all")
_CHANGED = ("mode", "length", "cells", "before", "after", "change, points", "")
_CHANGE = "In brackets the 95 % interval: of shares Wilson's, of changes {}."


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
