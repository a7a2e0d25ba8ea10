"""Segments as a window's record has them."""

from __future__ import annotations

from typing import Any


def record_of(kind: str, text: str, tokens: int = 3, **more: object) -> dict[str, Any]:
    """A segment of one piece; `turn_id` names the turn that its text may be all of."""
    pieces = [{"message": 1, "tokens": tokens, "text": text}]
    return {"kind": kind, "tokens": tokens, "reason": "", "pieces": pieces, **more}
