"""A synthetic talk put to the app: store → index → open → retrieve → plan, each stage timed.

Building and asking are done by a process each, so that memory is that of the second: the whole
process that has the conversation open, without the screen.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

from jitchat.bench.alone import Fields, Tell, alone
from jitchat.bench.bounds import fts5_ms, matrix_ms
from jitchat.bench.haystack import PHRASINGS, Haystack, Length, other_questions
from jitchat.bench.measures import QUESTIONS, Asked, Built, Measured, Sent, embedder_name
from jitchat.bench.resident import memory_mb
from jitchat.bench.scores import spread
from jitchat.bench.talk import OpenTalk
from jitchat.bench.timing import Timed, TimedEmbedder, timed
from jitchat.memory.cold.database import Database
from jitchat.memory.cold.store import ColdStore
from jitchat.memory.embedding.embedder import Embedder, load_embedder
from jitchat.memory.index.batches import BATCH
from jitchat.memory.memory import Memory
from jitchat.turn import Mode, Turn
from jitchat.window.budget import Budget
from jitchat.window.tokens import TokenCounter, counter_for

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
        for entries in memory.catch_up():
            tell(len(entries))
        if memory.failure:
            raise memory.failure
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
