"""Recall from files: search the parts of attached files in the same way as turns.

Parts have their own index. Their scores are weighed against the best turn's: a part that matches
little is left out if a turn matches far better, because the question is then about the turn. Each
part is a stretch of talk by itself and lends nothing to its neighbours, because a part does not
answer the one before it. A part is found by its text and by the file's name. Parts of stored files
are embedded in the background; parts of the draft's own files, when the draft is sent. Parts of a
file are indexed once: the index of a large file is stored with it. Thread-safe.
"""

import re
import sys
import threading
from bisect import bisect_right
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import accumulate, islice
from typing import TYPE_CHECKING

from jitchat.attachments import Attachment, PartHit
from jitchat.errors import EmbedderUnavailable, StoreError
from jitchat.index.abstain import needless
from jitchat.index.conversation_index import ConversationIndex
from jitchat.index.embedder import Embedder, NoEmbedder
from jitchat.index.retrieve import SearchRequest, pick
from jitchat.index.tables import IndexRow
from jitchat.store.database import Database
from jitchat.text.negation import stems_and_negations
from jitchat.values import Hit, IndexEntry
from jitchat.window import reasons

if TYPE_CHECKING:
    from jitchat.index.search import HotIndex  # loads numpy
    from jitchat.index.segments import Segment

AT_ONCE = 32
"""Parts embedded before a message is sent; the remaining ones are embedded afterwards."""
_FIRST = 4
"""Parts returned for a draft's own file if nothing in it matches."""
_LITTLE, _FAR_BETTER = 0.5, 2.0
"""A part with a lower score is left out if a turn scores this many times as much. For 24 questions
about a manual of 58,000 tokens, the best part scores at least 0.53; for questions about the
conversation, mostly less."""
_JOINTS = re.compile(r"[\W_]+")
"""Separators between the words of a file's name."""
_SPEAKER = "file"
"""Of all parts: nobody says them, and an index has no rows without a speaker."""
_MISSING = """
    SELECT p.number FROM attachment_parts p LEFT JOIN part_vectors v
    ON v.digest = p.digest AND v.number = p.number AND v.embedder = ?
    WHERE p.digest = ? AND v.number IS NULL ORDER BY p.number
"""


