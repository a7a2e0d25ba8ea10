"""From a draft to the windows that could be sent for it. Sends nothing, changes nothing.

A question is searched for once; windows of any mode and budget are planned from the result.

Failures to store prices and calibration samples are ignored: they only save work, and are no reason
to refuse a message.
"""

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from itertools import islice

from jitchat.attachments import Attachment
from jitchat.errors import ContextOverflow, FileRefused, StoreError, WindowOverflow
from jitchat.files.load import has_changed
from jitchat.files.named import is_named, mention_of, without_mentions
from jitchat.memory import Memory
from jitchat.providers.provider import forgetting
from jitchat.store.attachments import tokens_of
from jitchat.store.models import ModelLessons
from jitchat.store.turn_costs import TurnCosts
from jitchat.text.sanitize import one_line, repair
from jitchat.text.sentences import turn_references
from jitchat.turn_list import common_start, positions_of, up_to
from jitchat.values import LEARNT, Mode, Retrieval, Role, Sample, Status, Turn, Usage
from jitchat.window import reasons
from jitchat.window.budget import Budget
from jitchat.window.calibration import NO_CALIBRATION, Calibration, Report, others_of
from jitchat.window.exchange import compacted_as
from jitchat.window.files import FileSources, file_tokens
from jitchat.window.history import History
from jitchat.window.parts import Sources, ToolOffer
from jitchat.window.plan import plan
from jitchat.window.render import Price
from jitchat.window.steering import NO_MORE, Once, Steering
from jitchat.window.tokens import TokenCounter
from jitchat.window.window import ContextWindow
from jitchat.window.written import TurnPricing, offers_others
from jitchat.writing.pieces import PLAIN, WritingRules

_LAST_TURNS = 64
"""How many of the last turns are searched for the user's last message: more only after long runs
of tool calls, whose window is then composed anew."""
_WORTH_KEEPING = 4_096
"""Turns; pricing this many takes about 0.05 s."""
Planned = ContextWindow | WindowOverflow
"""A window, or why none can be planned."""


@dataclass(frozen=True, slots=True)
class Question:
    """A draft at its position in the conversation, with what was retrieved for it."""

    turn: Turn
    """The draft's turn, stored or not."""
    retrieval: Retrieval = field(default_factory=Retrieval)
    once: Once = NO_MORE
    awaiting: frozenset[int] = frozenset()
    """Positions of the messages that are not answered yet, which no window has."""


SentFor = Callable[[Turn], tuple[ContextWindow, datetime | None] | None]


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What planning needs to know about the model."""

    model: str
    system: str
    """The system prompt."""
    calibration: Calibration
    """The counter's correction for this model."""
    sees: bool | None = None
    """Whether it accepts pictures; None if unknown."""
    picture_tokens: Callable[[int, int], tuple[int, bool]] = lambda _width, _height: (0, False)
    """Counts a picture's tokens from its width and height; see `FileSources`."""
    system_reason: str = reasons.INSTRUCTIONS
    """Where the system prompt comes from, as its segment shows it."""
    rules: WritingRules = PLAIN
    """What the protocol requires of the texts of a request."""
    cache_life: timedelta | None = None
    """How long the provider's prompt cache keeps what was sent; None: as long as it is used."""
    sent_for: SentFor = lambda _: None
    """Returns the window that was sent for a user's turn, and when, if one was."""


Offering = Callable[[Question, Mode, Budget], tuple[ToolOffer, ...]]
"""Returns the tools that a question's window offers."""


