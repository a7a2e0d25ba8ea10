"""How figures are to be read: one text, wherever they are shown."""

from __future__ import annotations

READER_CAVEAT = (
    "The embedded reader is no language model: it quotes the sentences of the window that share"
    " the question's words. A longer window does not tire it, so its curve shows what a window of"
    " each mode holds and what retrieval finds, not how a language model's attention fades."
    " Paraphrased questions it cannot answer, in any mode; asked what was never said, it often"
    " quotes a near-duplicate."
)
ABSENT_CAVEAT = (
    "Of the kind absent only a near-duplicate lies at the depth: recency is right on it because it"
    " sees nothing."
)
"""What was never said has no turn of its own that a mode could miss."""
