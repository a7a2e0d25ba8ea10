"""Replays whole chats message by message, and prices each request against that of `full`.

Every message of the user is planned as the app does it: with the turns before it and, in `jit`, the
window that was sent for the message before. A provider's prompt cache is simulated: what a request
begins with like the one before it, message for message, is read from the cache; the rest is written
to it.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from statistics import fmean

from jitchat.bench.asking import Setup, indexed, planning_of, turns_held
from jitchat.bench.questions import LabelledConversation, Question
from jitchat.bench.scores import Figures
from jitchat.memory import Memory
from jitchat.savings import repeated
from jitchat.values import Mode, Role, Turn
from jitchat.window.budget import PER_REQUEST
from jitchat.window.window import ContextWindow, Kind


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

    def mean_of(self, requests: Sequence["Request"]) -> float:
        return fmean(self.of(request) for request in requests)


RATES = (
    Rates("read .1, write 1.25", 0.1, 1.25),
    Rates("read .25", 0.25, 1),
    Rates("no cache", 1, 1),
)


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
    held: tuple[tuple[bool, bool], ...] = ()
    """Of each question: whether any and all of its evidence is in the window after all messages."""

    def dearest(self, rates: Rates) -> float:
        """Return the highest price that any beginning of the chat has."""
        sent = accumulate(rates.of(request) for request in self.sent)
        full = accumulate(rates.of(request) for request in self.full)
        return max(price / of_full for price, of_full in zip(sent, full, strict=True))


class Replaying:
    """Plans the messages of one chat."""

    def __init__(self, memory: Memory, setup: Setup) -> None:
        self._memory, self._budget = memory, setup.budget
        self._before: ContextWindow | None = None
        self._planning = planning_of(memory, setup.counter, setup.asking, self._sent_for)

    def _sent_for(self, _: Turn) -> tuple[ContextWindow, None] | None:
        return None if self._before is None else (self._before, None)

    def window(self, draft: Turn, before: ContextWindow | None) -> ContextWindow:
        """Plan a message. Raises WindowOverflow if it does not fit."""
        self._before = before
        return self._planning.window(self._planning.search(draft), Mode.JIT, self._budget)

    def replay(
        self, advance: Callable[[int], object] = lambda _: None, last: int | None = None
    ) -> Dialogue:
        """Replay the messages of the user; `advance` is called with 1 after each.

        Of a longer chat only the `last` are replayed, and one before them that is not priced: it
        fills the cache.
        """
        drafts = [turn for turn in self._memory.turns if turn.role is Role.USER]
        skipped = max(0, len(drafts) - last - 1) if last is not None else 0
        sent, full, windows = list[Request](), list[Request](), list[ContextWindow]()
        before: ContextWindow | None = None
        for draft in drafts[skipped:]:
            window = self.window(draft, before)
            cached = repeated(before, window) if before is not None else 0
            sent.append(Request(window.used, cached, _recalled(window, cached)))
            before_it = full[-1].tokens - PER_REQUEST if full else 0
            full.append(Request(window.full_tokens, before_it))
            windows.append(window)
            before = window
            advance(1)
        first = 1 if skipped else 0
        return Dialogue(tuple(sent[first:]), tuple(full[first:]), tuple(windows[first:]))


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


def measure(
    talks: Iterable[LabelledConversation], setup: Setup, advance: Callable[[int], object]
) -> dict[str, Dialogue]:
    """Replay each chat that has messages of the user, and ask its questions.

    `advance` is called with 1 after each message.

    Raises:
        WindowOverflow: A message does not fit.

    """
    chats = {}
    for talk in talks:
        with indexed(talk.found, setup.embedder, talk.asked_at) as memory:
            replaying = Replaying(memory, setup)
            dialogue = replaying.replay(advance)
            if dialogue.windows:
                held = evidence(replaying, dialogue.windows[-1], memory, talk.questions)
                chats[talk.found.id] = replace(dialogue, held=tuple(held))
    return chats


def prices_of(dialogues: Sequence[Dialogue]) -> Figures:
    """Return what a message costs by rates, in tokens at the usual price, and shares of `full`.

    `dearest` is the highest price that any beginning of a chat has.
    """
    sent = [request for dialogue in dialogues for request in dialogue.sent]
    full = [request for dialogue in dialogues for request in dialogue.full]
    return {
        rates.name: {
            "sent": rates.mean_of(sent),
            "of_full": rates.mean_of(sent) / rates.mean_of(full),
            "dearest": max(dialogue.dearest(rates) for dialogue in dialogues),
        }
        for rates in RATES
    }


def figures_of(chats: Sequence[Dialogue]) -> Figures:
    """Return the figures of chats together; see `prices_of`."""
    sent = [request for chat in chats for request in chat.sent]
    held = [question for chat in chats for question in chat.held]
    return {
        "messages": len(sent),
        "tokens": fmean(request.tokens for request in sent),
        "largest": max(request.tokens for request in sent),
        "recalled": fmean(request.recalled for request in sent),
        "prices": prices_of(chats),
        "questions": len(held),
        "window_any": fmean(has_any for has_any, _ in held) if held else None,
        "window_all": fmean(has_all for _, has_all in held) if held else None,
    }
