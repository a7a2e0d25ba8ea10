"""The compactor: a small model that shortens a large text by an instruction.

The small model gets the whole text. If the text is too large for it, a larger fallback model gets
it; if it is too large for both, the result is its head and tail, and a notice says so.
"""

import asyncio

from jitchat.errors import JitchatError
from jitchat.small_models.small_model import SizedModels, request_of
from jitchat.tools.compacting import Compacted, Extractor
from jitchat.tools.preview import preview
from jitchat.values import Message


class ModelCompactor(SizedModels):
    async def compact(self, text: str, instruction: str, limit: int) -> Compacted:
        messages = compactor_request(text, instruction, limit)
        model = await self.fitting(messages, limit)
        counter = self.models[0].model.counter
        if model is None:
            seen = await asyncio.to_thread(preview, text, limit, counter)
            return Compacted(seen, "keeping its head and tail (too large for every model)")
        reply = await model.ask(messages)
        try:
            return Compacted(reply.whole(), model.name)
        except JitchatError as error:
            why = model.failure(error)
            compact = Extractor(counter).now
            return await asyncio.to_thread(compact, text, instruction, limit, why)


def compactor_request(text: str, instruction: str, limit: int) -> tuple[Message, ...]:
    """Ask for the parts of a text that an instruction wants, in at most `limit` tokens.

    The text and the instruction are in separate fences.
    """
    values = {"limit": f"{limit:,}"}
    return request_of("compactor", values, wanted=[f"{instruction}\n"], result=[f"{text}\n"])
