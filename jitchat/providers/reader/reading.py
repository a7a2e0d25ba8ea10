"""What passages come to, whatever is asked: read once, and kept for the next question."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from jitchat.providers.reader.passages import Passage
from jitchat.providers.reader.wording import is_own
from jitchat.text.sentences import is_question, sentences
from jitchat.text.words import stems

Stems = tuple[str, ...]
"""Each once; a set would take six times the memory."""

_MOST = 4_000_000
"""Characters, each passage taken to be longer by `_BESIDES`: 24 MB in all at the most."""
_BESIDES = 200


@dataclass(frozen=True, slots=True)
class Reading:
    """What one passage comes to."""

    is_own: bool
    """Whether the reader said it: nothing of it is looked at then, and all else is empty."""
    sentences: tuple[tuple[str, Stems], ...] = ()
    """Each with its stems and those of who says it."""
    around: Stems = ()
    """Stems of the whole passage."""
    anywhere: Stems = ()
    """Those, and those of its sentences."""
    asks: bool = False
    """Whether it ends in a question."""

    @classmethod
    def of(cls, passage: Passage) -> Reading:
        """Read a passage."""
        if is_own(passage):
            return cls(is_own=True)
        said = sentences(passage.text)
        owns = [_distinct(stems(f"{passage.who} {sentence}")) for sentence in said]
        around = _distinct(stems(passage.text))
        return cls(
            is_own=False,
            sentences=tuple(zip(said, owns, strict=True)),
            around=around,
            anywhere=_distinct(chain(around, *owns)),
            asks=is_question(passage.text),
        )


class Readings:
    """What passages came to. Safe to use from several threads."""

    def __init__(self, most: int = _MOST) -> None:
        """`most` bounds what is kept, in characters; see `_MOST`."""
        self._most, self._size = most, 0
        self._known: dict[_Key, Reading] = {}
        self._lock = threading.Lock()

    def of(self, passages: Sequence[Passage]) -> list[Reading]:
        """Read the passages of a window, in order; those that are known are not read again."""
        with self._lock:
            found = [self._known.get(_key(passage)) or self._read(passage) for passage in passages]
            if self._size > self._most:
                self._forget_all_but(dict(zip(map(_key, passages), found, strict=True)))
            return found

    def _read(self, passage: Passage) -> Reading:
        made = self._known[_key(passage)] = Reading.of(passage)
        self._size += _BESIDES + len(passage.text)
        return made

    def _forget_all_but(self, window: dict[_Key, Reading]) -> None:
        """Keep what one window came to, as far as it goes: its beginning comes up again."""
        self._known, self._size = {}, 0
        for key, reading in window.items():
            size = self._size + _BESIDES + len(key[0])
            if size > self._most:
                break
            self._known[key], self._size = reading, size


_Key = tuple[str, str, bool]


def _key(passage: Passage) -> _Key:
    return passage.text, passage.who, passage.whole


def _distinct(found: Iterable[str]) -> Stems:
    return tuple(dict.fromkeys(found))
