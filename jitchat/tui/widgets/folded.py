"""Long texts that are folded to a marker in the prompt: `[300 lines…]`.

All characters of a marker are foreign, its blanks too, which no other text's are: the same text is
no marker if it is typed or pasted.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass, field

from jitchat.draft import FOREIGN, Draft
from jitchat.files.named import adopted

MOST_LINES = 10
MOST_CHARACTERS = 2_000
"""A paste with more of either is folded."""


def is_long(pasted: str) -> bool:
    return len(pasted) > MOST_CHARACTERS or pasted.strip("\n").count("\n") >= MOST_LINES


@dataclass
class Folded:
    _texts: dict[str, Draft] = field(default_factory=dict)
    """The texts by marker; those of deleted markers are kept, because deletion can be undone."""

    def fold(self, draft: Draft) -> Draft:
        """Store a text with its origin, and return its marker."""
        text = draft.text
        lines = text.strip("\n").count("\n") + 1
        size = f"{lines:,} lines" if lines > 1 else f"{len(text):,} characters"
        marker, number = f"[{size}…]", 1
        while self._texts.get(marker, draft) != draft:
            number += 1
            marker = f"[{size}, paste {number}…]"
        self._texts[marker] = draft
        return Draft(marker, FOREIGN * len(marker), draft.files)

    def spread(self, draft: Draft) -> Draft:
        """Replace the markers in a draft by the folded texts."""
        parts = list[Draft]()
        end = 0
        for start, stop in self.spans(draft):
            parts += draft.between(end, start), self._texts[draft.text[start:stop]]
            end = stop
        parts.append(draft.between(end))
        text = "".join(part.text for part in parts)
        return Draft(text, "".join(part.typed for part in parts), draft.files)

    def adopt(self, names: Collection[str]) -> None:
        """Treat some mentions in the folded texts as if the user had typed them."""
        self._texts = {marker: adopted(draft, names) for marker, draft in self._texts.items()}

    def spans(self, draft: Draft) -> list[tuple[int, int]]:
        """Return the start and end of the markers in a draft."""
        if not self._texts:
            return []
        markers = re.finditer("|".join(map(re.escape, self._texts)), draft.text)
        spans = (marker.span() for marker in markers)
        return [span for span in spans if set(draft.typed[slice(*span)]) == {FOREIGN}]

    def clear(self) -> None:
        self._texts.clear()
