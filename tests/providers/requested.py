"""A request for messages as the app makes it: written by the protocol's rules, then encoded."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from jitchat.writing.write import write_messages

if TYPE_CHECKING:
    from collections.abc import Sequence

    import httpx

    from jitchat.providers.protocols.protocol import WireProtocol
    from jitchat.providers.provider import Endpoint, Options
    from jitchat.values import Message


def requested(
    protocol: WireProtocol, where: Endpoint, messages: Sequence[Message], options: Options
) -> httpx.Request:
    """Without tools on offer, calls are quoted, as a window does."""
    rules = protocol.rules(where, options)
    if not options.tools:
        rules = replace(rules, takes_tools=False)
    return protocol.request(where, write_messages(messages, rules), options)
