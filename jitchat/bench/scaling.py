"""A synthetic talk put to the app: store → index → open → retrieve → plan, each stage timed.

Building and asking are done by a process each, so that memory is that of the second: the whole
process that has the conversation open, without the screen.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from jitchat.bench.haystack import PHRASINGS, Haystack, Length, other_questions
from jitchat.bench.questions import OpenTalk, held
from jitchat.bench.scores import (
    QUESTIONS,
    Asked,
    Built,
    Measured,
    Sent,
    embedder_name,
    fts5_ms,
    matrix_ms,
    spread,
)
from jitchat.bench.subprocess_worker import Fields, Tell, alone
from jitchat.errors import WindowOverflow
from jitchat.index.embedder import Embedder, load_embedder
from jitchat.index.indexer import BATCH
from jitchat.memory import Memory
from jitchat.store.database import Database
from jitchat.store.store import ColdStore
from jitchat.values import Mode, Retrieval, Turn
from jitchat.window.budget import Budget
from jitchat.window.tokens import TokenCounter, counter_for

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


_TALK = "talk"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be measured with, as it is told to another process."""

    embedder: str
    embedding_model: str
    folder: str | None
    cache: str
    model: str
    """Whose tokens are counted."""
    budget: Budget
    modes: tuple[Mode, ...]

    @classmethod
    def read(cls, fields: Fields) -> Wanted:
        """Read what `asdict` and JSON made of one."""
        modes = tuple(map(Mode, fields["modes"]))
        return cls(**{**fields, "budget": Budget(**fields["budget"]), "modes": modes})

    def setup(self) -> Setup:
        """Name what makes the embedder and the counter."""
        folder = Path(self.folder) if self.folder else None
        return Setup(
            lambda: load_embedder(self.embedder, self.embedding_model, folder, Path(self.cache)),
            lambda: counter_for(self.model, os.environ),
            self.budget,
            self.modes,
        )


@dataclass(frozen=True, slots=True)
class Setup:
    """What is measured with; each process makes an embedder and a counter of its own."""

    embedder: Callable[[], Embedder]
    counter: Callable[[], TokenCounter]
    budget: Budget
    modes: tuple[Mode, ...] = tuple(Mode)


def steps(size: int) -> int:
    """Count what `measured` tells of a talk of so many turns."""
    return 2 * size + QUESTIONS


def measured(wanted: Wanted, talk: Haystack, tell: Tell) -> Measured:
    """Build a talk and ask about it, in a database that is gone afterwards.

    Raises:
        BenchFailed: One of the processes did not get to the end.

    """
    with TemporaryDirectory(prefix="jitchat-bench-") as folder:
        path = str(Path(folder) / "bench.db")
        arguments = {"wanted": asdict(wanted), "talk": asdict(talk), "path": path}
        built = alone(f"{__name__}:build_apart", arguments, tell)
        asked = alone(f"{__name__}:ask_apart", arguments, tell)
    modes = {mode: Sent(**sent) if sent else None for mode, sent in asked["modes"].items()}
    return Measured(talk.size, talk.needle, Built(**built), Asked(**{**asked, "modes": modes}))


def build_apart(wanted: Fields, talk: Fields, path: str, tell: Tell) -> Fields:
    """Do `build` for another process."""
    return asdict(build(Wanted.read(wanted).setup(), _talk(talk), Path(path), tell))


def ask_apart(wanted: Fields, talk: Fields, path: str, tell: Tell) -> Fields:
    """Do `ask` for another process."""
    return asdict(ask(Wanted.read(wanted).setup(), _talk(talk), Path(path), tell))


def _talk(fields: Fields) -> Haystack:
    return Haystack(fields["size"], Length(fields["length"]))


def build(setup: Setup, talk: Haystack, path: Path, tell: Tell) -> Built:
    """Store and index a talk in a new database; tells of each turn as it is stored and indexed."""
    embedder = TimedEmbedder(setup.embedder())
    with _opened(path) as store:
        turns, made = list(talk.turns()), store.create(_TALK, _TALK)
        begun = time.perf_counter()
        store.append(made.id, _telling(turns, tell))
        stored = time.perf_counter()
        memory = Memory(store, made, embedder)
        for entries in memory.index.catch_up():
            tell(len(entries))
        if memory.index.failure:
            raise memory.index.failure
        indexed = time.perf_counter()
    per_turn = 1000 / talk.size
    return Built(
        (stored - begun) * per_turn,
        (indexed - stored - embedder.seconds) * per_turn,
        embedder.seconds * per_turn,
        embedder_name(embedder.id),
    )


