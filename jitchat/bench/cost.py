"""What requests cost, as far as it is known: a price that nobody gave is unknown, never nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jitchat.text.counts import counted
from jitchat.text.money import dollars
from jitchat.turn import Usage

REPLY_TOKENS = 32
"""So many are assumed of a reply that has not come yet; LoCoMo's own runs stop an answer there."""


@dataclass(frozen=True, slots=True)
class Price:
    """USD for a million tokens; None where it is not known."""

    input: float | None = None
    output: float | None = None

    def of(self, usage: Usage) -> float | None:
        """Price what was used; None where a part of it has no price."""
        sent, answered = self.of_input(usage.input_tokens), self.of_output(usage.output_tokens)
        return None if sent is None or answered is None else sent + answered

    def of_input(self, tokens: int | None) -> float | None:
        """Price what is sent."""
        return None if self.input is None or tokens is None else self.input * tokens / 1e6

    def of_output(self, tokens: int | None) -> float | None:
        """Price what is answered."""
        return None if self.output is None or tokens is None else self.output * tokens / 1e6


@dataclass(frozen=True, slots=True)
class Load:
    """Requests that are about to be sent."""

    name: str
    requests: int
    input_tokens: int
    exact: bool
    """Whether the tokens are what the model itself will count."""


def bill(model: str, loads: Sequence[Load], price: Price) -> Iterator[str]:
    """Write what some loads for one model come to, a line each and their cost."""
    yield f"{model}:"
    for load in loads:
        mark = "" if load.exact else "~"
        sent = f"{counted(load.requests, 'request')}, {mark}{load.input_tokens:,} tokens in"
        yield f"  {load.name}: {sent}"
    given = price.of_input(sum(load.input_tokens for load in loads))
    replied = price.of_output(REPLY_TOKENS * sum(load.requests for load in loads))
    yield (
        f"  cost: in {dollars(given)}, out {dollars(replied)}"
        + f" (at {REPLY_TOKENS} tokens a reply)" * (replied is not None)
    )
