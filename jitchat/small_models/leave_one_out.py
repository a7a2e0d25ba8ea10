"""Leaving out one retrieved turn: how much the answer changes, 0 to 1, and by what measure.

Everything else in the window stays the same byte for byte; the fence is removed with its last turn.
Requests are sent one at a time. Nothing is stored, and a failure is reported with its turn.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from dataclasses import dataclass, replace

from jitchat.errors import JitchatError
from jitchat.index.embedder import Embedder
from jitchat.index.vectors import vectors_of
from jitchat.providers.catalogue.table import Prices
from jitchat.providers.provider import Options, Provider
from jitchat.small_models.small_model import Hearing
from jitchat.text.words import words
from jitchat.values import Message, Usage
from jitchat.window.window import ContextWindow, Kind, Segment

MOST = 6
"""Maximum number of requests; each sends a whole window."""
_OPENING = re.compile(r"\A<(recalled(?:-\d+)?)>\n")


@dataclass(frozen=True, slots=True)
class Measure:
    name: str
    """In a few words for the screen: `by shared words`."""
    change: Callable[[str, str], float]
    """0 for the same text, 1 for nothing in common; slow. Raises EmbedderUnavailable if the
    embedder fails."""


def measure_of(embedder: Embedder, *, exact: bool) -> Measure:
    """Choose a measure: by lines for `exact` answers, else by meaning if an embedder is set."""
    if exact:
        return Measure("by their sentences", lambda one, other: _apart(_lines(one), _lines(other)))
    if not embedder.dimension:
        return Measure("by shared words", lambda one, other: _apart(words(one), words(other)))
    return Measure(f"by meaning ({embedder.id})", lambda one, other: _far(embedder, one, other))


def lost_lines(reply: str, other: str) -> tuple[str, ...]:
    kept = _lines(other)
    return tuple(line for line in map(_bare, reply.splitlines()) if line and line not in kept)


def _far(embedder: Embedder, one: str, other: str) -> float:
    """Return 1 minus the cosine similarity; 0 for equal texts, whatever the embedder returns."""
    if one.strip() == other.strip():
        return 0.0
    first, second = vectors_of(embedder, [one, other])
    return min(1.0, max(0.0, 1.0 - float(first @ second)))


def _apart(one: Collection[str], other: Collection[str]) -> float:
    """Return the share of all elements that only one of the two has."""
    both = {*one, *other}
    return len({*one} ^ {*other}) / len(both) if both else 0.0


def _lines(text: str) -> frozenset[str]:
    return frozenset(filter(None, map(_bare, text.splitlines())))


def _bare(line: str) -> str:
    return line.strip().removeprefix("- ")


def by_score(window: ContextWindow) -> tuple[Segment, ...]:
    scores = {row.turn: row.score for row in window.ledger}
    found = [segment for segment in window.segments if segment.kind is Kind.RETRIEVED]
    return tuple(sorted(found, key=lambda segment: -scores.get(segment.turn or 0, 0.0)))


def without(window: ContextWindow, turn: int) -> tuple[Message, ...]:
    """Make the window's messages without a retrieved turn.

    Raises:
        LookupError: The turn was not retrieved.

    """
    segments = list(window.segments)
    places = [at for at, each in enumerate(segments) if each.kind is Kind.RETRIEVED]
    left_out = next((at for at in places if segments[at].turn == turn), None)
    if left_out is None:
        raise LookupError(turn)
    opening = _OPENING.match(segments[places[0]].text)
    if opening is not None and len(places) > 1:
        neighbour = left_out + 1 if left_out == places[0] else left_out - 1
        if left_out == places[0]:
            segments[neighbour] = _with_text(segments[neighbour], before=opening[0])
        elif left_out == places[-1]:
            end = segments[left_out].text.rpartition(f"</{opening[1]}>")
            segments[neighbour] = _with_text(segments[neighbour], after="".join(end[1:]))
    del segments[left_out]
    return replace(window, segments=tuple(segments)).messages()


def _with_text(segment: Segment, before: str = "", after: str = "") -> Segment:
    text = f"{before}{segment.text}{after}"
    pieces = [replace(piece, text=text) for piece in segment.pieces[:1]]
    return replace(segment, text=text, pieces=tuple(pieces))


@dataclass(frozen=True, slots=True)
class Trial:
    turn: int | None
    """The position of the turn that is left out; None for the unchanged window."""
    tokens: int
    """Estimated from the window's counts."""


@dataclass(frozen=True, slots=True)
class TrialResult:
    trial: Trial
    answer: str = ""
    change: float = 0.0
    """The difference from the reply, 0 to 1."""
    error: JitchatError | None = None
    """Why there is no complete answer; `change` is meaningless then."""


def trials_of(window: ContextWindow, *, control: bool) -> tuple[Trial, ...]:
    """Choose up to six trials; `control` includes the unchanged window, to measure chance."""
    same = [Trial(None, window.used)] if control else []
    best = by_score(window)[: MOST - len(same)]
    trials = [Trial(segment.turn, window.used - segment.tokens) for segment in best]
    return (*same, *trials) if trials else ()


def cost_of_trials(
    trials: Sequence[Trial], prices: Prices | None, answer: int | None
) -> float | None:
    """Estimate the cost of all trials in US dollars, with answers of `answer` tokens.

    None if a price or the size of an answer is unknown.
    """
    if prices is None:
        return None
    costs = [prices.of(Usage(trial.tokens, answer)) for trial in trials]
    return None if None in costs else sum(cost or 0.0 for cost in costs)


async def leave_one_out(
    provider: Provider,
    options: Options,
    window: ContextWindow,
    trials: Sequence[Trial],
    reply: tuple[str, Measure],
) -> AsyncGenerator[TrialResult, None]:
    """Send each trial and compare its answer with the reply; closing the generator hangs up."""
    text, measure = reply
    for trial in trials:
        messages = window.messages() if trial.turn is None else without(window, trial.turn)
        hearing = Hearing()
        try:
            await hearing.hear(provider, messages, options)
            change = await asyncio.to_thread(measure.change, text, hearing.text)
        except JitchatError as error:
            yield TrialResult(trial, error=error)
        else:
            yield TrialResult(trial, hearing.text, change)
