"""One answer, as each protocol streams it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jitchat.providers.protocols.protocol import protocol_named
from tests.providers.streams import STOP, delta

if TYPE_CHECKING:
    from collections.abc import Callable

    from jitchat.providers.provider import WireProtocol

Events = tuple[dict[str, Any] | str, ...]


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a protocol writes a piece of text, and the end."""

    name: str
    piece: Callable[[str], dict[str, Any]]
    ends: tuple[Events, ...]
    """Every way in which a whole answer ends."""
    media: str = "text/event-stream"

    @property
    def protocol(self) -> WireProtocol:
        return protocol_named(self.name)

    @property
    def is_lines(self) -> bool:
        """Whether it is a document a line, not an event stream."""
        return self.media == "application/x-ndjson"

    def written(self, event: dict[str, Any] | str, newline: str = "\n", **how: Any) -> str:
        """Write an event as it is sent; `how` is for the JSON."""
        data = event if isinstance(event, str) else json.dumps(event, **how)
        return f"{data}{newline}" if self.is_lines else f"data: {data}{newline}{newline}"


def _anthropic(text: str) -> dict[str, Any]:
    said = {"type": "text_delta", "text": text}
    return {"type": "content_block_delta", "index": 0, "delta": said}


def _gemini(text: str, **more: Any) -> dict[str, Any]:
    content = {"role": "model", "parts": [{"text": text}]}
    return {"candidates": [{"content": content, "index": 0} | more]}


def _ollama(text: str, **more: Any) -> dict[str, Any]:
    return {"model": "m", "message": {"role": "assistant", "content": text}, "done": False} | more


def _responses(text: str) -> dict[str, Any]:
    said = {"item_id": "msg_1", "output_index": 0, "content_index": 0, "delta": text}
    return {"type": "response.output_text.delta", **said}


_COMPLETED = {"type": "response.completed", "response": {"status": "completed"}}
_STOPPED = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}
DIALECTS = (
    Dialect("openai", delta, ((STOP, "[DONE]"), (STOP,), ("[DONE]",))),
    Dialect("responses", _responses, ((_COMPLETED,),)),
    Dialect("anthropic", _anthropic, ((_STOPPED, {"type": "message_stop"}), (_STOPPED,))),
    Dialect("gemini", _gemini, ((_gemini("", finishReason="STOP"),),)),
    Dialect(
        "ollama",
        _ollama,
        ((_ollama("", done=True, done_reason="stop"),), (_ollama("", done=True),)),
        "application/x-ndjson",
    ),
)