class Planning:
    """Plans windows for one conversation. Thread-safe."""

    def __init__(
        self,
        memory: Memory,
        counter: TokenCounter,
        model_facts: Callable[[], ModelFacts],
        offering: Offering = lambda *_: (),
        files_named: Callable[[Once], Sequence[Attachment]] = lambda _: (),
    ) -> None:
        """`model_facts` describes the model of the next window.

        `files_named` reads the files that a message mentions.
        """
        self._memory, self._counter, self._model_facts = memory, counter, model_facts
        self._offering, self._files_named = offering, files_named
        self._lock = threading.Lock()
        self._attached: tuple[Attachment, ...] = ()
        """The files of the last draft."""
        self._priced: dict[str, PricedTurns] = {}

    def over(self, memory: Memory) -> "Planning":
        """Return the same planning over another memory, or over this one without cached prices."""
        planned = self._model_facts, self._offering, self._files_named
        return Planning(memory, self._counter, *planned)

    @property
    def steering(self) -> Steering:
        return Steering.from_words(self._memory.pins)

    def question(self, draft: str, once: Once = NO_MORE) -> Question:
        """Make the draft's turn and search for it; an empty draft is not searched for.

        Raises:
            FileRefused: The user names a file that cannot be attached.

        """
        self._memory.refresh()
        once = self.attached(once)
        turn = self._draft_turn(repair(draft), once)
        if turn.content.strip():
            return self.search(turn, once)
        return Question(turn, once=once, awaiting=self._memory.open_questions(turn.position))

    def attached(self, once: Once) -> Once:
        """Add the files that the user names; a turn that is sent again has its own already.

        A file that is named replaces an earlier state of it. One that no longer exists under its
        name is taken as it was last attached, to a turn or to the draft.

        Raises:
            FileRefused: A file cannot be attached.

        """
        if once.again is not None:
            return once
        known = (*self._memory.files, *self._attached)
        stored = [self._memory.attachments.read(file, known) for file in once.files]
        files = (*stored, *self._files_named(once))
        files = (*files, *_gone(once.mentions, files, known))
        self._require_sight(files)
        self._attached = tuple({file.identity: file for file in files}.values())
        return replace(once, files=self._attached)

    def _require_sight(self, files: Sequence[Attachment]) -> None:
        """Refuse pictures for a model that does not accept them, before anything is stored."""
        facts = self._model_facts()
        picture = next((file.name for file in files if file.picture is not None), None)
        if picture is not None and facts.sees is False:
            raise FileRefused(
                f"{facts.model} cannot see pictures, such as {one_line(picture)}.",
                "/model or --model picks a model that can.",
            )

    def search(self, turn: Turn, once: Once = NO_MORE) -> Question:
        """Search for the user's message; turns that it names as `#12` are wanted."""
        awaiting = self._memory.open_questions(turn.position)
        without = self._without(awaiting, once)
        files, _ = self._files(turn, once, without)
        said = without_mentions(turn.content) if files else turn.content
        retrieval = self._memory.retrieve(said, turn.position, without)
        best = max((hit.score for hit in retrieval.hits), default=0.0)
        parts = self._memory.part_hits(said, turn.position, files, without, best)
        once = replace(once, wanted=once.wanted | turn_references(turn.content))
        return Question(turn, replace(retrieval, parts=parts), once, awaiting)

    def _without(self, awaiting: Iterable[int], once: Once) -> dict[int, str]:
        """Map the positions of the turns that a draft's window leaves out to the reasons."""
        return dict.fromkeys(awaiting, reasons.AWAITING) | once.without(self.steering)

    def _files(
        self, turn: Turn, once: Once, without: Collection[int]
    ) -> tuple[tuple[Attachment, ...], tuple[Attachment, ...]]:
        """Return the files of turns up to the draft, and those of turns that are left out."""
        stored = self._memory.files
        ahead = [file for file in stored if file.turn < turn.position]
        kept_out = tuple(file for file in ahead if file.turn in without)
        own = [file for file in stored if file.turn == turn.position] if turn.id else ()
        fresh = (replace(file, turn=turn.position, data=b"") for file in once.files)
        return (*(file for file in ahead if file.turn not in without), *(own or fresh)), kept_out

    def window(self, question: Question, mode: Mode, budget: Budget) -> ContextWindow:
        """Plan the window of a mode.

        Raises:
            WindowOverflow: What the mode must send does not fit.

        """
        allowed = question.once.budget or budget
        sources = self.sources(question, mode, allowed)
        return plan(mode, sources, allowed, self._counter, self._model_facts().calibration)

    def planned(self, question: Question, mode: Mode, budget: Budget) -> Planned:
        try:
            return self.window(question, mode, budget)
        except WindowOverflow as overflow:
            return overflow

    def unmet(self, draft: str) -> str:
        """Name turns the draft refers to that no window can show: `no #99 here`; usually empty."""
        named = turn_references(draft)
        if not named:
            return ""
        unknown = _ids(turn for turn in named if self._memory.turn_at(turn) is None)
        excluded = _ids(named & self.steering.excluded)
        reasons = (
            f"no {unknown} here" if unknown else "",
            f"{excluded} excluded by you" if excluded else "",
        )
        return ", ".join(filter(None, reasons))

    def changed_files(self, once: Once) -> str:
        """Name the files that have changed since they were attached; usually empty.

        Reads the files' metadata. A file that the message attaches as it is now is not named.
        """
        again = {file.path: replace(file, turn=0) for file in once.files}
        latest = {file.path: file for file in self._memory.files} | again
        with suppress(FileRefused):
            for file in self._files_named(once):
                latest.pop(file.path, None)
        changed = [file for file in latest.values() if has_changed(file)]
        if not changed:
            return ""
        file, more = changed[0], len(changed) - 1
        others = f", and {more} more" if more else ""
        since = f"#{file.turn}" if file.turn else "it was attached"
        notice = f"{one_line(file.name)} has changed since {since}{others}"
        return f"{notice}: {one_line(self._mention(file))} attaches it as it is now"

    def _mention(self, file: Attachment) -> str:
        """Write a file's `@name`, or its whole path if the name would find another file."""
        short = mention_of(file.name)
        with suppress(FileRefused):
            if any(
                named.path == file.path for named in self._files_named(Once(mentions=(file.name,)))
            ):
                return short
        return mention_of(file.path)

    def sources(self, question: Question, mode: Mode, budget: Budget) -> Sources:
        facts, steering = self._model_facts(), self.steering
        tools = self._offering(question, mode, budget)
        has_others = offers_others(offer.tool for offer in tools if offer.is_offered)
        turns = self._turns(TurnPricing(self._counter, facts.rules, has_others))
        history = turns.before(question.turn.position)
        out = self._without(question.awaiting, question.once)
        without = history.with_units(out, reasons.SAME_UNIT)
        files, kept_out = self._files(question.turn, question.once, out)
        before, is_cached = self._before(history, question.turn, mode, facts)
        return Sources(
            turns.steered_by(history, frozenset(without)),
            question.turn,
            facts.model,
            facts.system,
            question.retrieval,
            pinned=tuple(sorted(steering.pinned)),
            wanted=question.once.wanted,
            without=without,
            tools=tools,
            distilled=self._memory.distilled(question.turn.position).without(without),
            reaches_others=self._memory.others is not None,
            files=FileSources(
                files,
                question.retrieval.parts,
                facts.picture_tokens,
                facts.sees,
                kept_out,
                self._file_tokens,
            ),
            system_reason=facts.system_reason,
            rules=facts.rules,
            before=before,
            is_cached=is_cached,
        )

    def _file_tokens(self, price: Price, file: Attachment) -> int:
        """Count a file as it is sent whole; the tokens of a large one are stored."""
        if not file.is_large:
            return file_tokens(price, file)
        count = partial(file_tokens, price, file)
        return tokens_of(self._memory.store.database, self._counter.name, file, count)

    def _before(
        self, history: History, draft: Turn, mode: Mode, facts: ModelFacts
    ) -> tuple[ContextWindow | None, bool]:
        """Return the window sent before a draft, and whether the draft's window may go on from it.

        It may if it was sent in the same mode to the same model, and is still cached.
        """
        last = reversed(history.turns[-_LAST_TURNS:])
        said = next((turn for turn in last if turn.role is Role.USER), None)
        with suppress(StoreError):  # a damaged window is reported when it is opened
            sent = facts.sent_for(said) if mode.recalls and said else None
            if sent is not None:
                window, at = sent
                is_same = (window.mode, window.model) == (mode, facts.model)
                age = draft.created_at - at if draft.created_at and at else None
                life = facts.cache_life
                is_kept = life is None or (age is not None and age <= life)
                return window, is_same and is_kept
        return None, False

    def _draft_turn(self, content: str, once: Once) -> Turn:
        """Make the draft's turn; an unanswered message that is sent again keeps its turn."""
        if once.again is not None:
            return once.again
        if once.after is not None:
            return self._draft_at(once.after + 1, content, once)
        turns = self._memory.turns
        last = turns[-1] if turns else None
        if last and last.status is Status.UNANSWERED and last.content == content:
            return replace(last, use=compacted_as(once.form))
        return self._draft_at(last.position + 1 if last else 1, content, once)

    def _draft_at(self, position: int, content: str, once: Once) -> Turn:
        use = compacted_as(once.form)
        return Turn(position, Role.USER, content, self._memory.store.now(), use=use)

    def history_before(self, position: int) -> History:
        """Price the turns before a draft, for a window without tools."""
        return self._turns(TurnPricing(self._counter, is_native=False)).before(position)

    def _turns(self, price: TurnPricing) -> "PricedTurns":
        with self._lock:
            return self._priced.setdefault(price.name, PricedTurns(self._memory, price))


