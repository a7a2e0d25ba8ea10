"""Reasoning that a local model writes in its text, between `<think>` and `</think>`.

The opening tag counts only as the first word of an answer; elsewhere it is text. If it is part of
the model's template, the answer has only the closing tag, at the start of a line. A tag may be
split over chunks, so text that may be the start of a tag is held back.
"""

from collections.abc import Callable

from jitchat.providers.provider import Piece, ReasoningDelta, ReasoningFound, ReplyDelta

_OPEN, _CLOSE = "<think>", "</think>"
_LINE_ENDS = "\r\n"
_MOST_HELD = 64
"""Maximum characters held back, including white space."""

_Reader = Callable[[str], list[Piece]]


class ThinkTags:
    """Separates the reasoning in an answer's text from the rest."""

    def __init__(self) -> None:
        self._read: _Reader = self._start
        self._lines = _Lines()
        self._held = ""
        self._held_as: type[ReplyDelta | ReasoningDelta] = ReplyDelta
        self._is_after_tag = False
        self._reasoned = False

    def text(self, text: str) -> list[Piece]:
        """Process a chunk of the answer's text."""
        if self._held:
            text, self._held = self._held + text, ""
        if self._is_after_tag:
            text = text.lstrip(_LINE_ENDS)
            self._is_after_tag = not text
        return self._read(text)

    def reasoned(self) -> None:
        """Record that reasoning arrived separately, so that a closing tag is plain text."""
        self._reasoned = True

    def end(self) -> list[Piece]:
        held, self._held = self._held, ""
        return [self._held_as(held)] if held else []

    def _start(self, text: str) -> list[Piece]:
        word = text.lstrip()
        if word.startswith(_OPEN):
            self._held_as = ReasoningDelta
            return self._after_tag(self._thinking, word[len(_OPEN) :])
        if _OPEN.startswith(word) and len(text) < _MOST_HELD:
            self._held = text
            return []
        self._read = self._watched
        return self._watched(text)

    def _thinking(self, text: str) -> list[Piece]:
        reasoning, tag, answer = text.partition(_CLOSE)
        if not tag:
            kept = len(text) - _partial_tag(text)
            reasoning, self._held = text[:kept], text[kept:]
        pieces: list[Piece] = [ReasoningDelta(reasoning)] if reasoning else []
        if tag:
            self._held_as = ReplyDelta
            pieces += self._after_tag(_plain, answer)
        return pieces

    def _watched(self, text: str) -> list[Piece]:
        if self._reasoned:
            self._read = _plain
            return _plain(text)
        end, after = self._lines.tag_in(text)
        pieces = _plain(text[:end])
        if after > end:
            return [*pieces, ReasoningFound(), *self._after_tag(_plain, text[after:])]
        self._held = text[end:]
        return pieces

    def _after_tag(self, read: _Reader, rest: str) -> list[Piece]:
        """Continue after a tag, without the line ends that follow it."""
        self._read = read
        self._is_after_tag = True
        return self.text(rest)


class _Lines:
    """Looks for a closing tag at the start of a line, outside fenced code."""

    def __init__(self) -> None:
        self._fence = ""
        self._in_line = False
        """Whether the start of the current line was read and is not a tag."""

    def tag_in(self, text: str) -> tuple[int, int]:
        """Return where the text before the tag ends, and where the text after it begins.

        If there is no tag, both are the same: the end, or the start of a possible tag.
        """
        place = 0
        while True:
            if not self._in_line:
                line = text[place : place + _MOST_HELD].partition("\n")
                head = line[0].lstrip()
                if head.startswith(_CLOSE) and not self._fence:
                    return place, place + len(line[0]) - len(head) + len(_CLOSE)
                if not line[1] and len(line[0]) < _MOST_HELD and _is_open(head):
                    return place, place
                self._pass_fence(head)
                self._in_line = True
            place = text.find("\n", place) + 1
            if not place:
                return len(text), len(text)
            self._in_line = False

    def _pass_fence(self, head: str) -> None:
        run = head[: len(head) - len(head.lstrip(head[:1]))]
        if len(run) < 3 or run[0] not in "`~":
            return
        if not self._fence:
            self._fence = run
        elif run.startswith(self._fence):
            self._fence = ""


def _plain(text: str) -> list[Piece]:
    return [ReplyDelta(text)] if text else []


def _is_open(head: str) -> bool:
    """Whether a line that starts with `head` may still become a tag or a fence."""
    return _CLOSE.startswith(head) or not head.strip("`") or not head.strip("~")


def _partial_tag(text: str) -> int:
    """Count the characters at the end of the text that may be the start of the closing tag."""
    start = text.rfind("<", -len(_CLOSE) + 1)
    return len(text) - start if start >= 0 and _CLOSE.startswith(text[start:]) else 0
