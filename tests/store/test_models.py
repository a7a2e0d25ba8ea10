"""Lessons from a server are available in the next run, whatever it reported."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from jitchat.store.database import Database
from jitchat.store.models import (
    KEPT_SAMPLES,
    ModelLessons,
    models_with_samples,
    server_of,
)
from jitchat.values import LOADED, Limit, Other, Sample

if TYPE_CHECKING:
    from pathlib import Path

    from jitchat.store.store import ColdStore
    from tests.conftest import FixedClock

SERVER = "https://llm.example/v1"


@pytest.fixture
def model(store: ColdStore) -> ModelLessons:
    return ModelLessons(store.database, SERVER, "small-1")


def test_nothing_is_known_about_a_model_never_used(model: ModelLessons):
    assert (model.refused(), model.limit(), model.samples("o200k_base")) == (frozenset(), None, ())


def test_lessons_are_available_in_the_next_run(tmp_path: Path):
    first = Database(tmp_path / "jitchat.db")
    model = ModelLessons(first, SERVER, "small-1")
    model.refuse("temperature")
    model.learn_limit(16_384)
    model.add_sample("estimate", Sample(1_187, 1_240))
    first.close()

    second = Database(tmp_path / "jitchat.db")
    again = ModelLessons(second, SERVER, "small-1")
    assert again.refused() == {"temperature"}
    assert again.limit() == 16_384
    assert again.samples("estimate") == (Sample(1_187, 1_240),)
    second.close()


def test_servers_models_and_counters_are_kept_apart(store: ColdStore, model: ModelLessons):
    model.refuse("temperature")
    model.learn_limit(9_000)
    model.add_sample("estimate", Sample(10, 11))

    for key in ((SERVER, "small-2"), ("https://other.example/v1", "small-1")):
        other = ModelLessons(store.database, *key)
        assert (other.refused(), other.limit()) == (frozenset(), None)
        assert other.samples("estimate") == ()
    assert model.samples("o200k_base") == ()


def test_a_parameter_can_be_refused_twice(model: ModelLessons):
    for parameter in ("seed", "temperature", "seed"):
        model.refuse(parameter)

    assert model.refused() == {"seed", "temperature"}


def test_one_model_is_forgotten_and_no_other(store: ColdStore, model: ModelLessons):
    other = ModelLessons(store.database, SERVER, "small-2")
    for each in (model, other):
        each.refuse("seed")
        each.learn_limit(9_000)
        each.add_sample("estimate", Sample(10, 11))

    assert [model.forget(), model.forget()] == [True, False]

    assert (model.refused(), model.limit(), model.samples("estimate")) == (frozenset(), None, ())
    assert (other.refused(), other.limit()) == ({"seed"}, 9_000)
    assert len(other.samples("estimate")) == 1


def test_a_servers_answer_is_stored_with_its_time(
    store: ColdStore, model: ModelLessons, clock: FixedClock
):
    model.keep_reported_limit(Limit(4_096, LOADED), clock())
    model.keep_reported_limit(Limit(16_384, LOADED), now := clock())

    assert model.reported_limit() == (Limit(16_384, LOADED), now)
    assert model.limit() is None
    assert ModelLessons(store.database, SERVER, "small-2").reported_limit() is None
    assert model.forget()
    assert model.reported_limit() is None


@pytest.mark.parametrize(
    "row", [("much", "x", "2026-03-13"), (0, "x", "2026-03-13"), (8, "x", "?")]
)
def test_a_damaged_row_of_a_servers_answer_is_skipped(
    store: ColdStore, model: ModelLessons, row: tuple[object, str, str]
):
    with store.database.write() as connection:
        connection.execute("INSERT INTO told_limits VALUES (?, 'small-1', ?, ?, ?)", (SERVER, *row))
    assert model.reported_limit() is None


def test_the_latest_reported_limit_applies(model: ModelLessons):
    for tokens in (8_192, 4_096, 32_768, 0, -5):
        model.learn_limit(tokens)

    assert model.limit() == 32_768


def test_only_the_latest_samples_are_kept_the_oldest_first(store: ColdStore, model: ModelLessons):
    model.add_sample("o200k_base", Sample(7, 8))
    for number in range(KEPT_SAMPLES + 9):
        model.add_sample("estimate", Sample(number, number + 1))

    assert model.samples("estimate") == tuple(
        Sample(number, number + 1) for number in range(9, KEPT_SAMPLES + 9)
    )
    assert model.samples("o200k_base") == (Sample(7, 8),)
    with store.database.read() as connection:
        rows = connection.execute("SELECT count(*) FROM token_samples").fetchone()
    assert rows == (KEPT_SAMPLES + 1,)


def test_numbers_too_large_for_the_database_are_stored_as_its_largest(model: ModelLessons):
    model.learn_limit(2**70)
    model.add_sample("estimate", Sample(-(2**70), 2**70))

    assert model.limit() == 2**63 - 1
    assert model.samples("estimate") == (Sample(0, 2**63 - 1),)


def test_names_with_half_a_character_are_kept(store: ColdStore):
    model = ModelLessons(store.database, SERVER, "small\ud800")
    model.refuse("top\udfffk")
    model.add_sample("count\ud800er", Sample(1, 2))

    assert len(model.refused()) == 1
    assert model.samples("count\ud800er") == (Sample(1, 2),)


def test_a_damaged_row_is_skipped(store: ColdStore, model: ModelLessons):
    model.add_sample("estimate", Sample(10, 11))
    for counted, reported in (("many", 5), (5, "many"), (5.5, 6), (-1, 4), (b"\x00", 1)):
        with store.database.write() as connection:
            connection.execute(
                "INSERT INTO token_samples (server, model, counter, counted, reported)"
                " VALUES (?, ?, ?, ?, ?)",
                (SERVER, "small-1", "estimate", counted, reported),
            )
    with store.database.write() as connection:
        connection.execute("INSERT INTO learnt_limits VALUES (?, ?, 'much')", (SERVER, "small-1"))
        connection.execute(
            "INSERT INTO refused_parameters VALUES (?, ?, x'00')", (SERVER, "small-1")
        )
        for others in ("[]", "many", '{"sounds": 3}', '{"calls": "x"}'):
            connection.execute(
                "INSERT INTO token_samples (server, model, counter, counted, reported, others)"
                " VALUES (?, 'small-1', 'estimate', 1, 2, ?)",
                (SERVER, others),
            )
    model.add_sample("estimate", Sample(20, 22, {Other.CALLS: 5}))

    assert model.samples("estimate") == (Sample(10, 11), Sample(20, 22, {Other.CALLS: 5}))
    assert model.limit() is None
    assert model.refused() == frozenset()


def test_threads_can_store_lessons_concurrently(model: ModelLessons):
    with ThreadPoolExecutor(8) as pool:
        samples = [Sample(number, number) for number in range(40)]
        list(pool.map(lambda sample: model.add_sample("estimate", sample), samples))
        list(pool.map(model.refuse, ["seed", "top_k"] * 8))

    assert sorted(sample.counted for sample in model.samples("estimate")) == list(range(40))
    assert model.refused() == {"seed", "top_k"}


@pytest.mark.parametrize(
    ("base_url", "server"),
    [
        (SERVER, SERVER),
        ("https://LLM.Example/v1/", SERVER),
        (" HTTPS://llm.example/v1?key=sk-1#x\n", SERVER),
        ("https://user:sk-1@llm.example/v1", SERVER),
        ("http://localhost:11434", "http://localhost:11434"),
        ("http://[::1]:8080/v1//", "http://[::1]:8080/v1"),
        ("https://llm.example/V1", "https://llm.example/V1"),
        ("", ""),
        ("llm.example/v1/", "llm.example/v1"),
        ("user:sk-1@llm.example:port/v1?key=sk-1", "llm.example:port/v1"),
        ("http://user:sk-1@[broken/v1", "[broken/v1"),
        ("http://user:sk-1#?@llm.example/v1?key=sk-1", "llm.example/v1"),
        ("http://user:sk-1@host:99999/v1#k", "host:99999/v1"),
    ],
)
def test_a_server_is_named_without_what_is_secret_or_varies(base_url: str, server: str):
    assert server_of(base_url) == server
    assert server_of(server) == server
    assert "sk-1" not in server


def test_everything_that_has_samples_is_listed_by_name(store: ColdStore, model: ModelLessons):
    database = store.database
    assert models_with_samples(database) == []
    model.learn_limit(9_000)
    ModelLessons(database, "http://b/v1", "a").add_sample("estimate", Sample(1, 2))
    ModelLessons(database, "http://a/v1", "z").add_sample("estimate", Sample(1, 2))
    for counter in ("o200k_base", "estimate", "estimate"):
        ModelLessons(database, "http://a/v1", "b").add_sample(counter, Sample(1, 2))
    with store.database.write() as connection:
        connection.execute(
            "INSERT INTO token_samples (server, model, counter, counted, reported)"
            " VALUES (x'00', 'm', 'c', 1, 1)"
        )

    assert models_with_samples(database) == [
        ("http://a/v1", "b", "estimate"),
        ("http://a/v1", "b", "o200k_base"),
        ("http://a/v1", "z", "estimate"),
        ("http://b/v1", "a", "estimate"),
    ]
