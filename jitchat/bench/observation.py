"""What `observe` keeps: labelled conversations are replayed turn by turn, and then asked.

Each conversation is replayed as in the app: before each message its window is planned, and after
each answer the turns that are due are observed. At the end, for each question that one statement
answers, the final window is checked for the text that answers it (`evidence`). It is compared with
a window of the same number of tokens that holds the last turns.
"""

import asyncio
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field

from jitchat.bench.asking import planning_of, temporary_store
from jitchat.bench.evidence import evidence_held, single_facts
from jitchat.bench.questions import LabelledConversation
from jitchat.bench.scores import Kept
from jitchat.errors import WindowOverflow
from jitchat.events import MemoryUpdated
from jitchat.index.embedder import Embedder
from jitchat.memory import Memory
from jitchat.observing import ObserveRules, Observing
from jitchat.planning import Question as Asked
from jitchat.store.observations import PassKind
from jitchat.values import Mode, Role, Turn
from jitchat.window.budget import Budget
from jitchat.window.history import History
from jitchat.window.tokens import TokenCounter
from jitchat.window.window import ContextWindow, Kind


@dataclass(slots=True)
class Replays:
    """The results of replaying conversations."""

    conversations: int = 0
    turns: int = 0
    kept: list[Kept] = field(default_factory=list)
    shares: list[float] = field(default_factory=list)
    """Each window's tokens as a share of the limit."""
    history_shares: list[float] = field(default_factory=list)
    """The same for turns and observations only, without instructions and draft."""
    overflows: int = 0
    """Windows that did not fit."""
    passes: int = 0
    reflections: int = 0
    observed: int = 0
    """Tokens of the observed turns."""
    observations: int = 0
    """Tokens of the final observations of these turns."""


@dataclass(frozen=True, slots=True)
class Replaying:
    counter: TokenCounter
    budget: Budget
    rules: ObserveRules = field(default_factory=ObserveRules)
    embedder: Embedder | None = None
    results: Replays = field(default_factory=Replays)

    def run(
        self, talk: LabelledConversation, advance: Callable[[int], object] = lambda _: None
    ) -> None:
        """Replay a conversation with the built-in observer; add what is measured to the results."""
        with temporary_store() as store:
            conversation = store.create(talk.found.title, talk.found.id)
            memory = Memory(store, conversation, self.embedder)
            asyncio.run(_Replay(memory, self).run(talk, advance))


class _Replay:
    def __init__(self, memory: Memory, replaying: Replaying) -> None:
        self._memory, self._budget = memory, replaying.budget
        self._results = replaying.results
        self._planning = planning_of(memory, replaying.counter)
        before = self._planning.history_before
        self._observing = Observing(memory, before, replaying.counter, None, replaying.rules)

    async def run(self, talk: LabelledConversation, advance: Callable[[int], object]) -> None:
        """Store the turns one after another, and ask the questions of the final window."""
        for turn in talk.found.turns:
            (stored,) = self._memory.store.append(self._memory.conversation.id, [turn])
            self._memory.refresh()
            list(self._memory.index.catch_up())
            if turn.role is Role.USER:
                self._send(stored)
            else:
                async for update in self._observing.run(self._budget.limit):
                    self._count(update)
            advance(1)
        self._results.conversations += 1
        self._results.turns += len(talk.found.turns)
        self._ask(talk)

    def _send(self, draft: Turn) -> None:
        """Plan a window."""
        window, limit = self._window(draft), self._budget.limit
        if window is None:
            self._results.overflows += 1
        else:
            self._results.shares.append(window.used / limit)
            self._results.history_shares.append(_history_tokens(window) / limit)

    def _count(self, update: MemoryUpdated) -> None:
        if update.made.kind is PassKind.REFLECT:
            self._results.reflections += 1
        else:
            self._results.passes += 1

    def _window(self, draft: Turn) -> ContextWindow | None:
        retrieval = self._memory.retrieve(draft.content, draft.position)
        try:
            return self._planning.window(Asked(draft, retrieval), Mode.OBSERVE, self._budget)
        except WindowOverflow:
            return None

    def _ask(self, talk: LabelledConversation) -> None:
        turns = self._memory.turns
        end = turns[-1].position + 1
        texts = {turn.position: turn.content for turn in turns}
        standing = self._observing.standing()
        self._results.observed += standing.history.total - standing.raw
        self._results.observations += standing.observed
        through = standing.observations.through
        for question in single_facts(talk.questions):
            window = self._window(Turn(end, Role.USER, question.text))
            if window is not None:
                (evidence,) = question.evidence
                is_held = evidence in evidence_held(window, question, texts)
                is_recent = evidence >= _first_of_recency(window, standing.history, end)
                kept = Kept(question, is_held, is_recent, is_observed=evidence <= through)
                self._results.kept.append(kept)


def _history_tokens(window: ContextWindow) -> int:
    kinds = (Kind.RECENT, Kind.OBSERVATIONS, Kind.RETRIEVED)
    return sum(window.tokens_of(kind) for kind in kinds)


def _first_of_recency(window: ContextWindow, history: History, end: int) -> int:
    """Return the position of the first of the last turns that fit in the window's tokens.

    `end` is the position after the last turn, returned if none fits.
    """
    start = bisect_left(history.before, history.total - _history_tokens(window))
    return (*history.positions, end)[start]
