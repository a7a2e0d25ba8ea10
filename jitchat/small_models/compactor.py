"""The compactor: a small model that shortens a large text by an instruction.

The small model gets the whole text. If the text is too large for it, a larger fallback model gets
it.
"""

from jitchat.errors import NotAnAnswer
from jitchat.small_models.small_model import SizedModels, request_of
from jitchat.tools.compacting import Compacted
from jitchat.values import Message


class ModelCompactor(SizedModels):
    async def compact(self, text: str, instruction: str, limit: int) -> Compacted:
        messages = compactor_request(text, instruction, limit)
        model = await self.fitting(messages, limit)
        if model is None:
            raise NotAnAnswer("too large for every model")
        reply = await model.ask(messages)
        if reply.error is not None:
            raise NotAnAnswer(model.failure(reply.error))
        return Compacted(reply.text, model.name)


def compactor_request(text: str, instruction: str, limit: int) -> tuple[Message, ...]:
    """Ask for the parts of a text that an instruction wants, in at most `limit` tokens.

    The text and the instruction are in separate fences.
    """
    values = {"limit": f"{limit:,}"}
    return request_of("compactor", values, wanted=[f"{instruction}\n"], result=[f"{text}\n"])
