"""Recall from other conversations: `python -m tests.benchmarks.elsewhere [--data LOCOMO]`.

With `--data`, each session of a conversation is a conversation of its own, in one project, and the
questions are asked in a new one: how often one of the best six hits has the evidence, beside the
same where all sessions are one conversation. Then, on made-up conversations of 100 turns, how long
a search of 200 of them takes, as a multiple of a search of one.
"""

import argparse
import random
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from jitchat.bench.asking import indexed, opened_store
from jitchat.bench.questions import LabelledConversation, read_labelled
from jitchat.cli import cold_store  # noqa: F401  loads what an app has loaded
from jitchat.index.embedder import Embedder
from jitchat.index.load_embedder import load_embedder
from jitchat.memory import Memory
from jitchat.store.store import ColdStore
from jitchat.values import Reach, Role, Turn

SIZE = 6


def sessions_of(talk: LabelledConversation) -> list[list[tuple[int, Turn]]]:
    """Part a conversation where its labels begin another session: `D2:1`; with positions."""
    parts: dict[str, list[tuple[int, Turn]]] = {}
    for position, (turn, label) in enumerate(
        zip(talk.found.turns, talk.found.labels, strict=True), start=1
    ):
        parts.setdefault((label or "").partition(":")[0], []).append((position, turn))
    return list(parts.values())


@contextmanager
def in_sessions(
    talk: LabelledConversation, embedder: Embedder
) -> Iterator[tuple[Memory, dict[str, list[int]]]]:
    """Store each session as a conversation; a new one, and the positions of each one's turns."""
    with (
        TemporaryDirectory(prefix="jitchat-bench-") as folder,
        opened_store(Path(folder) / "bench.db") as store,
    ):
        places: dict[str, list[int]] = {}
        for session in sessions_of(talk):
            made = store.create("Session")
            store.append(made.id, [turn for _, turn in session])
            places[made.id] = [position for position, _ in session]
        memory = Memory(store, store.create("New"), embedder)
        said = (turn.created_at for turn in reversed(talk.found.turns) if turn.created_at)
        if moment := talk.asked_at or next(said, None):
            store.now = lambda: moment
        memory.reach_to(Reach.PROJECT)
        assert memory.others is not None
        memory.others.index_missing()
        yield memory, places


def any_found(path: Path, embedder: Embedder) -> None:
    asked = one = many = 0
    for talk in read_labelled(path):
        questions = [each for each in talk.questions if each.evidence]
        with indexed(talk.found, embedder, talk.asked_at) as memory:
            last = memory.turns[-1].position + 1
            for question in questions:
                hits = memory.retrieve(question.text, last).hits[:SIZE]
                one += any(hit.turn in question.evidence for hit in hits)
        with in_sessions(talk, embedder) as (memory, places):
            for question in questions:
                elsewhere = memory.retrieve(question.text, 1).elsewhere.hits[:SIZE]
                found = {places[hit.conversation][hit.turn.position - 1] for hit in elsewhere}
                many += not question.evidence.isdisjoint(found)
        asked += len(questions)
    print(f"{asked} questions, any@{SIZE}: one conversation {one / asked:.3f}, ", end="")
    print(f"a conversation a session {many / asked:.3f}")


_WORDS = ("harbour", "ledger", "basalt", "willow", "comet", "anchor", "saddle", "meadow")


def _talk(number: int, chance: random.Random) -> list[Turn]:
    moment = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=9 * number)
    return [
        Turn(
            0,
            Role.USER if not place % 2 else Role.ASSISTANT,
            f"The {chance.choice(_WORDS)} of {chance.choice(_WORDS)} {chance.randrange(999)} is"
            f" {chance.choice(_WORDS)} near item {chance.randrange(9_999)}.",
            moment + timedelta(minutes=place),
        )
        for place in range(100)
    ]


def times(count: int, embedder: Embedder, queries: Sequence[str]) -> tuple[float, float, float]:
    """Seconds of the processor: a search of one conversation, of `count` of them, loading these."""
    chance = random.Random(7)
    with (
        TemporaryDirectory(prefix="jitchat-bench-") as folder,
        opened_store(Path(folder) / "bench.db") as store,
    ):
        for number in range(count):
            store.append(store.create(f"Talk {number}").id, _talk(number, chance))
        alone = Memory(store, _opened(store, chance, count), embedder)
        list(alone.index.catch_up())
        reaching = Memory(store, alone.conversation, embedder)
        reaching.reach_to(Reach.ALL)
        assert reaching.others is not None
        reaching.others.index_missing()
        begun = time.process_time()
        reaching.retrieve(queries[0], 101)
        loading = time.process_time() - begun
        alone.retrieve(queries[0], 101)
        return _median(alone, queries), _median(reaching, queries), loading


def _opened(store: ColdStore, chance: random.Random, count: int):
    made = store.create("Open")
    store.append(made.id, _talk(count, chance))
    return made


def _median(memory: Memory, queries: Sequence[str]) -> float:
    taken = []
    for query in queries:
        begun = time.process_time()
        memory.retrieve(query, 101)
        taken.append(time.process_time() - begun)
    return median(taken)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, nargs="*", default=())
    parser.add_argument("--conversations", type=int, default=200)
    wanted = parser.parse_args()
    embedder = load_embedder("builtin", "", None, Path())
    for path in wanted.data:
        any_found(path, embedder)
    chance = random.Random(3)
    queries = [
        f"what was the {chance.choice(_WORDS)} of {chance.choice(_WORDS)} {chance.randrange(999)}?"
        for _ in range(60)
    ]
    one, all_of_them, loading = times(wanted.conversations, embedder, queries)
    print(
        f"{wanted.conversations} conversations of 100 turns, in time of the processor:"
        f" {1_000 * one:.1f} ms a search of one, {1_000 * all_of_them:.1f} ms of that and of all"
        f" ({all_of_them / one:.1f} times); loaded in {loading:.2f} s"
    )


if __name__ == "__main__":
    main()
