"""Google's Gemini API: the request. `gemini_answer` reads the answer."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

import httpx

from jitchat.providers.protocol import Endpoint
from jitchat.providers.protocols.bases import base_of
from jitchat.providers.protocols.gemini_answer import GeminiParser
from jitchat.providers.protocols.messages import Run
from jitchat.providers.protocols.opening import opened
from jitchat.providers.protocols.requests import credentials, filled, json_request
from jitchat.providers.provider import Options
from jitchat.turn import Message, Role

_NAMES = {
    "max_tokens": "maxOutputTokens",
    "top_p": "topP",
    "top_k": "topK",
    "effort": "thinkingConfig",
    "thinkingLevel": "thinkingConfig",
    "systemInstruction": "system",
}
"""Other names for what may be refused."""


class GeminiProtocol:
    """`POST {base_url}/models/MODEL:streamGenerateContent`, answered with server-sent events.

    The key is a header: an address with a key in it would show up in logs.
    """

    def request(
        self, endpoint: Endpoint, messages: Sequence[Message], options: Options
    ) -> httpx.Request:
        """Make the request; the body has the same bytes for the same window."""
        without = frozenset(_NAMES.get(name, name) for name in options.without)
        window = opened(messages, folding="system" in without)
        body = {
            "systemInstruction": {"parts": [{"text": window.system}]} if window.system else None,
            "contents": [_content(run) for run in window.runs],
            "generationConfig": _settings(options, without),
        }
        headers = {"Accept": "text/event-stream"} | credentials(endpoint, "gemini")
        base = base_of(endpoint.base_url, "gemini")
        url = f"{base}/{_path(endpoint.model)}:streamGenerateContent?alt=sse"
        return json_request(endpoint, url, headers, filled(body, without))

    def parser(self) -> GeminiParser:
        """Make what reads the answer."""
        return GeminiParser()


def _content(run: Run) -> dict[str, object]:
    role = "model" if run.role is Role.ASSISTANT else "user"
    return {"role": role, "parts": [{"text": text} for text in run.texts]}


def _settings(options: Options, without: frozenset[str]) -> dict[str, object]:
    """Write what the user set, and nothing else."""
    thinking = {"thinkingLevel": options.effort} if options.effort else None
    settings = {
        "maxOutputTokens": options.max_tokens,
        "temperature": options.temperature,
        "topP": options.top_p,
        "topK": options.top_k,
        "seed": options.seed,
        "thinkingConfig": thinking,
    }
    return filled(settings, without)


def _path(model: str) -> str:
    """Write the model's path, which its name in Google's list already is."""
    name = model.strip().strip("/")
    return quote(name if "/" in name else f"models/{name}", safe="/@", errors="replace")