def ask(setup: Setup, talk: Haystack, path: Path, tell: Tell) -> Asked:
    """Open the database that `build` made and put the questions; tells of each."""
    embedder, counter = TimedEmbedder(setup.embedder()), setup.counter()
    asked = [*PHRASINGS, *other_questions(QUESTIONS - len(PHRASINGS))]
    with _opened(path) as store:
        begun = time.perf_counter()
        memory = Memory(store, store.conversation(_TALK), embedder)
        opened = OpenTalk(memory, counter, setup.budget)
        opened.retrieve(asked[0])
        open_ms = (time.perf_counter() - begun) * 1000
        answers = []
        for question in asked:
            answers.append(timed(opened, embedder, question, setup.modes))
            tell(1)
        resident, peak = memory_mb()
        words = fts5_ms(store.database, asked)
    needles = answers[: len(PHRASINGS)]
    matrix = matrix_ms(talk.size, embedder.dimension)
    both = spread([each.retrieve_ms + each.jit.ms for each in answers])
    return Asked(
        counter=counter.name,
        full_tokens=round(fmean(each.jit.full_tokens for each in needles)),
        modes={mode.value: _sent(mode, answers, talk.needle) for mode in setup.modes},
        open_ms=open_ms,
        embed_ms=spread([each.embed_ms for each in answers]),
        retrieve_ms=spread([each.retrieve_ms for each in answers]),
        plan_ms=spread([each.jit.ms for each in answers]),
        both_ms=both,
        matrix_ms=matrix,
        fts5_ms=words,
        times_bounds=both["p50"] / (matrix + words),
        resident_mb=resident,
        peak_mb=peak,
    )


def _sent(mode: Mode, answers: Sequence[Timed], needle: int) -> Sent | None:
    planned = [window for each in answers if (window := each.modes[mode])]
    if len(planned) < len(answers):
        return None
    needles = planned[: len(PHRASINGS)]
    return Sent(
        tokens=round(fmean(each.tokens for each in needles)),
        saved=fmean(each.saved for each in needles),
        least_saved=min(each.saved for each in planned),
        found=sum(needle in each.held for each in needles),
    )


def _telling(turns: Sequence[Turn], tell: Tell) -> Iterator[Turn]:
    """Tell of a batch at a time: telling takes time as well."""
    for start in range(0, len(turns), BATCH):
        yield from (batch := turns[start : start + BATCH])
        tell(len(batch))


@contextmanager
def _opened(path: Path) -> Iterator[ColdStore]:
    database = Database(path)
    try:
        yield ColdStore(database)
    finally:
        database.close()


@dataclass(frozen=True, slots=True)
class Planned:
    """What one mode sends."""

    ms: float
    tokens: int
    full_tokens: int
    """What `full` would send."""
    saved: float
    """The share of `full`'s tokens that is not sent, 0 to 1."""
    held: frozenset[int]
    """Positions of the turns that are in the window at full text."""


@dataclass(frozen=True, slots=True)
class Timed:
    """What came of one question."""

    embed_ms: float
    retrieve_ms: float
    """Without the embedding."""
    jit: Planned
    modes: Mapping[Mode, Planned | None]
    """None where the mode refuses."""


class TimedEmbedder:
    """Another embedder, and the seconds that it took so far."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.id, self.dimension = embedder.id, embedder.dimension
        self.seconds = 0.0

    def embed(self, texts: Sequence[str]) -> ArrayLike:
        """As the other does."""
        begun = time.perf_counter()
        try:
            return self._embedder.embed(texts)
        finally:
            self.seconds += time.perf_counter() - begun


def timed(talk: OpenTalk, embedder: TimedEmbedder, question: str, modes: Collection[Mode]) -> Timed:
    """Retrieve once and plan for each mode; `embedder` is the talk's.

    Raises:
        WindowOverflow: Not even the question fits.

    """
    embedded, begun = embedder.seconds, time.perf_counter()
    retrieval = talk.retrieve(question)
    took, embed_ms = _ms_since(begun), (embedder.seconds - embedded) * 1000
    jit = _planned(talk, Mode.JIT, question, retrieval)
    planned: dict[Mode, Planned | None] = {}
    for mode in modes:
        try:
            planned[mode] = jit if mode is Mode.JIT else _planned(talk, mode, question, retrieval)
        except WindowOverflow:
            planned[mode] = None
    return Timed(embed_ms, took - embed_ms, jit, planned)


def _planned(talk: OpenTalk, mode: Mode, question: str, retrieval: Retrieval) -> Planned:
    begun = time.perf_counter()
    window = talk.window(mode, question, retrieval)
    took = _ms_since(begun)
    return Planned(took, window.used, window.full_tokens, window.saving, held(window))


def _ms_since(begun: float) -> float:
    return (time.perf_counter() - begun) * 1000


_STATUS = Path("/proc/self/status")
_SIZES = re.compile(r"^(VmRSS|VmHWM):\s+(\d+) kB$", re.MULTILINE)


def memory_mb() -> tuple[float | None, float | None]:
    """Tell what is resident now, and the most that ever was, in MB of 2²⁰ bytes.

    None where the system does not say.
    """
    if _STATUS.exists():
        told = dict(_SIZES.findall(_STATUS.read_text(encoding="utf-8")))
        return int(told["VmRSS"]) / 1024, int(told["VmHWM"]) / 1024
    if sys.platform == "darwin":
        from resource import RUSAGE_SELF, getrusage  # noqa: PLC0415  is not on every system

        return None, getrusage(RUSAGE_SELF).ru_maxrss / 2**20
    return None, None
