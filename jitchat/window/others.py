"""What was considered besides turns of the conversation: sent or left out, and why.

The rows follow from the segments that are sent: whatever dropped something, it has a row.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from itertools import islice

from jitchat.attachments import Attachment
from jitchat.statements import Fact, FactKind, Source
from jitchat.text.figures import plural
from jitchat.values import Mode, Turn
from jitchat.window import reasons
from jitchat.window.budget import SHARES
from jitchat.window.exchange import why_unshown
from jitchat.window.facts import fact_line, is_of, matching, source_in
from jitchat.window.files import Placing, own_reason, part_ref
from jitchat.window.parts import Choice, Parts, whole_turns
from jitchat.window.render import Price
from jitchat.window.window import (
    FileRef,
    Kind,
    OtherRow,
    Verdict,
    segment_of_turns,
    tokens_of,
    tool_of,
)
from jitchat.writing.calls import full_text

_LISTED = 24
"""Facts with a row of their own; the others are one sum."""
_READ = 256
"""Turns without a window that are read; if there are more, the earlier ones are counted only."""
_NAMED = 6
"""Turns in one row that are named."""


class Others:
    """Lists everything but the turns of the ledger."""

    def __init__(self, parts: Parts, mode: Mode, choice: Choice) -> None:
        """`parts` are those that `choice` was made from; its segments are as sent."""
        self._parts, self._mode, self._choice = parts, mode, choice
        self._sources, self._segments = parts.sources, choice.segments
        self._price = parts.counter.count

    def rows(self) -> Iterator[OtherRow]:
        if self._choice.recalled is not None:
            yield from self._elsewhere()
        yield from self._files()
        yield from self._parts_of_files()
        yield from self._facts()
        yield from self._tools()
        yield from self._unshown()

    def _refusal(self, kind: Kind, most: int, where: str) -> Callable[[int], str]:
        """Return what says why so many tokens of a kind, which may have `most`, have no room.

        As when they were chosen, each text is counted alone.
        """
        free = self._parts.room - tokens_of(self._segments)

        def refusal(tokens: int) -> str:
            sent = (segment.text for segment in self._segments if segment.kind is kind)
            left = most - sum(_counted(self._price, text) for text in sent)
            if free < left:
                return reasons.no_room(tokens, free, reasons.IN_WINDOW)
            return reasons.no_room(tokens, left, where)

        return refusal

    def _elsewhere(self) -> Iterator[OtherRow]:
        """Give the verdict on each turn that was found in another conversation."""
        kind = Kind.RETRIEVED
        sent = {each.source: each for each in self._segments if each.kind is kind}
        most = self._parts.room
        refusal = self._refusal(kind, most, reasons.FOR_RECALLED)
        quoted: dict[str, str] = {}
        """Names of the turns so far, by text."""
        for hit in self._sources.retrieval.elsewhere.hits:
            text = " ".join(hit.turn.content.split())
            source = Source(hit.turn.position, hit.turn.position, hit.conversation)
            segment, verdict = sent.get(source), Verdict.LEFT_OUT
            tokens = self._price(full_text(hit.turn))
            if segment is not None:
                verdict, reason = Verdict.RETRIEVED, segment.reason
                tokens = segment.tokens if segment.excerpt is None else tokens
                quoted[text] = hit.name
            elif text in quoted:
                reason = reasons.SAME_TEXT.format(place=quoted[text])
            else:
                reason = refusal(tokens)
            figures = hit.name, tokens, reason, verdict, hit.score
            yield OtherRow(kind, *figures, source=source, title=hit.title)

    def _files(self) -> Iterator[OtherRow]:
        files = self._sources.files
        placing = Placing(files, self._parts.counter)
        own_files = [each for each in self._segments if each.kind is Kind.FILES and each.file]
        sent = {_identity(segment.file): segment for segment in own_files}
        for file in (*files.files, *files.kept_out):
            own = sent.get(_identity(file))
            tokens, verdict = placing.tokens(file), Verdict.LEFT_OUT
            if own is not None and own.file is not None and own.file.is_whole:
                tokens, verdict = own.tokens, Verdict.FILES
            reason = own_reason(own) if own is not None else self._why_not(file, tokens)
            ref = FileRef(file.name, file.turn, file.digest, picture=file.picture)
            yield OtherRow(Kind.FILES, file.name, tokens, reason, verdict, file=ref)

    def _why_not(self, file: Attachment, tokens: int) -> str:
        """Say why neither a file nor the line that represents it is sent."""
        turn, reason = file.turn, self._sources.without.get(file.turn)
        if reason is not None:
            return reasons.FILE_TURN_OUT.format(turn=turn, reason=reason)
        segment = segment_of_turns(self._segments).get(turn)
        if segment is None or segment.kind is Kind.INDEX:
            return reasons.FILE_TURN_NOT_SENT.format(turn=turn)
        if segment.kind in (Kind.RECENT, Kind.DRAFT):
            return self._refusal(Kind.FILES, self._parts.room, reasons.IN_WINDOW)(tokens)
        return reasons.FILE_TURN_QUOTED.format(turn=turn, kind=segment.kind)

    def _parts_of_files(self) -> Iterator[OtherRow]:
        """List the parts that were found in files that are not sent whole, best first."""
        files = {file.digest: file for file in self._sources.files.files}
        sent = {each.file: each for each in self._segments if each.file is not None}
        whole = {ref.digest for ref in sent if ref is not None and ref.is_whole}
        refusal = self._refusal(
            Kind.DOCUMENTS, self._parts.budget.share(SHARES.documents), reasons.FOR_PARTS
        )
        for hit in self._sources.files.hits:
            if hit.digest in whole or hit.digest not in files:
                continue
            file = files[hit.digest]
            ref, tokens = part_ref(file, hit.part), self._price(file.parts[hit.part].text)
            verdict, reason = Verdict.LEFT_OUT, hit.left_out
            if ref in sent:
                tokens, verdict, reason = sent[ref].tokens, Verdict.DOCUMENTS, hit.reason
            elif not reason:
                sends_parts = self._choice.recalled is not None
                reason = refusal(tokens) if sends_parts else reasons.PARTS_IN_MODES
            figures = ref.place, tokens, reason, verdict, hit.score
            yield OtherRow(Kind.DOCUMENTS, *figures, file=ref)

    def _facts(self) -> Iterator[OtherRow]:
        """List what is not sent of standing instructions and of facts, the best first."""
        distilled, draft = self._sources.distilled, self._sources.draft.content
        kinds = Kind.STANDING, Kind.FACTS
        sent = "".join(segment.text for segment in self._segments if segment.kind in kinds)
        unsent = [fact for fact in distilled.facts if fact_line(fact, distilled) not in sent]
        older = reasons.STANDING_OLDER.format(most=self._parts.budget.share(SHARES.standing))
        standing = [fact for fact in reversed(unsent) if fact.kind is FactKind.STANDING]
        yield from self._fact_rows(Kind.STANDING, dict.fromkeys(standing, older), len(standing))
        facts = [fact for fact in distilled.facts if fact.kind is not FactKind.STANDING]
        left = dict.fromkeys(fact for fact in unsent if fact.kind is not FactKind.STANDING)
        found = {fact: how for fact, how in matching(facts, draft) if fact in left}
        told = {fact: f"{how}; {self._why_no_fact(fact)}" for fact, how in found.items()}
        less = reasons.FACTS_LESS if draft.strip() else reasons.NOTHING_ASKED
        rest = {fact: less for fact in left if fact not in told}
        yield from self._fact_rows(Kind.FACTS, told | rest, len(told))

    def _why_no_fact(self, fact: Fact) -> str:
        source = source_in(self._sources.distilled, fact.source)
        if source is not None and is_of(source, whole_turns(self._segments)):
            return reasons.FACT_IN_TURN.format(turn=source.first)
        if not self._mode.recalls:
            return reasons.FACTS_IN_MODES
        refusal = self._refusal(
            Kind.FACTS, self._parts.budget.share(SHARES.facts), reasons.FOR_FACTS
        )
        return refusal(self._price(fact_line(fact, self._sources.distilled)))

    def _fact_rows(self, kind: Kind, why: Mapping[Fact, str], first: int) -> Iterator[OtherRow]:
        """Make a row of each of the `first` facts, but not of too many, and one of the others."""
        distilled, listed = self._sources.distilled, min(first, _LISTED)
        for fact, reason in islice(why.items(), listed):
            tokens = self._price(fact_line(fact, distilled))
            source = source_in(distilled, fact.source)
            yield OtherRow(kind, f"fact {fact.id}", tokens, reason, source=source)
        if len(why) > listed:
            lines = (fact_line(fact, distilled) for fact in islice(why, listed, None))
            name = plural(len(why) - listed, "fact")
            yield OtherRow(kind, name, self._price("".join(lines)), [*why.values()][-1])

    def _tools(self) -> Iterator[OtherRow]:
        """List the tools not offered; also `request_context` if nothing is left out."""
        for offer in self._sources.tools:
            if not offer.is_offered:
                yield OtherRow(Kind.TOOLS, offer.tool.name, offer.tokens, offer.reason)
        tools = [segment for segment in self._segments if segment.kind is Kind.TOOLS]
        offered = {tool_of(segment) for segment in tools}
        for segment in self._parts.opening:
            if segment.kind is Kind.TOOLS and (tool := tool_of(segment)) not in offered:
                reason = reasons.NOTHING_LEFT_OUT
                yield OtherRow(Kind.TOOLS, tool.name, segment.tokens, reason)

    def _unshown(self) -> Iterator[OtherRow]:
        """List the turns that no window shows, one row for each reason."""
        turns, groups = self._sources.history.unshown, dict[str, list[Turn]]()
        for turn in turns[-_READ:]:
            groups.setdefault(why_unshown(turn), []).append(turn)
        for reason, group in groups.items():
            name = " ".join(f"#{turn.position}" for turn in group)
            if len(group) > _NAMED:
                name = f"{len(group)} turns, #{group[0].position}–#{group[-1].position}"
            texts = [turn.content for turn in group]
            texts += (call.arguments for turn in group for call in turn.use.calls)
            tokens = sum(_counted(self._price, text) for text in texts)
            yield OtherRow(Kind.RECENT, name, tokens, reason)
        if turns[:-_READ]:
            name = plural(len(turns) - _READ, "earlier turn")
            yield OtherRow(Kind.RECENT, name, 0, reasons.NOT_SHOWABLE)


def _identity(file: Attachment | FileRef | None) -> tuple[str, int, str] | None:
    return None if file is None else (file.digest, file.turn, file.name)


@lru_cache(maxsize=2 * _READ)
def _counted(price: Price, text: str) -> int:
    return price(text)
