"""Making passes: an observer's result, checked and completed, before it is stored; their reports.

A pass is made completely or not at all. A result must not be empty, only name the given turns, and
not be repetitive. One that fails is replaced by that of the extractor, which needs no model, and
the pass's note states that; none of it is stored.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from jitchat.providers.catalogue.table import Prices
from jitchat.statements import Observation, Observations, Source
from jitchat.store.observations import ObservationPass, PassKind
from jitchat.synthesis.carrying import Dropped, complete, dropped
from jitchat.synthesis.extractive import ExtractiveObserver
from jitchat.synthesis.observer import Batch, Made, Observer
from jitchat.synthesis.policy import Reflect
from jitchat.synthesis.reflection import lost_lines
from jitchat.synthesis.sentences import sentences_of, words_in
from jitchat.text.figures import dollars, percent, plural
from jitchat.text.sanitize import one_line
from jitchat.values import Turn, Usage
from jitchat.window.statements import observation_line, observation_tokens
from jitchat.window.tokens import TokenCounter

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


_LEAST_REPEATED, _REPEATED = 3, 0.5
"""Too repetitive: a line that occurs this often and makes up this share of the lines, or a line in
which this share of word sequences is repeated."""
_LEAST_LEFT = 0.1
"""The share of the standing lines' words that a reflection must keep."""
_USED = 0.5
"""The share of its room that a reflection must fill, if that is less."""
_SEQUENCE = 4
"""Length in words of the sequences by which repetition within a line is detected."""
_LONG = 24
"""Words of the shortest line that is checked for repetition."""


class PassMaker:
    """Makes passes; stores nothing."""

    def __init__(self, observer: Observer | None, counter: TokenCounter) -> None:
        """Without an observer, the extractor makes the passes."""
        self._extractor = ExtractiveObserver(counter)
        self.observer: Observer = observer or self._extractor
        self._counter = counter

    async def observe(self, batch: Batch, first: int, tokens: int) -> ObservationPass:
        """Observe a batch; `first` is the position after the last pass, `tokens` the turns' sum."""
        shown = tuple(turn for turn in batch.turns if turn.position not in batch.kept_out)
        out = tuple(turn for turn in batch.turns if turn.position in batch.kept_out)
        made = Made((), self._extractor.name)
        if shown:
            made = await self._made(replace(batch, turns=shown))
        if out:
            own = self._extractor.observe_now(replace(batch, turns=out))
            made = replace(made, lines=(*made.lines, *own.lines))
        lines = complete(made.lines, batch.turns, batch.standing.lines)
        after = sum(self._counter.count(observation_line(line)) for line in lines)
        note = _note(made, tokens, after)
        return ObservationPass(PassKind.OBSERVE, first, batch.last, lines, made.by, note)

    async def _made(self, batch: Batch) -> Made:
        made = await self.observer.observe(batch)
        fault = fault_of(made.lines, batch.turns)
        if not fault:
            return made
        notice = ". ".join(filter(None, (made.notice, f"{made.by}: {fault}")))
        own = self._extractor.observe_now(batch)
        return replace(made, lines=own.lines, by=own.by, notice=notice)

    async def reflect(
        self, standing: Observations, wanted: Reflect, first: int
    ) -> ObservationPass | None:
        """Rewrite the standing observations, at stronger levels while they are too large.

        `first` is the position of the first observed turn. None if they cannot be made smaller.
        """
        before = observation_tokens(standing, self._counter.count)
        own: Observer = self._extractor
        for observer in [own] if self.observer is own else [self.observer, own]:
            best: ObservationPass | None = None
            for room in wanted.rooms:
                made = await observer.reflect(standing, room)
                if reflection_fault(made.lines, standing.lines, room / before):
                    break
                after = observation_tokens(replace(standing, lines=made.lines), self._counter.count)
                if after < before:
                    note, through = _note(made, before, after), standing.through
                    kind = PassKind.REFLECT
                    best = ObservationPass(kind, first, through, made.lines, made.by, note)
                    if after <= wanted.most:
                        return best
            if best is not None:
                return best
        return None

    async def aclose(self) -> None:
        await self.observer.aclose()


def _note(made: Made, before: int, after: int) -> dict[str, object]:
    note: dict[str, object] = {"before": before, "after": after}
    if made.notice:
        note["told"] = made.notice
    if made.input_tokens or made.output_tokens:
        note |= {"input": made.input_tokens, "output": made.output_tokens, "cost": made.cost}
    return note


def fault_of(lines: Sequence[Observation], turns: Sequence[Turn]) -> str:
    """State, as a clause, why lines cannot replace turns; empty if they can."""
    if not lines:
        has_content = any(each.words for turn in turns for each in sentences_of(turn))
        return "it wrote no lines" if has_content else ""
    positions = {turn.position for turn in turns}
    if any(positions.isdisjoint(line.source.turns) for line in lines):
        return "a line names none of the turns that were sent"
    return _form_fault(lines)


def reflection_fault(
    lines: Sequence[Observation], standing: Sequence[Observation], allowed: float = 1.0
) -> str:
    """State, as a clause, why lines cannot replace the standing ones; empty if they can.

    `allowed` is the room that the lines had, as a share of the standing lines' size.
    """
    if not lines:
        return "it wrote no lines"
    known = {turn for line in standing for turn in line.source.turns}
    if any(known.isdisjoint(line.source.turns) for line in lines):
        return "a line names turns that no earlier line named"
    before, after = words_in(standing), words_in(lines)
    if len(after) < min(_LEAST_LEFT, _USED * allowed) * len(before):
        return "it kept almost nothing"
    return _form_fault(lines)


def _form_fault(lines: Sequence[Observation]) -> str:
    if any(not line.text.strip() for line in lines):
        return "a line is empty"
    texts = Counter(line.text.casefold() for line in lines)
    most = max(texts.values())
    if most >= _LEAST_REPEATED and most >= _REPEATED * len(lines):
        return "it repeats a line"
    if any(_is_repetitive(line.text) for line in lines):
        return "a line repeats itself"
    return ""


def _is_repetitive(text: str) -> bool:
    """Whether most word sequences of a text repeat earlier ones."""
    words = text.casefold().split()
    if len(words) < _LONG:
        return False
    sequences = [tuple(words[at : at + _SEQUENCE]) for at in range(len(words) - _SEQUENCE + 1)]
    return len(set(sequences)) < (1 - _REPEATED) * len(sequences)
