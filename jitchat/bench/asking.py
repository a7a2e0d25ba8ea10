"""Runs each question of a labelled conversation through the app: index → retrieve → plan."""

import asyncio
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from jitchat.bench import prompt
from jitchat.bench.evidence import evidence_held
from jitchat.bench.questions import Question
from jitchat.bench.scores import Outcome
from jitchat.distil import distil
from jitchat.errors import WindowOverflow
from jitchat.index.embedder import Embedder
from jitchat.memory import Memory
from jitchat.planning import ModelFacts, Planning, SentFor
from jitchat.planning import Question as Asked
from jitchat.store.database import Database
from jitchat.store.store import ColdStore
from jitchat.tools.offering import Asking, OfferContext, Offering, OfferRules
from jitchat.tools.request_context import RequestContext
from jitchat.tools.toolbox import Toolbox
from jitchat.transfer.formats import store_found
from jitchat.transfer.turns import FileConversation
from jitchat.values import USUAL_MODES, Message, Mode, Retrieval, Role, Turn
from jitchat.window.budget import Budget
from jitchat.window.calibration import NO_CALIBRATION
from jitchat.window.parts import SYSTEM_PROMPT, ToolOffer
from jitchat.window.plan import plan
from jitchat.window.tokens import TokenCounter
from jitchat.window.window import ContextWindow, Kind


@dataclass(frozen=True, slots=True)
class Case:
    """A question in one mode, and the request that asks it."""

    talk: str
    question: Question
    mode: Mode
    messages: tuple[Message, ...]
    tokens: int
    """Tokens of the window with these messages."""


class Cases:
    """Collects the planned windows of a run, only for questions with a gold answer."""

    def __init__(self, system: str) -> None:
        """`system` are the app's own instructions."""
        self._system = system
        self._known: dict[Message, Message] = {}
        self.planned: list[Case] = []

    def system(self, question: Question) -> str:
        names = ("briefly", "by_date") if question.category == "temporal" else ("briefly",)
        return " ".join([self._system, *(prompt(name) for name in names)])

    def take(self, talk: str, question: Question, window: ContextWindow) -> None:
        """Keep a window's messages; messages shared by several windows are kept once."""
        if question.answer:
            shared = self._known.setdefault
            messages = tuple(shared(message, message) for message in window.messages())
            self.planned.append(Case(talk, question, window.mode, messages, window.used))


@contextmanager
def opened_store(path: Path) -> Iterator[ColdStore]:
    with closing(Database(path)) as database:
        yield ColdStore(database)


@contextmanager
def temporary_store() -> Iterator[ColdStore]:
    with (
        TemporaryDirectory(prefix="jitchat-bench-") as folder,
        opened_store(Path(folder) / "bench.db") as store,
    ):
        yield store


@contextmanager
def indexed(
    found: FileConversation, embedder: Embedder, asked_at: datetime | None = None
) -> Iterator[Memory]:
    """Import and index one conversation in a temporary database.

    Its clock is set to `asked_at` or, if that is None, to the last known time of a turn, so that
    "last week" means the same whenever the benchmark is run.
    """
    with temporary_store() as store:
        memory = Memory(store, store_found(store, found), embedder)
        set_clock(store, found.turns, asked_at)
        list(memory.index.catch_up())
        if memory.index.failure:
            raise memory.index.failure
        yield memory


def set_clock(store: ColdStore, turns: Sequence[Turn], asked_at: datetime | None = None) -> None:
    """Set the clock to `asked_at`, or else to the last known time of a turn, if there is one."""
    moments = [asked_at] if asked_at else [turn.created_at for turn in turns if turn.created_at]
    if moments:
        store.now = lambda: moments[-1]


@dataclass(frozen=True, slots=True)
class Setup:
    """What conversations are measured with."""

    embedder: Embedder
    counter: TokenCounter
    budget: Budget
    modes: tuple[Mode, ...] = USUAL_MODES
    asking: Asking = Asking.AUTO
    """When `request_context` is offered."""

    def __str__(self) -> str:
        """Name the sizes of a window, and what differs from the chat's defaults."""
        size = f"size {self.budget.most:,}, limit {self.budget.limit:,}"
        is_usual = self.asking is Asking.AUTO
        return size if is_usual else f"{size}, request_context {self.asking}"


