"""By words alone, a turn is found by what it names exactly: in code and in any language."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from jitchat.index.embedder import NoEmbedder
from jitchat.memory import Memory
from jitchat.store.database import Database
from jitchat.store.store import ColdStore
from tests.benchmarks.paraphrase import read_crowd
from tests.index.kinds import CODE, TRACES
from tests.index.languages import LANGUAGES
from tests.index.support import index
from tests.support import conversation_of, talk

if TYPE_CHECKING:
    from collections.abc import Iterator

KINDS = (*CODE, *TRACES, *LANGUAGES)


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """All kinds with their decoys, each between turns of small talk."""
    texts = [text for kind in KINDS for text in (kind.turn, *kind.decoys)]
    random.Random(5).shuffle(texts)
    chatter = iter([each["content"] for each in read_crowd()])
    said = [piece for text in texts for piece in (next(chatter), next(chatter), text)]
    database = Database(tmp_path_factory.mktemp("kinds") / "cold.db")
    store = ColdStore(database)
    made = Memory(
        store, conversation_of(store, talk(*said, "Thanks!", "You are welcome.")), NoEmbedder()
    )
    index(made)
    yield made
    database.close()


def test_what_a_turn_names_exactly_is_found_first(memory: Memory):
    turns = {turn.position: turn.content for turn in memory.turns}
    for kind in KINDS:
        found = memory.retrieve(kind.question, max(turns) + 1).candidates
        assert found, f"{kind.name}: nothing is shared"
        assert turns[found[0].turn] == kind.turn, kind.name
