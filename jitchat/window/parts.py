"""What every planner works with: the sources of a window and its parts, priced once.

Everything is in the counter's tokens, within a room that leaves space for the correction and its
band, so that nothing in the window moves when a reply refines the calibration. Only a refusal
reports corrected tokens.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, repeat

from jitchat.errors import WindowOverflow
from jitchat.statements import NOTHING_DISTILLED, Distilled, FactKind
from jitchat.text.figures import Figure, enumerated, mark_of, plural
from jitchat.turn_list import TurnList
from jitchat.values import NO_OTHERS, REQUEST_CONTEXT, Other, Others, Retrieval, Tool, Turn
from jitchat.window import reasons
from jitchat.window.artefacts import Artefact, ArtefactKind, worked_on
from jitchat.window.budget import SHARES, Budget
from jitchat.window.calibration import Calibration
from jitchat.window.exchange import carried_use, spoken_as
from jitchat.window.facts import fitting_facts, standing_segments
from jitchat.window.files import NO_FILES, FileSources, Placing, files_tokens, fitting_parts
from jitchat.window.history import History, Price, cost_of
from jitchat.window.recall import Recall
from jitchat.window.render import (
    Piece,
    counted,
    system_segments,
    tail_segments,
    verbatim,
)
from jitchat.window.statements import DISTILLED_KINDS
from jitchat.window.tokens import TokenCounter
from jitchat.window.tool_prices import tool_prices
from jitchat.window.window import (
    ContextWindow,
    Kind,
    Segment,
    tokens_of,
    tool_of,
    tool_segment,
)
from jitchat.window.written import TurnPricing, offers_others
from jitchat.writing.pieces import PLAIN, WritingRules

SYSTEM_PROMPT = (
    "You are a helpful assistant in a long conversation, of which you may see only a part. If what"
    " you need is not here, say so."
)
"""Replaced by what the user or a persona says."""
KEPT_LINE = 48
"""Maximum tokens of the line that names the turns not shown."""


@dataclass(frozen=True, slots=True)
class ToolOffer:
    """A tool, and whether it is offered to the model in one turn."""

    tool: Tool
    reason: str
    """Why it is offered or not, as a clause."""
    is_offered: bool = True
    tokens: int = 0
    """What a tool that is not offered would take."""
    in_full: bool = True
    """Whether `full` offers it, too."""


@dataclass(frozen=True, slots=True)
class Sources:
    history: History
    """Without the turns that the user keeps out, which are in `History.taken_out`."""
    draft: Turn
    model: str
    system: str = SYSTEM_PROMPT
    retrieval: Retrieval = field(default_factory=Retrieval)
    pinned: tuple[int, ...] = ()
    """Positions. A pinned turn that is in the recent block is not also quoted."""
    wanted: frozenset[int] = frozenset()
    """Positions of turns that `jit` loads at full text before any that were found."""
    without: Mapping[int, str] = field(default_factory=dict)
    """By position of a turn that no window has: the reason that the ledger gives."""
    tools: tuple[ToolOffer, ...] = ()
    distilled: Distilled = NOTHING_DISTILLED
    reaches_others: bool = False
    """Whether a model that can request context also finds turns of other conversations."""
    files: FileSources = NO_FILES
    system_reason: str = reasons.INSTRUCTIONS
    """Where the instructions come from."""

    rules: WritingRules = PLAIN
    """What the protocol requires of the texts of a request."""
    before: ContextWindow | None = None
    """The window that was sent for the message before this one; None if there was none."""
    is_cached: bool = False
    """Whether the provider should still have that window in its prompt cache."""

    @property
    def offers_others(self) -> bool:
        """Whether other tools than jitchat's own are offered."""
        return offers_others(offer.tool for offer in self.tools if offer.is_offered)

    def has_quotes_from(self, start: int) -> bool:
        """Whether calls of the turns from index `start` on are quoted, not sent as such."""
        is_native = self.offers_others and self.rules.takes_tools
        return not is_native and any(turn.use.calls for turn in self.history.turns[start:])

    @property
    def may_note(self) -> bool:
        """Whether a draft can have facts or turns of other conversations noted with it."""
        facts = self.distilled.facts
        return self.reaches_others or any(fact.kind is not FactKind.STANDING for fact in facts)

    @property
    def can_ask(self) -> bool:
        """Whether the model can ask for turns that the window leaves out."""
        return any(offer.tool.name == REQUEST_CONTEXT for offer in self.tools if offer.is_offered)