def planning_of(
    memory: Memory,
    counter: TokenCounter,
    asking: Asking = Asking.AUTO,
    sent_for: SentFor = lambda _: None,
) -> Planning:
    """Plan as the chat does for a model that takes tools, without tools of servers."""
    facts = ModelFacts(_MODEL, SYSTEM_PROMPT, NO_CALIBRATION, sent_for=sent_for)

    def offered(asked: Asked, mode: Mode, budget: Budget) -> tuple[ToolOffer, ...]:
        turn = asked.turn
        context = OfferContext(turn.content, mode, budget.budget, is_first=turn.position == 1)
        return offering.of(context)

    planning = Planning(memory, counter, lambda: facts, offered)
    source = RequestContext(memory, planning.history_before, counter)
    offering = Offering(Toolbox((source,)), OfferRules(asking), counter)
    return planning


_MODEL = "bench"
WIDER = "Give the model's context size with --limit."


class OpenConversation:
    """Plans every question as the next turn, without storing or sending it. Times are in ms."""

    def __init__(
        self, memory: Memory, counter: TokenCounter, budget: Budget, asking: Asking = Asking.AUTO
    ) -> None:
        self.memory, self._counter, self._budget = memory, counter, budget
        self._next = memory.turns[-1].position + 1 if memory.turns else 1
        self._planning = planning_of(memory, counter, asking)

    def distil(self, modes: Collection[Mode]) -> None:
        """Distil everything that these modes send in place of turns."""
        for mode in modes:
            asyncio.run(distil(self.memory, mode, self._counter, self._budget.limit))

    @property
    def prices(self) -> dict[int, int]:
        """The tokens of each turn as a separate message, by position."""
        history = self._planning.history_before(self._next)
        return dict(zip(history.positions, history.costs, strict=True))

    def retrieve(self, question: str) -> tuple[Retrieval, float]:
        """Search as the app does; return the result and the time that it took."""
        begun = time.perf_counter()
        retrieval = self.memory.retrieve(question, self._next)
        return retrieval, ms_since(begun)

    def window(
        self, mode: Mode, question: str, retrieval: Retrieval, system: str = SYSTEM_PROMPT
    ) -> tuple[ContextWindow, float]:
        """Plan as the app does; return the window and the time that it took.

        Raises:
            WindowOverflow: The window does not fit in this mode.

        """
        begun = time.perf_counter()
        draft = Turn(self._next, Role.USER, question)
        sources = self._planning.sources(Asked(draft, retrieval), mode, self._budget)
        window = plan(mode, replace(sources, system=system), self._budget, self._counter)
        return window, ms_since(begun)

    def ask(
        self,
        question: Question,
        mode: Mode,
        cases: Cases | None = None,
        held: Callable[[ContextWindow], frozenset[int]] | None = None,
    ) -> Outcome | None:
        """Plan the window for a labelled question, and add it to `cases`, to be sent.

        `held` returns the evidence turns that the window holds; without it, these are the turns in
        the window and those whose words are in its statements. None if the window does not fit.
        """
        system = cases.system(question) if cases is not None else SYSTEM_PROMPT
        retrieval, retrieve_ms = Retrieval(), 0.0
        if mode.recalls:
            retrieval, retrieve_ms = self.retrieve(question.text)
        try:
            window, plan_ms = self.window(mode, question.text, retrieval, system)
        except WindowOverflow:
            return None
        if cases is not None:
            cases.take(self.memory.conversation.id, question, window)
        return Outcome(
            question,
            tuple(row.turn for row in retrieval.candidates),
            held(window) if held is not None else self._held(window, question),
            window.used,
            window.full_tokens,
            retrieve_ms,
            plan_ms,
        )

    def _held(self, window: ContextWindow, question: Question) -> frozenset[int]:
        held = turns_held(window)
        if window.distilled_through:
            turns = [self.memory.turn_at(position) for position in question.evidence]
            texts = {turn.position: turn.content for turn in turns if turn is not None}
            for conversation in ("", self.memory.conversation.id):
                held |= evidence_held(window, question, texts, conversation)
        return held


def ms_since(begun: float) -> float:
    return (time.perf_counter() - begun) * 1000


def turns_held(window: ContextWindow) -> frozenset[int]:
    """Return the positions of the turns that a window holds, whole or as an excerpt."""
    kinds = (Kind.PINNED, Kind.RECENT, Kind.RETRIEVED)
    return frozenset(
        each.turn for each in window.segments if each.kind in kinds and each.turn is not None
    )
