"""A request as text: each message under its number and role, with all that is sent of it."""

from collections.abc import Iterator
from itertools import groupby
from operator import attrgetter

from jitchat.window.window import ContextWindow
from jitchat.writing.pieces import Part, Piece


def message_texts(window: ContextWindow) -> Iterator[str]:
    """Write each message of a window; of one from an earlier version, only the texts."""
    pieces = [piece for piece in window.pieces if piece.part is not Part.DEFINITION]
    groups = [list(group) for _, group in groupby(pieces, attrgetter("message"))]
    messages = [(group[0].role, "".join(_text(piece) for piece in group)) for group in groups]
    if not messages:
        messages = [(message.role, message.content) for message in window.messages()]
    for number, (role, text) in enumerate(messages, start=1):
        yield f"── message {number} of {len(messages)}: {role} ──\n{text}"


def _text(piece: Piece) -> str:
    match piece.part:
        case Part.NAME if piece.use.answers is not None:
            return f"[result of {piece.text}]\n"
        case Part.NAME:
            return f"\n[call of {piece.text}]\n"
        case Part.REASONING:
            return f"[reasoning]\n{piece.text}\n"
        case Part.OPAQUE:
            return f"[signature or encrypted reasoning, {len(piece.text):,} characters]\n"
        case Part.PICTURE if piece.picture is not None:
            size = f"{piece.picture.width}×{piece.picture.height}"
            return f"[picture {piece.picture.name}, {size}]\n"
        case _:
            return piece.text
