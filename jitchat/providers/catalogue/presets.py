"""The providers that need no configuration but a key, or a server on this machine."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Preset:
    """Where a provider is, and what it speaks."""

    name: str
    title: str
    """As it calls itself."""
    protocol: str
    """openai, anthropic, gemini or ollama; `reader` for the embedded one."""
    base_url: str
    key_variables: tuple[str, ...] = ()
    """Environment variables that may hold its key, in the order in which they are looked at."""
    is_local: bool = False
    """Whether it is a server on this machine, which mostly wants no key."""


READER = Preset("reader", "embedded reader", "reader", "")
READER_LIMIT = 32_768
"""How much it takes, in tokens."""

_EACH = (
    READER,
    Preset("openai", "OpenAI", "openai", "https://api.openai.com/v1", ("OPENAI_API_KEY",)),
    Preset(
        "anthropic",
        "Anthropic",
        "anthropic",
        "https://api.anthropic.com/v1",
        ("ANTHROPIC_API_KEY",),
    ),
    Preset(
        "gemini",
        "Google Gemini",
        "gemini",
        "https://generativelanguage.googleapis.com/v1beta",
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    ),
    Preset(
        "openrouter",
        "OpenRouter",
        "openai",
        "https://openrouter.ai/api/v1",
        ("OPENROUTER_API_KEY",),
    ),
    Preset("groq", "Groq", "openai", "https://api.groq.com/openai/v1", ("GROQ_API_KEY",)),
    Preset("together", "Together", "openai", "https://api.together.xyz/v1", ("TOGETHER_API_KEY",)),
    Preset("deepseek", "DeepSeek", "openai", "https://api.deepseek.com", ("DEEPSEEK_API_KEY",)),
    Preset("mistral", "Mistral", "openai", "https://api.mistral.ai/v1", ("MISTRAL_API_KEY",)),
    Preset("xai", "xAI", "openai", "https://api.x.ai/v1", ("XAI_API_KEY",)),
    Preset("ollama", "Ollama", "ollama", "http://localhost:11434", is_local=True),
    Preset("lmstudio", "LM Studio", "openai", "http://localhost:1234/v1", is_local=True),
    Preset("llamacpp", "llama.cpp", "openai", "http://localhost:8080/v1", is_local=True),
    Preset("vllm", "vLLM", "openai", "http://localhost:8000/v1", is_local=True),
)
PRESETS = {preset.name: preset for preset in _EACH}
"""By name, in the order in which they are listed."""
