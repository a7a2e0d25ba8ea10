"""What `observe` keeps: labelled conversations are replayed turn by turn, and then asked.

Each conversation is replayed as in the app: before each message its window is planned, and after
each answer the turns that are due are observed. At the end, for each question that one statement
answers, the final window is checked for the text that answers it (`evidence`). It is compared with
a window of the same number of tokens that holds the last turns.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from jitchat.bench.evidence import holds_evidence, is_single_fact
from jitchat.bench.questions import LabelledConversation, Question
from jitchat.errors import WindowOverflow
from jitchat.events import MemoryUpdated
from jitchat.memory import Memory
from jitchat.observing import ObserveRules, Observing
from jitchat.planning import ModelFacts, Planning
from jitchat.planning import Question as Asked
from jitchat.store.database import Database
from jitchat.store.observations import PassKind
from jitchat.store.store import ColdStore
from jitchat.synthesis.observer import Observer
from jitchat.transfer.report import FileConversation
from jitchat.values import Mode, Role, Turn
from jitchat.window.budget import Budget
from jitchat.window.calibration import NO_CALIBRATION
from jitchat.window.parts import SYSTEM_PROMPT
from jitchat.window.steering import Once
from jitchat.window.tokens import TokenCounter
from jitchat.window.window import ContextWindow, Kind

_MODEL = "bench"


@dataclass(frozen=True, slots=True)
class Kept:
    """Whether the windows of `observe` and `recency` have a question's evidence text."""

    question: Question
    observe: bool
    recency: bool
    is_observed: bool
    """Whether the turn with the evidence was observed; if not, the turn itself is in the window."""


@dataclass(slots=True)
class ObservedTalk:
    """The results for one conversation."""

    name: str
    turns: int
    tokens: int
    """Tokens of all turns, as separate messages."""
    kept: list[Kept] = field(default_factory=list)
    shares: list[float] = field(default_factory=list)
    """Each window's tokens as a share of the limit."""
    history_shares: list[float] = field(default_factory=list)
    """The same for turns and observations only, without instructions and draft."""
    in_need: int = 0
    """Windows that fit only after turns were observed immediately."""
    overflows: int = 0
    """Windows that did not fit even then."""
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
    observer: Callable[[], Observer | None] = lambda: None
    """Makes the observer; if it returns None, the built-in one is used."""

    def run(
        self, talk: LabelledConversation, advance: Callable[[int], object] = lambda _: None
    ) -> ObservedTalk:
        return asyncio.run(self._run(talk, advance))

    async def _run(
        self, talk: LabelledConversation, advance: Callable[[int], object]
    ) -> ObservedTalk:
        with _memory(talk.found) as memory:
            replay = _Replay(memory, self)
            for turn in talk.found.turns:
                await replay.say(turn)
                advance(1)
            return replay.finish(talk)


class _Replay:
    def __init__(self, memory: Memory, wanted: Replaying) -> None:
        self._memory, self._wanted = memory, wanted
        facts = ModelFacts(_MODEL, SYSTEM_PROMPT, NO_CALIBRATION)
        self._planning = Planning(memory, wanted.counter, lambda: facts)
        self._observing = Observing(
            memory,
            self._planning.history_before,
            wanted.counter,
            wanted.observer(),
            wanted.rules,
        )
        self._made = ObservedTalk(memory.conversation.id, 0, 0)

    async def say(self, turn: Turn) -> None:
        """Store a turn; plan a window for a user's turn, and observe due turns after an answer."""
        memory = self._memory
        stored = memory.store.append(memory.conversation.id, [turn])[0]
        memory.refresh()
        self._made.turns += 1
        if turn.role is Role.USER:
            await self._send(stored)
        else:
            async for made in self._observing.run(self._wanted.budget.limit):
                self._take(made)

    async def _send(self, said: Turn) -> None:
        limit = self._wanted.budget.limit
        room = self._observing.make_room(
            limit, said.position, lambda: self._window(said) is not None
        )
        needed = False
        async for made in room:
            self._take(made)
            needed = True
        self._made.in_need += needed
        window = self._window(said)
        if window is None:
            self._made.overflows += 1
            return
        history = sum(map(window.tokens_of, (Kind.RECENT, Kind.OBSERVATIONS)))
        self._made.shares.append(window.used / limit)
        self._made.history_shares.append(history / limit)

    def _take(self, made: MemoryUpdated) -> None:
        is_reflection = made.made.kind is PassKind.REFLECT
        self._made.reflections += is_reflection
        self._made.passes += not is_reflection

    def _window(self, said: Turn, once: Once | None = None) -> ContextWindow | None:
        asked = Asked(said) if once is None else Asked(said, once=once)
        try:
            return self._planning.window(asked, Mode.OBSERVE, self._wanted.budget)
        except WindowOverflow:
            return None

    def finish(self, talk: LabelledConversation) -> ObservedTalk:
        """Ask the questions of the final window."""
        made, memory = self._made, self._memory
        turns = memory.turns
        texts = {turn.position: turn.content for turn in turns}
        standing = self._observing.standing()
        history = standing.history
        made.tokens, made.observations = history.total, standing.observed
        made.observed = history.total - standing.raw
        through = standing.observations.through
        for question in filter(is_single_fact, talk.questions):
            draft = Turn(turns[-1].position + 1, Role.USER, question.text)
            window = self._window(draft)
            if window is None:
                continue
            first = _first_of_recency(window, history.positions, history.before)
            held = holds_evidence(window, question, texts)
            (evidence,) = question.evidence
            made.kept.append(Kept(question, held, evidence >= first, evidence <= through))
        return made


