"""What is known of models without asking anybody: the bundled table, and its date.

A model is found by its whole name or by that of its family: a date, `-latest` or `-001` at the
end falls back to the name without it, and where the table says that names go on, `-preview`
and the like do, too. Nothing else does: a name that only looks like another is unknown.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.resources import files
from typing import Any

from jitchat.providers.catalogue.presets import PRESETS
from jitchat.providers.catalogue.prices import Prices
from jitchat.turn import Limit

_VENDORS = {
    "openai": "openai",
    "anthropic": "anthropic",
    "google": "gemini",
    "deepseek": "deepseek",
    "mistralai": "mistral",
    "x-ai": "xai",
}
"""How OpenRouter writes the vendor in front of a model's name."""
_DATED = re.compile(r"[-@](?:\d{4}-\d\d-\d\d|\d{8}|\d{3}|latest)$")
_LATER = re.compile(
    r"[-@](?:\d{4}-\d\d-\d\d|\d\d-\d{4}|\d\d-\d\d|\d{8}|\d{3,4}|latest|preview|exp|beta|v\d)$"
)

Row = Mapping[str, Any]
"""A line of the table."""


@dataclass(frozen=True, slots=True)
class _Names:
    """A provider's models, by name."""

    exact: Mapping[str, Row]
    families: Mapping[str, Row]
    """Those whose names go on."""

    def find(self, model: str) -> Row | None:
        """Find the model, else its family; the longest name that is known wins."""
        for name, later in _shorter(model.lower()):
            if name in self.families:
                return self.families[name]
            if not later and name in self.exact:
                return self.exact[name]
        return None


def known_limit(provider: str, model: str) -> Limit | None:
    """Look up how much a model takes in; None where the table does not know it."""
    found = _row(provider, model).get("limit")
    return Limit(found, source()) if found else None


def known_max_output(provider: str, model: str) -> int | None:
    """Look up how long an answer may be, in tokens; None where the table does not know it."""
    found: int | None = _row(provider, model).get("max_output")
    return found


def known_prices(provider: str, model: str) -> Prices | None:
    """Look up what a model costs; None where the table does not know it."""
    row = _row(provider, model)
    if "input" not in row:
        return None
    above = tuple((each["over"], _prices(each)) for each in row.get("above", ()))
    return _prices(row, above)


def known_retirement(provider: str, model: str) -> date | None:
    """Look up the day on which the provider takes a model away; None where none is known.

    OpenRouter may have it from somebody else for longer.
    """
    found = _row(provider, model).get("retires") if provider != "openrouter" else None
    return date.fromisoformat(found) if found else None


def other_api(provider: str, model: str) -> str:
    """Look up which API a model answers on where its provider's chat does not reach it.

    Empty for a model that chats, or is not known; OpenRouter translates for those that do not.
    """
    return "" if provider == "openrouter" else str(_row(provider, model).get("api", ""))


def as_of() -> date:
    """Say of which day the table is."""
    return date.fromisoformat(_table()["as_of"])


def source() -> str:
    """Say how old the table is, in a few words."""
    return f"table of {as_of():%Y-%m}"


def known_as(name: str, base_url: str) -> str:
    """Name the preset that serves at an address, whatever the settings call it; else `name`."""
    if name not in PRESETS:
        for preset in PRESETS.values():
            if preset.base_url and preset.base_url == base_url.rstrip("/"):
                return preset.name
    return name


def _prices(row: Row, above: tuple[tuple[int, Prices], ...] = ()) -> Prices:
    return Prices(
        row["input"], row["output"], row.get("cached"), row.get("written"), source(), above
    )


def _row(provider: str, model: str) -> Row:
    if provider == "openrouter":
        vendor, _, model = model.partition("/")
        provider = _VENDORS.get(vendor, "")
    if provider not in _table()["providers"]:
        return {}
    return _names(provider).find(model) or {}


def _shorter(model: str) -> Iterator[tuple[str, bool]]:
    """Yield the name, then without what may stand at its end; whether only a family goes on so."""
    later = False
    while model:
        yield model, later
        ending = _DATED.search(model) or _LATER.search(model)
        later = later or not _DATED.search(model)
        model = model[: ending.start()] if ending else ""


@cache
def _table() -> Any:  # noqa: ANN401  JSON
    text = files(__package__).joinpath("table.json").read_text(encoding="utf-8")
    return json.loads(text)


@cache
def _names(provider: str) -> _Names:
    return names_of(_table()["providers"][provider])


def names_of(rows: Sequence[Row]) -> _Names:
    """Arrange a provider's lines by name."""
    return _Names(
        {name: row for row in rows for name in row.get("is", ())},
        {name: row for row in rows for name in row.get("starts", ())},
    )
