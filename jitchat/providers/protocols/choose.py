"""A wire protocol by the name that the settings have for it."""

# ruff: noqa: PLC0415  only the module that is asked for is loaded

from __future__ import annotations

from typing import TYPE_CHECKING

from jitchat.errors import SettingsError
from jitchat.text.safe import shortened

if TYPE_CHECKING:
    from jitchat.providers.protocol import WireProtocol

protocol_names = ("openai", "anthropic", "gemini", "ollama")
"""What `protocol_named` knows; the embedded reader needs no protocol."""


def protocol_named(name: str) -> WireProtocol:
    """Make the protocol; only its own module is loaded, and httpx with it.

    Raises:
        SettingsError: There is none of that name.

    """
    match name:
        case "openai":
            from jitchat.providers.protocols.openai import OpenAiProtocol

            return OpenAiProtocol()
        case "anthropic":
            from jitchat.providers.protocols.anthropic import AnthropicProtocol

            return AnthropicProtocol()
        case "gemini":
            from jitchat.providers.protocols.gemini import GeminiProtocol

            return GeminiProtocol()
        case "ollama":
            from jitchat.providers.protocols.ollama import OllamaProtocol

            return OllamaProtocol()
    raise SettingsError(
        f"There is no protocol {shortened(name, 60)!r}.",
        f"Set it to one of {', '.join(protocol_names)}.",
    )
