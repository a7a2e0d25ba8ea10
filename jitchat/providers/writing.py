"""Streaming answers to messages that belong to no window."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace

from jitchat.providers.provider import Options, PartRefused, Piece, Provider, RequestAdapted
from jitchat.values import Message
from jitchat.writing.write import write_messages


async def stream_written(
    provider: Provider, messages: Sequence[Message], options: Options
) -> AsyncGenerator[Piece, None]:
    """Write the messages as the model needs them, and again if its server refuses a part."""
    while True:
        rules = await asyncio.to_thread(provider.rules, options)
        try:
            written = write_messages(messages, rules)
            async with aclosing(provider.stream(written, options)) as pieces:
                async for piece in pieces:
                    yield piece
            return
        except PartRefused as refused:
            if refused.part in options.without:
                raise
            options = replace(options, without=options.without | {refused.part})
            yield RequestAdapted(refused.sentence)
