"""The report of a run: its titles, caveats and tables of text."""

from collections.abc import Iterator

from rich.table import Table

from jitchat.bench.output import plain_table
from jitchat.lab import stats
from jitchat.lab.change import change_text, mode_differences
from jitchat.lab.evidence import NOTE, TITLE, Outcome, evidence_by_mode
from jitchat.lab.facts import Kind
from jitchat.lab.run_file import Run, short
from jitchat.lab.stats import LENGTH, Spent, Tallies, Tally
from jitchat.values import Mode

DISTILLED_CAVEAT = (
    "Before the questions, each conversation is distilled by the built-in code: for observe all but"
    " its last exchange, for document all of it. A model may distil more, or different, things."
)
"""Shown with the figures of the modes that distil."""
READER_CAVEAT = (
    "The built-in reader is not a language model: it quotes the sentences of the window that share"
    " words with the question. A longer window does not tire it, so its curve shows what a"
    " window of each mode holds and what retrieval finds, not how a language model's attention"
    " fades. It answers no paraphrased question and counts nothing, in any mode; asked about"
    " something never said, it often quotes a near-duplicate."
)
ABSENT_CAVEAT = (
    "For the kind absent, only a near-duplicate is at the depth: recency is right because it sees"
    " nothing."
)
"""A fact that was never said has no turn that a mode could miss."""


KIND_CAVEATS = {
    Kind.ABSENT: ABSENT_CAVEAT,
    Kind.CORRECTED: (
        "For the kind corrected, both values are in the first quarter of the conversation, and the"
        " depth is measured within that quarter."
    ),
    Kind.SUPERSEDED: (
        "For the kind superseded, two older values come before the fact, at one third and two"
        " thirds of its depth."
    ),
    Kind.DELETED: (
        "For the kind deleted, the needed turn is the one that takes the fact back; the original"
        " statement is at half its depth. A model that sees neither, and says so, is right."
    ),
    Kind.INSTRUCTION: (
        "For the kind instruction, only the form of the answer is graded; the question is about"
        " something else and shares no word with the instruction. The built-in reader quotes, so it"
        " obeys only by chance: for the reader, check whether the window held the instruction."
    ),
}
"""Shown with the figures of a kind."""


def caveats(run: Run) -> list[str]:
    """List the caveats that apply to all figures of a run."""
    distils = any(mode.distils for mode in run.experiment.modes)
    known = ((run.is_reader, READER_CAVEAT), (distils, DISTILLED_CAVEAT))
    return [caveat for applies, caveat in known if applies]


INTERVAL = (
    "In brackets: 95 % intervals in per cent (Wilson). Over several lengths, the same facts are"
    " asked for at each, so the answers count for fewer, by the design effect (Rao and Scott)."
)


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
            title, notes = f"{run.title}\n{title}", [INTERVAL]
        yield plain_table(title, [axis.name, *modes], rows, *notes, gap=0)
    rows = [
        [kind.value, *(stats.share_of(tallies.by_kind.get((mode, kind))) for mode in modes)]
        for kind in asked.kinds
    ]
    notes = [KIND_CAVEATS[kind] for kind in asked.kinds if kind in KIND_CAVEATS]
    yield plain_table("Right answers by kind of question", ["kind", *modes], rows, *notes, gap=0)
    yield from _differences(tallies)
    outcomes = evidence_by_mode(tallies)
    rows = [[mode, *map(found.text, Outcome)] for mode, found in outcomes.items()]
    if rows:
        columns = ["mode", *(outcome.replace(", ", ",\n") for outcome in Outcome)]
        yield plain_table(TITLE, columns, rows, NOTE, gap=0)
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
