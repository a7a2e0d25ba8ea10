"""Whether a turn is found by a question that shares no content word with it.

`python -m tests.benchmarks.paraphrase [--embedder lexical|builtin|fastembed] [--model-path DIR]`

A hundred question–turn pairs stand in a crowd of a thousand other turns, one conversation in a
seeded order, and go the way of the app: import, index, retrieve. Beside it stands what the
cosine of the same embedder finds by itself, for that is what the pairs allow. Those of
`paraphrase` say the same in other words; those of `oblique` want a step of reasoning besides.
"""

from __future__ import annotations

import argparse
import json
import random
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from jitchat.bench.asking import indexed
from jitchat.index.embedder import Embedder
from jitchat.index.embedding_models import DEFAULT_MODEL
from jitchat.index.load_embedder import load_embedder
from jitchat.index.tables import IndexTables
from jitchat.index.vectors import vectors_of
from jitchat.transfer.plain import read_plain
from tests.support import ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jitchat.memory import Memory

DATA = ROOT / "tests" / "data"
PARAPHRASE, OBLIQUE = "paraphrase", "oblique"
AT = 6
SEED = 1811


@dataclass(frozen=True, slots=True)
class Pair:
    """A question and the turn that answers it."""

    question: str
    turn: str
    role: str


@dataclass(frozen=True, slots=True)
class Ranks:
    """The rank of each pair's turn, from 1; None where it is not on the list."""

    retrieved: tuple[int | None, ...]
    cosine: tuple[int | None, ...]
    """By the embedder alone, best first; all None where it makes no vectors."""


def read_pairs(kind: str = PARAPHRASE) -> list[Pair]:
    return [Pair(**each) for each in _lines(f"{kind}.jsonl")]


def read_crowd() -> list[dict[str, str]]:
    """The other turns, in the form in which turns are imported."""
    return _lines("crowd.jsonl")


def share_found(ranks: Sequence[int | None], at: int = AT) -> float:
    """any@6: the share of the questions whose turn is among the first six."""
    return sum(rank is not None and rank <= at for rank in ranks) / len(ranks)


def ranks_with(embedder: Embedder, kind: str = PARAPHRASE, seed: int = SEED) -> Ranks:
    """Import, index and ask everything, in a database that is gone afterwards."""
    pairs = read_pairs(kind)
    said = [{"role": pair.role, "content": pair.turn} for pair in pairs]
    items = [*said, *read_crowd()]
    random.Random(seed).shuffle(items)
    with indexed(read_plain(items, "paraphrase")[0], embedder) as memory:
        return Ranks(
            tuple(_retrieved_at(memory, pair) for pair in pairs), _cosine_ranks(memory, pairs)
        )


def _lines(name: str) -> list[dict[str, str]]:
    text = (DATA / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def _retrieved_at(memory: Memory, pair: Pair) -> int | None:
    found = memory.retrieve(pair.question, memory.turns[-1].position + 1).candidates
    place = next(turn.position for turn in memory.turns if turn.content == pair.turn)
    return next((row.rank for row in found if row.turn == place), None)


def _cosine_ranks(memory: Memory, pairs: Sequence[Pair]) -> tuple[int | None, ...]:
    """Compare each question's vector with those that were stored."""
    embedder, turns = memory.index.embedder, memory.turns
    if not embedder.dimension:
        return (None,) * len(pairs)
    rows = IndexTables(memory.store.database, memory.conversation.id).rows(turns, embedder)
    stored = np.array([np.frombuffer(row.vector or b"", dtype="<f2") for row in rows])
    cosines = vectors_of(embedder, [pair.question for pair in pairs]) @ stored.T
    said = [turn.content for turn in turns]
    wanted = cosines[np.arange(len(pairs)), [said.index(pair.turn) for pair in pairs]]
    return tuple(int(rank) for rank in (cosines > wanted[:, None]).sum(axis=1) + 1)


def _show(name: str, ranks: Sequence[int | None]) -> None:
    shares = "   ".join(f"any@{at} {share_found(ranks, at):.2f}" for at in (1, AT, 12, 32, 50))
    print(f"{name:<24} {shares}")


def _show_misses(kind: str, ranks: Ranks) -> None:
    for pair, found, close in zip(read_pairs(kind), ranks.retrieved, ranks.cosine, strict=True):
        if found is None or found > AT:
            print(f"{found or '–':>4} {close or '–':>4}  {pair.question} | {pair.turn}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.paraphrase")
    parser.add_argument("--embedder", choices=["lexical", "builtin", "fastembed"])
    parser.add_argument("--model-path", type=Path, metavar="DIR")
    parser.add_argument("--misses", action="store_true", help="list what is not found, with ranks")
    given = parser.parse_args()
    name = given.embedder or ("fastembed" if given.model_path else "builtin")
    name = "none" if name == "lexical" else name
    embedder = load_embedder(name, DEFAULT_MODEL, given.model_path, Path())
    for kind in (PARAPHRASE, OBLIQUE):
        ranks = ranks_with(embedder, kind)
        _show(f"{kind}, retrieved", ranks.retrieved)
        if embedder.dimension:
            _show(f"{kind}, cosine alone", ranks.cosine)
        if given.misses:
            _show_misses(kind, ranks)


if __name__ == "__main__":
    main()
