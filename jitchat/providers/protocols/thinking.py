"""Reasoning that a local model writes into its text, between `<think>` and `</think>`.

The opening tag is one only where it is an answer's first word; anywhere else it is text. Where
the model's template wrote it, the closing one comes alone, at the start of a line. A tag may be
split over chunks: what may still become one is held back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from jitchat.providers.provider import Delta, Piece, Reasoning, ReasoningEnded

_OPEN, _CLOSE = "<think>", "</think>"
_LINE_ENDS = "\r\n"
_MOST_HELD = 64
"""Characters that are held back for what they may become, blanks among them."""

_Reader = Callable[[str], Iterator[Piece]]


class ThinkTags:
    """Parts one answer's text from the reasoning in it."""

    def __init__(self) -> None:
        self._read: _Reader = self._start
        self._lines = _Lines()
        self._held = ""
        self._held_as: type[Delta | Reasoning] = Delta
        self._is_behind_a_tag = False
        self._reasoned = False

    def text(self, text: str) -> Iterator[Piece]:
        """Read on: yield what a piece of the answer's text says."""
        if self._held:
            text, self._held = self._held + text, ""
        if self._is_behind_a_tag:
            text = text.lstrip(_LINE_ENDS)
            self._is_behind_a_tag = not text
        return self._read(text)

    def reasoned(self) -> None:
        """Note that reasoning came by itself: a closing tag in the text is but text then."""
        self._reasoned = True

    def end(self) -> Iterator[Piece]:
        """Yield what is held back."""
        held, self._held = self._held, ""
        if held:
            yield self._held_as(held)

    def _start(self, text: str) -> Iterator[Piece]:
        word = text.lstrip()
        if word.startswith(_OPEN):
            self._held_as = Reasoning
            yield from self._behind_tag(self._thinking, word[len(_OPEN) :])
        elif _OPEN.startswith(word) and len(text) < _MOST_HELD:
            self._held = text
        else:
            self._read = self._watched
            yield from self._watched(text)

    def _thinking(self, text: str) -> Iterator[Piece]:
        reasoning, tag, answer = text.partition(_CLOSE)
        if not tag:
            kept = len(text) - _begun(text)
            reasoning, self._held = text[:kept], text[kept:]
        if reasoning:
            yield Reasoning(reasoning)
        if tag:
            self._held_as = Delta
            yield from self._behind_tag(self._plain, answer)

    def _watched(self, text: str) -> Iterator[Piece]:
        if self._reasoned:
            self._read = self._plain
            yield from self._plain(text)
            return
        said, tag, rest = self._lines.until_tag(text)
        if said:
            yield Delta(said)
        if tag:
            yield ReasoningEnded()
            yield from self._behind_tag(self._plain, rest)
        else:
            self._held = rest

    def _plain(self, text: str) -> Iterator[Piece]:
        if text:
            yield Delta(text)

    def _behind_tag(self, read: _Reader, rest: str) -> Iterator[Piece]:
        """Go on behind a tag, without the line ends that set it apart."""
        self._read = read
        self._is_behind_a_tag = True
        return self.text(rest)


class _Lines:
    """Looks for a closing tag at the start of a line, outside of fenced code."""

    def __init__(self) -> None:
        self._fence = ""
        self._in_line = False
        """Whether the current line's start is past, and was no tag."""

    def until_tag(self, text: str) -> tuple[str, bool, str]:
        """Part the text ahead of the tag from what is behind it, or from what may become one."""
        place = 0
        while True:
            if not self._in_line:
                line, end, _ = text[place:].partition("\n")
                head = line.lstrip()
                if not end and len(line) < _MOST_HELD and _is_open(head):
                    return text[:place], False, text[place:]
                if head.startswith(_CLOSE) and not self._fence:
                    return text[:place], True, text[place:].lstrip()[len(_CLOSE) :]
                self._pass_fence(head)
                self._in_line = True
            place = text.find("\n", place) + 1
            if not place:
                return text, False, ""
            self._in_line = False

    def _pass_fence(self, head: str) -> None:
        run = head[: len(head) - len(head.lstrip(head[:1]))]
        if len(run) < 3 or run[0] not in "`~":
            return
        if not self._fence:
            self._fence = run
        elif run.startswith(self._fence):
            self._fence = ""


def _is_open(head: str) -> bool:
    """Whether a line that begins so may still become a tag, or a fence of any length."""
    return _CLOSE.startswith(head) or not head.strip("`") or not head.strip("~")


def _begun(text: str) -> int:
    """Count the characters at the end of the text that may be the start of the closing tag."""
    start = text.rfind("<", -len(_CLOSE) + 1)
    return len(text) - start if start >= 0 and _CLOSE.startswith(text[start:]) else 0
