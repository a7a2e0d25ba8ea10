"""Exchanges of a thread, as templates."""

from __future__ import annotations

from dataclasses import dataclass

from jitchat.rot.templates.wording import Form, Vocabulary, Wording, all_without

_USER_WORDS = range(5, 61)
_ASSISTANT_WORDS = range(15, 121)


@dataclass(frozen=True, slots=True)
class Move:
    """What the user says and what the assistant replies, by sentences."""

    text: tuple[Form, ...]
    reply: tuple[Form, ...]

    def without(self, vocabulary: Vocabulary) -> Move | None:
        """Leave out the sentences that cannot be said; None where one of them has to be.

        The first sentence has to be said, and of the user the last, which is the question.
        """
        first, last = self.text[0].without(vocabulary), self.text[-1].without(vocabulary)
        answer = self.reply[0].without(vocabulary)
        if first is None or last is None or answer is None:
            return None
        middle = all_without(self.text[1:-1], vocabulary)
        text = (first, *middle, last) if len(self.text) > 1 else (first,)
        return Move(text, (answer, *all_without(self.reply[1:], vocabulary)))

    def said(self, wording: Wording) -> tuple[str, str] | None:
        """Say both; None if one is shorter or longer than people say in a chat.

        Raises:
            Exhausted: It wants a word that was not said yet, and there is none left.

        """
        text, reply = _joined(self.text, wording), _joined(self.reply, wording)
        fits = len(text.split()) in _USER_WORDS and len(reply.split()) in _ASSISTANT_WORDS
        return (text, reply) if fits else None


Scene = tuple[Move, ...]
"""Exchanges that are said in a row."""


def scene_without(scene: Scene, vocabulary: Vocabulary) -> Scene:
    """Give a scene up to the first exchange that cannot be said."""
    kept: list[Move] = []
    for move in scene:
        if (left := move.without(vocabulary)) is None:
            break
        kept.append(left)
    return tuple(kept)


def _joined(forms: tuple[Form, ...], wording: Wording) -> str:
    """Say sentences in a row, with single blanks, and none where a line ends or begins."""
    whole = " ".join([form.said(wording) for form in forms])
    while "  " in whole:
        whole = whole.replace("  ", " ")
    return whole.replace(" \n", "\n").replace("\n\n ", "\n\n").strip()
