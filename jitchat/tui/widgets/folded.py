"""Long texts that are folded to a marker in the prompt: `[300 lines…]`."""

import re
from collections.abc import Collection
from dataclasses import dataclass, field

from jitchat.draft import Draft
from jitchat.files.mentions import adopted

MOST_LINES = 10
MOST_CHARACTERS = 2_000
"""A paste with more of either is folded."""


def is_long(pasted: str) -> bool:
    return len(pasted) > MOST_CHARACTERS or pasted.strip("\n").count("\n") >= MOST_LINES


@dataclass
class Folded:
    _texts: dict[str, Draft] = field(default_factory=dict)
    """The texts by marker; those of deleted markers are kept, because deletion can be undone."""

    def fold(self, draft: Draft) -> str:
        """Store a text with its origin, and return its marker."""
        text = draft.text
        lines = text.strip("\n").count("\n") + 1
        size = f"{lines:,} lines" if lines > 1 else f"{len(text):,} characters"
        marker, number = f"[{size}…]", 1
        while self._texts.get(marker, draft) != draft:
            number += 1
            marker = f"[{size}, paste {number}…]"
        self._texts[marker] = draft
        return marker

    def whole(self, text: str) -> str:
        """Replace the markers by the folded texts."""
        if not self._texts:
            return text
        return self._markers().sub(lambda marker: self._texts[marker[0]].text, text)

    def spread(self, draft: Draft) -> Draft:
        """Replace the markers in a draft by the folded texts."""
        result = Draft(files=draft.files)
        end = 0
        for start, stop in self.spans(draft.text):
            result += draft.between(end, start) + self._texts[draft.text[start:stop]]
            end = stop
        return result + draft.between(end)

    def adopt(self, names: Collection[str]) -> None:
        """Treat some mentions in the folded texts as if the user had typed them."""
        self._texts = {marker: adopted(draft, names) for marker, draft in self._texts.items()}

    def spans(self, line: str) -> list[tuple[int, int]]:
        """Return the start and end columns of the markers in a line."""
        return [each.span() for each in self._markers().finditer(line)] if self._texts else []

    def clear(self) -> None:
        self._texts.clear()

    def _markers(self) -> re.Pattern[str]:
        return re.compile("|".join(map(re.escape, self._texts)))