class PricedTurns:
    """The turns of a conversation with their prices, each counted once. Thread-safe."""

    def __init__(self, memory: Memory, price: TurnPricing) -> None:
        self._memory, self._price = memory, price
        self._lock = threading.Lock()
        self._history = self._steered = History()
        self._ahead: Sequence[Turn] = ()
        """The turns that `_history` was built from: they rarely change between keystrokes."""
        self._steered_from: tuple[History, frozenset[int]] = (self._history, frozenset())

    def before(self, position: int) -> History:
        """Return the history of the turns before a position."""
        with self._lock:
            turns = self._memory.turns
            ahead = turns[: up_to(turns, position - 1)]
            if not self._ahead:
                self._history, self._ahead = known_history(self._memory, self._price, position)
            size = len(self._ahead)
            if common_start(self._ahead, ahead) == size:
                self._history = self._history.extended(ahead[size:], self._price)
            else:
                self._history = self._history.following(ahead, self._price)
            if len(ahead) - size > _WORTH_KEEPING:
                keep_costs(self._memory, self._price, self._history)
            self._ahead = ahead
            return self._history

    def steered_by(self, history: History, without: frozenset[int]) -> History:
        """Remove excluded turns, reusing the last result if nothing changed."""
        with self._lock:
            known, taken = self._steered_from
            if known is not history or taken != without:
                self._steered = history.without(without, self._price)
                self._steered_from = history, without
            return self._steered


