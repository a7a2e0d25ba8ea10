"""Grapheme clusters, which readers see as one character (Unicode Standard Annex #29), and words."""

from collections.abc import Sequence
from functools import lru_cache


@lru_cache(maxsize=256)
def clusters(line: str) -> Sequence[tuple[int, int]]:
    """Return the start and end of each cluster of more than one code point."""
    if line.isascii():
        return ()
    import regex  # noqa: PLC0415  25 ms, needed for other scripts only

    spans = (cluster.span() for cluster in regex.finditer(r"\X", line))
    return tuple((start, end) for start, end in spans if end - start > 1)


def words(line: str) -> list[tuple[int, int]]:
    """Return the start and end of each word, with its combining marks and joiners."""
    import regex  # noqa: PLC0415  25 ms, needed once the user edits by words

    return [word.span() for word in regex.finditer(r"\w+", line)]
