"""What an embedder is: texts in, vectors out."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class Embedder(Protocol):
    """Turns texts into vectors."""

    @property
    def id(self) -> str:
        """Names the vectors; those of another id are never compared with these."""

    @property
    def dimension(self) -> int:
        """Numbers a vector; 0 if it makes none."""

    def embed(self, texts: Sequence[str]) -> "ArrayLike":
        """Shape (len(texts), dimension); rows of length 1, or 0 where there is nothing."""


class NoEmbedder:
    """Makes no vectors: recall is lexical only."""

    id = "none"
    dimension = 0

    def embed(self, texts: Sequence[str]) -> "ArrayLike":
        """Shape (len(texts), 0)."""
        return [[] for _ in texts]
