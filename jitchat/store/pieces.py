"""The segments of windows, each stored once however many windows carry it.

A row has what does not change from window to window. The reason, the corrected tokens and the
numbers of the messages are listed with the window, and rows in sequence as ranges: a window that
extends another adds its new segments and a few ranges.
"""

import json
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import groupby
from typing import Any

Fields = Mapping[str, Any]


_DEEPEST = 32
"""Windows that one is read from at most; then all of its segments are listed again."""


@dataclass(frozen=True, slots=True)
class _Listed:
    """A segment in a window."""

    identity: int
    """Of its row in `pieces`."""
    tokens: int
    step: int
    """By how much the number of its first message exceeds that of the segment before it."""
    reason: str


def put_segments(
    connection: sqlite3.Connection, conversation: str, segments: Sequence[Fields]
) -> bytes:
    """Store segments, and return the list of them; `turn_id` names the turn of a segment's text.

    What the conversation's last window lists alike at its start is not listed again.
    """
    turns = contents_of(connection, [each["turn_id"] for each in segments if each.get("turn_id")])
    listed: list[_Listed] = []
    message = 0
    for segment in segments:
        first = min((piece["message"] for piece in segment["pieces"]), default=0)
        content = json.dumps(_constant(segment, first, turns), ensure_ascii=False)
        identity = _put(connection, conversation, content)
        listed.append(_Listed(identity, segment["tokens"], first - message, segment["reason"]))
        message = first
    query = "SELECT MAX(window) FROM requests WHERE conversation = ?"
    base = connection.execute(query, (conversation,)).fetchone()[0]
    known, depth = _read_list(connection, base) if base is not None else ([], _DEEPEST)
    size = 0
    while depth < _DEEPEST and size < min(len(known), len(listed)) and known[size] == listed[size]:
        size += 1
    return _written_list(listed[size:], [base, size, depth + 1] if size else None)


def _written_list(listed: Sequence[_Listed], carried: Sequence[int] | None) -> bytes:
    """Write a list; `carried` has a window, how many of its segments come first, and the depth."""
    described = {
        "carried": carried,
        "ids": _ranges([each.identity for each in listed]),
        "tokens": [each.tokens for each in listed],
        "steps": _runs(each.step for each in listed),
        "reasons": _runs(each.reason for each in listed),
    }
    return zlib.compress(json.dumps(described, ensure_ascii=False).encode())


def _read_list(connection: sqlite3.Connection, window_id: int) -> tuple[list[_Listed], int]:
    """Read the list of a window's segments, and its depth; empty for one of earlier versions."""
    query = "SELECT pieces FROM windows WHERE id = ?"
    row = connection.execute(query, (window_id,)).fetchone()
    if row is None or row[0] is None:
        return [], _DEEPEST
    try:
        described = json.loads(zlib.decompress(row[0]))
    except zlib.error as error:
        raise ValueError("not a list of segments") from error
    ids = [each for first, last in described["ids"] for each in range(first, last + 1)]
    steps, reasons = _repeated(described["steps"]), _repeated(described["reasons"])
    rows = zip(ids, described["tokens"], steps, reasons, strict=True)
    own = [_Listed(*row) for row in rows]
    if described["carried"] is None:
        return own, 0
    base, size, depth = described["carried"]
    return [*_read_list(connection, base)[0][:size], *own], depth


def read_segments(connection: sqlite3.Connection, window_id: int) -> list[dict[str, Any]]:
    """Read the segments of a window.

    Raises:
        ValueError: The list is damaged, or a row is missing.

    """
    listed, _ = _read_list(connection, window_id)
    contents: list[str] = []
    for first, last in _ranges([each.identity for each in listed]):
        query = "SELECT content FROM pieces WHERE id BETWEEN ? AND ? ORDER BY id"
        contents += (row[0] for row in connection.execute(query, (first, last)))
    segments = [json.loads(content) for content in contents]
    pieces = [piece for segment in segments for piece in segment["pieces"]]
    turns = contents_of(connection, [each["same_as"] for each in pieces if "same_as" in each])
    message = 0
    for segment, each in zip(segments, listed, strict=True):
        message += each.step
        segment |= {"tokens": each.tokens, "reason": each.reason}
        for piece in segment["pieces"]:
            piece["message"] = piece.get("message", 0) + message
            if "same_as" in piece:
                piece["text"] = turns[piece.pop("same_as")]
    return segments


def _constant(segment: Fields, first: int, turns: Mapping[int, str]) -> dict[str, Any]:
    """Return a segment without what can differ between windows."""
    kept = {name: segment[name] for name in segment if name not in ("turn_id", "reason", "tokens")}
    identity = segment.get("turn_id")
    kept["pieces"] = []
    for piece in segment["pieces"]:
        described = dict(piece)
        described["message"] -= first
        if not described["message"]:
            del described["message"]
        if identity and turns.get(identity) == described["text"]:
            described["same_as"] = identity
            del described["text"]
        kept["pieces"].append(described)
    return kept


def _put(connection: sqlite3.Connection, conversation: str, content: str) -> int:
    digest = blake2b(content.encode(), digest_size=16).digest()
    known = "SELECT id FROM pieces WHERE conversation = ? AND digest = ?"
    row = connection.execute(known, (conversation, digest)).fetchone()
    if row is not None:
        return int(row[0])
    added = "INSERT INTO pieces (conversation, digest, content) VALUES (?, ?, ?)"
    return connection.execute(added, (conversation, digest, content)).lastrowid or 0


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


def _runs(values: Iterable[object]) -> list[tuple[object, int]]:
    """Write equal values in sequence as (value, how many)."""
    return [(value, sum(1 for _ in group)) for value, group in groupby(values)]


def _repeated(runs: Iterable[tuple[Any, int]]) -> Iterator[Any]:
    for value, count in runs:
        for _ in range(count):
            yield value
