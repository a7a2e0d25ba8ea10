"""Providers in every state, as the list of models is given them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from jitchat.providers.catalogue.models import ModelInfo, ProviderChoice, State
from jitchat.providers.catalogue.table import Prices
from jitchat.values import LOADED, MAXIMUM, Limit


def model(
    name: str, limit: int | None = None, *prices: float | None, source: str = MAXIMUM
) -> ModelInfo:
    """A model; `prices` are of a million tokens in and out."""
    known = Limit(limit, source) if limit else None
    return ModelInfo(name, known, None, Prices(*prices) if prices else None)


READER = ProviderChoice(
    "reader", "built-in reader", State.READY, "", (model("reader", 32_768),), None
)
OLLAMA = ProviderChoice(
    "ollama",
    "Ollama",
    State.RUNNING,
    "",
    (model("qwen3:8b", 8_192, source=LOADED), model("llama3.2:3b")),
    None,
)
OPENAI = ProviderChoice(
    "openai", "OpenAI", State.NEEDS_KEY, "", (), None, key_variable="OPENAI_API_KEY"
)
LM_STUDIO = ProviderChoice(
    "lmstudio",
    "LM Studio",
    State.NOT_RUNNING,
    "Nothing answers at http://localhost:1234/v1.",
    (),
    None,
)
GROQ = ProviderChoice("groq", "Groq", State.READY, "", (), None, has_key=True)


def openrouter(*more: ModelInfo) -> ProviderChoice:
    """One that listed its models three days ago."""
    listed = (
        model("openai/gpt-5-mini", 400_000, 0.25, 2.0),
        model("mistralai/mistral-small-3.2-24b-instruct:free", 131_072, 0.0, 0.0),
        model("x-ai/grok-4", 256_000, 3.0, 15.0),
        *more,
    )
    fetched_at = datetime.now(UTC) - timedelta(days=3, hours=1)
    return ProviderChoice(
        "openrouter", "OpenRouter", State.READY, "", listed, fetched_at, has_key=True
    )


def every() -> list[ProviderChoice]:
    """All of them, in the order of the presets."""
    return [READER, OPENAI, openrouter(), GROQ, OLLAMA, LM_STUDIO]
