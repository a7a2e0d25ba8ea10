"""Whether a fact in any of many long turns is in the window: `python -m tests.benchmarks.excerpts`.

320 turns of 1,500 words (`--turns`), as plain paragraphs and as a model writes them, with headings,
lists and code. Facts of the rot lab stand in turns of their own, each somewhere in its turn; each
is asked for once, with the usual budget. At last each turn has a fact, all alike but for a person,
a place and a number; 100 are asked for. The whole sentence has to be in what is sent. `--whole` has
turns recalled whole or not at all.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tomllib
from collections import defaultdict
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import TYPE_CHECKING

from jitchat.bench.asking import OpenConversation, indexed
from jitchat.bench.haystack import Haystack, Length
from jitchat.index.builtin_embedder import BuiltinEmbedder
from jitchat.index.embedder import NoEmbedder
from jitchat.lab.facts import Kind as Question
from jitchat.lab.facts import Where, makers
from jitchat.text.sentences import sentences
from jitchat.transfer.turns import FileConversation
from jitchat.values import Mode
from jitchat.window import recall
from jitchat.window.budget import Budget
from jitchat.window.tokens import EstimateCounter
from jitchat.window.window import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jitchat.index.embedder import Embedder
    from jitchat.values import Turn

TURNS = 320
ALIKE = 100
LOCKED = (
    *("locker", "safe", "bike shed", "printer room", "lab fridge", "archive", "server cage"),
    *("boat house", "wine cellar", "meter cupboard"),
)
KINDS = (
    *(Question.DIRECT, Question.EXACT, Question.UPDATED, Question.DISTRACTED),
    Question.PARAPHRASED,
)
SEED = 320


@dataclass(frozen=True, slots=True)
class Asked:
    kind: str
    rank: int | None
    """Of the fact's turn, from 1; None where it is not on the shortlist."""
    has_turn: bool
    has_fact: bool
    tokens: int
    recalled: int
    """Turns that were recalled, whole or not."""
    ms: float
    """Of planning."""


@dataclass(frozen=True, slots=True)
class Planted:
    kind: str
    question: str
    turn: int
    text: str
    """The statement that holds the answer."""


def planted(turns: list[Turn], chance: random.Random, dressed: bool) -> list[Planted]:
    """Put facts into the turns; those that hold one are changed in place."""
    facts = [make(chance) for kind in KINDS for make in makers()[kind]]
    places = iter(chance.sample(range(len(turns) - 8), len(turns) - 8))
    found: list[Planted] = []
    said: dict[int, str] = {}
    for fact in facts:
        needed = next(each for each in fact.sayings if each.is_needed)
        at = sorted(next(places) for _ in fact.sayings)
        before = [each for each in fact.sayings if each.where is Where.BEFORE]
        others = [each for each in fact.sayings if each.where is Where.APART]
        ordered = [*before, needed, *others] if before else [needed, *others]
        if not before:
            chance.shuffle(at)
        said |= dict(zip(at, (each.text for each in ordered), strict=True))
        position = turns[at[len(before)]].position
        found.append(Planted(fact.kind, fact.question, position, needed.text))
    for at, turn in enumerate(turns):
        told = sentences(turn.content)
        if at in said:
            told.insert(chance.randrange(len(told)), said[at])
        text = "\n".join(written(told, chance)) if dressed else " ".join(told)
        turns[at] = replace(turn, content=text)
    return found


def planted_alike(turns: list[Turn], chance: random.Random) -> list[Planted]:
    """Put one fact into each turn, in place; some of them, to be asked for.

    The other talk is of the same people.
    """
    words = tomllib.loads((files("jitchat.bench") / "data" / "vocabulary.toml").read_text("utf-8"))
    owners = words["people"]
    pairs = chance.sample([(owner, what) for owner in owners for what in LOCKED], len(turns))
    found = []
    for at, (owner, what) in enumerate(pairs):
        text = f"By the way, the code of the {what} of {owner} is {chance.randint(1000, 9999)}."
        told = sentences(turns[at].content)
        told.insert(chance.randrange(len(told)), text)
        turns[at] = replace(turns[at], content=" ".join(told))
        question = f"What is the code of {owner}'s {what}?"
        found.append(Planted("alike", question, turns[at].position, text))
    return chance.sample(found[:-50], ALIKE)


def written(told: list[str], chance: random.Random) -> Iterator[str]:
    """Write sentences as a model does: under headings, as paragraphs, lists, code and tables."""
    while told:
        size = chance.randint(3, 9)
        part, told = told[:size], told[size:]
        match chance.randrange(6):
            case 0:
                yield f"## {part[0].split('.')[0][:40]}\n"
                yield " ".join(part)
            case 1:
                yield f"{part[0].rstrip('.?!')}:\n"
                yield from (f"- {each}" for each in part[1:])
            case 2:
                yield "```python"
                yield from (f"note({each!r})" if "'" in each else f"# {each}" for each in part)
                yield "```"
            case _:
                yield " ".join(part)
        yield ""


def ask_all(embedder: Embedder, turns: list[Turn], facts: list[Planted]) -> list[Asked]:
    with indexed(FileConversation("long", "Long turns", tuple(turns)), embedder) as memory:
        talk = OpenConversation(memory, EstimateCounter(), Budget())
        return [asked(talk, each) for each in facts]


def asked(talk: OpenConversation, planted: Planted) -> Asked:
    retrieval, _ = talk.retrieve(planted.question)
    window, ms = talk.window(Mode.JIT, planted.question, retrieval)
    ranks = {row.turn: row.rank for row in retrieval.candidates}
    there = window.kind_of_turns()
    text = " ".join(window.messages()[-1].content.split())
    return Asked(
        planted.kind,
        ranks.get(planted.turn),
        there.get(planted.turn) is Kind.RETRIEVED,
        planted.text in text or repr(planted.text) in text,
        window.used,
        sum(segment.kind is Kind.RETRIEVED for segment in window.segments),
        ms,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--embedder", choices=("builtin", "none"), default="builtin")
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument("--whole", action="store_true")
    chosen = parser.parse_args()
    if chosen.whole:
        recall.LEAST_EXCERPTED = 10**9
    embedder = BuiltinEmbedder() if chosen.embedder == "builtin" else NoEmbedder()
    for name in ("plain paragraphs", "with headings, lists and code", "a like fact in each turn"):
        chance, turns = random.Random(SEED), list(Haystack(chosen.turns, Length.LONG).turns())
        is_alike, is_dressed = name.startswith("a like"), name.startswith("with")
        facts = planted_alike(turns, chance) if is_alike else planted(turns, chance, is_dressed)
        answers = ask_all(embedder, turns, facts)
        by_kind: dict[str, list[Asked]] = defaultdict(list)
        for each in answers:
            by_kind[each.kind].append(each)
        print(name)
        for kind, rows in (*by_kind.items(), ("all", answers)):
            print(line(kind, rows))


def line(name: str, rows: list[Asked]) -> str:
    def share(count: int) -> str:
        return f"{count / len(rows):.2f}"

    first = share(sum(row.rank is not None and row.rank <= 6 for row in rows))
    return (
        f"{name:<12} n {len(rows):>3}  at six {first}  turn {share(sum(r.has_turn for r in rows))}"
        f"  fact {share(sum(r.has_fact for r in rows))}"
        f"  recalled {statistics.mean(r.recalled for r in rows):.1f}"
        f"  tokens {statistics.mean(r.tokens for r in rows):,.0f}"
        f"  plan {statistics.median(r.ms for r in rows):.1f} ms"
    )


if __name__ == "__main__":
    main()
