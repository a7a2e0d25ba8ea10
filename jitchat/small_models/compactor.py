"""The compactor: a small model that shortens a large text by an instruction.

The small model gets the whole text. If the text is too large for it, a larger fallback model gets
it; if it is too large for both, the result is its head and tail, and a notice says so.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from jitchat.errors import JitchatError
from jitchat.small_models.small_model import SmallModel, prompt
from jitchat.tools.compacting import Compacted, Extractor
from jitchat.tools.preview import preview
from jitchat.values import Message, Role
from jitchat.window.render import fence, free_tag
from jitchat.window.tokens import request_tokens

_ANSWER = 2_000
"""Tokens reserved for the answer."""


@dataclass(frozen=True, slots=True)
class SizedModel:
    model: SmallModel
    limit: int
    """The model's context size in tokens, including its answer."""

    def takes(self, messages: Sequence[Message], answer: int) -> bool:
        needed = request_tokens(self.model.counter, messages) + max(_ANSWER, answer)
        return needed <= self.limit


class ModelCompactor:
    def __init__(self, models: Sequence[SizedModel]) -> None:
        """`models` are tried in order, the smallest first; at least one."""
        self._models = tuple(models)
        self._extractor = Extractor(models[0].model.counter)

    async def compact(self, text: str, instruction: str, limit: int) -> Compacted:
        messages = compactor_request(text, instruction, limit)
        fitting = await asyncio.to_thread(self._fitting, messages, limit)
        if fitting is None:
            counter = self._models[0].model.counter
            seen = await asyncio.to_thread(preview, text, limit, counter)
            return Compacted(seen.text, "keeping its head and tail (too large for every model)")
        heard = await fitting.model.ask(messages)
        try:
            return Compacted(heard.whole(), fitting.model.name)
        except JitchatError as error:
            why = f"{fitting.model.name}: {error.what.rstrip('.')}"
            return await asyncio.to_thread(self._extractor.now, text, instruction, limit, why)

    async def aclose(self) -> None:
        for each in self._models:
            await each.model.provider.aclose()

    def _fitting(self, messages: Sequence[Message], limit: int) -> SizedModel | None:
        return next((each for each in self._models if each.takes(messages, limit)), None)


def compactor_request(text: str, instruction: str, limit: int) -> tuple[Message, ...]:
    """Ask for the parts of a text that an instruction wants, in at most `limit` tokens.

    The text and the instruction are in separate fences.
    """
    texts = [text, instruction]
    wanted = fence(free_tag("wanted", texts), [f"{instruction}\n"])
    result = fence(free_tag("result", texts), [f"{text}\n"])
    system = Message(Role.SYSTEM, f"{prompt('compactor')} Use at most {limit:,} tokens.")
    return system, Message(Role.USER, "".join((*wanted, *result)))
