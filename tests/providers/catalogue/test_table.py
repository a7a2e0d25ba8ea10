"""The bundled table: looking up models by name."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from datetime import date

import pytest

from jitchat.providers.catalogue.models import ModelInfo, known_model, model_from
from jitchat.providers.catalogue.table import Prices, known_as, presets
from jitchat.values import Limit
from tests.providers.catalogue.servers import maximum
from tests.support import ROOT

FILE = ROOT / "jitchat" / "providers" / "catalogue" / "table.json"
TABLE = json.loads(FILE.read_text(encoding="utf-8"))


def tokens(provider: str, model: str) -> int | None:
    found = known_model(provider, model).limit
    return None if found is None else found.tokens


def test_the_table_is_small_and_says_where_it_is_from_and_of_when():
    assert FILE.stat().st_size < 120_000
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", TABLE["as_of"])
    assert all(name in TABLE["source"] for name in ("genai-prices", "litellm"))
    assert TABLE["licence"].startswith("MIT")
    assert set(TABLE["providers"]) <= set(presets())


@pytest.mark.parametrize("provider", TABLE["providers"])
def test_every_line_has_names_of_its_own_and_numbers_that_can_be(provider):
    rows = TABLE["providers"][provider]
    names = [name for row in rows for name in row.get("is", []) + row.get("starts", [])]
    assert len(names) == len(set(names))
    assert all(name == name.lower().strip() and name for name in names)
    for row in rows:
        assert row.get("is") or row.get("starts")
        assert ("input" in row) == ("output" in row)
        assert row.get("limit", 1) > 0
        assert row.get("api", "other") in ("other", "responses")
        assert date.fromisoformat(row.get("retires", "2026-01-01"))
        assert all(row.get(kind, 0) >= 0 for kind in ("input", "cached", "written", "output"))
        starts = [tier["over"] for tier in row.get("above", [])]
        assert starts == sorted(starts)


def test_a_model_is_known_by_its_name():
    assert known_model("openai", "gpt-5").limit == Limit(272_000, f"table of {TABLE['as_of'][:7]}")
    assert known_model("openai", "gpt-5").max_output == 128_000
    assert known_model("openai", "GPT-5").prices == Prices(
        1.25, 10.0, 0.125, source=f"table of {TABLE['as_of'][:7]}"
    )


@pytest.mark.parametrize(
    ("provider", "dated", "family"),
    [
        ("openai", "gpt-5-2025-08-07", "gpt-5"),
        ("openai", "gpt-5-mini-2025-08-07", "gpt-5-mini"),
        ("openai", "o3-2025-04-16", "o3"),
        ("anthropic", "claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
        ("anthropic", "claude-sonnet-4-20250514", "claude-sonnet-4-0"),
        ("anthropic", "claude-sonnet-4-5@20250929", "claude-sonnet-4-5"),
        ("anthropic", "claude-3-5-haiku-latest", "claude-3-5-haiku"),
        ("anthropic", "claude-3-5-sonnet-v2@20241022", "claude-3-5-sonnet"),
        ("gemini", "gemini-2.0-flash-001", "gemini-2.0-flash"),
        ("gemini", "gemini-2.5-flash-preview-09-2025", "gemini-2.5-flash"),
        ("xai", "grok-4-latest", "grok-4"),
    ],
)
def test_a_dated_name_falls_back_to_its_family(provider, dated, family):
    assert tokens(provider, dated) == tokens(provider, family) is not None
    assert known_model(provider, dated).prices == known_model(provider, family).prices is not None


def test_a_dated_name_of_its_own_is_not_its_familys():
    assert (
        known_model("openai", "gpt-4o-2024-05-13").prices != known_model("openai", "gpt-4o").prices
    )


LOOKALIKES = [
    ("openai", ""),
    ("openai", "gpt"),
    ("openai", "gpt-5.99"),
    ("openai", "gpt-5-ultra"),
    ("openai", "gpt-5-preview"),
    ("openai", "my-gpt-5"),
    ("openai", "-2025-08-07"),
    ("openai", "openai/gpt-5"),
    ("anthropic", "claude-sonnet-4-97"),
    ("anthropic", "claude-opus-4-10"),
    ("anthropic", "gpt-5"),
    ("gemini", "gemini-2.5-pro-preview-tts"),
    ("openrouter", "gpt-5"),
    ("openrouter", "openai/gpt-5:free"),
    ("openrouter", "nobody/gpt-5"),
    ("lmstudio", "openai/gpt-oss-20b"),
    ("ollama", "gpt-oss-20b"),
    ("reader", "reader"),
    ("work", "gpt-5"),
]


def test_a_name_that_only_looks_like_another_is_unknown():
    for provider, model in LOOKALIKES:
        known = known_model(provider, model)
        assert (known.limit, known.max_output, known.prices) == (None, None, None), (
            provider,
            model,
        )


@pytest.mark.parametrize(
    ("model", "limit"),
    [
        ("gpt-5-mini", 272_000),
        ("gpt-5.1", 272_000),
        ("gpt-5-chat-latest", 128_000),
        ("gpt-5.1-chat", 128_000),
        ("gpt-5.4", 922_000),
        ("gpt-5.6", 922_000),
        ("gpt-6-luna", 922_000),
        ("gpt-4.1", 1_047_576),
        ("gpt-4o", 128_000),
    ],
)
def test_a_limit_is_what_is_taken_in_and_leaves_out_what_is_kept_for_the_answer(model, limit):
    assert tokens("openai", model) == limit
    assert tokens("openrouter", f"openai/{model}") == limit


@pytest.mark.parametrize(
    ("provider", "model", "api"),
    [
        ("openai", "gpt-5-pro", "responses"),
        ("openai", "gpt-5-pro-2025-10-06", "responses"),
        ("openai", "gpt-5-codex", "responses"),
        ("openai", "o3-pro", "responses"),
        ("openai", "o3-deep-research", "responses"),
        ("openai", "gpt-live-1", "other"),
        ("openai", "gpt-audio-mini", "other"),
        ("openai", "gpt-5", "responses"),
        ("openai", "gpt-5.4-mini-2026-03-17", "responses"),
        ("openai", "gpt-6-luna", "responses"),
        ("openai", "gpt-4.1", ""),
        ("xai", "grok-4.20-multi-agent", "responses"),
        ("openrouter", "openai/gpt-5-pro", ""),
        ("openai", "gpt-unheard-of", ""),
    ],
)
def test_the_table_knows_which_models_answer_only_or_better_on_another_api(provider, model, api):
    assert known_model(provider, model).other_api == api


def test_the_table_knows_the_day_on_which_a_model_is_taken_away():
    assert known_model("deepseek", "deepseek-chat").retires == date(2026, 7, 24)
    assert known_model("anthropic", "claude-sonnet-4-5").retires == date(2026, 11, 30)
    assert known_model("openai", "gpt-6-luna").retires is None
    assert known_model("openrouter", "deepseek/deepseek-chat").retires is None


def test_openrouter_writes_the_vendor_first():
    for vendor, provider, model in (
        ("openai", "openai", "gpt-5"),
        ("anthropic", "anthropic", "claude-sonnet-4.5"),
        ("google", "gemini", "gemini-2.5-flash"),
        ("x-ai", "xai", "grok-4"),
    ):
        assert tokens("openrouter", f"{vendor}/{model}") == tokens(provider, model) is not None


def test_a_vendor_is_part_of_the_name_where_the_provider_has_it_so():
    assert tokens("groq", "openai/gpt-oss-120b") == 131_072


def test_a_request_above_a_threshold_has_the_prices_of_that():
    prices = known_model("gemini", "gemini-2.5-pro").prices
    assert prices is not None
    ((over, dearer),) = prices.above
    assert (over, prices.input, dearer.input) == (200_000, 1.25, 2.5)


def test_a_provider_of_ones_own_is_known_by_its_address():
    assert known_as("work", "https://api.openai.com/v1/") == "openai"
    assert known_as("work", "https://llm.example/v1") == "work"
    assert known_as("openai", "https://llm.example/v1") == "openai"
    assert known_as("work", "") == "work"


def test_the_table_completes_what_a_server_did_not_tell():
    told = ModelInfo("gpt-5", maximum(272_000))
    found = told.completed("openai")
    assert (found.limit, found.max_output) == (maximum(272_000), 128_000)
    assert found.prices == known_model("openai", "gpt-5").prices
    assert found.retires == known_model("openai", "gpt-5").retires
    assert told.completed("work") == told


@pytest.mark.parametrize(
    "model",
    [
        ModelInfo("m"),
        ModelInfo("m", maximum(8), 4, Prices(1.0, None, None, 0.5, "the server")),
    ],
)
def test_a_model_is_kept_as_json(model):
    assert model_from(json.loads(json.dumps(model.fields()))) == model


def test_importing_the_table_does_not_read_it():
    code = (
        "import sys, jitchat.providers.catalogue.table as t\n"
        "print(t._table.cache_info().currsize, 'httpx' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split() == ["0", "False"]
