"""Whether a turn is recalled whatever it is written in: `python -m tests.benchmarks.kinds`.

Sixteen probes a kind, a turn and a question about it each, stand in a conversation of their own,
once between the short turns of people and once between a model's long answers with code, both in
English, and with two dozen turns of small talk in the language of the probes. The
weights and the word lists were made on the first half of each kind; `--held-out` asks the other.
A probe counts as in the window where its turn is, whole or as an excerpt, and as found at six
where it is among the first six of the shortlist.
"""

from __future__ import annotations

import argparse
import random
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from jitchat.bench.asking import OpenConversation, indexed, turns_held
from jitchat.index.embedding_models import DEFAULT_MODEL
from jitchat.index.load_embedder import load_embedder
from jitchat.lab.filler import Talk, exchanges
from jitchat.transfer.plain import read_plain
from jitchat.values import Mode
from jitchat.window.budget import Budget
from jitchat.window.tokens import EstimateCounter
from tests.benchmarks.paraphrase import read_crowd
from tests.support import ROOT, SHARED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jitchat.index.embedder import Embedder

DATA = ROOT / "tests" / "data" / "kinds"
MINILM = SHARED / "models" / "all-MiniLM-L6-v2"
TALK, ANSWERS = "talk", "answers"
BACKGROUNDS = (TALK, ANSWERS)
TURNS = {TALK: 480, ANSWERS: 240}
_SHARE = 0.7
"""Of a conversation: behind that stands no probe, so that none is in the recent block."""
SEED = 1811


@dataclass(frozen=True, slots=True)
class Probe:
    """A turn, and a question that it answers, in the same language."""

    turn: str
    question: str
    held_out: bool


@dataclass(frozen=True, slots=True)
class Result:
    probe: Probe
    rank: int | None
    """On the shortlist, from 1."""
    in_window: bool
    reason: str
    """The words that matched."""


def kinds() -> list[str]:
    return sorted(file.stem for file in DATA.glob("*.txt"))


def read_probes(kind: str) -> list[Probe]:
    lines = (DATA / f"{kind}.txt").read_text(encoding="utf-8").splitlines()
    pairs = list(zip(lines[::2], lines[1::2], strict=True))
    return [Probe(*pair, at >= len(pairs) / 2) for at, pair in enumerate(pairs)]


def read_beside(kind: str) -> list[str]:
    """Read turns in the language of a kind that are about much the same, and answer nothing."""
    file = DATA / "same_language" / f"{kind}.txt"
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


def background(name: str) -> list[dict[str, str]]:
    """Turns of somebody else's talk, in the form in which turns are imported."""
    if name == TALK:
        crowd = random.Random(SEED).sample(read_crowd(), TURNS[TALK])
        return [
            {"role": ("user", "assistant")[at % 2], "content": each["content"]}
            for at, each in enumerate(crowd)
        ]
    said = islice(exchanges("kinds", frozenset(), Talk.LONG), TURNS[ANSWERS] // 2)
    return [
        {"role": role, "content": text}
        for each in said
        for role, text in (("user", each.text), ("assistant", each.reply))
    ]


def ask(kind: str, ground: Sequence[dict[str, str]], embedder: Embedder) -> list[Result]:
    """Put the probes' turns into a conversation, as the user's, and ask for each."""
    probes, chance, items = read_probes(kind), random.Random(SEED), list(ground)
    for said in read_beside(kind):
        at = 2 * chance.randrange(2, len(items) // 2)
        items[at:at] = [{"role": "user", "content": said}, {"role": "assistant", "content": "👍"}]
    reach = int(len(items) * _SHARE) // 2
    for place, probe in zip(
        sorted(chance.sample(range(2, reach), len(probes)), reverse=True),
        chance.sample(probes, len(probes)),
        strict=True,
    ):
        items[2 * place : 2 * place] = [
            {"role": "user", "content": probe.turn},
            {"role": "assistant", "content": "👍"},
        ]
    with indexed(read_plain(items, "kinds")[0], embedder) as memory:
        talk = OpenConversation(memory, EstimateCounter(), Budget())
        positions = {turn.content: turn.position for turn in memory.turns}
        results = []
        for probe in probes:
            place = positions[probe.turn]
            retrieval, _ = talk.retrieve(probe.question)
            window, _ = talk.window(Mode.JIT, probe.question, retrieval)
            row = next((each for each in retrieval.candidates if each.turn == place), None)
            results.append(
                Result(
                    probe,
                    row and row.rank,
                    place in turns_held(window),
                    ", ".join(row.matched) if row else "",
                )
            )
        return results


def shares(results: Sequence[Result], *, held_out: bool) -> tuple[float, float]:
    """In the window, and among the first six: of the probes of one half."""
    asked = [each for each in results if each.probe.held_out == held_out]
    held = sum(each.in_window for each in asked)
    at_six = sum(each.rank is not None and each.rank <= 6 for each in asked)
    return held / len(asked), at_six / len(asked)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.kinds")
    parser.add_argument("--held-out", action="store_true", help="ask the other half")
    parser.add_argument("--misses", action="store_true", help="list what is not in the window")
    parser.add_argument("--kind", action="append", choices=kinds())
    parser.add_argument("--embedder", action="append", choices=["none", "builtin", "fastembed"])
    given = parser.parse_args()
    names = given.embedder or ["builtin", "none", *["fastembed"] * MINILM.is_dir()]
    embedders = {
        name: load_embedder(name, DEFAULT_MODEL, MINILM if name == "fastembed" else None, Path())
        for name in names
    }
    grounds = {name: background(name) for name in BACKGROUNDS}
    heads = "".join(f"{f'{embedder}, {ground}':>20}" for embedder in names for ground in grounds)
    print(f"{'in the window / @6':<20}{heads}")
    for kind in given.kind or kinds():
        line, missed = f"{kind:<20}", list[str]()
        for name, embedder in embedders.items():
            for ground, turns in grounds.items():
                results = ask(kind, turns, embedder)
                line += "{:>14.2f} /{:>4.2f}".format(*shares(results, held_out=given.held_out))
                missed += [
                    f"    {name}, {ground}: {each.rank or '–'} [{each.reason}] "
                    f"{each.probe.question} | {each.probe.turn}"
                    for each in results
                    if not each.in_window and each.probe.held_out == given.held_out
                ]
        print("\n".join([line, *(missed if given.misses else [])]), flush=True)


if __name__ == "__main__":
    main()
