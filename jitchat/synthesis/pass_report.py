"""What a pass did, in figures and sentences: what it covered, kept and dropped, and what it saves.

The part of a window before its volatile tail comes from a provider's prompt cache, so the saving
per request is stated at the price of cached input, if that is known. Once, after a pass, everything
that follows the observations has to be read again.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from jitchat.providers.catalogue.table import Prices
from jitchat.statements import Observation, Source
from jitchat.store.observations import ObservationPass, PassKind
from jitchat.synthesis.carrying import Dropped, dropped
from jitchat.synthesis.reflection import lost_lines
from jitchat.text.figures import dollars, percent, plural
from jitchat.text.sanitize import one_line
from jitchat.values import Turn, Usage

_KINDS = {
    PassKind.OBSERVE: "observed {turns}",
    PassKind.REFLECT: "reflected on the observations of {turns}",
    PassKind.EDIT: "edited the observations of {turns}",
}


@dataclass(frozen=True, slots=True)
class PassReport:
    made: ObservationPass
    dropped: tuple[Dropped, ...] = ()
    """For a pass that observed: the parts of its turns that no line has, turn by turn."""
    lost: tuple[Observation, ...] = ()
    """For a pass that rewrote: the earlier lines that no line carries now."""

    @property
    def sentence(self) -> str:
        """`observed #1–#21: 1,204 → 450 tokens, 12 lines, by the extractor`."""
        made = self.made
        what = _KINDS[made.kind].format(turns=Source(made.first, made.last).name)
        note, size = made.note, ""
        if "before" in note:
            size = f": {note['before']:,} → {note['after']:,} tokens"
        lines = plural(len(made.lines), "line")
        notice = f" ({one_line(str(note['told']))})" if note.get("told") else ""
        return f"{what}{size}, {lines}, by {one_line(made.made_by)}{notice}"

    @property
    def dropped_sentence(self) -> str:
        """`dropped: 31 statements of 12 turns`; empty if nothing was dropped."""
        if self.made.kind is PassKind.OBSERVE:
            statements = sum(len(turn.sentences) for turn in self.dropped)
            counts = f"{plural(statements, 'statement')} of {plural(len(self.dropped), 'turn')}"
            return f"dropped: {counts}" if self.dropped else ""
        return f"dropped: {plural(len(self.lost), 'line')}" if self.lost else ""


def reports_of(passes: Sequence[ObservationPass], turns: Sequence[Turn]) -> list[PassReport]:
    """Report on all passes in effect, in order; `turns` are those of the conversation."""
    reports: list[PassReport] = []
    lines: tuple[Observation, ...] = ()
    for made in passes:
        if made.kind is PassKind.OBSERVE:
            observed = [turn for turn in turns if made.first <= turn.position <= made.last]
            # a name that is in an earlier line is not listed again, and is not lost
            reports.append(PassReport(made, tuple(dropped((*lines, *made.lines), observed))))
        else:
            reports.append(PassReport(made, lost=tuple(lost_lines(made.lines, lines))))
        lines = made.lines if made.kind.replaces else (*lines, *made.lines)
    return reports


def saving_sentence(before: int, after: int, prices: Prices | None) -> str:
    """State the saving: `3,920 → 1,283 tokens per request (67 % less), $0.0005 → …`."""
    share = 1 - after / before if before else 0.0
    change = f"{percent(abs(share))} {'less' if share >= 0 else 'more'}"
    saving = f"{before:,} → {after:,} tokens per request ({change})"
    if prices is not None and prices.is_free:
        return f"{saving}, free"
    usages = [Usage(tokens, 0, cached_tokens=tokens) for tokens in (before, after)]
    costs = [prices.of(usage) for usage in usages] if prices is not None else [None]
    if None in costs:
        return f"{saving}, cost unknown"
    return f"{saving}, {dollars(costs[0])} → {dollars(costs[1])} at the price of cached input"
