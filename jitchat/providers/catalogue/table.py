"""Prices of tokens, and presets of providers. An unknown price is always None, never zero.

A model is looked up by its full name, then without a date, `-latest` or `-001` at its end; for
models that the table marks as families, also without `-preview` and the like. No other similarity
counts: a name that only looks like another is unknown.
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
"""Number of tokens that a price is for."""


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices in US dollars per million tokens; None if unknown."""

    input: float | None
    output: float | None
    cached: float | None = None
    """Price of input read from the provider's prompt cache; None: the same as `input`."""
    written: float | None = None
    """Price of input written to that cache; None: the same as `input`."""
    source: str = ""
    """For display: `table of 2026-11`, `set by you`, `the server` …"""
    above: "tuple[tuple[int, Prices], ...]" = ()
    """(tokens, prices), ascending: the prices of a whole request with more input tokens."""

    @property
    def is_free(self) -> bool:
        """Whether all prices are zero."""
        known = (self.input, self.output, self.cached or 0.0, self.written or 0.0)
        return not any(price is None or price for price in known) and not self.above

    @property
    def has_cache(self) -> bool:
        """Whether input that is read from a cache costs less."""
        return self.input is not None and self.cached is not None and self.cached < self.input

    def of(self, usage: Usage | None) -> float | None:
        """Return the cost of a reply in US dollars; None if a count or a price is missing.

        A free model costs 0 even if nothing was counted.
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
        """Return the cost of this many input tokens, none of them cached; None if unknown."""
        return _total((tokens, self._for_input(tokens).input))

    def _for_input(self, tokens: int) -> "Prices":
        exceeded = [prices for over, prices in self.above if tokens > over]
        return exceeded[-1] if exceeded else self


def cost_of(usage: Usage | None, prices: Prices | None) -> float | None:
    """Return the price of usage in US dollars; None if the usage or a price is unknown.

    A cost that the provider reports takes precedence over every table.
    """
    if usage is not None and usage.cost is not None:
        return usage.cost
    return prices.of(usage) if prices is not None else None


def _total(*parts: tuple[int, float | None]) -> float | None:
    """Return the sum of (tokens, price); a part of 0 tokens needs no price."""
    total = 0.0
    for tokens, price in parts:
        if tokens and price is None:
            return None
        total += tokens * (price or 0.0) / PER_PRICE
    return total


_FAMILIES = {"claude": timedelta(minutes=5)}
"""Lifetime of prompt cache entries, by a part of the model's name. Anthropic documents it for the
kind of entry that jitchat requests; others document only a range that depends on their load."""


def cache_life(model: str) -> timedelta | None:
    """Return the lifetime of prompt cache entries for a model; None if unknown."""
    return next((life for family, life in _FAMILIES.items() if family in model.lower()), None)


@dataclass(frozen=True, slots=True)
class Preset:
    """A built-in provider: its address and protocol."""

    name: str
    title: str
    """The provider's display name."""
    base_url: str
    """Contains `${VARIABLE}` if every user has a different address."""
    model: str = ""
    """The default model; empty if there is none."""
    protocol: str = "openai"
    """openai, responses, anthropic, gemini or ollama; `reader` for the built-in reader."""
    key_variables: tuple[str, ...] = ()
    """Environment variables that may hold the key, in order of precedence."""
    is_local: bool = False
    """Whether it is a server on this machine, which usually needs no key."""
    is_engine: bool = False
    """Whether llama.cpp serves it in a child process, which has an address once it runs."""
    owner: str = ""
    """The owner in its server's list of models, by which a local server is recognised."""
    vendor: str = ""
    """The vendor's prefix in OpenRouter's names of models."""
    key_prefixes: tuple[str, ...] = ()
    """Prefixes by which its keys are recognised."""

    @property
    def address(self) -> str:
        """The base URL with default values of variables; unexpanded if a variable is required."""
        needs_one = variables_in(self.base_url, required=True)
        return self.base_url if needs_one else expanded(self.base_url, {})


def read_json(name: str) -> Any:  # noqa: ANN401  JSON
    return json.loads(files(__package__).joinpath(name).read_text(encoding="utf-8"))


READER = Preset("reader", "built-in reader", "", "reader", "reader")
READER_LIMIT = 32_768
"""The reader's context size in tokens."""
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


@cache
def presets() -> Mapping[str, Preset]:
    """Return the built-in providers by name, in display order."""
    rows = read_json("presets.json").items()
    return {READER.name: READER} | {name: _preset(name, row) for name, row in rows}


def _preset(name: str, row: Row) -> Preset:
    lists = {key: tuple(value) for key, value in row.items() if isinstance(value, list)}
    return Preset(name, **{**row, **lists})


@cache
def _vendors() -> Mapping[str, str]:
    return {preset.vendor: preset.name for preset in presets().values() if preset.vendor}


def known_as(name: str, base_url: str) -> str:
    """Return the preset with that address, whatever its name in the settings; else `name`."""
    address = base_url.rstrip("/")
    matches = (each.name for each in presets().values() if address and each.base_url == address)
    return name if name in presets() else next(matches, name)


def prices_of(row: Row) -> Prices | None:
    """Return the prices in a row; None if it has none."""
    return _prices(row) if "input" in row else None


def _prices(row: Row) -> Prices:
    above = tuple((step["over"], _prices(step)) for step in row.get("above", ()))
    return Prices(
        row["input"], row["output"], row.get("cached"), row.get("written"), source(), above
    )


def row_of(provider: str, model: str) -> Row:
    """Look up a model, or its family; the longest known name wins. Empty if unknown."""
    if provider == "openrouter":
        vendor, _, model = model.partition("/")
        provider = _vendors().get(vendor, "")
    if provider not in _table()["providers"]:
        return {}
    return _found(_names(provider), model)


def row_among(rows: Iterable[Row], model: str) -> Row:
    """Look up a model among these rows, as `row_of` does."""
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
    """Yield the name with fewer and fewer suffixes, and whether only a family may match it."""
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
    """Index the rows by name: those of single models, and those of families."""
    listed = tuple(rows)
    families = {name: row for row in listed for name in row.get("starts", ())}
    return {name: row for row in listed for name in row.get("is", ())}, families
