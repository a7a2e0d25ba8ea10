"""Replays whole chats message by message, and prices each request against that of `full`.

Every message of the user is planned as the app does it: with the turns before it and, in `jit`, the
window that was sent for the message before. A provider's prompt cache is simulated: what a request
begins with like the one before it, message for message, is read from the cache; the rest is written
to it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from jitchat.bench.asking import turns_held
from jitchat.bench.questions import Question
from jitchat.memory import Memory
from jitchat.planning import PricedTurns
from jitchat.savings import repeated
from jitchat.values import Mode, Role, Turn
from jitchat.window.budget import Budget
from jitchat.window.parts import Sources
from jitchat.window.plan import plan
from jitchat.window.tokens import TokenCounter
from jitchat.window.window import ContextWindow, Kind
from jitchat.window.written import TurnPricing

_MODEL = "bench"


@dataclass(frozen=True, slots=True)
class Rates:
    """Prices of input as a share of the usual one."""

    name: str
    read: float
    """Of what is read from the provider's cache."""
    write: float
    """Of what is not."""

    def of(self, request: "Request") -> float:
        return self.read * request.cached + self.write * (request.tokens - request.cached)


RATES = (Rates("read .1, write 1.25", 0.1, 1.25), Rates("read .25", 0.25, 1), Rates("none", 1, 1))


@dataclass(frozen=True, slots=True)
class Request:
    tokens: int
    cached: int
    """Tokens that begin like the request before."""
    recalled: int = 0
    """Tokens of recalled turns that were not in the request before."""


@dataclass(frozen=True, slots=True)
class Dialogue:
    """The requests of one chat, in order, in `jit` and in `full`."""

    sent: tuple[Request, ...]
    full: tuple[Request, ...]
    windows: tuple[ContextWindow, ...]

    def price(self, rates: Rates, end: int | None = None) -> float:
        """Return the price of the requests up to an index, as a share of that of `full`."""
        sent = sum(map(rates.of, self.sent[:end]))
        return sent / sum(map(rates.of, self.full[:end]))

    def dearest(self, rates: Rates) -> float:
        """Return the highest price that any beginning of the chat has."""
        return max(self.price(rates, end) for end in range(1, len(self.sent) + 1))


class Replaying:
    """Plans the messages of one chat."""

    def __init__(self, memory: Memory, counter: TokenCounter, budget: Budget) -> None:
        self._memory, self._counter, self._budget = memory, counter, budget
        self._turns = PricedTurns(memory, TurnPricing(counter, is_native=False))

    def window(self, draft: Turn, before: ContextWindow | None) -> ContextWindow:
        """Plan a message. Raises WindowOverflow if it does not fit."""
        history = self._turns.before(draft.position)
        retrieval = self._memory.retrieve(draft.content, draft.position)
        sources = Sources(
            history, draft, _MODEL, retrieval=retrieval, before=before, is_cached=True
        )
        return plan(Mode.JIT, sources, self._budget, self._counter)

    def replay(self, advance: Callable[[int], object] = lambda _: None) -> Dialogue:
        sent, full, windows = list[Request](), list[Request](), list[ContextWindow]()
        before: ContextWindow | None = None
        for draft in self._memory.turns:
            advance(1)
            if draft.role is not Role.USER:
                continue
            window = self.window(draft, before)
            cached = repeated(before, window) if before is not None else 0
            sent.append(Request(window.used, cached, _recalled(window, cached)))
            full.append(Request(window.full_tokens, full[-1].tokens if full else 0))
            windows.append(window)
            before = window
        return Dialogue(tuple(sent), tuple(full), tuple(windows))


def _recalled(window: ContextWindow, cached: int) -> int:
    """Sum up what is recalled after the first `cached` tokens."""
    found, passed = 0, 0
    for segment in window.segments:
        passed += segment.tokens
        if passed > cached and segment.kind is Kind.RETRIEVED:
            found += segment.tokens
    return found


def evidence(
    replaying: Replaying, last: ContextWindow, memory: Memory, questions: Sequence[Question]
) -> list[tuple[bool, bool]]:
    """Ask each question after the last message, wherever the epoch stands.

    Return whether any and all of its evidence is in the window.
    """
    position = memory.turns[-1].position + 1
    found = []
    for question in questions:
        window = replaying.window(Turn(position, Role.USER, question.text), last)
        held = turns_held(window)
        wanted = set(question.evidence)
        found.append((bool(wanted & held), wanted <= held))
    return found
