"""Turns of each kind of text are recalled by words only."""

from __future__ import annotations

import pytest

from jitchat.index.embedder import NoEmbedder
from tests.benchmarks.kinds import TALK, ask, background, kinds, read_probes, shares

LEAST = 0.85
TURNS = 160


@pytest.mark.parametrize("kind", kinds())
def test_turns_of_a_kind_are_in_the_window_by_words_alone(kind: str):
    results = ask(kind, background(TALK)[:TURNS], NoEmbedder())
    for held_out in (False, True):
        assert min(shares(results, held_out=held_out)) >= LEAST, [
            each.probe.question for each in results if not each.in_window
        ]


def test_no_kind_is_asked_twice_for_the_same():
    for kind in kinds():
        probes = read_probes(kind)
        assert len({probe.turn for probe in probes}) == len(probes) == 16
        assert sum(probe.held_out for probe in probes) == 8
