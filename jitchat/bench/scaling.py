"""Times the app's stages on synthetic talk: store → index → open → retrieve → plan.

Times are in milliseconds.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from jitchat.bench.asking import OpenConversation, Setup, ms_since, opened_store, turns_held
from jitchat.bench.dialogue import Replaying, prices_of
from jitchat.bench.haystack import NEEDLE, PHRASINGS, Haystack, other_questions
from jitchat.bench.scores import Figures, embedder_name, spread
from jitchat.errors import WindowOverflow
from jitchat.index import indexer, search
from jitchat.index.conversation_index import WORTH_PACKING
from jitchat.index.embedder import Embedder
from jitchat.index.narrowing import NARROWED_FROM
from jitchat.index.retrieve import SHORTLIST, make_query
from jitchat.index.tables import IndexTables
from jitchat.memory import Memory
from jitchat.store.database import Database
from jitchat.store.store import ColdStore
from jitchat.text.search_tokens import terms
from jitchat.text.words import content_words
from jitchat.values import Mode, Retrieval, Turn
from jitchat.window.carriers import lines_on

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Report = Callable[[int], object]
"""Called with the progress since the last call."""

_TALK = "talk"
QUESTIONS = 40
"""Number of questions per talk; the first ones are the phrasings for the needle."""


REPLAYED = 20
"""Number of the last messages whose price is measured."""


def steps(size: int) -> int:
    return 2 * size + QUESTIONS


def measure(setup: Setup, talk: Haystack, report: Report) -> Figures:
    """Build a talk and ask about it, in a temporary database; return the figures of all stages."""
    with tempfile.TemporaryDirectory(prefix="jitchat-bench-") as folder:
        path = Path(folder) / "bench.db"
        figures = build(setup, talk, path, report)
        figures |= ask(setup, talk, path, report)
        figures["exactness"] = {"of_6": 1.0, "of_50": 1.0}
        if talk.size > WORTH_PACKING:
            figures["exactness"] = exactness(setup, path)
    return {"turns": talk.size, "needle": talk.needle, **figures}


def _questions() -> list[str]:
    return [*PHRASINGS, *other_questions(QUESTIONS - len(PHRASINGS))]


_ROWS_AT_ONCE = 2_048


def exactness(setup: Setup, path: Path) -> Figures:
    """Compare a search of every row with exact vectors and a search as in the app.

    Return the share of the first 6 and 50 hits of the former that are also found first, over all
    questions.
    """
    embedder = setup.embedder
    with opened_store(path) as store:
        talk = store.conversation(_TALK)
        tables = IndexTables(store.database, talk.id)
        index = search.HotIndex(embedder, entries_of=tables.entries, narrowed_from=talk.turns)
        turns = Memory(store, talk).turns
        for start in range(0, len(turns), _ROWS_AT_ONCE):
            index.add(tables.rows(turns[start : start + _ROWS_AT_ONCE], embedder))
        queries = [make_query(question, "", index.speakers) for question in _questions()]

        def hits(count: int) -> set[tuple[int, int]]:
            """Return (number of the query, position of the turn) of the first hits."""
            return {
                (number, row.turn)
                for number, query in enumerate(queries)
                for row in index.search(query, talk.turns + 1)[:count]
            }

        exact = {count: hits(count) for count in (6, 50)}
        index.pack(talk.turns)
        index.narrowed_from = NARROWED_FROM
        return {
            f"of_{count}": len(rows & hits(count)) / max(1, len(rows))
            for count, rows in exact.items()
        }


def build(setup: Setup, talk: Haystack, path: Path, report: Report) -> Figures:
    """Store and index a talk in a new database; report each turn when stored and when indexed.

    The times are means per turn; `index_turn_ms` is without embedding, and `first_open_ms` is the
    time until the first question can be asked, when every turn has to be counted.
    """
    embedding = TimedEmbedder(setup.embedder)
    turns = list(talk.turns())

    def reported() -> Iterator[Turn]:
        for start in range(0, len(turns), indexer.BATCH):  # reporting takes time, too
            batch = turns[start : start + indexer.BATCH]
            yield from batch
            report(len(batch))

    with opened_store(path) as store:
        conversation = store.create(_TALK, _TALK)
        begun = time.perf_counter()
        store.append(conversation.id, reported())
        store_ms = ms_since(begun)
        memory = Memory(store, conversation, embedding)
        for entries in memory.index.catch_up():
            report(len(entries))
        if memory.index.failure:
            raise memory.index.failure
        index_ms = ms_since(begun) - store_ms
    embed_ms = embedding.seconds * 1000
    with opened_store(path) as store:
        _, first_open_ms = _opened(store, setup, embedding)
    return {
        "store_turn_ms": store_ms / talk.size,
        "index_turn_ms": (index_ms - embed_ms) / talk.size,
        "embed_turn_ms": embed_ms / talk.size,
        "embedder": embedder_name(embedding.id),
        "first_open_ms": first_open_ms,
    }


def _opened(store: ColdStore, setup: Setup, embedder: Embedder) -> tuple[OpenConversation, float]:
    """Open the conversation and retrieve for its first question; return the time that it took."""
    begun = time.perf_counter()
    memory = Memory(store, store.conversation(_TALK), embedder)
    conversation = OpenConversation(memory, setup.counter, setup.budget, setup.asking)
    conversation.retrieve(PHRASINGS[0])
    return conversation, ms_since(begun)


def ask(setup: Setup, talk: Haystack, path: Path, report: Report) -> Figures:
    """Open the database that `build` made, and ask the questions, reporting each.

    `full_tokens` are those that `full` would send, whether they fit or not, a mean over the
    phrasings; `retrieve_ms` is without embedding the question; `plan_ms` is in `jit`.
    """
    embedding = TimedEmbedder(setup.embedder)
    questions = _questions()
    embed_ms: list[float] = []
    retrieve_ms: list[float] = []
    jit: list[_Planned] = []
    planned: dict[Mode, list[_Planned | None]] = {mode: [] for mode in setup.modes}
    with opened_store(path) as store:
        conversation, open_ms = _opened(store, setup, embedding)
        conversation.distil(setup.modes)
        for question in questions:
            before = embedding.seconds
            retrieval, search_ms = conversation.retrieve(question)
            embed_ms.append((embedding.seconds - before) * 1000)
            retrieve_ms.append(search_ms - embed_ms[-1])
            jit.append(_planned(conversation, Mode.JIT, question, retrieval, talk.needle))
            for mode in setup.modes:
                try:
                    one = _planned(conversation, mode, question, retrieval, talk.needle)
                except WindowOverflow:
                    one = None
                planned[mode].append(one)
            report(1)
        words_ms = fts5_ms(store.database, questions)
        replayed = Replaying(conversation.memory, setup).replay(last=REPLAYED)
    full_tokens = statistics.fmean(window.full_tokens for window in jit[: len(PHRASINGS)])
    vectors_ms = matrix_ms(talk.size, embedding.dimension)
    both = spread([search + window.ms for search, window in zip(retrieve_ms, jit, strict=True)])
    return {
        "counter": setup.counter.name,
        "full_tokens": round(full_tokens),
        "prices": prices_of([replayed]),
        "modes": {mode.value: _sent(windows) for mode, windows in planned.items()},
        "open_ms": open_ms,
        "embed_ms": spread(embed_ms),
        "retrieve_ms": spread(retrieve_ms),
        "plan_ms": spread([window.ms for window in jit]),
        "both_ms": both,
        "matrix_ms": vectors_ms,
        "fts5_ms": words_ms,
        "times_bounds": both["p50"] / (vectors_ms + words_ms),
    }


@dataclass(frozen=True, slots=True)
class _Planned:
    ms: float
    tokens: int
    full_tokens: int
    """Tokens that `full` would send."""
    saved: float
    """The share of `full`'s tokens that is not sent, 0 to 1."""
    has_needle: bool


