"""Reasoning that a local model writes into its text, between `<think>` and `</think>`.

The opening tag is one only where it is an answer's first word; anywhere else it is text. Where
the model's template wrote it, the closing one comes alone, at the start of a line. A tag may be
split over chunks: what may still become one is held back.
"""

from collections.abc import Callable

from jitchat.providers.provider import Piece, ReasoningDelta, ReasoningFound, ReplyDelta

_OPEN, _CLOSE = "<think>", "</think>"
_LINE_ENDS = "\r\n"
_MOST_HELD = 64
"""Characters that are held back for what they may become, blanks among them."""

_Reader = Callable[[str], list[Piece]]


class ThinkTags:
    """Parts one answer's text from the reasoning in it."""

    def __init__(self) -> None:
        self._read: _Reader = self._start
        self._lines = _Lines()
        self._held = ""
        self._held_as: type[ReplyDelta | ReasoningDelta] = ReplyDelta
        self._is_behind_a_tag = False
        self._reasoned = False

    def text(self, text: str) -> list[Piece]:
        """Read on: what a piece of the answer's text says."""
        if self._held:
            text, self._held = self._held + text, ""
        if self._is_behind_a_tag:
            text = text.lstrip(_LINE_ENDS)
            self._is_behind_a_tag = not text
        return self._read(text)

    def reasoned(self) -> None:
        """Note that reasoning came by itself: a closing tag in the text is but text then."""
        self._reasoned = True

    def end(self) -> list[Piece]:
        held, self._held = self._held, ""
        return [self._held_as(held)] if held else []

    def _start(self, text: str) -> list[Piece]:
        word = text.lstrip()
        if word.startswith(_OPEN):
            self._held_as = ReasoningDelta
            return self._behind_tag(self._thinking, word[len(_OPEN) :])
        if _OPEN.startswith(word) and len(text) < _MOST_HELD:
            self._held = text
            return []
        self._read = self._watched
        return self._watched(text)

    def _thinking(self, text: str) -> list[Piece]:
        reasoning, tag, answer = text.partition(_CLOSE)
        if not tag:
            kept = len(text) - _begun(text)
            reasoning, self._held = text[:kept], text[kept:]
        pieces: list[Piece] = [ReasoningDelta(reasoning)] if reasoning else []
        if tag:
            self._held_as = ReplyDelta
            pieces += self._behind_tag(_plain, answer)
        return pieces

    def _watched(self, text: str) -> list[Piece]:
        if self._reasoned:
            self._read = _plain
            return _plain(text)
        end, behind = self._lines.tag_in(text)
        pieces = _plain(text[:end])
        if behind > end:
            return [*pieces, ReasoningFound(), *self._behind_tag(_plain, text[behind:])]
        self._held = text[end:]
        return pieces

    def _behind_tag(self, read: _Reader, rest: str) -> list[Piece]:
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

    def tag_in(self, text: str) -> tuple[int, int]:
        """Find where the text ahead of the tag ends, and where the text behind it begins.

        Both are the same where there is no tag: the end, or where something begins that may
        become one.
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
    """Whether a line that begins so may still become a tag, or a fence of any length."""
    return _CLOSE.startswith(head) or not head.strip("`") or not head.strip("~")


def _begun(text: str) -> int:
    """Count the characters at the end of the text that may be the start of the closing tag."""
    start = text.rfind("<", -len(_CLOSE) + 1)
    return len(text) - start if start >= 0 and _CLOSE.startswith(text[start:]) else 0
