"""Makes jitchat/providers/catalogue/table.json from the package genai-prices.

Run by hand:

    pip install genai-prices==0.2.3
    python tools/model_table.py 2026-11-10

The date is the day on which that version was released. Of a model's patterns only names and
beginnings of names are taken; what is dated is found by its family when it is looked up.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

from genai_prices import types
from genai_prices.data import providers

TARGET = Path(__file__).parents[1] / "jitchat" / "providers" / "catalogue" / "table.json"
PRESETS = {
    "openai": "openai",
    "anthropic": "anthropic",
    "google": "gemini",
    "groq": "groq",
    "together": "together",
    "deepseek": "deepseek",
    "mistral": "mistral",
    "x-ai": "xai",
}
"""Our name for each of the package's providers."""
NO_CHAT = re.compile(
    r"embed|whisper|tts|image|moderation|realtime|audio|transcribe|live|voice|voxtral|-ocr|orpheus"
    r"|guard|omni|robotics|banana|computer-use|davinci|^(ada|babbage|curie)|^ft:|\.ft-|instruct-\d"
)
PRICES = {
    "input": "input_mtok",
    "cached": "cache_read_mtok",
    "written": "cache_write_mtok",
    "output": "output_mtok",
}
MAX_OUTPUT = {
    "anthropic": {
        "claude-3-haiku": 4_096,
        "claude-3-opus": 4_096,
        "claude-3-sonnet": 4_096,
        "claude-3-5-haiku": 8_192,
        "claude-3-5-sonnet": 8_192,
        "claude-3-7-sonnet": 64_000,
        "claude-haiku-4-5": 64_000,
        "claude-opus-4": 32_000,
        "claude-opus-4-1": 32_000,
        "claude-opus-4-5": 64_000,
        "claude-sonnet-4": 64_000,
        "claude-sonnet-4-5": 64_000,
    },
    "gemini": {
        "gemini-1.5-flash": 8_192,
        "gemini-1.5-pro": 8_192,
        "gemini-2.0-flash": 8_192,
        "gemini-2.5-flash": 65_536,
        "gemini-2.5-flash-lite": 65_536,
        "gemini-2.5-pro": 65_536,
    },
    "openai": {
        "gpt-4-turbo": 4_096,
        "gpt-4o": 16_384,
        "gpt-4o-mini": 16_384,
        "gpt-4.1": 32_768,
        "gpt-4.1-mini": 32_768,
        "gpt-4.1-nano": 32_768,
        "gpt-5": 128_000,
        "gpt-5-mini": 128_000,
        "gpt-5-nano": 128_000,
        "o1": 100_000,
        "o3": 100_000,
        "o3-mini": 100_000,
        "o4-mini": 100_000,
    },
}
"""The package does not tell how long an answer may be; this is from the vendors' own pages."""


def names(clause: Any, *, starts: bool) -> Iterator[str]:  # noqa: ANN401  one of its clauses
    """Names that a pattern accepts; those of families, which go on after it, with `starts`."""
    for part in [*getattr(clause, "or_", ()), *getattr(clause, "and_", ())]:
        yield from names(part, starts=starts)
    if starts and isinstance(clause, types.ClauseStartsWith | types.ClauseContains):
        text = getattr(clause, "starts_with", None) or getattr(clause, "contains", "")
        yield re.sub(r"[-@.]+$|-20\d\d$|-0$", "", text)
    elif not starts and isinstance(clause, types.ClauseEquals):
        yield clause.equals
    elif not starts and isinstance(clause, types.ClauseEndsWith):
        yield clause.ends_with


def undated(name: str) -> str:
    """The name without a date at its end."""
    return re.sub(r"-(\d{8}|\d{4}(-\d\d){2})$", "", name)


def prices_on(day: date, prices: Any) -> types.ModelPrice:  # noqa: ANN401  one price or several
    """The prices that hold on a day; where they depend on the hour, the dearest."""
    if isinstance(prices, types.ModelPrice):
        return prices
    held: list[types.ModelPrice] = []
    for conditional in prices:
        begins = getattr(conditional.constraint, "start_date", None)
        if conditional.constraint is None or (begins is not None and begins <= day):
            held = [conditional.prices]
        elif begins is None:
            held.append(conditional.prices)
    return max(held, key=lambda each: base(each, "output") or 0)


def base(prices: types.ModelPrice, kind: str) -> float | None:
    """A price below every threshold."""
    found = getattr(prices, PRICES[kind], None)
    found = getattr(found, "base", found)
    return None if found is None else float(found)


def tiers(prices: types.ModelPrice) -> list[dict[str, float]]:
    """Prices of a request whose input is larger than a threshold, by that threshold."""
    tiered = {
        kind: getattr(getattr(prices, key, None), "tiers", ()) for kind, key in PRICES.items()
    }
    starts = sorted({tier.start for each in tiered.values() for tier in each})
    found = []
    for start in starts:
        row = {"over": start}
        for kind, each in tiered.items():
            reached = [tier.price for tier in each if tier.start <= start]
            price = float(reached[-1]) if reached else base(prices, kind)
            row |= {} if price is None else {kind: price}
        found.append(row)
    return found


def row_of(provider: str, model: types.ModelInfo, day: date) -> dict[str, Any] | None:
    """The model's line of the table; None for one that does not chat, or says nothing."""
    if NO_CHAT.search(model.id.lower()):
        return None
    families = {each.lower() for each in names(model.match, starts=True)}
    exact = {model.id.lower()} | {each.lower() for each in names(model.match, starts=False)}
    exact = {each for each in exact - families if undated(each) not in (exact | families) - {each}}
    prices = prices_on(day, model.prices)
    known = {kind: base(prices, kind) for kind in PRICES}
    if None in (known["input"], known["output"]):
        known = {}
    longest = MAX_OUTPUT.get(provider, {})
    found = {
        "is": sorted(exact),
        "starts": sorted(families),
        "context": model.context_window,
        "max_output": next((longest[each] for each in exact | families if each in longest), None),
        **known,
        "above": tiers(prices) if known else [],
    }
    row = {key: value for key, value in found.items() if value is not None and value != []}
    return row if len(row.keys() - {"is", "starts"}) else None


def table(day: date) -> str:
    """The whole table, a model a line."""
    parts = []
    for provider in sorted(providers, key=lambda each: each.id):
        if provider.id not in PRESETS:
            continue
        ours = PRESETS[provider.id]
        models = [
            model for model in provider.models if "claude" not in model.id or ours != "gemini"
        ]
        rows = [row for model in models if (row := row_of(ours, model, day))]
        lines = ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
        parts.append(f'"{ours}": [\n{lines}\n]')
    head = {
        "as_of": day.isoformat(),
        "source": f"genai-prices {version('genai_prices')},"
        " https://github.com/pydantic/genai-prices; max_output from the vendors' documentation",
        "licence": "MIT, Copyright (c) Pydantic Services Inc. 2025 to present",
        "unit": "USD per million tokens",
    }
    top = ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in head.items())
    return f'{{\n{top},\n"providers": {{\n' + ",\n".join(parts) + "\n}\n}\n"


if __name__ == "__main__":
    TARGET.write_text(table(date.fromisoformat(sys.argv[1])), encoding="utf-8")
