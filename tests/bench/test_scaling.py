"""What each mode sends of a talk, and whether the fact is in it, at any length."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from jitchat.bench import scaling
from jitchat.bench.haystack import PHRASINGS, Haystack, Length
from jitchat.bench.report import scaling_tables
from jitchat.bench.scaling import (
    Setup,
    ask,
    build,
    exactness,
    steps,
)
from jitchat.index.embedder import NoEmbedder
from jitchat.tools.offering import Asking
from jitchat.values import USUAL_MODES
from jitchat.window.budget import Budget
from jitchat.window.tokens import EstimateCounter
from tests.index.support import FakeEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from jitchat.bench.scores import Figures

TALKS = [
    *(Haystack(size, Length.SHORT) for size in (20, 400)),
    *(Haystack(size, Length.USUAL) for size in (1, 160)),
    Haystack(12, Length.LONG),
]


SETUP = Setup(NoEmbedder(), EstimateCounter(), Budget(size=1_500))


def measure(folder: Path, talk: Haystack) -> Figures:
    path = folder / f"{talk.length}-{talk.size}.db"
    figures = {"turns": talk.size, "needle": talk.needle}
    exact = {"exactness": {"of_6": 1.0, "of_50": 1.0}}
    return figures | build(SETUP, talk, path, int) | ask(SETUP, talk, path, int) | exact


@pytest.fixture(scope="module", autouse=True)
def few_questions() -> Iterator[None]:
    """All that are about the fact, and a few about something else."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scaling, "QUESTIONS", len(PHRASINGS) + 5)
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sixty")


@pytest.fixture(scope="module")
def sixty(folder: Path) -> Figures:
    return measure(folder, Haystack(60))


@pytest.mark.parametrize("talk", TALKS, ids=lambda talk: f"{talk.length}-{talk.size}")
def test_jit_never_costs_more_than_full_and_holds_the_fact(tmp_path: Path, talk: Haystack):
    jit = measure(tmp_path, talk)["modes"]["jit"]
    assert jit is not None
    assert jit["least_saved"] >= 0
    assert jit["found"] == len(PHRASINGS)


def test_full_holds_the_fact_and_recency_has_lost_it(sixty: Figures):
    full, recency, jit = (sixty["modes"][mode] for mode in USUAL_MODES)
    assert None not in (full, recency, jit)
    assert (full["tokens"], full["saved"]) == (sixty["full_tokens"], 0)
    assert (full["found"], recency["found"]) == (len(PHRASINGS), 0)
    assert full["tokens"] > jit["tokens"] > recency["tokens"] > 0
    assert 0 < jit["least_saved"] <= jit["saved"] < recency["saved"] < 1


def test_a_conversation_that_does_not_fit_is_refused_and_counted_all_the_same(
    folder: Path, sixty: Figures
):
    narrow, path = replace(SETUP.budget, limit=4_500), folder / "usual-60.db"
    wide = replace(SETUP, asking=Asking.OFF)  # the tool would take too much of the narrow one
    asked = ask(replace(wide, budget=narrow), Haystack(60), path, int)
    assert asked["modes"]["full"] is None
    assert asked["full_tokens"] == sixty["full_tokens"] > narrow.budget
    assert asked["modes"]["jit"] == ask(wide, Haystack(60), path, int)["modes"]["jit"]


def test_tokens_and_finds_are_the_same_in_every_run(tmp_path: Path, sixty: Figures):
    again = measure(tmp_path, Haystack(60))
    assert again["modes"] == sixty["modes"]
    assert again["full_tokens"] == sixty["full_tokens"]


def test_every_stage_took_its_time_and_the_bounds_stand_beside_it(sixty: Figures):
    times = ("store_turn_ms", "index_turn_ms", "first_open_ms", "open_ms")
    assert min(sixty[name] for name in times) > 0
    both, bound = sixty["both_ms"]["p50"], sixty["matrix_ms"] + sixty["fts5_ms"]
    assert both > max(sixty["retrieve_ms"]["p50"], sixty["plan_ms"]["p50"]) > 0
    assert sixty["times_bounds"] == pytest.approx(both / bound)


def test_it_tells_of_each_step(tmp_path: Path):
    told: list[int] = []
    path, talk = tmp_path / "bench.db", Haystack(140, Length.SHORT)
    build(SETUP, talk, path, told.append)
    ask(SETUP, talk, path, told.append)
    assert sum(told) == steps(140) == 280 + scaling.QUESTIONS


def test_what_packing_changes_is_told_as_shares_of_what_exact_vectors_find(tmp_path: Path):
    setup = replace(SETUP, embedder=FakeEmbedder(dimension=64))
    build(setup, Haystack(300), tmp_path / "bench.db", int)
    found = exactness(setup, tmp_path / "bench.db")
    assert 0.9 <= found["of_6"] <= 1
    assert 0.9 <= found["of_50"] <= 1


def cells(sizes: list[Figures]) -> dict[str, list[str]]:
    found = {}
    for table in scaling_tables(sizes, "usual", 32_768):
        found |= {str(column.header): list(map(str, column.cells)) for column in table.columns}
    return found


def test_the_tables_say_what_was_refused(sixty: Figures):
    found = cells([sixty | {"modes": {"full": None, "jit": None}}])
    assert found["full"] == [f"{sixty['full_tokens']:,} refused"]
    assert found["jit"] == ["refused"]


def test_a_mode_that_is_not_measured_has_no_column(sixty: Figures):
    found = cells([sixty | {"modes": {"jit": sixty["modes"]["jit"]}}])
    assert found["full"] == [f"{sixty['full_tokens']:,}"]
    assert "recency" not in found
