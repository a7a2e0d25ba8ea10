"""Segments: packed rows of the hot index, stored so that opening a conversation reads a few blobs.

A segment can always be rebuilt from the entries and the vectors, and is never the only copy of
anything. It is valid if it was written in the current format, its checksum is right, it belongs to
the embedder in use, it starts where the previous segment ends, and the turns up to its last one are
those of the current path. Writing an entry, a vector or the status of a turn deletes the segments
that cover the turn in the same transaction.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from zlib import compress, crc32, decompress

import numpy as np
from numpy.typing import NDArray

from jitchat.index.embedder import Embedder
from jitchat.store.database import Database
from jitchat.store.path import Path
from jitchat.text.words import VERSION

_FORMAT = 2
_LENGTH = 8
"""Bytes of the header's length field."""
_BY_ROW = ("positions", "stretch_of", "dated", "documents")
"""The arrays that hold numbers of rows, or of stretches that are one row each."""


@dataclass(frozen=True, slots=True)
class Segment:
    start: int
    """The first index row of the segment."""
    last: int
    """Up to this position, every turn that can be recalled is in this or an earlier segment."""
    names: Mapping[str, list[str]]
    arrays: Mapping[str, NDArray[Any]]
    """By name. Arrays of segments read from the store are read-only."""

    def behind(self, rows: int) -> "Segment":
        """Move it behind so many rows, each a stretch of its own, with the same only speaker."""
        if not rows:
            return self
        moved = {name: self.arrays[name] + np.uint32(rows) for name in _BY_ROW}
        moved["spoke_first"] = self.arrays["spoke_first"][:0]
        names = {**self.names, "speakers": []}
        return replace(self, start=self.start + rows, names=names, arrays={**self.arrays, **moved})


class SegmentTable:
    def __init__(self, database: Database, conversation: str, embedder: Embedder) -> None:
        self._database = database
        self._key = conversation, embedder.id, embedder.dimension

    def read(self, path: Path) -> list[Segment]:
        """Read the valid segments from the beginning of `path`, in order."""
        found, start = list[Segment](), 0
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT start, last, path, checksum, CAST(content AS BLOB) FROM index_segments"
                " WHERE conversation = ? AND embedder = ? AND dimension = ? ORDER BY start",
                self._key,
            )
            for first, last, path_start, checksum, content in rows:
                is_next = first == start and path_start == path.start(last)
                if not is_next or not isinstance(content, bytes) or crc32(content) != checksum:
                    break
                segment = _decoded(first, last, content)
                if segment is None:
                    break
                found.append(segment)
                start += len(segment.arrays["positions"])
        return found

    def write(self, path: Path, segments: Iterable[Segment]) -> None:
        """Store segments, replacing the existing ones from the first's start on.

        Each segment is written in its own transaction.
        """
        for segment in segments:
            content = _encoded(segment)
            with self._database.write() as connection:
                connection.execute(
                    "DELETE FROM index_segments WHERE conversation = ? AND embedder = ?"
                    " AND dimension = ? AND start >= ?",
                    (*self._key, segment.start),
                )
                connection.execute(
                    "INSERT INTO index_segments VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                    (
                        *(*self._key, segment.start, segment.last),
                        *(path.start(segment.last), crc32(content), content),
                    ),
                )


def segments_of_file(database: Database, digest: str, name: str) -> list[Segment]:
    """Read the segment of a large file's parts, which has no vectors; none if it is not there."""
    row = database.fetch_one(
        "SELECT checksum, CAST(content AS BLOB) FROM file_segments"
        " WHERE digest = ? AND name = ? AND stems_version = ?",
        (digest, name, VERSION),
    )
    if row is None or crc32(row[1]) != row[0]:
        return []
    segment = _decoded(0, 0, decompress(row[1]))
    return [] if segment is None else [segment]


def write_segment_of_file(database: Database, digest: str, name: str, segment: Segment) -> None:
    """Store such a segment, if the file itself is stored."""
    content = compress(_encoded(segment), 1)
    database.execute(
        "REPLACE INTO file_segments SELECT digest, ?, ?, ?, ? FROM attachments WHERE digest = ?",
        (name, VERSION, crc32(content), content, digest),
    )


def _encoded(segment: Segment) -> bytes:
    fields = [(name, each.dtype.str, each.shape) for name, each in segment.arrays.items()]
    names = {name: "\n".join(each) for name, each in segment.names.items()}
    header = json.dumps({"format": _FORMAT, "names": names, "arrays": fields}).encode()
    bodies = (np.ascontiguousarray(each).tobytes() for each in segment.arrays.values())
    return b"".join([len(header).to_bytes(_LENGTH, "little"), header, *bodies])


def _decoded(start: int, last: int, content: bytes) -> Segment | None:
    """Decode a segment without copying its arrays; None if it has another format."""
    end = _LENGTH + int.from_bytes(content[:_LENGTH], "little")
    header = json.loads(content[_LENGTH:end])
    if header["format"] != _FORMAT:
        return None
    arrays = {}
    for name, kind, shape in header["arrays"]:
        size = int(np.prod(shape, dtype=np.int64))
        arrays[name] = np.frombuffer(content, np.dtype(kind), size, end).reshape(shape)
        end += arrays[name].nbytes
    names = {name: each.split("\n") if each else [] for name, each in header["names"].items()}
    return Segment(start, last, names, arrays)
