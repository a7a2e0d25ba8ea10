"""What tokens cost. An unknown price is None on every way, and never zero."""

from __future__ import annotations

from dataclasses import dataclass

from jitchat.turn import Usage

_PER = 1_000_000


@dataclass(frozen=True, slots=True)
class Prices:
    """US dollars per million tokens; None where a price is not known."""

    input: float | None
    output: float | None
    cached: float | None = None
    """Of input that comes from the provider's prompt cache; None: as any input."""
    written: float | None = None
    """Of input that is put into that cache; None: as any input."""
    source: str = ""
    """As a few words for the screen: `table of 2026-11`, `set by you`, the server …"""
    above: tuple[tuple[int, Prices], ...] = ()
    """By a number of tokens, ascending: the prices of a whole request with more input than that."""

    @property
    def is_free(self) -> bool:
        """Whether nothing is charged, whatever is sent and answered."""
        known = (self.input, self.output, self.cached or 0.0, self.written or 0.0)
        return not any(price is None or price for price in known) and not self.above

    def of(self, usage: Usage) -> float | None:
        """What a reply cost, in US dollars; None where a count or a price is missing."""
        if usage.input_tokens is None or usage.output_tokens is None:
            return None
        prices = self._for_input(usage.input_tokens)
        cached = min(max(0, usage.cached_tokens), usage.input_tokens)
        written = min(max(0, usage.written_tokens), usage.input_tokens - cached)
        return _total(
            (usage.input_tokens - cached - written, prices.input),
            (cached, prices.input if prices.cached is None else prices.cached),
            (written, prices.input if prices.written is None else prices.written),
            (usage.output_tokens, prices.output),
        )

    def of_input(self, tokens: int) -> float | None:
        """What this much input costs where none of it comes from a cache; None if unknown."""
        return _total((tokens, self._for_input(tokens).input))

    def _for_input(self, tokens: int) -> Prices:
        reached = [prices for over, prices in self.above if tokens > over]
        return reached[-1] if reached else self


def _total(*parts: tuple[int, float | None]) -> float | None:
    """Add the parts up; a part without tokens needs no price."""
    total = 0.0
    for tokens, price in parts:
        if tokens and price is None:
            return None
        total += tokens * (price or 0.0) / _PER
    return total
