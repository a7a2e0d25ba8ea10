"""A message that is being written: its text, where the text comes from, and its files.

Only what the user typed or completed can attach files or otherwise act. Text of any other origin
(pasted, piped, served, imported, recalled) is foreign, and so is text of unknown origin.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from os.path import commonprefix

from jitchat.attachments import Attachment

FOREIGN = "\0"
"""Stands for a foreign character; no path contains it."""
GO_ON = "Go on exactly where you stopped; repeat nothing."
"""The visible message that the app sends to continue a reply: neither a prompt nor a title."""
_VISIBLE = re.compile(r"\S")


@dataclass(frozen=True, slots=True)
class Draft:
    text: str = ""
    typed: str = ""
    """The text with `FOREIGN` in place of each visible character that the user did not type, and of
    each character of a marker (`tui/widgets/folded.py`)."""
    files: tuple[Attachment, ...] = ()
    """Files of an earlier message that are sent again, as listed in the store."""

    @classmethod
    def by_user(cls, text: str) -> "Draft":
        return cls(text, text)

    @classmethod
    def foreign(cls, text: str, files: Iterable[Attachment] = ()) -> "Draft":
        return cls(text, _VISIBLE.sub(FOREIGN, text), tuple(files))

    @classmethod
    def matched(cls, text: str, typed: str, files: tuple[Attachment, ...]) -> "Draft":
        """Make a draft; if the text was changed since its origin was noted, it is foreign."""
        return cls(text, typed, files) if len(text) == len(typed) else cls.foreign(text, files)

    def __bool__(self) -> bool:
        return bool(self.text or self.files)

    def __add__(self, other: "Draft") -> "Draft":
        files = dict.fromkeys((*self.files, *other.files))
        return Draft(self.text + other.text, self.typed + other.typed, tuple(files))

    def between(self, start: int, end: int | None = None) -> "Draft":
        """Return a part of the draft, without its files."""
        return Draft(self.text[start:end], self.typed[start:end])

    def ending(self, text: str) -> "Draft":
        """Return the last occurrence of a text in the draft; foreign if there is none."""
        start = self.text.rfind(text)
        if start < 0:
            return Draft.foreign(text, self.files)
        return Draft(text, self.typed[start : start + len(text)], self.files)

    def edited(self, text: str) -> "Draft":
        """Return the draft with a text that another program made of it; its changes are foreign."""
        start = len(commonprefix((self.text, text)))  # noqa: RUF071  texts, not paths
        rest, changed = self.between(start), text[start:]
        same = len(commonprefix((rest.text[::-1], changed[::-1])))  # noqa: RUF071  likewise
        middle = Draft.foreign(changed[: len(changed) - same], self.files)
        return self.between(0, start) + middle + rest.between(len(rest.text) - same)


EMPTY = Draft()


def as_draft(draft: Draft | str) -> Draft:
    """Return a draft; a plain text is foreign, because its origin is unknown."""
    return draft if isinstance(draft, Draft) else Draft.foreign(draft)


def distinct(drafts: Iterable[Draft]) -> list[Draft]:
    """Leave out drafts with the text of an earlier one."""
    first: dict[str, Draft] = {}
    for draft in drafts:
        first.setdefault(draft.text, draft)
    return list(first.values())


def joined(drafts: Iterable[Draft]) -> Draft:
    """Join drafts by line breaks, without the empty ones."""
    result = Draft()
    for draft in drafts:
        separator = Draft.by_user("\n") if result.text and draft.text else Draft()
        result = result + separator + draft
    return result
