"""If a statement is repeated with another value, the window has the new value."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jitchat.bench.haystack import Haystack
from jitchat.index.embedder import Embedder, NoEmbedder
from jitchat.index.embedding_models import DEFAULT_MODEL
from jitchat.index.load_embedder import load_embedder
from jitchat.session_options import SessionOptions
from jitchat.values import Mode, Turn
from jitchat.window.budget import Budget
from jitchat.window.window import ContextWindow, Kind
from tests.support import SHARED, conversation_of, session_on

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from jitchat.store.store import ColdStore

PAIRS = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "data" / "corrections.jsonl").read_text().splitlines()
]
MINILM = SHARED / "models" / "all-MiniLM-L6-v2"
TALK = [turn.content for turn in Haystack(40).turns()]
FIRST, APART = 11, 80
"""The position of the first old value; the number of turns until the new one."""
SMALL = SessionOptions(budget=Budget(size=2_000))
ADDED = {"short": (0, 0), "long, alike": (8, 0), "long, among other words": (8, 1)}
"""How many paragraphs surround each value, and whether the new one has others."""


def among_paragraphs(text: str, count: int, seed: str) -> str:
    chance = random.Random(seed)
    paragraphs = [chance.choice(TALK) for _ in range(count)]
    paragraphs.insert(count // 2, text)
    return "\n\n".join(paragraphs)


def talk_with_corrections(
    length: str, pairs: Sequence[dict[str, str]]
) -> tuple[list[Turn], list[tuple[dict[str, str], int]]]:
    """140 turns of talk and more with the pairs in it, and each with its new value's position."""
    count, differs = ADDED[length]
    spoken, places = {}, []
    for number, pair in enumerate(pairs):
        old = FIRST + 2 * number
        new = old + APART
        places.append((pair, new))
        spoken[old] = among_paragraphs(pair["old"], count, str(number))
        spoken[new] = among_paragraphs(pair["new"], count, f"{number}{' again' * differs}")
    turns = [
        replace(turn, content=spoken.get(turn.position, turn.content))
        for turn in Haystack(60 + APART + 2 * len(pairs)).turns()
    ]
    return turns, places


def text_of(window: ContextWindow, position: int) -> str:
    """The full text of one turn in the window; empty if it is not there."""
    parts = (part for part in window.segments if part.kind is Kind.RETRIEVED)
    return "".join(part.text for part in parts if part.turn == position)


def lost_values(
    store: ColdStore,
    turns: Sequence[Turn],
    pairs: Sequence[tuple[dict[str, str], int]],
    *embedders: Embedder,
) -> dict[str, list[str]]:
    """By embedder, the new values that are not in the window of their question."""
    conversation, lost = conversation_of(store, turns), {}
    for embedder in embedders:
        session = session_on(store, conversation, embedder=embedder, options=SMALL)
        lost[embedder.id] = [
            pair["value"]
            for pair, new in pairs
            if pair["value"] not in text_of(session.preview(pair["question"], Mode.JIT), new)
        ]
    return lost


@pytest.mark.parametrize("length", ADDED)
def test_a_corrected_value_is_in_the_window(store: ColdStore, builtin: Embedder, length: str):
    lost = lost_values(store, *talk_with_corrections(length, PAIRS), builtin, NoEmbedder())
    assert len(PAIRS) == 20
    assert lost == {"builtin-256": [], "none": []}


@pytest.mark.long("whole")
@pytest.mark.parametrize("length", ADDED)
def test_a_corrected_value_is_in_the_window_with_vectors_of_a_model(
    store: ColdStore, length: str, rounds: Callable[[int, int], int]
):
    if not MINILM.is_dir():
        pytest.skip("needs MiniLM's ONNX files in ../shared/models/all-MiniLM-L6-v2")
    model = load_embedder("fastembed", DEFAULT_MODEL, MINILM, MINILM)
    lost = lost_values(store, *talk_with_corrections(length, PAIRS[: rounds(6, 20)]), model)
    assert lost == {model.id: []}
