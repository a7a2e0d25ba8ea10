"""Embed texts, and keep the vectors that queries are compared with.

Stored vectors are validated: a turn whose blob has the wrong length, or is not a unit vector,
counts as a turn without a vector.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jitchat.errors import EmbedderUnavailable
from jitchat.index.embedder import Embedder
from jitchat.index.growing import Growing
from jitchat.index.lexical import Scores
from jitchat.index.quantised import Bytes, quantised, total
from jitchat.index.quantised import products as products_of

Matrix = NDArray[np.float32]
"""Shape (rows, dimension)."""
_CHARACTERS = 4_000
_RECALL_IS_LEXICAL = "Until it works, recall uses words alone; no turns are lost."


def vectors_of(embedder: Embedder, texts: Sequence[str]) -> Matrix:
    """Embed `texts`, shape (len(texts), dimension): unit rows, or zeros if a text has no vector.

    Only the first 4,000 characters of a text are embedded; models read no more.

    Raises:
        EmbedderUnavailable: The embedder failed, or returned vectors of the wrong shape.

    """
    try:
        made = np.asarray(embedder.embed([text[:_CHARACTERS] for text in texts]), dtype=np.float32)
    except Exception as error:  # each library raises its own exception classes
        raise EmbedderUnavailable(
            f"The embedder {embedder.id} failed ({type(error).__name__}).", _RECALL_IS_LEXICAL
        ) from error
    if made.shape != (len(texts), embedder.dimension):
        raise EmbedderUnavailable(
            f"The embedder {embedder.id} returned vectors of the wrong shape.", _RECALL_IS_LEXICAL
        )
    return unit_rows(made)


def unit_rows(vectors: Matrix) -> Matrix:
    """Scale rows to length 1; a row that is empty or not finite becomes zeros."""
    clean = np.where(np.isfinite(vectors).all(axis=1, keepdims=True), vectors, 0.0)
    lengths = np.linalg.norm(clean.astype(np.float64), axis=1, keepdims=True)
    scaled = np.divide(clean, lengths, out=np.zeros(clean.shape), where=lengths > 0)
    return np.asarray(scaled, dtype=np.float32)


def stored_vector(row: NDArray[np.float32]) -> bytes:
    """Return a vector as it is stored, in half precision: empty if there was nothing to embed."""
    return row.astype("<f2").tobytes() if row.any() else b""


_TOLERANCE = 0.01
_LEAST = 1e-6


@dataclass(frozen=True, slots=True)
class PackedVectors:
    """Rows of one byte per number. A row without a vector has the scale 0."""

    rows: Bytes
    scales: Scores
    total: NDArray[np.float64]
    """The sum of the rows, shape (dimension,)."""

    @classmethod
    def of(cls, rows: Bytes, scales: Scores) -> "PackedVectors":
        return cls(rows, scales, total(rows, scales))

    def first(self, count: int) -> "PackedVectors":
        return self.of(self.rows[:count], self.scales[:count])


class Vectors:
    """Rows of `dimension` numbers: quantised packs first, then rows in full precision."""

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._kinds = {width * dimension: f"<f{width}" for width in (2, 4)}
        """The type of a blob's numbers by its length; what is stored has half precision."""
        self._packs: list[PackedVectors] = []
        self._packed = 0
        """Number of rows in packs."""
        self._of_packs: list[_Centred] | None = None
        """Cache of `_parts_of_packs`."""
        self._rows = Growing(np.float32, dimension)
        """Rows after the packs."""
        self._has_vector = Growing(np.bool_)
        """Whether each row has a vector."""

    def extend(self, blobs: Sequence[bytes | None]) -> None:
        """Append a row for each blob; None stands for a turn without a vector."""
        made = np.zeros((len(blobs), self._dimension), dtype=np.float32)
        for place, blob in enumerate(blobs):
            kind = self._kinds.get(len(blob)) if isinstance(blob, bytes) and blob else None
            if blob and kind is not None:
                made[place] = np.frombuffer(blob, dtype=kind)
        with np.errstate(all="ignore"):  # NaN and infinity never have length 1
            lengths = np.einsum("ij,ij->i", made, made, dtype=np.float64)
            fits = np.abs(lengths - 1.0) < _TOLERANCE
        kept = np.where(fits[:, None], made, np.float32(0.0))
        self._rows.extend(kept)
        self._has_vector.extend(fits)

    def pack(self, start: int, stop: int) -> PackedVectors:
        """Pack the rows [start, stop). `start` is the start of the last pack, or its end."""
        count = stop - self._packed
        rows, scales = quantised(self._rows.rows[:count])
        if start < self._packed:
            last = self._packs.pop()
            rows, scales = np.concatenate([last.rows, rows]), np.append(last.scales, scales)
        unpacked = self._rows.rows[count:].copy()
        self.add_pack(made := PackedVectors.of(rows, scales), start)
        self._rows.cut(0)
        self._rows.extend(unpacked)
        return made

    def add_pack(self, made: PackedVectors, start: int) -> None:
        self._packs.append(made)
        self._packed, self._of_packs = start + len(made.rows), None
        known = made.scales > 0
        self._has_vector.extend(known[len(self._has_vector) - start :])

    def truncate(self, size: int) -> None:
        """Keep the first `size` rows, as if no others had been added."""
        while size < self._packed:
            last, self._of_packs = self._packs.pop(), None
            self._packed -= len(last.rows)
            if size > self._packed:
                self._packs.append(last.first(size - self._packed))
                self._packed = size
        kept = size - self._packed
        self._rows.cut(kept)
        self._has_vector.cut(size)

    def known(self) -> NDArray[np.bool_]:
        """Return which rows have a vector, shape (rows,)."""
        return self._has_vector.rows.copy()

    def standardised(self, vector: NDArray[np.float32]) -> Scores:
        """Return cosines in standard deviations above their mean, at least 0, shape (rows,).

        The mean of all rows is subtracted from each row and from the query first, because common
        components carry no information. If there are packs, the mean of the packed rows is used:
        a few more rows would hardly change it.
        """
        known = self._has_vector.rows
        found = np.zeros(len(known), dtype=np.float32)
        if not known.any() or not vector.any():
            return found
        mean = self._mean()
        along = float(vector @ mean)
        start = 0
        for pack, parts in zip(self._packs, self._parts_of_packs(mean), strict=True):
            part = slice(start, start := start + len(pack.rows))
            products = products_of(pack.rows, pack.scales, vector)
            parts.cosines(products, along, out=found[part])
        if start < len(known):
            # not `@`: it uses several threads, and waiting for them on a busy machine is ten times
            # slower
            products = np.einsum("ij,kj->ki", self._rows.rows, np.stack([vector, mean]))
            parts = _Centred.of(products[1], mean, known[start:])
            parts.cosines(products[0], along, out=found[start:])
        kept = found[known]
        average, spread = float(kept.mean(dtype=float)), float(kept.std(dtype=float))
        if spread <= _LEAST:
            return np.zeros_like(found)
        found *= np.float32(1 / spread)
        found -= np.float32(average / spread)
        np.maximum(found, np.float32(0.0), out=found)
        if not known.all():
            found *= known
        return found

    def _mean(self) -> NDArray[np.float32]:
        if self._packs:
            summed = np.sum([pack.total for pack in self._packs], axis=0)
            count = np.count_nonzero(self._has_vector.rows[: self._packed])
        else:
            summed = np.sum(self._rows.rows, axis=0, dtype=np.float64)
            count = np.count_nonzero(self._has_vector.rows)
        return np.asarray(summed / max(1, count), dtype=np.float32)

    def _parts_of_packs(self, mean: NDArray[np.float32]) -> "list[_Centred]":
        """Return the part of each pack's cosines that does not depend on the query."""
        if self._of_packs is None:
            self._of_packs = [
                _Centred.of(products_of(pack.rows, pack.scales, mean), mean, pack.scales > 0)
                for pack in self._packs
            ]
        return self._of_packs


@dataclass(frozen=True, slots=True)
class _Centred:
    """Two numbers per row to compute centred cosines; both are 0 for a row without a vector.

    With the mean subtracted from both the row and the query, the row's product with the query,
    divided by the row's distance from the mean, is `(product - along) * nearness + offset`, where
    `along` is the query's product with the mean.
    """

    nearness: Scores
    offset: Scores

    @classmethod
    def of(cls, common: Scores, mean: NDArray[np.float32], known: NDArray[np.bool_]) -> "_Centred":
        """`common` is each row's product with the mean; `known`, whether it has a vector."""
        own = float(mean @ mean)
        distance = np.sqrt(np.maximum(1.0 - 2.0 * common + own, _LEAST))
        nearness = (known / distance).astype(np.float32)
        return cls(nearness, np.asarray((own - common) * nearness, dtype=np.float32))

    def cosines(self, products: Scores, along: float, out: Scores) -> None:
        np.subtract(products, np.float32(along), out=out)
        out *= self.nearness
        out += self.offset
