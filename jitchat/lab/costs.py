"""What a run is going to send, before it is sent."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from jitchat.lab.experiment import Cell, Experiment
from jitchat.text.figures import about_cost, plural
from jitchat.text.sanitize import one_line
from jitchat.values import Mode
from jitchat.window.budget import Budget

ANSWER_TOKENS = 64
"""Tokens that an answer may take, where nothing else is set."""


@dataclass(frozen=True, slots=True)
class Answerer:
    provider: str
    model: str
    limit: int
    """The context size, in tokens."""
    reserve: int
    """Tokens that are kept free for the reply."""
    retrieved: int
    """Tokens that `jit` sends beside what `recency` sends, about, at the most."""
    recent: int
    """Tokens of the recent block, about."""
    input_price: float | None
    """US dollars for a million tokens; None where nobody knows."""
    output_price: float | None
    is_here: bool
    """Whether it is known that all of it, the picker too, costs nothing and stays on this
    machine."""
    around: int = 128
    """Tokens of a request beside the conversation, about: the system text, the question."""
    is_assumed: bool = False
    """Whether nobody told the context size."""
    picker: str = ""
    """The model that is asked which turns to recall, ahead of each request of `jit`; empty for
    none."""
    answer: int = ANSWER_TOKENS
    """Tokens that an answer may take."""

    @property
    def is_reader(self) -> bool:
        return self.provider == "reader"


@dataclass(frozen=True, slots=True)
class Estimate:
    requests: int
    input_tokens: int
    """About."""
    output_tokens: int
    """About."""
    cost: float | None
    """In US dollars, about; None where no price is known. What the picker takes is not in it."""
    unfit: int
    """Cells whose window is larger than the model takes: nothing is sent for them."""
    picked: int = 0
    """Requests to the picker besides, at the most."""
    picker: str = ""
    """Its model; empty for none."""


def estimate_run(experiment: Experiment, answerer: Answerer) -> Estimate:
    """Estimate requests, tokens and money of a whole run; pure.

    Nothing is taken off for a prompt cache, and nothing added for what is sent a second time, or
    to a judge.
    """
    return estimate_cells(experiment.cells(), answerer)


def estimate_cells(cells: Iterable[Cell], answerer: Answerer) -> Estimate:
    requests = tokens = unfit = picked = 0
    for (mode, length), number in Counter((cell.mode, cell.length) for cell in cells).items():
        size = window_tokens(mode, length, answerer)
        if size is None:
            unfit += number
            continue
        requests, tokens = requests + number, tokens + number * size
        picked += number if answerer.picker and mode.recalls else 0
    answers = answerer.answer * requests
    cost = _cost(tokens, answers, answerer)
    return Estimate(requests, tokens, answers, cost, unfit, picked, answerer.picker)


def _cost(tokens: int, answers: int, answerer: Answerer) -> float | None:
    """Price them; what a picker that is elsewhere costs is not known, so it is never for free."""
    if answerer.is_here:
        return 0.0
    if answerer.input_price is None or answerer.output_price is None:
        return None
    cost = (tokens * answerer.input_price + answers * answerer.output_price) / 1e6
    return cost if cost or not answerer.picker else None


def window_tokens(mode: Mode, length: int, answerer: Answerer) -> int | None:
    """Say how large a window is, about, in a conversation of so many tokens; None: too large."""
    room = answerer.limit - answerer.reserve
    full = length + answerer.around
    recency = min(length, answerer.recent) + answerer.around
    if mode is Mode.FULL:
        return full if full <= room else None
    retrieved = Budget(retrieved=answerer.retrieved).retrieved_of(length) if mode.recalls else 0
    return min(full, recency + retrieved, room)


def sentence(estimate: Estimate) -> str:
    """Tell it: `420 requests, ~1,240,000 tokens in, ~26,880 out (64 an answer), ~$0.41`."""
    asked = plural(estimate.requests, "request")
    each = estimate.output_tokens // (estimate.requests or 1)
    told = (
        f"{asked}, ~{estimate.input_tokens:,} tokens in, ~{estimate.output_tokens:,} out"
        f" ({each:,} an answer), {about_cost(estimate.cost)}."
    )
    if estimate.unfit:
        do = "does" if estimate.unfit == 1 else "do"
        told += f" {plural(estimate.unfit, 'cell')} {do} not fit: nothing is sent for them."
    if estimate.picked:
        picker = one_line(estimate.picker)
        told += f" Besides, up to {plural(estimate.picked, 'request')} to the picker {picker}."
    return told
