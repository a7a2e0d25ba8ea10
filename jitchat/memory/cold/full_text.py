"""Finding a turn of any conversation by its words."""

from __future__ import annotations

import json
import sqlite3

from jitchat.text.safe import repaired, shortened
from jitchat.text.words import is_unspaced, words

_EXCERPT = 160
_MOST, _WIDEST = 32, 200

_BY_WORD = """
    SELECT t.conversation, t.position, snippet(turns_fts, 0, '', '', '…', 12)
    FROM turns_fts JOIN turns t ON t.id = turns_fts.rowid
    WHERE turns_fts MATCH ?1 AND (?3 IS NULL OR t.conversation = ?3)
    ORDER BY turns_fts.rank LIMIT ?2
"""
_BY_PIECE = """
    SELECT conversation, position,
           substr(content, max(1, instr(lower(content), json_extract(?1, '$[0]')) - 40), 160)
    FROM turns WHERE NOT EXISTS (
        SELECT 1 FROM json_each(?1) AS piece WHERE instr(lower(content), piece.value) = 0
    ) AND (?3 IS NULL OR conversation = ?3) ORDER BY id DESC LIMIT ?2
"""
"""For scripts without blanks: the full-text index takes a whole run of them for one word."""


def search_turns(
    connection: sqlite3.Connection, text: str, limit: int, conversation: str | None = None
) -> list[tuple[str, int, str]]:
    """Find turns with all words of `text`, the last of them begun; of one conversation, or of all.

    Gives (conversation, position, excerpt), the best first.
    """
    text = repaired(text).lower()
    if not words(text):
        return []
    pieces = [piece[:_WIDEST] for piece in text.split()[:_MOST]]
    query, asked = _BY_PIECE, json.dumps(pieces)
    if not is_unspaced(text):
        phrases = [piece.replace('"', '""') for piece in pieces]
        query, asked = _BY_WORD, " ".join(f'"{phrase}"' for phrase in phrases) + "*"
    rows = connection.execute(query, (asked, limit, conversation))
    return [(found, place, shortened(piece, _EXCERPT)) for found, place, piece in rows]
