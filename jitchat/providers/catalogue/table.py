"""What tokens cost. An unknown price is None on every way, and never zero.

A model is found by its whole name or by that of its family: a date, `-latest` or `-001` at the
end falls back to the name without it, and where the table says that names go on, `-preview`
and the like do, too. Nothing else does: a name that only looks like another is unknown.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from importlib.resources import files
from typing import Any

from jitchat.text.variables import expanded, variables_in
from jitchat.values import Usage

PER_PRICE = 1_000_000
"""Tokens for which a price is given."""


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
    above: "tuple[tuple[int, Prices], ...]" = ()
    """By a number of tokens, ascending: the prices of a whole request with more input than that."""

    @property
    def is_free(self) -> bool:
        """Whether nothing is charged, whatever is sent and answered."""
        known = (self.input, self.output, self.cached or 0.0, self.written or 0.0)
        return not any(price is None or price for price in known) and not self.above

    def of(self, usage: Usage | None) -> float | None:
        """What a reply cost, in US dollars; None where a count or a price is missing.

        What is free costs nothing, whatever was counted.
        """
        if self.is_free:
            return 0.0
        if usage is None or usage.input_tokens is None or usage.output_tokens is None:
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

    def _for_input(self, tokens: int) -> "Prices":
        reached = [prices for over, prices in self.above if tokens > over]
        return reached[-1] if reached else self


def cost_of(usage: Usage | None, prices: Prices | None) -> float | None:
    """Price what was used, in US dollars; None where the usage or a price is not known.

    What the provider says that it charges stands before every table.
    """
    if usage is not None and usage.cost is not None:
        return usage.cost
    return prices.of(usage) if prices is not None else None


def _total(*parts: tuple[int, float | None]) -> float | None:
    """Add the parts up; a part without tokens needs no price."""
    total = 0.0
    for tokens, price in parts:
        if tokens and price is None:
            return None
        total += tokens * (price or 0.0) / PER_PRICE
    return total


_FAMILIES = {"claude": timedelta(minutes=5)}
"""By a part of the model's name. Anthropic documents it for the kind of entry that is asked for;
the others tell of a range that depends on their load."""


def cache_life(model: str) -> timedelta | None:
    """Tell it for a model by its name; None where it is not known."""
    return next((life for family, life in _FAMILIES.items() if family in model.lower()), None)


@dataclass(frozen=True, slots=True)
class Preset:
    """Where a provider is, and what it speaks."""

    name: str
    title: str
    """As it calls itself."""
    base_url: str
    """Where every user has an address of his own, with `${VARIABLE}` in it."""
    model: str = ""
    """The one that answers where no other is named; empty where none is."""
    protocol: str = "openai"
    """openai, anthropic, gemini or ollama; `reader` for the embedded one."""
    key_variables: tuple[str, ...] = ()
    """Environment variables that may hold its key, in the order in which they are looked at."""
    is_local: bool = False
    """Whether it is a server on this machine, which mostly wants no key."""
    is_engine: bool = False
    """Whether llama.cpp serves it in a process of ours; it has its address once it runs."""
    owner: str = ""
    """Whom its server names as its models' owner: by that a local server is told from others."""
    vendor: str = ""
    """How OpenRouter writes the vendor in front of a model's name."""
    key_prefixes: tuple[str, ...] = ()
    """How its keys begin, where that says whose they are."""

    @property
    def address(self) -> str:
        """Give its base URL where no variable is set; as it stands, where it needs one."""
        needs_one = variables_in(self.base_url, required=True)
        return self.base_url if needs_one else expanded(self.base_url, {})


def read_json(name: str) -> Any:  # noqa: ANN401  JSON
    return json.loads(files(__package__).joinpath(name).read_text(encoding="utf-8"))


READER = Preset("reader", "embedded reader", "", "reader", "reader")
READER_LIMIT = 32_768
"""How much it takes, in tokens."""
_DATED = re.compile(r"[-@](?:\d{4}-\d\d-\d\d|\d{8}|\d{3}|latest)$")
_LATER = re.compile(
    r"[-@](?:\d{4}-\d\d-\d\d|\d\d-\d{4}|\d\d-\d\d|\d{8}|\d{3,4}|latest|preview|exp|beta|v\d)$"
)

Row = Mapping[str, Any]
"""A line of the table."""
_Names = tuple[Mapping[str, Row], Mapping[str, Row]]


def as_of() -> date:
    return date.fromisoformat(_table()["as_of"])


def source() -> str:
    return f"table of {as_of():%Y-%m}"


def listed_providers() -> tuple[str, ...]:
    """Name the presets of which models are in the table; of the others, each says what it tells."""
    return tuple(_table()["providers"])


@cache
def presets() -> Mapping[str, Preset]:
    """Read the providers that are known, by name, in the order in which they are listed."""
    rows = read_json("presets.json").items()
    return {READER.name: READER} | {name: _preset(name, row) for name, row in rows}


def _preset(name: str, row: Row) -> Preset:
    lists = {key: tuple(value) for key, value in row.items() if isinstance(value, list)}
    return Preset(name, **{**row, **lists})


@cache
def _vendors() -> Mapping[str, str]:
    return {preset.vendor: preset.name for preset in presets().values() if preset.vendor}


def known_as(name: str, base_url: str) -> str:
    """Name the preset that serves at an address, whatever the settings call it; else `name`."""
    address = base_url.rstrip("/")
    there = (each.name for each in presets().values() if address and each.base_url == address)
    return name if name in presets() else next(there, name)


def prices_of(row: Row) -> Prices | None:
    """Read what a model costs; None where the table does not know it."""
    return _prices(row) if "input" in row else None


def _prices(row: Row) -> Prices:
    above = tuple((step["over"], _prices(step)) for step in row.get("above", ()))
    return Prices(
        row["input"], row["output"], row.get("cached"), row.get("written"), source(), above
    )


def row_of(provider: str, model: str) -> Row:
    """Look a model up, else its family; the longest name that is known wins; empty for none."""
    if provider == "openrouter":
        vendor, _, model = model.partition("/")
        provider = _vendors().get(vendor, "")
    if provider not in _table()["providers"]:
        return {}
    return _found(_names(provider), model)


def row_among(rows: Iterable[Row], model: str) -> Row:
    """Look a model up as `row_of` does, among these lines."""
    return _found(_arranged(rows), model)


def _found(names: _Names, model: str) -> Row:
    exact, families = names
    for name, later in _shorter(model.lower()):
        if name in families:
            return families[name]
        if not later and name in exact:
            return exact[name]
    return {}


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
    return read_json("table.json")


@cache
def _names(provider: str) -> _Names:
    return _arranged(_table()["providers"][provider])


def _arranged(rows: Iterable[Row]) -> _Names:
    """Arrange lines by name: those of one model, and those whose names go on."""
    listed = tuple(rows)
    families = {name: row for row in listed for name in row.get("starts", ())}
    return {name: row for row in listed for name in row.get("is", ())}, families
