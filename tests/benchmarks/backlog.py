"""What indexing a backlog costs beside its embedding alone: `python -m tests.benchmarks.backlog`.

The same texts go through `TextEmbedding.embed` as it comes, in its own batches of 256, and
through our whole backlog: reading what is missing, entries, vectors, and the commits. The two
take turns on one loaded model, so that what else the machine does falls on both.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from jitchat.bench.haystack import Haystack
from jitchat.bench.scaling import TimedEmbedder
from jitchat.errors import JitchatError
from jitchat.index.embedder import Embedder
from jitchat.index.embedding_models import DEFAULT_MODEL
from jitchat.index.indexer import Indexer
from jitchat.store.database import Database
from jitchat.store.store import ColdStore
from jitchat.values import Role, Turn
from tests.support import SHARED
from tests.transfer.files import read_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import ArrayLike

    from jitchat.index.fast_embedder import FastEmbedder

MODEL = SHARED / "models" / "all-MiniLM-L6-v2"
LOCOMO = SHARED / "data" / "locomo" / "locomo5.json"
GOAL = 1.3
WORDS = (20, 300)
"""In the turns of mixed prose, by turns at random."""
SEED = 1811


@dataclass(frozen=True, slots=True)
class Cost:
    """Of one run; where others use the machine too, its CPU tells more than the clock."""

    seconds: float
    cpu: float
    """Seconds of all its threads."""


@dataclass(frozen=True, slots=True)
class Round:
    """What the same texts took."""

    alone: Cost
    backlog: Cost
    within: float
    """Seconds of the backlog that the embedder took: the rest is ours."""


class Recording:
    """An embedder that keeps what it was asked for."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.id, self.dimension = embedder.id, embedder.dimension
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> ArrayLike:
        self.asked += texts
        return self._embedder.embed(texts)


def locomo_turns(count: int) -> list[Turn]:
    """The first turns of real talks, about 23 words each."""
    turns = [turn for found in read_file(LOCOMO, None) for turn in found.turns]
    return turns[:count]


def mixed_turns(count: int) -> list[Turn]:
    """Prose in turns of 20 and of 300 words, as of somebody who asks and is told at length."""
    draw = random.Random(SEED)
    said = iter(" ".join(turn.content for turn in Haystack(count * 12).turns()).split())
    made = []
    for number in range(count):
        words = [next(said) for _ in range(draw.choice(WORDS))]
        made.append(Turn(0, Role.ASSISTANT if number % 2 else Role.USER, " ".join(words)))
    return made


@contextmanager
def stored(turns: Sequence[Turn]) -> Iterator[tuple[ColdStore, str]]:
    """A conversation of them in a database of its own, nothing indexed."""
    with tempfile.TemporaryDirectory(prefix="jitchat-backlog-") as folder:
        database = Database(Path(folder) / "cold.db")
        try:
            store = ColdStore(database)
            made = store.create("backlog")
            store.append(made.id, turns)
            yield store, made.id
        finally:
            database.close()


def index(turns: Sequence[Turn], embedder: Embedder) -> Cost:
    """What the whole backlog takes."""
    with stored(turns) as (store, conversation):
        indexer = Indexer(store, conversation, embedder)
        cost, written = cost_of(lambda: sum(map(len, indexer.catch_up())))
    if indexer.failure:
        raise indexer.failure
    if written != len(turns):
        raise AssertionError(f"{written} of {len(turns)} turns were indexed")
    return cost


def cost_of(run: Callable[[], int]) -> tuple[Cost, int]:
    started, cpu = time.perf_counter(), time.process_time()
    made = run()
    return Cost(time.perf_counter() - started, time.process_time() - cpu), made


def texts_of(turns: Sequence[Turn], embedder: Embedder) -> list[str]:
    """The texts that the backlog of these turns embeds, in the order of the turns."""
    recording = Recording(embedder)
    index(turns, recording)
    texts = [turn.content for turn in turns]
    if sorted(recording.asked) != sorted(texts):
        raise AssertionError("the backlog embeds other texts than these")
    return texts


def measured(
    turns: Sequence[Turn], embedder: FastEmbedder, rounds: int, batch_size: int
) -> list[Round]:
    """So many rounds, after one of each that is not counted; who begins takes turns."""
    texts = texts_of(turns, embedder)

    def alone() -> Cost:
        return cost_of(lambda: len(list(embedder._model.embed(texts, batch_size))))[0]

    alone()
    made = []
    for number in range(rounds):
        first = alone() if number % 2 else None
        timed = TimedEmbedder(embedder)
        backlog = index(turns, timed)
        made.append(Round(first or alone(), backlog, timed.seconds))
    return made


def show(what: str, count: int, rounds: Sequence[Round]) -> None:
    alone = statistics.median(count / each.alone.seconds for each in rounds)
    backlog = statistics.median(count / each.backlog.seconds for each in rounds)
    print(f"{what}: {count:,} texts, {len(rounds)} rounds")
    print(f"  TextEmbedding.embed alone {alone:>8,.1f} texts/s")
    print(f"  our whole backlog         {backlog:>8,.1f} texts/s")
    show_ratios("backlog / alone", [e.backlog.seconds / e.alone.seconds for e in rounds], GOAL)
    show_ratios("the same, of CPU", [e.backlog.cpu / e.alone.cpu for e in rounds])
    show_ratios("backlog / embedding in it", [e.backlog.seconds / e.within for e in rounds])


def show_ratios(what: str, ratios: Sequence[float], goal: float | None = None) -> None:
    """The median, and between which it was."""
    middle = statistics.median(ratios)
    wanted = f"   goal ≤ {goal}" if goal else ""
    print(
        f"  {what:<25} {middle:>8.2f}   ({min(ratios):.2f} – {max(ratios):.2f}){wanted}", flush=True
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.backlog")
    parser.add_argument("--model-path", type=Path, default=MODEL, metavar="DIR")
    parser.add_argument("--turns", type=int, default=512, help="of LoCoMo (default 512)")
    parser.add_argument("--prose", type=int, default=256, help="turns of prose (default 256)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--batch-size", type=int, default=256, help="of the embedding alone (default: fastembed's)"
    )
    given = parser.parse_args()

    from jitchat.index.fast_embedder import FastEmbedder  # only here: a second to load

    try:
        embedder = FastEmbedder(DEFAULT_MODEL, given.model_path, Path())
    except (JitchatError, ValueError, OSError) as error:
        print(f"skipped: no model in {given.model_path} ({error}); name one by --model-path")
        return
    kinds = {"prose of 20 or 300 words": mixed_turns(given.prose)}
    if LOCOMO.is_file():
        kinds["LoCoMo"] = locomo_turns(given.turns)
    else:
        print("LoCoMo: skipped, for its file is not here (JITCHAT_SHARED names the folder)")
    for kind, turns in kinds.items():
        if turns:
            show(kind, len(turns), measured(turns, embedder, given.rounds, given.batch_size))


if __name__ == "__main__":
    main()
