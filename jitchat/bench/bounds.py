"""The least that a search could take: what its time is compared with."""

from __future__ import annotations

import sqlite3
import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial

from jitchat.memory.cold.database import Database
from jitchat.memory.index.search import SHORTLIST
from jitchat.text.words import content_words

_READS = 15
_BY_WORDS = "SELECT rowid FROM turns_fts WHERE turns_fts MATCH ? ORDER BY turns_fts.rank LIMIT ?"


def matrix_ms(turns: int, dimension: int) -> float:
    """Time numpy reading a matrix of that shape once, for its product with a vector.

    The best of some times: other programs can only add to it.
    """
    import numpy as np  # noqa: PLC0415  100 ms

    rows = np.full((turns, dimension), 0.5, dtype=np.float32)
    return min(_timed(lambda: rows @ rows[0]) for _ in range(_READS))


def fts5_ms(database: Database, questions: Sequence[str]) -> float:
    """Time SQLite's full-text search for the words of each question; median.

    The database holds the one conversation; the turns that have any of the words are ranked.
    """
    asked = [" OR ".join(f'"{word}"' for word in content_words(each)) for each in questions]
    with database.read() as connection:
        return statistics.median(_timed(partial(_ranked, connection, words)) for words in asked)


def _ranked(connection: sqlite3.Connection, words: str) -> list[tuple[int]]:
    return connection.execute(_BY_WORDS, (words, SHORTLIST)).fetchall()


def _timed(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return (time.perf_counter() - begun) * 1000
