"""What is stored is found: whatever stands in a turn, asked for as it stands, and in quotes."""

from __future__ import annotations

from collections import defaultdict

from tests.store.search_corpus import turns_in_every_script, wanted_in
from tests.support import conversation_of, talk

TURNS = 3_000
SHARE = 0.995


def test_every_word_number_name_and_run_is_among_the_matches(store, rounds):
    texts = turns_in_every_script(TURNS)
    made = conversation_of(store, talk(*texts))
    positions = defaultdict(set)
    for position, text in enumerate(texts, start=1):
        for wanted in wanted_in(text):
            positions[wanted].add(position)
    sample = sorted(positions)[:: rounds(30, 1)]
    missed, asked = [], 0
    for wanted in sample:
        quoted = () if '"' in wanted else (f'"{wanted}"',)
        for query in (wanted, *quoted):
            matches = {match.position for match in store.search(query, TURNS, made.id)}
            missed += [(query, position) for position in positions[wanted] - matches]
            asked += len(positions[wanted])
    print(f"{asked:,} asked, {len(missed):,} missed: {sorted({query for query, _ in missed})}")
    assert len(sample) > 400
    assert len(missed) <= (1 - SHARE) * asked, missed[:40]
