"""The lines of the view of sends: what differs between two windows, the ledger, the messages.

Pure; every figure is of a window that was sent, or of `difference`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from textual.content import Content

from jitchat.replay import Replayed
from jitchat.text.counts import counted
from jitchat.text.safe import one_line, visible
from jitchat.tui.figures import identity_sentence, part_bars, part_figure, used_figure
from jitchat.tui.palette import MUTED
from jitchat.window.difference import SAME, Change, Difference
from jitchat.window.window import ContextWindow, Kind, LedgerRow

SHOWN = 200
"""Rows of one kind of difference; of a window with thousands of turns, the rest is one sum."""
_PARTS = 7
Reasons = dict[tuple[int | None, Kind | None], str]


@dataclass(frozen=True, slots=True)
class Compared:
    """Two sends and what differs between them."""

    before: Replayed
    after: Replayed
    difference: Difference
    numbers: tuple[int, int]
    """Of the two among all sends, from 1."""


def window_lines(window: ContextWindow) -> Iterator[str]:
    """Write the identity, then one line a segment."""
    yield identity_sentence(window)
    for each in window.segments:
        turn = "" if each.turn is None else f"#{each.turn}"
        ahead = f"{each.kind.value:<10}{turn:>7}{part_figure(window, each.tokens):>8}"
        yield f"{ahead}  {one_line(each.reason)}"


def ledger_header() -> str:
    """Name the columns of `ledger_lines`."""
    return _ledger_columns("rank", "turn", "verdict", "tokens") + f"{'score':>7}  {'parts':<8}why"


def ledger_lines(window: ContextWindow) -> list[Content]:
    """Write one line a candidate, as the ledger has them, then the sum of all others."""
    largest = max((value for row in window.ledger for _, value in row.parts), default=0.0)
    lines = [Content(_ledger_line(window, row, largest)) for row in window.ledger]
    if (never := window.never_candidates) is not None:
        ahead = _ledger_columns("", "", "left out", part_figure(window, never.tokens))
        lines.append(Content(f"{ahead}  {one_line(never.sentence)}").stylize(MUTED))
    return lines


def _ledger_line(window: ContextWindow, row: LedgerRow, largest: float) -> str:
    rank = "" if row.rank is None else str(row.rank)
    price, bars = part_figure(window, row.tokens), part_bars(row.parts, largest)
    ahead = _ledger_columns(rank, f"#{row.turn}", row.verdict.value, price)
    return f"{ahead}{row.score:>7.2f}  {bars:<{_PARTS}} {one_line(row.reason)}"


def _ledger_columns(rank: str, turn: str, verdict: str, price: str) -> str:
    return f"{rank:>4}{turn:>7}  {verdict:<10}{price:>7}"


def diff_header() -> str:
    """Name the columns of `diff_lines`."""
    return _diff_columns("", "turn", ("was", "is"), ("before", "after", "change")) + "why"


def diff_title(compared: Compared) -> str:
    """`send 3 recency ~281 → send 4 jit ~761`."""
    sends = zip(compared.numbers, (compared.before.window, compared.after.window), strict=True)
    return " → ".join(
        f"send {number:,} {window.mode} {used_figure(window)}" for number, window in sends
    )


def diff_lines(compared: Compared) -> list[Content]:
    """Write one line a difference, the sums, and the identity of both windows."""
    found, reasons = compared.difference, _reasons(compared.after.window)
    lines: list[Content] = []
    for name, changes in found.by_name.items():
        shown = changes[:SHOWN]
        lines += [Content(_diff_line(compared, name, each, reasons)) for each in shown]
        if rest := changes[SHOWN:]:
            told = f"{counted(len(rest), 'more turn')} {name}, {_signed(rest)} tokens"
            lines.append(Content(f"  … {told}").stylize(MUTED))
    lines += [Content(line) for line in _instructions(compared)]
    if not lines:
        lines = [Content(SAME)]
    return [*lines, Content(""), *(Content(line) for line in sum_lines(compared))]


def sum_lines(compared: Compared) -> Iterator[str]:
    """Write what the differences come to, then both windows with the identity."""
    told = [
        f"{name} {len(changes):,} ({_signed(changes)})"
        for name, changes in compared.difference.by_name.items()
    ]
    system = _instructions_change(compared)
    told += [f"instructions ({_plus(system)})"] if system else []
    before, after = compared.before.window, compared.after.window
    yield " · ".join(told)
    change = _plus(after.used - before.used)
    yield f"together {change}: {used_figure(before)} → {used_figure(after)}"
    for number, sent in zip(compared.numbers, (compared.before, compared.after), strict=True):
        yield f"send {number:,}: {identity_sentence(sent.window)}"


def message_text(window: ContextWindow, most: int | None = None) -> str:
    """Write out the messages as they left, each under its number and role.

    `most` characters of it and a note, where there are more; None for all.
    """
    messages = window.messages()
    parts: list[str] = []
    length = 0
    for number, message in enumerate(messages, start=1):
        head = f"── message {number} of {len(messages)}: {message.role} ──"
        parts.append(f"{head}\n{visible(message.content)}")
        length += len(parts[-1]) + 1
        if most is not None and length > most:
            return "\n".join(parts)[:most] + "\n── more is not shown; Y copies all of it ──"
    return "\n".join(parts)


def _diff_line(compared: Compared, name: str, change: Change, reasons: Reasons) -> str:
    before, after = compared.before.window, compared.after.window
    kinds = (_kind(change.kind_before), _kind(change.kind_after))
    figures = (
        part_figure(before, change.tokens_before) if change.kind_before else "",
        part_figure(after, change.tokens_after) if change.kind_after else "",
        _plus(change.tokens_after - change.tokens_before),
    )
    ahead = _diff_columns(name, f"#{change.turn}", kinds, figures)
    return ahead + one_line(reasons.get((change.turn, change.kind_after), ""))


def _reasons(after: ContextWindow) -> Reasons:
    """Tell by turn and kind why it is there in the later window, and by None why it is not."""
    reasons: Reasons = {(row.turn, None): row.reason for row in after.ledger}
    reasons.update({(each.turn, each.kind): each.reason for each in after.segments})
    return reasons


def _diff_columns(
    name: str, turn: str, kinds: tuple[str, str], figures: tuple[str, str, str]
) -> str:
    before, after, change = figures
    return f"{name:<8}{turn:>6}  {kinds[0]:<10}{kinds[1]:<10}{before:>7}{after:>7}{change:>8}  "


def _instructions(compared: Compared) -> Iterator[str]:
    """The line for another system prompt, or for one that is priced in another way."""
    change = _instructions_change(compared)
    if change or compared.difference.new_instructions:
        before, after = compared.before.window, compared.after.window
        name = Kind.SYSTEM.value
        figures = (
            part_figure(before, before.tokens_of(Kind.SYSTEM)),
            part_figure(after, after.tokens_of(Kind.SYSTEM)),
            _plus(change),
        )
        yield _diff_columns("changed", "", (name, name), figures) + "instructions"


def _instructions_change(compared: Compared) -> int:
    before, after = compared.before.window, compared.after.window
    return after.tokens_of(Kind.SYSTEM) - before.tokens_of(Kind.SYSTEM)


def _signed(changes: Sequence[Change]) -> str:
    return _plus(sum(each.tokens_after - each.tokens_before for each in changes))


def _plus(change: int) -> str:
    return f"{change:+,}".replace("-", "−")


def _kind(kind: Kind | None) -> str:
    return kind.value if kind is not None else "—"
