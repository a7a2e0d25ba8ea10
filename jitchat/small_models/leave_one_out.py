"""How much one answer differs from another, 0 to 1, and by what that is measured.

Requests go one after the other. Nothing is stored, and what fails is told of with its turn.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from jitchat.errors import JitchatError, NotAnAnswer
from jitchat.index.embedder import Embedder
from jitchat.index.vectors import vectors_of
from jitchat.providers.catalogue.table import Prices
from jitchat.providers.provider import Options, Provider, ReplyDelta
from jitchat.small_models.small_model import LONGEST
from jitchat.text.words import fold, words
from jitchat.values import Message, Usage
from jitchat.window.sweep import MOST, by_score, without
from jitchat.window.window import ContextWindow


@dataclass(frozen=True, slots=True)
class Measure:
    """A way to compare two answers."""

    name: str
    """As a few words for the screen: `by shared words`."""
    change: Callable[[str, str], float]
    """0 for the same, 1 for nothing in common; slow. An embedder that fails raises
    EmbedderUnavailable."""


def measure_of(embedder: Embedder, *, exact: bool) -> Measure:
    """Choose one: line by line for `exact` answers, else by meaning where that can be had."""
    if exact:
        return Measure("by their sentences", lambda one, other: _apart(_lines(one), _lines(other)))
    if not embedder.dimension:
        return Measure("by shared words", lambda one, other: _apart(_words(one), _words(other)))
    return Measure(f"by meaning ({embedder.id})", lambda one, other: _far(embedder, one, other))


def lost_lines(reply: str, other: str) -> tuple[str, ...]:
    """List the lines of a reply that another answer lacks."""
    kept = _lines(other)
    return tuple(line for line in map(_bare, reply.splitlines()) if line and line not in kept)


def _far(embedder: Embedder, one: str, other: str) -> float:
    """One less the cosine of both; texts that are the same are at 0 whatever the embedder says."""
    if one.strip() == other.strip():
        return 0.0
    first, second = vectors_of(embedder, [one, other])
    return min(1.0, max(0.0, 1.0 - float(first @ second)))


def _apart(one: Collection[str], other: Collection[str]) -> float:
    """The share of all that only one of them has."""
    every = {*one, *other}
    return len({*one} ^ {*other}) / len(every) if every else 0.0


def _lines(text: str) -> frozenset[str]:
    return frozenset(filter(None, map(_bare, text.splitlines())))


def _bare(line: str) -> str:
    return line.strip().removeprefix("- ")


def _words(text: str) -> frozenset[str]:
    return frozenset(words(fold(text)))


@dataclass(frozen=True, slots=True)
class Trial:
    """A request that is to be sent."""

    turn: int | None
    """The position of the turn that it goes without; None for the unchanged window."""
    tokens: int
    """About what it takes; counted as the window was."""


@dataclass(frozen=True, slots=True)
class TrialResult:
    """What came of it."""

    trial: Trial
    answer: str = ""
    change: float = 0.0
    """From the reply, 0 to 1."""
    error: JitchatError | None = None
    """Why there is no whole answer; then `change` says nothing."""


def trials_of(window: ContextWindow, *, control: bool) -> tuple[Trial, ...]:
    """Choose what is tried, at most six: the unchanged window if chance is to be told apart."""
    same = [Trial(None, window.used)] if control else []
    found = by_score(window)[: MOST - len(same)]
    return (
        (*same, *(Trial(each.turn, window.used - each.tokens) for each in found)) if found else ()
    )


def cost_of_trials(
    trials: Sequence[Trial], prices: Prices | None, answer: int | None
) -> float | None:
    """Estimate what all of them cost in US dollars, with answers of so many tokens.

    None where a price or the size of an answer is not known.
    """
    if prices is None:
        return None
    if prices.is_free:
        return 0.0
    costs = [prices.of(Usage(trial.tokens, answer)) for trial in trials]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None


async def leave_one_out(
    provider: Provider,
    options: Options,
    window: ContextWindow,
    trials: Sequence[Trial],
    reply: tuple[str, Measure],
) -> AsyncGenerator[TrialResult, None]:
    """Ask each, and compare its answer with the reply by a measure; closing it hangs up."""
    text, measure = reply
    for trial in trials:
        messages = window.messages() if trial.turn is None else without(window, trial.turn)
        try:
            answer = await _answer(provider, options, messages)
            change = await asyncio.to_thread(measure.change, text, answer)
        except JitchatError as error:
            yield TrialResult(trial, error=error)
        else:
            yield TrialResult(trial, answer, change)


async def _answer(provider: Provider, options: Options, messages: Sequence[Message]) -> str:
    """Hear one answer to its end."""
    heard, length = list[str](), 0
    async with aclosing(provider.stream(messages, options)) as pieces:
        async for piece in pieces:
            if isinstance(piece, ReplyDelta):
                heard.append(piece.text)
                length += len(piece.text)
            if length > LONGEST:
                raise NotAnAnswer("Its answer does not end.", "Try it with another model.")
    return "".join(heard)
