"""Makes jitchat/providers/catalogue/table.json from the packages genai-prices and litellm.

Run it manually in a separate environment:

    pip install genai-prices==0.2.3 && pip install --no-deps litellm==1.109.1
    python tools/model_table.py 2026-11-22

The date is the day on which these versions were the newest. Of a model's patterns in genai-prices
only names and prefixes are used; names with a date are found by their family on lookup. If litellm
has a model of that name, its figures take precedence, because they are input limits and more
recent; differences between the two are printed.
"""

from __future__ import annotations

import json
import re
import sys
from datetime import date
from importlib.metadata import distribution, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from genai_prices import types
from genai_prices.data import providers

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from jitchat.providers.catalogue.table import row_among  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

TARGET = ROOT / "jitchat" / "providers" / "catalogue" / "table.json"
TIER = re.compile(r"input_cost_per_token_above_(\d+)k_tokens")
PRESETS = {
    "openai": "openai",
    "anthropic": "anthropic",
    "google": "gemini",
    "groq": "groq",
    "together": "together",
    "deepseek": "deepseek",
    "mistral": "mistral",
    "x-ai": "xai",
    "azure": "azure",
    "cerebras": "cerebras",
    "fireworks": "fireworks",
    "moonshotai": "moonshot",
    "perplexity": "perplexity",
    "zai": "zai",
}
"""jitchat's names for genai-prices' providers."""
LITELLM = {
    "google": "gemini",
    "together": "together_ai",
    "x-ai": "xai",
    "fireworks": "fireworks_ai",
    "moonshotai": "moonshot",
}
"""litellm's names that differ from genai-prices'."""
LITELLM_FILE = "litellm/model_prices_and_context_window_backup.json"
LITELLM_PRICES = {
    "input": "input_cost_per_token",
    "cached": "cache_read_input_token_cost",
    "written": "cache_creation_input_token_cost",
    "output": "output_cost_per_token",
}
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
        "claude-opus-4": 32_000,
        "claude-opus-4-1": 32_000,
        "claude-sonnet-4": 64_000,
    },
    "gemini": {
        "gemini-1.5-flash": 8_192,
        "gemini-1.5-pro": 8_192,
        "gemini-2.0-flash": 8_192,
    },
}
"""For models that litellm no longer lists; from the vendors' pages."""
SEPARATE = {"openai": (400_000, 1_000_000, 1_050_000)}
"""Context sizes that are the sum of the maximum input and the maximum output: input beyond the
difference is refused, however short the reply is limited to."""
Row = dict[str, Any]


def names(clause: Any, *, starts: bool) -> Iterator[str]:  # noqa: ANN401  one of its clauses
    """Yield the names that a pattern accepts; with `starts`, the prefixes of families."""
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
    """Return the name without a date at its end."""
    return re.sub(r"-(\d{8}|\d{4}(-\d\d){2})$", "", name)


def prices_on(day: date, prices: Any) -> types.ModelPrice:  # noqa: ANN401  one price or several
    """Return the prices valid on a day; if they depend on the hour, the highest."""
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
    """Return a price without tiers."""
    found = getattr(prices, PRICES[kind], None)
    found = getattr(found, "base", found)
    return None if found is None else float(found)


def tiers(prices: types.ModelPrice) -> list[dict[str, float]]:
    """Return the prices of requests whose input exceeds a threshold, in ascending order."""
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


def row_of(provider: str, model: types.ModelInfo, day: date) -> Row | None:
    """Return the model's row; None if it is not a chat model or has no figures."""
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
        "limit": model.context_window,
        "max_output": next((longest[each] for each in exact | families if each in longest), None),
        **known,
        "above": tiers(prices) if known else [],
    }
    row = {key: value for key, value in found.items() if value is not None and value != []}
    return row if len(row.keys() - {"is", "starts"}) else None


def listed_by_litellm(provider: str) -> dict[str, Row]:
    """Return litellm's chat models of a provider, and those with another API, by name."""
    path = distribution("litellm").locate_file(LITELLM_FILE)
    found = {}
    for key, entry in json.loads(Path(str(path)).read_text(encoding="utf-8")).items():
        prefix = f"{provider}/"
        if entry.get("litellm_provider") != provider or key.startswith("ft:"):
            continue
        if entry.get("mode") not in ("chat", "responses", "realtime"):
            continue
        name = key.removeprefix(prefix).lower()
        if key.startswith(prefix) or name not in found:
            found[name] = facts_of(name, entry, SEPARATE.get(provider, ()))
    return {name: facts for name, facts in found.items() if facts}


def facts_of(name: str, entry: Mapping[str, Any], separate: Collection[int]) -> Row:
    """Return a model's figures; for a model without a chat API, only the API."""
    api = api_of(name, entry)
    if api == "other":
        return {"api": api}
    known = {kind: per_million(entry, key) or None for kind, key in LITELLM_PRICES.items()}
    if None in (known["input"], known["output"]):
        known = {}
    limit, longest = entry.get("max_input_tokens"), entry.get("max_output_tokens")
    is_longest = longest and limit and longest < limit
    found = {
        "limit": limit - longest if is_longest and limit in separate else limit,
        "max_output": longest if is_longest else None,
        **known,
        "above": litellm_tiers(entry) if known else [],
        "api": api,
        "retires": entry.get("deprecation_date"),
    }
    return {key: value for key, value in found.items() if value is not None and value != []}


