"""Anthropic's Messages: the request. `anthropic_answer` reads the answer."""

from __future__ import annotations

import re
from collections.abc import Sequence

import httpx

from jitchat.providers.protocol import Endpoint
from jitchat.providers.protocols.anthropic_answer import AnthropicParser
from jitchat.providers.protocols.bases import base_of
from jitchat.providers.protocols.messages import Run
from jitchat.providers.protocols.opening import opened
from jitchat.providers.protocols.requests import credentials, filled, json_request
from jitchat.providers.provider import Options
from jitchat.turn import Message

_LONGEST_ANSWER = 16_384
"""More is never asked for unless the user does; reasoning counts as a part of it, and no more
than the model is known to give is asked for: older ones refuse that."""
_CAUTIOUS_ANSWER = 4_096
"""What every model takes; also where the room is unknown."""
_LAST_WITH_SAMPLING = (4, 6)
_CLAUDE = re.compile(r"claude-(?:[a-z]+-)?(\d{1,2})(?!\d)(?:[-.](\d{1,2})(?!\d))?", re.IGNORECASE)
_NEVER_SAMPLED = re.compile(r"claude-(?:fable|mythos)", re.IGNORECASE)

Block = dict[str, object]


class AnthropicProtocol:
    """`POST {base_url}/messages`, answered with named server-sent events."""

    def request(
        self, endpoint: Endpoint, messages: Sequence[Message], options: Options
    ) -> httpx.Request:
        """Make the request; the body has the same bytes for the same window.

        Two breakpoints tell what is to be cached: behind the system's text, and ahead of the
        final message, which changes with every request.
        """
        window = opened(messages, folding="system" in options.without)
        turns = _turns(window.runs)
        system = [_block(window.system)] if window.system else []
        if "cache_control" not in options.without:
            _mark(system)
            _mark(_stable(turns))
        optional = _sampling(endpoint.model, options) | {
            "system": system,
            "output_config": filled({"effort": options.effort}, options.without),
        }
        body = {
            "model": endpoint.model,
            "max_tokens": _cap(options),
            **filled(optional, options.without),
            "messages": [{"role": role, "content": blocks} for role, blocks in turns],
            "stream": True,
        }
        headers = {"Accept": "text/event-stream"} | credentials(endpoint, "anthropic")
        return json_request(
            endpoint, f"{base_of(endpoint.base_url, 'anthropic')}/messages", headers, body
        )

    def parser(self) -> AnthropicParser:
        """Make what reads the answer."""
        return AnthropicParser()


def takes_sampling(model: str) -> bool:
    """Whether the model takes temperature, top_p and top_k.

    Claude does up to 4.6. Of a name that does not tell, nothing is known: it gets what the user
    set, and should it refuse that, the refusal is learnt from.
    """
    if _NEVER_SAMPLED.search(model):
        return False
    found = _CLAUDE.search(model)
    return found is None or (int(found[1]), int(found[2] or 0)) <= _LAST_WITH_SAMPLING


def _sampling(model: str, options: Options) -> dict[str, object]:
    if not takes_sampling(model):
        return {}
    return {
        "temperature": options.temperature,
        "top_p": options.top_p,
        "top_k": options.top_k,
    }


def _cap(options: Options) -> int:
    """Limit the answer, for the protocol demands it; a refused limit was too high a one."""
    room = _CAUTIOUS_ANSWER if options.room is None else min(_LONGEST_ANSWER, options.room)
    cap = max(1, options.max_tokens or min(room, options.longest or room))
    return min(cap, _CAUTIOUS_ANSWER) if "max_tokens" in options.without else cap


def _turns(runs: Sequence[Run]) -> list[tuple[str, list[Block]]]:
    return [(run.role.value, [_block(text) for text in run.texts]) for run in runs]


def _block(text: str) -> Block:
    return {"type": "text", "text": text}


def _stable(turns: Sequence[tuple[str, list[Block]]]) -> list[Block]:
    """List every block ahead of the final one."""
    return [block for _, blocks in turns for block in blocks][:-1]


def _mark(blocks: Sequence[Block]) -> None:
    """Have everything up to the last of these blocks cached."""
    if blocks:
        blocks[-1]["cache_control"] = {"type": "ephemeral"}
