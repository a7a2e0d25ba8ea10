"""The embedder protocol: texts in, vectors out."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class Embedder(Protocol):
    """Turns texts into vectors."""

    @property
    def id(self) -> str:
        """Identifies the vectors; vectors with different ids are never compared."""

    @property
    def dimension(self) -> int:
        """Length of a vector; 0 if no vectors are made."""

    def embed(self, texts: Sequence[str]) -> "ArrayLike":
        """Embed texts, shape (len(texts), dimension): unit vectors, or zeros for an empty text."""


class NoEmbedder:
    """Makes no vectors: recall is lexical only."""

    id = "none"
    dimension = 0

    def embed(self, texts: Sequence[str]) -> "ArrayLike":
        """Return empty vectors, shape (len(texts), 0)."""
        return [[] for _ in texts]