def api_of(name: str, entry: Mapping[str, Any]) -> str | None:
    """Return the API that a model requires or works better with; None for chat completions.

    For OpenAI's reasoning models, chat completions neither return a summary of the reasoning nor
    accept it back with a tool call, and from gpt-5.4 on they refuse tools.
    """
    routes = entry.get("supported_endpoints") or ["/v1/chat/completions"]
    if NO_CHAT.search(name) or entry["mode"] == "realtime":
        return "other"
    if entry["litellm_provider"] == "openai" and entry.get("supports_reasoning"):
        return "responses"
    if entry["mode"] == "chat" and "/v1/chat/completions" in routes:
        return None
    return "responses" if "/v1/responses" in routes else "other"


def per_million(entry: Mapping[str, Any], key: str) -> float | None:
    """Return one of litellm's prices, which are per token, per million tokens."""
    price = entry.get(key)
    return None if price is None else round(float(price) * 1_000_000, 6)


def litellm_tiers(entry: Mapping[str, Any]) -> list[dict[str, float]]:
    """Return litellm's prices of requests whose input exceeds a threshold."""
    starts = {int(found[1]) for key in entry if (found := TIER.fullmatch(key))}
    return [
        {"over": start * 1_000}
        | {
            kind: price
            for kind, key in LITELLM_PRICES.items()
            if (price := per_million(entry, f"{key}_above_{start}k_tokens")) is not None
            or (price := per_million(entry, key)) is not None
        }
        for start in sorted(starts)
    ]


def merged(provider: str, rows: list[Row], listed: dict[str, Row]) -> list[Row]:
    """Replace figures by litellm's, add models that only litellm has, and print differences."""
    known = {name for row in rows for name in row.get("starts", []) + row.get("is", [])}
    latest = {name.removesuffix("-latest"): facts for name, facts in listed.items()}
    listed = {name: facts for name, facts in latest.items() if name in known} | listed
    for row in rows:
        own = [name for name in row.get("starts", []) + row.get("is", []) if name in listed]
        if own:
            overlay(provider, own[0], row, listed[own[0]])
    for name, facts in sorted(listed.items(), key=lambda each: (len(each[0]), each[0])):
        found = found_row(rows, name)
        if found is None or figures(found) != figures(found | facts):
            if found is not None and name not in found.get("starts", []) + found.get("is", []):
                rows.append(own_row(rows, name, inherited(found, facts)))
            else:
                rows.append(own_row(rows, name, facts))
    return grouped(sorted(rows, key=lambda row: (row.get("starts") or row["is"])[0]))


def grouped(rows: list[Row]) -> list[Row]:
    """Merge rows that have the same figures and prefixes into one."""
    found: dict[str, Row] = {}
    for row in rows:
        key = json.dumps([figures(row), row.get("starts")], sort_keys=True)
        first = found.setdefault(key, row)
        if first is not row:
            first["is"] = sorted(first["is"] + row["is"])
    return list(found.values())


def overlay(provider: str, name: str, row: Row, facts: Row) -> None:
    """Replace the figures of a row by litellm's; `name` is one of the row's names."""
    for key in sorted(facts.keys() & row.keys()):
        if row[key] != facts[key]:
            print(  # noqa: T201  for the person who runs it
                f"{provider} {name}: {key} {row[key]} in genai-prices, {facts[key]} in litellm"
            )
    row.update(inherited(row, facts))
    if "api" in facts and facts["api"] == "other":
        for key in figures(row).keys() - {"api"}:
            del row[key]


def inherited(row: Row, facts: Row) -> Row:
    """Return litellm's figures, with the row's other prices if input and output prices agree."""
    same = row.get("input") == facts.get("input") and row.get("output") == facts.get("output")
    kept = {key: row[key] for key in ("cached", "written", "above") if same and key in row}
    if not same and "input" in facts:
        for key in kept.keys() | {"cached", "written", "above"}:
            row.pop(key, None)
    return kept | facts


def own_row(rows: list[Row], name: str, facts: Row) -> Row:
    """Return a row for one name, which is removed from its previous row."""
    place = "is"
    for row in rows:
        for kind in ("is", "starts"):
            if name in row.get(kind, []):
                place = kind
                row[kind] = [each for each in row[kind] if each != name]
                if not row[kind]:
                    del row[kind]
    rows[:] = [row for row in rows if row.get("is") or row.get("starts")]
    return {place: [name], **facts}


def found_row(rows: list[Row], name: str) -> Row | None:
    """Return the row that the application finds for a name."""
    return row_among(rows, name) or None


def figures(row: Row) -> Row:
    """Return a row without its names."""
    return {key: value for key, value in row.items() if key not in ("is", "starts")}


def table(day: date) -> str:
    """Return the whole table, one model per line."""
    parts = []
    for provider in sorted(providers, key=lambda each: each.id):
        if provider.id not in PRESETS:
            continue
        ours = PRESETS[provider.id]
        models = [
            model for model in provider.models if "claude" not in model.id or ours != "gemini"
        ]
        rows = [row for model in models if (row := row_of(ours, model, day))]
        listed = listed_by_litellm(LITELLM.get(provider.id, provider.id))
        rows = merged(ours, rows, listed)
        lines = ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
        parts.append(f'"{ours}": [\n{lines}\n]')
    head = {
        "as_of": day.isoformat(),
        "source": f"litellm {version('litellm')}, https://github.com/BerriAI/litellm, and"
        f" genai-prices {version('genai_prices')}, https://github.com/pydantic/genai-prices",
        "licence": "MIT, Copyright (c) 2023 Berri AI;"
        " MIT, Copyright (c) Pydantic Services Inc. 2025 to present",
        "unit": "USD per million tokens",
    }
    top = ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in head.items())
    return f'{{\n{top},\n"providers": {{\n' + ",\n".join(parts) + "\n}\n}\n"


if __name__ == "__main__":
    TARGET.write_text(table(date.fromisoformat(sys.argv[1])), encoding="utf-8")
