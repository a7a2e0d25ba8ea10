"""A server on this machine that speaks OpenAI's protocol, and keeps what it was asked."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from tests.providers.streams import DONE, STOP, delta, event
from tests.support import has_loopback

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"


@dataclass
class Served:
    """Where it listens, and every request as (head, body)."""

    port: int
    requests: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"


@asynccontextmanager
async def answering(*answers: str, hold: asyncio.Event | None = None) -> AsyncIterator[Served]:
    """Answer each request with the next text, the last one for ever; with `hold`, wait first."""
    if not has_loopback():
        pytest.skip("needs the loopback interface")
    left = list(answers)

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(_HEAD)
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = int(head.lower().split("content-length:")[1].split("\r\n")[0])
        served.requests.append((head, json.loads(await reader.readexactly(length))))
        if hold is not None:
            await hold.wait()
        text = left.pop(0) if len(left) > 1 else left[0]
        used = {"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 23}}
        for each in (event(delta(text)), event(STOP), event(used), DONE):
            writer.write(each.encode())
        await writer.drain()
        writer.close()

    listening = await asyncio.start_server(handle, "127.0.0.1", 0)
    served = Served(listening.sockets[0].getsockname()[1])
    try:
        yield served
    finally:
        if hold is not None:
            hold.set()
        listening.close()
        await listening.wait_closed()
