"""`reader`: the embedded provider. No key, no network, no download.

It is an extractive reader, not a language model: it quotes the sentences of the window that
fit the question best, or says that the window does not hold the answer. It knows nothing
else, so the difference between the modes is real with it.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Sequence

from jitchat.providers.extract import Finding, find_answers, wanted_stems
from jitchat.providers.passages import read_window
from jitchat.providers.provider import Delta, Finished, Options, Piece
from jitchat.text.safe import shortened
from jitchat.turn import Message, Usage

_PIECE = re.compile(r"\S+\s*|\s+")
_CODE = re.compile(r"\s--[a-z]|[{};]$|^\$ ")
_ABOUT = (
    "I am the embedded reader, not a language model: I quote what the window holds. Ask me about"
    " something that was said in this conversation."
)


class ReaderProvider:
    """Answers from the window that it is given, and from nothing else."""

    name = "reader"
    model = "reader"

    def __init__(self, count: Callable[[Sequence[Message], str], tuple[int, int]]) -> None:
        """`count` tells the tokens of a request and of an answer, for the usage."""
        self._count = count

    async def stream(self, messages: Sequence[Message], options: Options) -> AsyncIterator[Piece]:
        """The answer, a word at a time."""
        text = await asyncio.to_thread(answer, messages)
        for piece in _PIECE.findall(text):
            yield Delta(piece)
            await asyncio.sleep(0)
        tokens_in, tokens_out = self._count(messages, text)
        yield Usage(tokens_in, tokens_out)
        yield Finished("stop")

    async def aclose(self) -> None:
        """Nothing to give back."""


def answer(messages: Sequence[Message]) -> str:
    """What the reader says to a request."""
    passages, question = read_window(messages)
    if not wanted_stems(question):
        return _ABOUT
    found = find_answers(passages, question)
    if not found:
        held = len({passage.turn for passage in passages if passage.whole})
        return (
            f"The window does not hold an answer to that. It has {held} earlier turns at full"
            " text, and none of them says it."
        )
    return "\n".join(f"- {_quoted(each)}" for each in found) if found[1:] else _quoted(found[0])


def _quoted(found: Finding) -> str:
    passage = found.passage
    where = f"#{passage.turn}, {passage.who}" + (f", {passage.day}" if passage.day else "")
    source = where if passage.whole else f"{where}, index line"
    sentence = shortened(found.sentence, 600)
    marked = f"`{sentence}`" if _CODE.search(sentence) and "`" not in sentence else f"“{sentence}”"
    return f"{marked} ({source})"