def _first_of_recency(
    window: ContextWindow, positions: Sequence[int], before: Sequence[int]
) -> int:
    """Return the position of the first of the last turns that fit in the window's tokens."""
    kinds = (Kind.RECENT, Kind.OBSERVATIONS)
    room = sum(map(window.tokens_of, kinds))
    start = len(positions)
    while start and before[-1] - before[start - 1] <= room:
        start -= 1
    return positions[start] if start < len(positions) else (positions[-1] + 1 if positions else 0)


@contextmanager
def _memory(found: FileConversation) -> Iterator[Memory]:
    """Open an empty conversation in a temporary database."""
    with (
        TemporaryDirectory(prefix="jitchat-bench-") as folder,
        closing(Database(Path(folder) / "bench.db")) as database,
    ):
        store = ColdStore(database)
        yield Memory(store, store.create(found.title, found.id))


@dataclass(frozen=True, slots=True)
class ObservedScores:
    """Totals over the conversations of one file."""

    conversations: int
    turns: int
    asked: int
    held: int
    recency: int
    observed_asked: int
    """Questions whose turn was observed."""
    observed_held: int
    largest: float
    """The largest window, as a share of the limit."""
    p95: float
    """The 95th percentile of windows, as a share of the limit."""
    largest_history: float
    """The largest total of turns and observations in a window, as a share of the limit."""
    fallbacks: int
    """Conversations with a window that fit only after turns were observed immediately."""
    overflows: int
    passes: int
    reflections: int
    compression: float
    """Tokens of the observed turns divided by those of the final observations."""
    categories: Mapping[str, tuple[int, int, int]]
    """By category: (asked, held, held by recency)."""


def scores_of(talks: Sequence[ObservedTalk]) -> ObservedScores:
    kept = [each for talk in talks for each in talk.kept]
    shares = sorted(share for talk in talks for share in talk.shares)
    observed = [each for each in kept if each.is_observed]
    categories = dict.fromkeys(sorted({each.question.category for each in kept}))
    return ObservedScores(
        conversations=len(talks),
        turns=sum(talk.turns for talk in talks),
        asked=len(kept),
        held=sum(each.observe for each in kept),
        recency=sum(each.recency for each in kept),
        observed_asked=len(observed),
        observed_held=sum(each.observe for each in observed),
        largest=shares[-1] if shares else 0.0,
        p95=shares[min(len(shares) - 1, int(len(shares) * 0.95))] if shares else 0.0,
        largest_history=max(
            (max(t.history_shares) for t in talks if t.history_shares), default=0.0
        ),
        fallbacks=sum(bool(talk.in_need) for talk in talks),
        overflows=sum(talk.overflows for talk in talks),
        passes=sum(talk.passes for talk in talks),
        reflections=sum(talk.reflections for talk in talks),
        compression=sum(t.observed for t in talks) / max(1, sum(t.observations for t in talks)),
        categories={name: _of_category(name, kept) for name in categories},
    )


def _of_category(name: str, kept: Sequence[Kept]) -> tuple[int, int, int]:
    asked = [each for each in kept if each.question.category == name]
    return len(asked), sum(e.observe for e in asked), sum(e.recency for e in asked)