def _gone(
    mentions: Sequence[str], files: Sequence[Attachment], known: Sequence[Attachment]
) -> Iterator[Attachment]:
    """Return files that are mentioned but no longer exist, as last attached."""
    for name in mentions if known else ():
        if not any(is_named(name, file) for file in files):
            yield from islice((file for file in reversed(known) if is_named(name, file)), 1)


def known_history(
    memory: Memory, price: TurnPricing, position: int
) -> tuple[History, Sequence[Turn]]:
    """Return the history of the turns before a position as far as stored prices reach.

    Also returns those turns, including the ones that no window shows.
    """
    now = memory.snapshot
    costs, wholes = (stored.read(now.path) for stored in _stored_costs(memory, price))
    size = min(len(costs), up_to(now.turns, min(now.settled, position - 1)))
    turns = now.turns[:size]
    return History.of(turns, costs[:size], wholes), turns


def _stored_costs(memory: Memory, price: TurnPricing) -> tuple[TurnCosts, TurnCosts]:
    """Return the stored costs of turns as they are sent, and of those that are sent in part."""
    database, conversation = memory.store.database, memory.conversation.id
    as_sent = TurnCosts(database, conversation, price.name)
    return as_sent, TurnCosts(database, conversation, f"{price.name} whole")


def keep_costs(memory: Memory, price: TurnPricing, history: History) -> None:
    """Store the prices of turns that can no longer change; failures are ignored."""
    now = memory.snapshot
    settled = positions_of(now.turns[: up_to(now.turns, now.settled)])
    costs = dict(zip(history.positions, history.costs, strict=True))
    as_sent, whole = _stored_costs(memory, price)
    is_view = memory.store.is_view(memory.conversation.id)
    if not is_view and len(settled) and settled[-1] <= (history.positions or (0,))[-1]:
        with suppress(StoreError):
            as_sent.write(now.path, settled[-1], [costs.get(each, 0) for each in settled])
            if wholes := history.wholes:
                whole.write(now.path, settled[-1], [wholes.get(each, 0) for each in settled])


