"""Counting a window exactly, by who is to read it. For when the user asks: it takes a request.

What is counted is the very body that would be sent, without what says how to answer it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from jitchat.errors import KeyRefused, NotAnAnswer, ProviderError, RequestRefused, Unreachable
from jitchat.providers.catalogue.asking import Server
from jitchat.providers.protocol import Endpoint
from jitchat.providers.protocols.choose import protocol_named
from jitchat.providers.protocols.refusals import CHECK_URL
from jitchat.providers.protocols.values import at, count, parsed, text_at
from jitchat.providers.provider import Options
from jitchat.turn import Message

if TYPE_CHECKING:
    import httpx

_COUNTED = {
    "anthropic": ("model", "system", "messages"),
    "gemini": ("systemInstruction", "contents"),
}
"""The parts of a request that are input."""


async def count_exactly(
    endpoint: Endpoint,
    protocol_name: str,
    messages: Sequence[Message],
    transport: httpx.AsyncBaseTransport | None = None,
) -> int:
    """Ask how many tokens these messages are for the endpoint's model, all of the input.

    Anthropic, Gemini and llama.cpp's server can tell.

    Raises:
        ProviderError: The server cannot tell, or did not.

    """
    if protocol_name == "ollama":
        raise _cannot(endpoint)
    made = protocol_named(protocol_name).request(endpoint, messages, Options())
    body = parsed(made.content.decode())
    parts = body if isinstance(body, dict) else {}
    async with Server(endpoint, protocol_name, transport) as server:
        if protocol_name == "openai":
            return await _by_llama_cpp(server, endpoint, parts)
        counted = {name: parts[name] for name in _COUNTED[protocol_name] if name in parts}
        url = str(made.url.copy_with(query=None))
        if protocol_name == "anthropic":
            answer = await server.post(f"{url}/count_tokens", counted)
            return _counted(at(answer, "input_tokens"))
        path = url.removesuffix(":streamGenerateContent")
        named = {"model": path.removeprefix(f"{server.base}/"), **counted}
        answer = await server.post(f"{path}:countTokens", {"generateContentRequest": named})
        return _counted(at(answer, "totalTokens"))


async def _by_llama_cpp(server: Server, endpoint: Endpoint, parts: Mapping[str, object]) -> int:
    """Have the server write the prompt as its template does, and split that into tokens."""
    try:
        written = await server.post(
            f"{server.root}/apply-template", {"messages": parts.get("messages", [])}
        )
    except (Unreachable, KeyRefused):
        raise
    except ProviderError:
        written = None
    prompt = text_at(written, "prompt")
    if not prompt:
        raise _cannot(endpoint)
    said = {"content": prompt, "add_special": True, "parse_special": True}
    tokens = at(await server.post(f"{server.root}/tokenize", said), "tokens")
    return _counted(len(tokens) if isinstance(tokens, list) else None)


def _counted(value: object) -> int:
    """Read the count.

    Raises:
        NotAnAnswer: There is none.

    """
    found = count(value)
    if not found:
        raise NotAnAnswer("The server answered without a count of tokens.", CHECK_URL)
    return found


def _cannot(endpoint: Endpoint) -> RequestRefused:
    return RequestRefused(
        f"{endpoint.name} does not count tokens without answering.",
        "The count that it reports with a reply is exact.",
    )
