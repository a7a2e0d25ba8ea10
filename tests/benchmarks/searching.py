"""How large the search index is, and how fast it answers: `python -m tests.benchmarks.searching`.

Turns of words as frequent as in English, or of Chinese characters, or the lines of a file, are
imported in conversations of 50. 200 queries are words drawn from the store by type, that is, rare
ones for the most part; then 20 of the most frequent words, 20 phrases and 20 beginnings of words.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from itertools import accumulate, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from jitchat.store import search_index
from jitchat.store.database import Database
from jitchat.store.imported import Heading, ImportWriter, IncomingTurn, Origin, Provenance
from jitchat.store.store import ColdStore
from jitchat.values import Role, Turn

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_VOCABULARY = 200_000
_WORDS = 40
"""Of a turn, on average."""
_TURNS = 50
"""Of a conversation."""


def english(luck: random.Random) -> Iterator[str]:
    """Words whose letters are as frequent as in English; the frequent ones are short."""
    letters = "etaoinshrdlucmfwypvbgkjqxz"
    shares = [1 / (rank + 2) for rank in range(26)]
    words = [
        "".join(luck.choices(letters, shares, k=2 + rank.bit_length() // 3))
        for rank in range(_VOCABULARY)
    ]
    weights = list(accumulate(1 / (rank + 3) for rank in range(len(words))))
    while True:
        count = max(2, int(luck.expovariate(1 / _WORDS)))
        yield " ".join(luck.choices(words, cum_weights=weights, k=count))


def chinese(luck: random.Random) -> Iterator[str]:
    """Words of one to three characters, eight characters to a comma."""
    weights = list(accumulate(1 / (rank + 8) for rank in range(4_000)))
    characters = [chr(0x4E00 + 5 * rank) for rank in range(4_000)]
    words = [
        "".join(luck.choices(characters, cum_weights=weights, k=luck.choice((1, 2, 2, 2, 3))))
        for _ in range(40_000)
    ]
    shares = list(accumulate(1 / (rank + 3) for rank in range(len(words))))
    while True:
        count = max(2, int(luck.expovariate(1 / _WORDS)))
        drawn = luck.choices(words, cum_weights=shares, k=count)
        yield "，".join("".join(drawn[start : start + 4]) for start in range(0, count, 4)) + "。"


def lines_of(path: Path) -> Iterator[str]:
    lines = [line for line in path.read_text("utf-8").splitlines() if line.strip()]
    random.Random(1).shuffle(lines)
    return iter(lines)


def build(store: ColdStore, texts: Iterator[str]) -> int:
    """Store the texts; return their bytes."""
    size, number = 0, 0
    while batch := list(islice(texts, _TURNS)):
        number += 1
        provenance = Provenance(Origin("benchmark", str(number)), f"talk-{number}")
        writer = ImportWriter(store, provenance)
        turns = enumerate(batch, start=1)
        with store.database.write():
            writer.take(
                IncomingTurn(Turn(place, Role.USER, text), str(place).encode())
                for place, text in turns
            )
            writer.finish(Heading(f"Talk {number}"))
        size += sum(len(text.encode()) for text in batch)
    search_index.finish(store.database)
    return size


def index_size(store: ColdStore) -> int:
    query = "SELECT SUM(pgsize) FROM dbstat WHERE name LIKE 'search@_%' ESCAPE '@'"
    return int(store.database.fetch_one(query)[0])


def report(store: ColdStore, kind: str, queries: Sequence[str]) -> None:
    seconds, slowest, notices = [], ("", 0.0), 0
    for query in queries:
        began = time.perf_counter()
        matches = store.search(query)
        seconds.append(time.perf_counter() - began)
        notices += bool(matches.notice)
        slowest = max(slowest, (query, seconds[-1]), key=lambda pair: pair[1])
    seconds.sort()
    median, late = (1_000 * seconds[int(len(seconds) * share)] for share in (0.5, 0.95))
    print(
        f"{len(queries):4} {kind:9} median {median:6.1f} ms, p95 {late:6.1f} ms, most"
        f" {1_000 * slowest[1]:6.1f} ms ({slowest[0]}); {notices} newest first"
    )


def report_all(store: ColdStore, luck: random.Random, texts: Sequence[str]) -> None:
    is_spaced = " " in texts[0].strip()
    listed = [text.split() if is_spaced else list(text) for text in texts]
    size, glue = (1, " ") if is_spaced else (2, "")
    runs = [
        glue.join(words[at : at + size])
        for words in listed
        for at in range(len(words) - size)
        if all(word.isalnum() for word in words[at : at + size])
    ]
    counts = Counter(runs)
    phrases = []
    for words in luck.sample([words for words in listed if len(words) > 8], 20):
        at = luck.randrange(len(words) - 3 * size)
        phrases.append(f'"{glue.join(words[at : at + 3 * size])}"')
    begins = {run[: 3 if is_spaced else 1] for run in counts if len(run) > 3 * is_spaced}
    report(store, "words", luck.sample(sorted(counts), 200))
    report(store, "frequent", [run for run, _ in counts.most_common(20)])
    report(store, "phrases", phrases)
    report(store, "prefixes", luck.sample(sorted(begins), min(20, len(begins))))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=100_000)
    parser.add_argument("--script", choices=("english", "chinese"), default="english")
    parser.add_argument("--lines", type=Path, help="the turns, instead: a line each")
    wanted = parser.parse_args()
    luck = random.Random(1)
    with TemporaryDirectory() as folder:
        store = ColdStore(Database(Path(folder) / "cold.db"))
        made = {"english": english, "chinese": chinese}[wanted.script](luck)
        texts = lines_of(wanted.lines) if wanted.lines else made
        began = time.perf_counter()
        size = build(store, islice(texts, wanted.turns))
        seconds = time.perf_counter() - began
        turns = store.database.fetch_one("SELECT COUNT(*) FROM turns")[0]
        print(f"{turns:,} turns of {size / turns:,.0f} bytes in {seconds:,.1f} s")
        print(f"index: {index_size(store) / size:.3f} of the text's bytes")
        drawn = [
            row[0]
            for row in store.database.fetch_all(
                "SELECT content FROM turns WHERE id % (SELECT MAX(id) / 20000 + 1 FROM turns) = 0"
            )
        ]
        report_all(store, luck, drawn)
        store.database.close()


if __name__ == "__main__":
    main()
