"""A small model that writes index lines, and looking at what became of them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jitchat.memory import Memory
from jitchat.small_models.small_model import SmallModel
from jitchat.small_models.summariser import LinesWritten, Summariser
from jitchat.window.tokens import EstimateCounter
from tests.index.support import index
from tests.support import ScriptedProvider, conversation_of, talk

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from jitchat.providers.provider import Options, Piece
    from jitchat.store.store import ColdStore
    from jitchat.values import Message

_IDS = re.compile(r"<turn #(\d+)")


COUNTER = EstimateCounter()


def asked_for(request: Sequence[Message]) -> list[int]:
    """The positions of the turns that a summariser's request wants lines for."""
    return [int(each) for each in _IDS.findall(request[-1].content.partition("<turns>")[2])]


@dataclass
class Writer(ScriptedProvider):
    """A model that writes `line N` for each turn that it is given."""

    model: str = "small-1"

    async def stream(self, messages: Sequence[Message], options: Options) -> AsyncIterator[Piece]:
        lines = {str(each): f"line {each}" for each in asked_for(messages)}
        self.script = (json.dumps({"lines": lines}),)
        async for piece in super().stream(messages, options):
            yield piece


def memory_of(store: ColdStore, size: int = 20) -> Memory:
    texts = [f"turn {number} of the harbour talk" for number in range(1, size + 1)]
    memory = Memory(store, conversation_of(store, talk(*texts)))
    index(memory)
    return memory


def writing(memory: Memory, provider: ScriptedProvider | None = None) -> Summariser:
    return Summariser(SmallModel(provider or Writer(), COUNTER, 5), memory)


async def written(summariser: Summariser) -> list[LinesWritten]:
    return [each async for each in summariser.write()]


def summaries(memory: Memory) -> dict[int, str]:
    """What the hot index shows, by position."""
    found = memory.retrieve("harbour talk turn xyzzy", memory.turns[-1].position + 1)
    return {row.turn: row.entry.summary for row in found.candidates}


def kept(store: ColdStore) -> list[tuple[str, str]]:
    with store.database.read() as connection:
        return connection.execute("SELECT model, line FROM model_lines ORDER BY turn").fetchall()


def heuristic(position: int) -> str:
    return f"turn {position} of the harbour talk"