def _planned(
    conversation: OpenConversation, mode: Mode, question: str, retrieval: Retrieval, needle: int
) -> _Planned:
    window, ms = conversation.window(mode, question, retrieval)
    is_said = any(NEEDLE in segment.text for segment in window.segments)
    stated = any(NEEDLE in line for line in lines_on(window, needle, _TALK))
    has_needle = stated or (is_said and needle in turns_held(window))
    return _Planned(ms, window.used, window.full_tokens, window.saving, has_needle)


def _sent(planned: Sequence[_Planned | None]) -> Figures | None:
    """Return the figures of a mode; None if a question does not fit.

    Tokens and the share saved of `full` are means over the phrasings for the needle; `least_saved`
    is the minimum over all questions, and `found` counts the phrasings with the needle in the
    window, in its turn.
    """
    windows = [window for window in planned if window is not None]
    if len(windows) < len(planned):
        return None
    about_needle = windows[: len(PHRASINGS)]
    return {
        "tokens": round(statistics.fmean(window.tokens for window in about_needle)),
        "saved": statistics.fmean(window.saved for window in about_needle),
        "least_saved": min(window.saved for window in windows),
        "found": sum(window.has_needle for window in about_needle),
    }


class TimedEmbedder:
    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.id, self.dimension = embedder.id, embedder.dimension
        self.seconds = 0.0

    def embed(self, texts: Sequence[str]) -> ArrayLike:
        begun = time.perf_counter()
        vectors = self._embedder.embed(texts)
        self.seconds += time.perf_counter() - begun
        return vectors


_READS = 15
_BY_WORDS = "SELECT rowid FROM search_tokens WHERE search_tokens MATCH ? ORDER BY rank LIMIT ?"


def matrix_ms(turns: int, dimension: int) -> float:
    """Return the time in which numpy reads such a matrix once, for its product with a vector.

    The minimum of several runs: other programs can only add to it.
    """
    import numpy as np  # noqa: PLC0415  100 ms

    rows = np.full((turns, dimension), 0.5, dtype=np.float32)
    times = []
    for _ in range(_READS):
        begun = time.perf_counter()
        rows @ rows[0]
        times.append(ms_since(begun))
    return min(times)


def fts5_ms(database: Database, questions: Sequence[str]) -> float:
    """Return the median time of SQLite's full-text search for the words of each question.

    The database holds only this conversation; turns with any of the words are ranked.
    """
    times = []
    with database.read() as connection:
        for question in questions:
            wanted = terms(" ".join(content_words(question)))
            words = " OR ".join(f'"{term}"' for term in wanted)
            begun = time.perf_counter()
            connection.execute(_BY_WORDS, (words, SHORTLIST)).fetchall()
            times.append(ms_since(begun))
    return statistics.median(times)
