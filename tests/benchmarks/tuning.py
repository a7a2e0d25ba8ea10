"""What weights reach on a conversation that they were not chosen on.

`python -m tests.benchmarks.tuning --data locomo10.json beam.json [--embedder NAME] [--tries 80]`

Weights are drawn around those in use, which are not among them, and all are measured on every
conversation. For each one, those that are best on the others are chosen, and what they reach on
it is told: no figure is of a conversation that had a say in it. Each file counts as much as any
other, however many questions it has.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from dataclasses import dataclass, fields, replace
from operator import mul
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from jitchat.bench.asking import indexed
from jitchat.bench.questions import LabelledConversation, Question, read_labelled
from jitchat.index.embedder import Embedder
from jitchat.index.embedding_models import DEFAULT_MODEL
from jitchat.index.load_embedder import load_embedder
from jitchat.index.retrieve import Query, make_query
from jitchat.index.scoring import WEIGHTS, Weights
from jitchat.index.search import HotIndex
from jitchat.index.tables import IndexTables

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from jitchat.index.tables import IndexRow

AT = 6
FACTORS = (0.4, 0.6, 0.8, 1.25, 1.6, 2.5)
CHANGED = 6
"""So many of the weights are off by one of the factors in each try."""
SEED = 1811

Vectors = NDArray[np.float32]
Reached = tuple[float, float]
"""any@6 and all@6."""


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation's index rows, and its questions as queries."""

    rows: tuple[IndexRow, ...]
    asked: tuple[tuple[Query, Question], ...]


class Remembering:
    """An embedder that makes each vector once."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.id, self.dimension = embedder.id, embedder.dimension
        self._made: dict[tuple[str, ...], Vectors] = {}

    def embed(self, texts: Sequence[str]) -> Vectors:
        key = tuple(texts)
        if key not in self._made:
            self._made[key] = self._embedder.embed(texts)
        return self._made[key]


def tries(count: int, seed: int = SEED) -> Iterator[Weights]:
    """Weights around those in use."""
    draw = random.Random(seed)
    values = {each.name: getattr(WEIGHTS, each.name) for each in fields(Weights)}
    names = [name for name, value in values.items() if isinstance(value, float)]
    for _ in range(count):
        changed = {
            name: values[name] * draw.choice(FACTORS) for name in draw.sample(names, CHANGED)
        }
        if changed.get("doubted", WEIGHTS.doubted) < changed.get("believed", WEIGHTS.believed):
            yield replace(WEIGHTS, **changed)


def read_talk(talk: LabelledConversation, embedder: Embedder) -> Talk:
    """Import and index as the app does."""
    with indexed(talk.found, embedder) as memory:
        tables = IndexTables(memory.store.database, memory.conversation.id)
        rows = tables.rows(memory.turns, embedder)
    speakers = frozenset(row.speaker for row in rows)
    asked = ((make_query(each.text, "", speakers), each) for each in talk.questions)
    return Talk(tuple(rows), tuple(asked))


def reached(talk: Talk, embedder: Embedder, weights: Weights) -> Reached:
    """any@6 and all@6 of one conversation."""
    index = HotIndex(embedder, weights)
    index.add(talk.rows)
    end = talk.rows[-1].position + 1
    hits = []
    for query, question in talk.asked:
        best = {row.turn for row in index.search(query, end, AT)}
        wanted = question.evidence
        hits.append((bool(best & wanted), bool(wanted) and wanted <= best))
    return fmean(some for some, _ in hits), fmean(every for _, every in hits)


def left_out(table: Sequence[Sequence[Reached]], shares: Sequence[float]) -> list[Reached]:
    """What is reached on each conversation by the try that is best on the others.

    `table` has the tries, and in each what every conversation reached, which counts by its share.
    """
    chosen = [
        max(range(len(table)), key=lambda row: _worth(table[row], shares, without=place))
        for place in range(len(shares))
    ]
    return [table[row][place] for place, row in enumerate(chosen)]


def overall(found: Sequence[Reached], shares: Sequence[float]) -> Reached:
    """The weighted means."""
    return _mean([some for some, _ in found], shares), _mean([every for _, every in found], shares)


def _worth(row: Sequence[Reached], shares: Sequence[float], without: int) -> float:
    kept = [place for place in range(len(shares)) if place != without]
    return _mean([sum(row[place]) for place in kept], [shares[place] for place in kept])


def _mean(values: Sequence[float], shares: Sequence[float]) -> float:
    return sum(map(mul, values, shares)) / sum(shares)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.tuning")
    parser.add_argument("--data", type=Path, nargs="+", required=True, metavar="FILE")
    names = ["lexical", "builtin", "fastembed"]
    parser.add_argument("--embedder", choices=names, default="builtin")
    parser.add_argument("--model-path", type=Path, metavar="DIR")
    parser.add_argument("--tries", type=int, default=80)
    given = parser.parse_args()
    name = "none" if given.embedder == "lexical" else given.embedder
    embedder = Remembering(load_embedder(name, DEFAULT_MODEL, given.model_path, Path()))
    talks = [
        (file, read_talk(talk, embedder))
        for file in given.data
        for talk in read_labelled(file)
        if talk.questions
    ]
    asked: Counter[Path] = Counter()
    for file, talk in talks:
        asked[file] += len(talk.asked)
    shares = [len(talk.asked) / asked[file] for file, talk in talks]
    made = list(tries(given.tries))
    in_use = [reached(talk, embedder, WEIGHTS) for _, talk in talks]
    chosen = left_out([[reached(talk, embedder, row) for _, talk in talks] for row in made], shares)
    for file, count in asked.items():
        own = [share * (file == each) for share, (each, _) in zip(shares, talks, strict=True)]
        print(f"{file.stem}: {len(made)} tries, {count} questions, {embedder.id}")
        for what, rows in (("weights in use", in_use), ("chosen on the others", chosen)):
            some, every = overall(rows, own)
            print(f"{what:20}   any@6 {some:.3f}   all@6 {every:.3f}")


if __name__ == "__main__":
    main()
