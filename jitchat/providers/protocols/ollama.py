"""Ollama's own chat: the one way to set its context size, and to have it say what does not fit.

Left to itself it takes a context of its own choice and drops the oldest messages in silence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from jitchat.errors import NotAnAnswer
from jitchat.providers.protocols.refusals import stopped
from jitchat.providers.protocols.registry import root_of
from jitchat.providers.protocols.requests import as_objects, credentials, filled, json_request
from jitchat.providers.protocols.responses import CountsSoFar, ToolCalls, at, count, parsed, text_at
from jitchat.providers.protocols.thinking import ThinkTags
from jitchat.providers.provider import Endpoint, Finished, Options, Piece, ReasoningDelta
from jitchat.values import Message

if TYPE_CHECKING:
    import httpx

_CHECK_URL = "Check provider.base_url, and that it is Ollama that answers there."
_SWITCHES = {"on": True, "true": True, "off": False, "false": False, "none": False}


class OllamaProtocol:
    """`POST {base_url}/api/chat`, answered with one JSON document a line."""

    def request(
        self, endpoint: Endpoint, messages: Sequence[Message], options: Options
    ) -> httpx.Request:
        """Make the request; the body has the same bytes for the same window."""
        settings = {
            "num_ctx": options.context,
            "num_predict": options.max_tokens,
            "temperature": options.temperature,
            "top_p": options.top_p,
            "top_k": options.top_k,
            "seed": options.seed,
        }
        body = {
            "model": endpoint.model,
            "messages": as_objects(messages, folding="system" in options.without),
            "stream": True,
            "think": _think(options.effort),
            "options": filled(settings, options.without),
            "truncate": False,
            "shift": False,
        }
        headers = {"Accept": "application/x-ndjson"} | credentials(endpoint, "ollama")
        url = f"{root_of(endpoint.base_url)}/api/chat"
        return json_request(endpoint, url, headers, filled(body, options.without))

    def parser(self) -> OllamaParser:
        """Make what reads the answer."""
        return OllamaParser()


class OllamaParser:
    """Reads one answer, line by line; the last line says that it is done, and counts."""

    def __init__(self) -> None:
        self.over = False
        self._text = ThinkTags()
        self._calls = ToolCalls()

    def parse(self, event: str, data: str) -> Iterator[Piece]:
        """Yield what one line says."""
        if not data or data.isspace():
            return
        line = parsed(data)
        if not isinstance(line, dict):
            yield from self._text.end()
            raise NotAnAnswer("The server sent a line that is not a JSON object.", _CHECK_URL)
        if event == "error" or line.get("error"):
            yield from self._text.end()
            raise stopped(line)
        message = line.get("message")
        if isinstance(message, dict):
            yield from self._said(message)
        if line.get("done") is True:
            yield from self.end()
            yield from _ended(line)
            self.over = True

    def end(self) -> Iterator[Piece]:
        """Yield what was held back: text that might have become a tag, and tool calls."""
        yield from self._text.end()
        yield from self._calls.taken()

    def _said(self, message: dict[str, object]) -> Iterator[Piece]:
        if thought := text_at(message, "thinking"):
            self._text.reasoned()
            yield ReasoningDelta(thought)
        if text := text_at(message, "content"):
            yield from self._text.text(text)
        if "tool_calls" in message:
            self._calls.add_whole(message["tool_calls"])


def _think(effort: str | None) -> bool | str | None:
    """Write the effort as a switch where it is one; models that know no levels have but that."""
    return None if effort is None else _SWITCHES.get(effort, effort)


def _ended(line: dict[str, object]) -> Iterator[Piece]:
    """Yield why it ended, and the counts; old servers leave out a prompt that was cached whole."""
    if reason := text_at(line, "done_reason"):
        yield Finished(reason)
    counts = CountsSoFar()
    counts.take(cached=count(at(line, "prompt_eval_cached_count")))
    sent, answered = count(at(line, "prompt_eval_count")), count(at(line, "eval_count"))
    if known := counts.usage(sent, answered):
        yield known