class FileParts:
    """Searches the parts of files."""

    def __init__(self, database: Database, own: ConversationIndex) -> None:
        """`own` supplies the embedder and the throttle."""
        self._database, self._own = database, own
        self._lock = threading.Lock()
        self._segments: dict[tuple[str, str], list[Segment]] = {}
        """The indexed parts of each file, by its digest and name."""
        self._loaded: tuple[object, HotIndex | None] = (None, None)
        self._vectors = 0
        """Incremented when vectors are written."""

    def search(
        self, request: SearchRequest, files: Sequence[Attachment], turns: float = 0.0
    ) -> tuple[PartHit, ...]:
        """Find parts for a draft, best first, those of the draft's files before all others.

        If nothing in one of the draft's files matches, the first parts of that file are returned.
        `turns` is the score of the best turn for the draft; 0 if only parts are searched.
        """
        latest = {file.digest: file for file in files if file.parts}
        known = list(latest.values())
        if not known:
            return ()
        ends = list(accumulate(len(file.parts) for file in known))
        found = list[PartHit]()
        for hit in self._hits(request, known, ends[-1]):
            at = bisect_right(ends, hit.turn - 1)
            file = known[at]
            number = hit.turn - 1 - (ends[at] - len(file.parts))
            found.append(PartHit(file.turn, file.digest, number, hit.score, hit.reason))
        best = max((hit.score for hit in found), default=0.0)
        if best < _LITTLE and best * _FAR_BETTER < turns:
            found = [
                hit if hit.turn == request.position else replace(hit, left_out=reasons.PART_YIELDS)
                for hit in found
            ]
        matched = {hit.digest for hit in found}
        found += (
            PartHit(file.turn, file.digest, number, 0.0, reasons.FIRST_PART)
            for number in range(_FIRST)
            for file in known
            if file.turn == request.position and file.digest not in matched
            if number < len(file.parts)
        )
        return tuple(sorted(found, key=lambda hit: hit.turn != request.position))

    def _hits(
        self, request: SearchRequest, files: Sequence[Attachment], parts: int
    ) -> Sequence[Hit]:
        with self._lock:
            index = self._load(files)
            query = request.query(frozenset())
            rows = index.search(query, parts + 1)
            return () if needless(query, rows, index.terms(query), parts) else pick(rows)

    def _load(self, files: Sequence[Attachment]) -> "HotIndex":
        from jitchat.index.search import HotIndex  # noqa: PLC0415  loads numpy

        embedder = self._own.embedder
        wanted = tuple((file.digest, file.name) for file in files), embedder.id, self._vectors
        known, index = self._loaded
        if index is None or known != wanted:
            places = [part.locator for file in files for part in file.parts]
            index = HotIndex(
                embedder, entries_of=lambda rows: [IndexEntry(at, places[at - 1]) for at in rows]
            )
            for file in files:
                vectors, base = self._vectors_of(file, embedder), len(index)
                for segment in self._segments_of(file):
                    own = vectors[segment.start :][: len(segment.arrays["positions"])]
                    index.add_segment(segment.behind(base), own)
            self._loaded = wanted, index
            self._segments = {key: self._segments[key] for key in wanted[0]}
        return index

    def _vectors_of(self, file: Attachment, embedder: Embedder) -> list[bytes | None]:
        query = "SELECT number, vector FROM part_vectors WHERE digest = ? AND embedder = ?"
        vectors = dict(self._database.fetch_all(query, (file.digest, embedder.id)))
        return [vectors.get(number) for number in range(len(file.parts))]

    def _segments_of(self, file: Attachment) -> "list[Segment]":
        from jitchat.index import segments  # noqa: PLC0415  loads numpy

        key = file.digest, file.name
        if key not in self._segments and file.is_large:
            self._segments[key] = segments.segments_of_file(self._database, *key)
        if not self._segments.get(key):
            self._segments[key] = made = _indexed(file)
            if file.is_large and len(made) == 1:
                with suppress(StoreError):  # the next process indexes it again
                    segments.write_segment_of_file(self._database, *key, made[0])
        return self._segments[key]

    def index_missing(self, files: Sequence[Attachment], most: int = sys.maxsize) -> None:
        """Embed at most `most` parts of stored files that lack a vector.

        Parts that cannot be embedded are found by their words alone.
        """
        embedder, left = self._own.embedder, most
        if not embedder.dimension:
            return
        for file in {file.digest: file for file in files if file.parts}.values():
            rows = self._database.fetch_all(_MISSING, (embedder.id, file.digest))
            missing = iter(number for (number,) in rows)
            while batch := list(islice(missing, min(AT_ONCE, left))):
                if self._own.throttle.halted or not self._embed(file, batch, embedder):
                    return
                left -= len(batch)

    def _embed(self, file: Attachment, numbers: Sequence[int], embedder: Embedder) -> bool:
        """Make and store vectors. Returns False if the embedder fails."""
        from jitchat.index.vectors import stored_vector, vectors_of  # noqa: PLC0415  loads numpy

        begun = self._own.throttle.now()
        texts = [file.parts[number].text for number in numbers if number < len(file.parts)]
        try:
            made = vectors_of(embedder, texts)
        except EmbedderUnavailable:
            return False
        with self._database.write() as connection:
            connection.executemany(
                "REPLACE INTO part_vectors VALUES (?, ?, ?, ?, ?)",
                [
                    (file.digest, number, embedder.id, embedder.dimension, stored_vector(row))
                    for number, row in zip(numbers, made, strict=False)
                ],
            )
        self._vectors += 1
        self._own.throttle.rest_after(begun)
        return True


def _indexed(file: Attachment) -> "list[Segment]":
    """Index the parts of a file, without vectors. Slow: every part is stemmed."""
    from jitchat.index.search import HotIndex  # noqa: PLC0415  loads numpy

    index, name = HotIndex(NoEmbedder()), _JOINTS.sub(" ", file.name)
    for number, part in enumerate(file.parts, start=1):
        stems = " ".join(stems_and_negations(f"{name}\n{part.text}"))
        row = IndexRow(IndexEntry(number, part.locator), _SPEAKER, None, stems, None)
        index.add([row], begins=True)
    return index.pack(len(file.parts))
