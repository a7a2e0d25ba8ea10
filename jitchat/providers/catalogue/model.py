"""One model as its server, or the bundled table, tells of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from jitchat.providers.catalogue.prices import Prices
from jitchat.providers.catalogue.table import (
    known_limit,
    known_max_output,
    known_prices,
    known_retirement,
    other_api,
)
from jitchat.turn import LOADED, Limit

THE_SERVER = "the server"
"""The source of prices that come with the list of models."""
_KINDS = ("input", "output", "cached", "written")


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A model by its own name; None for what nobody tells."""

    name: str
    limit: Limit | None = None
    max_output: int | None = None
    """The longest answer, in tokens."""
    prices: Prices | None = None
    retires: date | None = None
    """The day on which its provider takes it away."""
    other_api: str = ""
    """The API that it answers on where no protocol here reaches it: `responses` or `other`."""

    @property
    def is_loaded(self) -> bool:
        """Whether a local server has it in memory, so that it answers at once."""
        return self.limit is not None and self.limit.source == LOADED

    def completed(self, provider: str) -> ModelInfo:
        """Add what the bundled table knows where the server was silent."""
        return replace(
            self,
            limit=self.limit or known_limit(provider, self.name),
            max_output=self.max_output or known_max_output(provider, self.name),
            prices=self.prices or known_prices(provider, self.name),
            retires=known_retirement(provider, self.name),
            other_api=other_api(provider, self.name),
        )

    def fields(self) -> dict[str, Any]:
        """Give it as JSON knows it; `model_from` reads what a server told of that."""
        found: dict[str, Any] = {"name": self.name}
        if self.limit is not None:
            found |= {"limit": self.limit.tokens, "limit_source": self.limit.source}
        if self.max_output is not None:
            found["max_output"] = self.max_output
        if self.prices is not None:
            found["prices"] = {kind: getattr(self.prices, kind) for kind in _KINDS}
            found["prices"]["source"] = self.prices.source
        if self.retires is not None:
            found["retires"] = self.retires.isoformat()
        return found


def model_from(fields: Mapping[str, Any]) -> ModelInfo:
    """Read what `fields` gave.

    Raises:
        LookupError: Something else was kept.

    """
    limit, prices = fields.get("limit"), fields.get("prices")
    return ModelInfo(
        fields["name"],
        None if limit is None else Limit(limit, fields["limit_source"]),
        fields.get("max_output"),
        None if prices is None else Prices(**{kind: prices[kind] for kind in (*_KINDS, "source")}),
    )
