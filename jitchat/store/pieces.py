"""The segments of windows, each stored once however many windows carry it.

A row has what does not change from window to window. The reason, the corrected tokens, the numbers
of the messages and the places in them are listed with the window; a window that extends another
lists what it adds. Texts of turns are referred to, and a row is packed beside its turn's text.
"""

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from itertools import islice
from typing import Any

from jitchat.store.packed import pack, unpack, unpack_columns

Fields = Mapping[str, Any]

LAST_WINDOW = "SELECT MAX(window) FROM requests WHERE conversation = ?"
"""The id of the window that was sent last in a conversation."""
_MOVING = ("message", "place")
"""The numbers of a piece that can differ between windows, as those of the segment's first piece."""
_DEEPEST = 32
"""Windows that one is read from at most; then all of its segments are listed again."""


@dataclass(frozen=True, slots=True)
class _Listed:
    """A segment in a window."""

    identity: int
    """Of its row in `pieces`."""
    tokens: int
    message: int
    place: int
    """By how much each of `_MOVING` exceeds that of the segment before it."""
    reason: str


def put_segments(
    connection: sqlite3.Connection, conversation: str, segments: Sequence[Fields]
) -> tuple[list[int] | None, list[Fields]]:
    """Store segments, and return the list of them; `turn_id` names the turn of a segment's text.

    What the conversation's last window lists alike at its start is carried: that window, how many
    of its segments, and of how many windows it is read. The others are listed, the last one first,
    since ledgers begin with the best.
    """
    turns = contents_of(connection, [each["turn_id"] for each in segments if each.get("turn_id")])
    listed: list[_Listed] = []
    before = [0] * len(_MOVING)
    for segment in segments:
        first: Fields = next(iter(segment["pieces"]), {})
        numbers = [first.get(name, 0) for name in _MOVING]
        constant = _constant(segment, numbers, turns)
        identity = _put(connection, conversation, constant, segment.get("turn_id"), turns)
        message, place = (to - since for to, since in zip(numbers, before, strict=True))
        listed.append(_Listed(identity, segment["tokens"], message, place, segment["reason"]))
        before = numbers
    base = connection.execute(LAST_WINDOW, (conversation,)).fetchone()[0]
    known, depth = _read_list(connection, base) if base is not None else ([], _DEEPEST)
    size = 0
    while depth < _DEEPEST and size < min(len(known), len(listed)) and known[size] == listed[size]:
        size += 1
    carried = [base, size, depth + 1] if size else None
    return carried, [asdict(each) for each in reversed(listed[size:])]


def _read_list(connection: sqlite3.Connection, window_id: int) -> tuple[list[_Listed], int]:
    """Read the list of a window's segments, and its depth; empty for one of earlier versions."""
    row = connection.execute("SELECT packed FROM windows WHERE id = ?", (window_id,)).fetchone()
    if row is None:
        return [], _DEEPEST
    carried, segments = islice(unpack_columns(row[0]), 2)
    if segments is None:
        return [], _DEEPEST
    own = [_Listed(**segment) for segment in reversed(segments)]
    if carried is None:
        return own, 0
    base, size, depth = carried
    return [*_read_list(connection, base)[0][:size], *own], depth


def read_segments(connection: sqlite3.Connection, window_id: int) -> list[dict[str, Any]]:
    """Read the segments of a window.

    Raises:
        ValueError: The list is damaged, or a row is missing.

    """
    listed, _ = _read_list(connection, window_id)
    rows: list[tuple[bytes, int | None]] = []
    for first, last in _ranges([each.identity for each in listed]):
        query = "SELECT content, turn FROM pieces WHERE id BETWEEN ? AND ? ORDER BY id"
        rows += connection.execute(query, (first, last))
    turns = contents_of(connection, [turn for _, turn in rows if turn])
    segments = [unpack(content, turns[turn] if turn else "") for content, turn in rows]
    numbers = [0] * len(_MOVING)
    for segment, each in zip(segments, listed, strict=True):
        numbers = [sum(both) for both in zip(numbers, (each.message, each.place), strict=True)]
        segment |= {"tokens": each.tokens, "reason": each.reason}
        for piece in segment["pieces"]:
            _move(piece, numbers)
            piece.setdefault("message", 0)
            if "same_as" in piece:
                text = turns[piece.pop("same_as")]
                piece["text"] = piece.pop("before", "") + text + piece.pop("after", "")
    return segments


def _move(piece: dict[str, Any], numbers: Iterable[int]) -> None:
    """Add to the numbers of a piece; a number that is 0 then is left out."""
    for name, number in zip(_MOVING, numbers, strict=True):
        moved = piece.pop(name, 0) + number
        if moved:
            piece[name] = moved


def _constant(segment: Fields, first: Sequence[int], turns: Mapping[int, str]) -> dict[str, Any]:
    """Return a segment without what can differ between windows.

    `first` has the numbers of its first piece; `turns`, the texts of turns.
    """
    kept = {name: segment[name] for name in segment if name not in ("turn_id", "reason", "tokens")}
    identity = segment.get("turn_id")
    of_turn = turns.get(identity, "") if identity else ""
    kept["pieces"] = []
    for piece in segment["pieces"]:
        described = dict(piece)
        _move(described, [-number for number in first])
        if of_turn and of_turn in described["text"]:
            before, _, after = described.pop("text").partition(of_turn)
            around = {"before": before, "after": after}
            described["same_as"] = identity
            described |= {name: text for name, text in around.items() if text}
        kept["pieces"].append(described)
    return kept


def _put(
    connection: sqlite3.Connection,
    conversation: str,
    segment: Fields,
    turn: int | None,
    turns: Mapping[int, str],
) -> int:
    content = json.dumps(segment, ensure_ascii=False).encode()
    digest = blake2b(content, digest_size=6).digest()
    known = "SELECT id FROM pieces WHERE turn IS ? AND digest = ? AND conversation = ?"
    row = connection.execute(known, (turn, digest, conversation)).fetchone()
    if row is not None:
        return int(row[0])
    added = "INSERT INTO pieces (conversation, digest, content, turn) VALUES (?, ?, ?, ?)"
    packed = pack(segment, turns.get(turn, "") if turn else "")
    return connection.execute(added, (conversation, digest, packed, turn)).lastrowid or 0


def contents_of(connection: sqlite3.Connection, turns: Sequence[int]) -> dict[int, str]:
    """Return the texts of turns, by id."""
    query = "SELECT id, content FROM turns WHERE id IN (SELECT value FROM json_each(?))"
    return dict(connection.execute(query, (json.dumps(turns),)).fetchall())


def _ranges(identities: Sequence[int]) -> list[tuple[int, int]]:
    """Write ascending runs of numbers as (first, last)."""
    ranges: list[tuple[int, int]] = []
    for identity in identities:
        if ranges and ranges[-1][1] + 1 == identity:
            ranges[-1] = ranges[-1][0], identity
        else:
            ranges.append((identity, identity))
    return ranges