@dataclass(frozen=True, slots=True)
class Choice:
    """What a planner chose: the segments, and what the ledger needs to explain them."""

    segments: tuple[Segment, ...]
    recalled: Recall | None = None
    """None in a mode that does not retrieve turns."""
    squeezed: Mapping[int, str] = field(default_factory=dict)
    """By position of a turn that the recent block would hold if the window were larger: why not."""
    not_recalled: str = ""
    """In a mode that leaves old turns out and retrieves none: why they are not sent."""
    distilled_through: int = 0
    """The position of the last turn that statements stand for; 0 for none."""
    extends: bool = False
    """Whether it begins with the window before."""


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts that all modes choose from."""

    sources: Sources
    budget: Budget
    """In the tokens that the server counts."""
    counter: TokenCounter
    pricing: TurnPricing
    calibration: Calibration
    room: int
    """Tokens that the window can hold."""
    opening: tuple[Segment, ...]
    """The instructions, how to read the window, the tools by name, the standing instructions."""
    opening_of_everything: tuple[Segment, ...]
    """The opening of a window that leaves nothing out: there, the model has no turns to request.

    It says how to read the window only if turns have quoted calls or files.
    """
    draft: Piece
    bare_tail: tuple[Segment, ...]
    """The draft alone."""
    whole: int
    """Tokens of everything without files, with the forms of turns that are sent in part."""
    most: int
    """Tokens that the window may hold, with the line that names the turns not shown."""
    worked_on: tuple[Artefact, ...] = ()
    """The artefacts that the message is about, if not everything is sent."""
    whole_files: frozenset[str] = frozenset()
    """Digests of the files that are sent whole: no part of them is also quoted."""

    @classmethod
    def of(
        cls, sources: Sources, budget: Budget, counter: TokenCounter, calibration: Calibration
    ) -> "Parts":
        history = sources.history
        system, reading = system_segments(sources.system, sources.system_reason, counter.count)
        tools = _tools(sources.tools, counter)
        standing = standing_segments(
            sources.distilled, budget.share(SHARES.standing), counter.count
        )
        opening = (system, reading, *tools, *standing)
        definitions = {Other.DEFINITIONS: tokens_of(tools)} if tools else NO_OTHERS
        within = calibration.within(budget.budget, definitions)
        room = within - (KEPT_LINE if sources.can_ask else 0)
        pricing = TurnPricing(counter, sources.rules, sources.offers_others)
        block = block_tokens(history, 0, pricing)
        has_more = sources.reaches_others or sources.files.has_parts
        has_nothing_to_ask = sources.can_ask and not (has_more or history.wholes)
        is_cheap = block <= room or not isinstance(history.turns, TurnList)  # else all are read
        read = [reading] * (bool(sources.files) or (is_cheap and sources.has_quotes_from(0)))
        out = {REQUEST_CONTEXT} if has_nothing_to_ask else frozenset[str]()
        offered = [tool for tool in tools if tool_of(tool).name not in out]
        of_everything = (system, *read, *offered, *standing)
        text = verbatim(sources.draft, history.last())
        draft = Piece(sources.draft.position, text, reasons.DRAFT)
        if (form := sources.draft.use.form) is not None:
            spared = counted(counter.count, sources.draft.content) - counter.count(form.text)
            draft = replace(draft, form=form.form, spared=spared)
        bare_tail = tuple(tail_segments((), (), draft, counter.count))
        whole = tokens_of(of_everything) + tokens_of(bare_tail) + block
        counts = counter, pricing, calibration, room
        texts = opening, of_everything, draft, bare_tail
        return cls(sources, budget, *counts, *texts, whole, within)

    def of_size(self) -> "Parts":
        """Limit the window to its size; the message with its files may exceed it."""
        files = Placing(self.sources.files, self.counter)
        position = self.sources.draft.position
        attached = files_tokens(files.segments({position}, self.room - self.fixed))
        within = self.calibration.within(self.budget.most, self.definitions)
        room = min(self.room, max(within - self.kept_line, self.fixed) + attached)
        limited = replace(self, room=room, most=room + self.kept_line)
        sources = self.sources
        if limited.is_small or sources.wanted:
            return limited
        draft, attachments = sources.draft.content, sources.files.files
        is_found = self.budget.is_tiny and bool(sources.retrieval.hits)
        needed = worked_on(sources.history, draft, attachments, is_found=is_found)
        return replace(limited, worked_on=needed)

    @property
    def definitions(self) -> Others:
        """Tokens of the tools that are offered."""
        tools = tokens_of(each for each in self.opening if each.kind is Kind.TOOLS)
        return {Other.DEFINITIONS: tools} if tools else NO_OTHERS

    @property
    def fixed(self) -> int:
        """Tokens that every window holds: instructions, tools and draft."""
        return tokens_of(self.opening) + tokens_of(self.bare_tail)

    @property
    def held_back(self) -> int:
        """Tokens by which the stored turns and the message exceed what `full` sends of them."""
        history = self.sources.history
        return history.held_back(len(history.turns)) + self.draft.spared

    @property
    def full(self) -> int:
        """Tokens that `full` sends: those of everything, with the tools that it offers."""
        tools = [each for each in self.opening_of_everything if each.kind is Kind.TOOLS]
        return self.whole - tokens_of(tools) + sum(self.definitions_of_full.values())

    @property
    def definitions_of_full(self) -> Others:
        """Tokens of the tools that `full` offers."""
        offered = {offer.tool.name for offer in self.sources.tools if offer.in_full}
        opening = self.opening_of_everything
        tools = [each for each in opening if each.kind is Kind.TOOLS]
        tokens = tokens_of(each for each in tools if tool_of(each).name in offered)
        return {Other.DEFINITIONS: tokens} if tokens else NO_OTHERS

    @property
    def kept_line(self) -> int:
        """Tokens reserved for the line that names the turns not shown."""
        return KEPT_LINE if self.sources.can_ask else 0

    @property
    def is_small(self) -> bool:
        """Whether the whole conversation fits."""
        return self.whole <= self.room + self.kept_line

    def everything(
        self, reason: str, recalled: Recall | None = None, noted: Sequence[Segment] = ()
    ) -> Choice:
        """Send every turn, and what is `noted` in addition."""
        turns = self.recent(0, in_part(reason, self.sources.history))
        may_note = recalled is not None and self.sources.may_note
        opening = self.opening_with(has_blocks=bool(noted) or may_note)
        segments = (*opening, *turns, *self.tail(noted))
        return Choice(segments, recalled)

    def opening_with(self, *, has_blocks: bool, start: int = 0) -> tuple[Segment, ...]:
        """Return the opening of a window that has the turns from index `start` on, and no others.

        It says how to read the window if it has blocks, or may have some for another draft: the
        text must not come and go, or no cache could keep what follows it.
        """
        sources = self.sources
        if start and sources.can_ask:
            return self.opening
        system, reading = self.opening[:2]
        rest = [each for each in self.opening_of_everything if each.kind is not Kind.SYSTEM]
        has_blocks |= any(each.kind in DISTILLED_KINDS for each in rest)
        is_read = has_blocks or bool(sources.files) or sources.has_quotes_from(start)
        return (system, *[reading] * is_read, *rest)

    def fitting_facts(self, sent: Sequence[Segment], room: int) -> tuple[Segment, ...]:
        """Choose the facts that match the message and whose turns are not `sent` whole."""
        distilled, draft = self.sources.distilled, self.sources.draft.content
        most = min(self.budget.share(SHARES.facts), room)
        return fitting_facts(distilled, draft, whole_turns(sent), most, self.counter.count)

    def fitting_documents(self, room: int) -> tuple[Segment, ...]:
        """Choose the parts of files that the message needs."""
        files, most = self.sources.files, min(self.budget.share(SHARES.documents), room)
        history, price = self.sources.history, self.counter.count
        return fitting_parts(files, history, self.whole_files, most, price) if files else ()

    @property
    def recalled(self) -> int:
        """Tokens for recall in a window that messages follow: a head leaves a smaller one."""
        head = tokens_of(each for each in self.opening if each.kind in DISTILLED_KINDS)
        return self.budget.of_size(self.budget.most - head).recalled

    def additions(self, sent: Sequence[Segment], room: int) -> tuple[Segment, ...]:
        """Choose what is noted in addition to turns: facts, parts of files."""
        facts = self.fitting_facts(sent, room)
        left = room - sum(self.counter.count(fact.text) for fact in facts)
        return (*facts, *self.fitting_documents(left))

    @property
    def required(self) -> dict[int, str]:
        """Map the turns that are loaded before any that was found to the reasons, in their order.

        Those that are worked on, then those that the user asked for.
        """
        worked_on = {artefact.turn: artefact.reason for artefact in self.worked_on}
        wanted = sorted(self.sources.wanted)
        return worked_on | {turn: reasons.REQUESTED.format(turn=turn) for turn in wanted}

    @property
    def with_files(self) -> frozenset[int]:
        """Positions of the message and of the turns whose files it is about."""
        files = (artefact.turn for artefact in self.worked_on if artefact.kind is ArtefactKind.FILE)
        return frozenset((self.sources.draft.position, *files))

    @property
    def replaced(self) -> dict[int, int]:
        """Map earlier versions of what is worked on to the turn that replaces them."""
        return {old: artefact.turn for artefact in self.worked_on for old in artefact.replaces}

    def tail(self, noted: Sequence[Segment]) -> tuple[Segment, ...]:
        """Make a tail of what is noted and the draft, without recalled turns."""
        if not noted:
            return self.bare_tail
        return tuple(tail_segments((), (), self.draft, self.counter.count, noted))

    def recent(
        self, start: int, reason: str = reasons.RECENT_BLOCK, *, follows: bool = False
    ) -> list[Segment]:
        """Make the segments of the turns from index `start` on, one message per turn.

        With `follows`, the turn before them is sent, too.
        """
        history, made = self.sources.history, list[Segment]()
        previous = history.turns[start - 1] if follows and start else None
        for turn, cost in zip(history.turns[start:], history.costs[start:], strict=True):
            text, use = verbatim(turn, previous), carried_use(turn.use)
            tokens = cost if previous else self.pricing(text, use)
            known = turn.position, reason
            made.append(Segment(Kind.RECENT, spoken_as(turn), text, tokens, *known, use=use))
            if (form := turn.use.form) is not None:
                whole = tokens - cost + history.wholes[turn.position]
                made[-1] = replace(made[-1], form=form.form, whole=whole)
            previous = turn
        return made

    @property
    def last_exchange(self) -> int:
        """The index at which the last exchange starts."""
        return self.sources.history.exchanges_back(1)

    def fitting_start(self, start: int, fixed: int) -> int:
        return fitting_start(self.sources.history, start, self.room - fixed, self.pricing)

    def squeezed(self, wanted: int, start: int, fixed: int) -> dict[int, str]:
        """Say why the turns from index `wanted` to `start` are not sent beside `fixed` tokens."""
        history = self.sources.history
        left = max(0, self.room - fixed - block_tokens(history, start, self.pricing))
        reason = reasons.NO_ROOM_RECENT.format(left=reasons.room_of(left))
        return dict.fromkeys(history.positions[wanted:start], reason)

    def require(self, fixed: int) -> None:
        """Check that `fixed` tokens, those of instructions, draft and pins, fit.

        Raises:
            WindowOverflow: They do not fit.

        """
        if fixed > self.room:
            has_pins = fixed > self.fixed
            has_tools = bool(self.sources.tools)
            has_standing = any(each.kind is Kind.STANDING for each in self.opening)
            parts = ["instructions", *["tools"] * has_tools, *["pins"] * has_pins]
            parts += ["standing instructions"] * has_standing
            what = f"Your message with the {enumerated(parts)}"
            choices = "shorten the message" + (", unpin turns" if has_pins else "")
            choices += ", offer fewer tools" if has_tools else ""
            choices += ", forget standing instructions" if has_standing else ""
            raise self.overflow(what, fixed, choices)

    def overflow(self, what: str, needed: int, choices: str) -> WindowOverflow:
        known, budget = self.calibration, self.budget
        others = self.definitions
        expected, band = known.correct(needed, others), known.band(needed, others)
        over, missing = expected - budget.budget, expected + band - budget.budget
        mark = mark_of(exact=self.counter.exact and not band)
        how = f"{Figure(over, mark)} more than"
        if over <= 0:
            over, how = missing, "which with the error of the count can be more than"
        tokens = Figure(expected, mark, band)
        smaller = f"lower the reserve by {missing:,}, " if missing < budget.reserve else ""
        assumed = f", {budget.limit_source}," if budget.is_assumed else ""
        return WindowOverflow(
            f"{what} needs {tokens} tokens, {how} the budget of {budget.budget:,}"
            f" (limit {budget.limit:,}{assumed} − reserve {budget.reserve:,}).",
            f"Nothing is cut, so it cannot be sent. You can {choices}, {smaller}or use a model with"
            " a larger context.",
            over,
            mark,
        )


def in_part(reason: str, history: History) -> str:
    """Add to the reason for sending every turn how many of them are sent in part."""
    indices = (history.find(position) for position in history.wholes)
    turns = [history.turns[index] for index in indices if index is not None]
    are_results = all(turn.use.answers is not None for turn in turns)
    what = plural(len(turns), "result" if are_results else "turn")
    return f"{reason}, {what} in part" if turns else reason


def whole_turns(segments: Iterable[Segment]) -> frozenset[int]:
    """Return the positions of the turns that segments have at full text."""
    return frozenset(
        each.turn
        for each in segments
        if each.turn is not None and each.is_whole and each.kind is not Kind.INDEX
    )


def _tools(offers: Sequence[ToolOffer], counter: TokenCounter) -> list[Segment]:
    """Make one segment per tool, by name; the first includes the overhead of all of them."""
    by_name = sorted(
        (offer for offer in offers if offer.is_offered), key=lambda offer: offer.tool.name
    )
    if not by_name:
        return []
    prices = tool_prices((offer.tool for offer in by_name), counter.count, counter.style)
    around = chain([prices.around], repeat(0))
    return [
        tool_segment(offer.tool, tokens + extra, f"{offer.tool.name}: {offer.reason}")
        for offer, (_, tokens), extra in zip(by_name, prices.by_tool, around, strict=False)
    ]


def block_tokens(history: History, start: int, price: Price) -> int:
    """Price the block from `start` on; its first turn always states its day."""
    if start >= len(history.turns):
        return 0
    first = cost_of(history.turns[start], None, price)
    return first + history.total - history.before[start + 1]


def fitting_start(history: History, start: int, room: int, price: Price) -> int:
    """Advance `start` by whole exchanges until the block costs at most `room` tokens."""
    room = max(0, room)
    while block_tokens(history, start, price) > room:
        fits = bisect_left(history.before, history.total - room)
        start = history.exchange_at(max(start + 1, fits))
    return start
