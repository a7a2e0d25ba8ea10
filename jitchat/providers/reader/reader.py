"""`reader`: the embedded provider. No key, no network, no download.

It is an extractive reader, not a language model: it quotes the sentences of the window that
fit the question best, or says that the window does not hold the answer. It knows nothing
else, so the difference between the modes is real with it.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import replace

from jitchat.providers.provider import Delta, Finished, Options, Piece
from jitchat.providers.reader.extract import find_answers, question_of, wanted_stems
from jitchat.providers.reader.passages import Passage, read_window
from jitchat.providers.reader.reading import Readings
from jitchat.providers.reader.wording import ABOUT, citations_in, cited, cited_again, not_held
from jitchat.turn import Message, Usage

_PIECE = re.compile(r"\S+\s*|\s+")


class ReaderProvider:
    """Answers from the window that it is given, and from nothing else."""

    name = "reader"
    model = "reader"

    def __init__(self, count: Callable[[Sequence[Message], str], tuple[int, int]]) -> None:
        """`count` tells the tokens of a request and of an answer, for the usage."""
        self._count = count
        self._readings = Readings()

    async def stream(
        self,
        messages: Sequence[Message],
        options: Options,  # noqa: ARG002  a provider is given them; a reader has none to heed
    ) -> AsyncGenerator[Piece, None]:
        """Stream the answer, a word at a time."""
        text, usage = await asyncio.to_thread(self._read, messages)
        for piece in _PIECE.findall(text):
            yield Delta(piece)
            await asyncio.sleep(0)
        yield usage
        yield Finished("stop")

    def wire(
        self,
        messages: Sequence[Message],
        options: Options,
        *,
        as_posted: bool = False,
    ) -> None:
        """Nothing leaves: there is no request."""

    async def aclose(self) -> None:
        """Nothing to give back."""

    def _read(self, messages: Sequence[Message]) -> tuple[str, Usage]:
        """Answer and count: seconds of work where the window is very long."""
        text = answer(messages, self._readings)
        return text, Usage(*self._count(messages, text))


def answer(messages: Sequence[Message], readings: Readings | None = None) -> str:
    """Say what the window holds. `readings` are what passages came to before."""
    passages, draft = read_window(messages)
    question = question_of(draft)
    if not wanted_stems(question):
        return ABOUT
    best = find_answers(passages, question, readings)
    found = [cited(each.passage, each.sentence) for each in best]
    if not found:
        found = _found_again(passages, question, readings)
    if not found:
        return not_held(len({passage.turn for passage in passages if passage.whole}))
    return "\n".join(f"- {each}" for each in found) if found[1:] else found[0]


def _found_again(
    passages: Sequence[Passage], question: str, readings: Readings | None
) -> list[str]:
    """Cite what it cited before: the window shows that, though it lacks the turn itself."""
    others: list[Passage] = []
    sources: dict[Passage, int] = {}
    for passage in passages:
        again = {replace(passage, text=quote): turn for quote, turn in citations_in(passage)}
        sources |= again
        others += again or [passage]
    best = find_answers(others, question, readings) if sources else []
    return [
        cited_again(each.passage, each.sentence, sources[each.passage])
        for each in best
        if each.passage in sources
    ]