def _ids(positions: Iterable[int]) -> str:
    return " ".join(f"#{position}" for position in sorted(positions))


_REPORTS = 8
"""The number of reported windows that are remembered whole."""


class Meter:
    """A token counter with its correction for one model."""

    def __init__(self, counter: TokenCounter, learnt: ModelLessons | None) -> None:
        self._counter, self._learnt = counter, learnt
        self._reports: tuple[Report, ...] = ()
        self.calibration = self._learnt_calibration()

    def take(self, sent: ContextWindow | None, usage: Usage | None) -> None:
        """Learn from the provider's count of a window that was counted here."""
        if sent is None or usage is None or not usage.input_tokens:
            return
        if self._learnt is not None:
            with suppress(StoreError):
                sample = Sample(sent.counted, usage.input_tokens, others_of(sent.pieces))
                self._learnt.add_sample(self._counter.name, sample)
                now = self._learnt_calibration()
                self.calibration = now if now.samples else self.calibration
        self.remember(sent, usage)

    def remember(self, sent: ContextWindow, usage: Usage) -> None:
        """Show no window that contains this one as smaller."""
        report = Report.of(sent.pieces, usage.input_tokens or 0)
        self._reports = (*self._reports, report)[-_REPORTS:]
        self.calibration = replace(self.calibration, reports=self._reports)

    def refused(self, window: ContextWindow, refusal: ContextOverflow, known: Budget) -> Budget:
        """Learn from a refusal, and return a budget that fits the limit it states.

        If it states no limit, half of the window is assumed to fit.
        """
        limit = refusal.limit
        half = replace(known, limit=window.used // 2 + known.reserve, limit_source=LEARNT)
        budget = known.limited(limit, LEARNT) if limit else half
        needed = refusal.needed or (limit + 1 if limit else 0)
        if needed > window.used:
            refused = Calibration.of_refusal(window.counted, needed)
            self.calibration = replace(refused, reports=self._reports)
        if limit and self._learnt is not None:
            with suppress(StoreError):
                self._learnt.learn_limit(limit)
        answer = min(refusal.answer or 0, budget.limit // 2)
        return replace(budget, reserve=max(budget.reserve, answer))

    def _learnt_calibration(self) -> Calibration:
        learnt = self._learnt
        return Calibration.of(learnt.samples(self._counter.name)) if learnt else NO_CALIBRATION


def refusal_sentence(
    provider: str, model: str, window: ContextWindow, refusal: ContextOverflow
) -> str:
    """Describe a server's refusal of a window, and what happens next."""
    takes = "does not state its limit"
    if refusal.limit:
        takes = f"takes {refusal.limit:,} tokens (until {forgetting(provider, model)})"
    size = window.used_figure
    after = "" if window.mode is Mode.FULL else " Sending a smaller one."
    return f"{model} {takes}; it refused a window of {size}.{after}"
