"""What a run is going to send, before it is sent."""

from __future__ import annotations

from itertools import product

from jitchat.rot.desk import Answerer, Estimate
from jitchat.rot.experiment import Experiment
from jitchat.text.counts import counted
from jitchat.text.money import about_cost
from jitchat.turn import Mode
from jitchat.window.budget import Budget

ANSWER_TOKENS = 64
"""So many are assumed of an answer that has not come yet."""


def estimated(experiment: Experiment, answerer: Answerer) -> Estimate:
    """Estimate requests, tokens and money; pure.

    Nothing is taken off for a prompt cache, and nothing added for what is sent a second time, or
    to a judge.
    """
    of_each = len(experiment.depths) * len(experiment.kinds) * experiment.repeats
    sizes = [
        window_tokens(mode, length, answerer)
        for length, mode in product(experiment.lengths, experiment.modes)
    ]
    fitting = [size for size in sizes if size is not None]
    requests = of_each * len(fitting)
    tokens, answers = of_each * sum(fitting), ANSWER_TOKENS * requests
    cost = _cost(tokens, answers, answerer)
    return Estimate(requests, tokens, answers, cost, of_each * (len(sizes) - len(fitting)))


def window_tokens(mode: Mode, length: int, answerer: Answerer) -> int | None:
    """Say how large a window is, about, in a conversation of so many tokens; None: too large."""
    room = answerer.limit - answerer.reserve
    full = length + answerer.around
    recency = min(length, answerer.recent) + answerer.around
    if mode is Mode.FULL:
        return full if full <= room else None
    if mode is Mode.RECENCY:
        return min(recency, room)
    retrieved = Budget(retrieved=answerer.retrieved).retrieved_of(length)
    return min(full, recency + retrieved, room)


def sentence(estimate: Estimate) -> str:
    """Tell it: `420 requests, ~1,240,000 tokens in, ~26,880 out (64 an answer), ~$0.41`."""
    told = (
        f"{counted(estimate.requests, 'request')}, ~{estimate.input_tokens:,} tokens in,"
        f" ~{estimate.output_tokens:,} out ({ANSWER_TOKENS} an answer), {about_cost(estimate.cost)}"
    )
    if not estimate.unfit:
        return f"{told}."
    do = "does" if estimate.unfit == 1 else "do"
    return f"{told}. {counted(estimate.unfit, 'cell')} {do} not fit: nothing is sent for them."


def _cost(tokens: int, answers: int, answerer: Answerer) -> float | None:
    if answerer.is_reader or answerer.is_here:
        return 0.0
    if answerer.input_price is None or answerer.output_price is None:
        return None
    return (tokens * answerer.input_price + answers * answerer.output_price) / 1e6
