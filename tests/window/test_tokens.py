"""Counting: by a real vocabulary where there is one, and never by way of the network."""

from __future__ import annotations

import os
import random
import shutil
import tempfile
from pathlib import Path

import pytest
import requests
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

from jitchat.values import Message, Role
from jitchat.window.tokens import (
    EstimateCounter,
    TiktokenCounter,
    TokenCounter,
    counter_for,
    message_tokens,
    request_tokens,
    vocabulary_cached,
)
from tests.examples import examples

O200K = "fb374d419588a4632f3f557e76b4b70aebbca790"
CL100K = "9b5ad71b2ce5302211f9c61530b329a4922fc6a4"


@pytest.fixture
def no_fetching(monkeypatch: pytest.MonkeyPatch) -> None:
    """tiktoken must not be asked at all, and must not reach for the network."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("tiktoken was asked for a vocabulary that is not here")

    monkeypatch.setattr(tiktoken, "get_encoding", refuse)
    monkeypatch.setattr(requests, "get", refuse)
    monkeypatch.setattr(requests.Session, "request", refuse)


def only(folder: Path, *names: str) -> dict[str, str]:
    """An environment whose cache holds these vocabularies and no other."""
    for name in names:
        (folder / name).symlink_to(Path(os.environ["TIKTOKEN_CACHE_DIR"]) / name)
    return {"TIKTOKEN_CACHE_DIR": str(folder)}


def use(monkeypatch: pytest.MonkeyPatch, environ: dict[str, str]) -> dict[str, str]:
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    return environ


# without a vocabulary


@pytest.mark.parametrize("model", ["reader", "gpt-4o", "gpt-4", "gpt-oss-20b", "llama3", ""])
def test_without_a_vocabulary_it_is_estimated_and_nothing_is_fetched(no_fetching, model):
    counter = counter_for(model, os.environ)
    assert isinstance(counter, EstimateCounter)
    assert (counter.name, counter.exact) == ("estimate", False)


def test_a_damaged_vocabulary_is_left_alone(no_fetching, tmp_path):
    for content in (b"", b"IQ== 0\n" * 1_000):
        (tmp_path / O200K).write_bytes(content)
        counter = counter_for("reader", {"TIKTOKEN_CACHE_DIR": str(tmp_path)})
        assert isinstance(counter, EstimateCounter)
        assert (tmp_path / O200K).read_bytes() == content


def test_a_folder_in_its_place_is_no_vocabulary(no_fetching, tmp_path):
    (tmp_path / O200K).mkdir()
    assert not vocabulary_cached("o200k_base", {"TIKTOKEN_CACHE_DIR": str(tmp_path)})


def test_a_cache_that_is_turned_off_holds_nothing(
    no_fetching, shared_vocabulary, tmp_path, monkeypatch
):
    (tmp_path / O200K).symlink_to(shared_vocabulary / O200K)
    monkeypatch.chdir(tmp_path)
    for variable in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        assert isinstance(counter_for("reader", {variable: ""}), EstimateCounter)


def test_an_encoding_that_nobody_ships_is_not_cached(no_fetching, shared_vocabulary):
    assert not vocabulary_cached("p50k_base", os.environ)
    assert vocabulary_cached("o200k_base", os.environ)


def test_the_cache_is_looked_for_where_tiktoken_does(shared_vocabulary, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))
    (tmp_path / "data-gym-cache").mkdir()
    shutil.copy(shared_vocabulary / O200K, tmp_path / "data-gym-cache" / O200K)
    there, elsewhere = str(shared_vocabulary), str(tmp_path / "nowhere")
    assert vocabulary_cached("o200k_base", {})
    assert vocabulary_cached("o200k_base", {"DATA_GYM_CACHE_DIR": there})
    assert not vocabulary_cached("o200k_base", {"DATA_GYM_CACHE_DIR": elsewhere})
    assert not vocabulary_cached(
        "o200k_base", {"TIKTOKEN_CACHE_DIR": elsewhere, "DATA_GYM_CACHE_DIR": there}
    )


# with one


@pytest.mark.parametrize(
    ("model", "name", "exact"),
    [
        ("reader", "o200k_base", True),
        ("gpt-4o-mini", "o200k_base", True),
        ("gpt-4", "cl100k_base", True),
        ("gpt-oss-20b", "o200k_base", True),
        ("text-davinci-003", "o200k_base", False),
        ("llama3:8b", "o200k_base", False),
        ("", "o200k_base", False),
    ],
)
def test_a_model_is_counted_by_its_own_vocabulary_or_a_near_one(
    shared_vocabulary, model, name, exact
):
    counter = counter_for(model, os.environ)
    assert (counter.name, counter.exact) == (name, exact)


def test_a_near_vocabulary_is_better_than_an_estimate(shared_vocabulary, tmp_path, monkeypatch):
    environ = use(monkeypatch, only(tmp_path, O200K))
    counter = counter_for("gpt-4", environ)
    assert (counter.name, counter.exact) == ("o200k_base", False)


def test_another_models_vocabulary_does_not_help_the_reader(
    no_fetching, shared_vocabulary, tmp_path, monkeypatch
):
    environ = use(monkeypatch, only(tmp_path, CL100K))
    assert isinstance(counter_for("reader", environ), EstimateCounter)


def test_special_tokens_in_a_text_are_counted_as_the_text_they_are(o200k):
    assert o200k.count("<|endoftext|>") > 3
    assert o200k.count("<|im_start|>system<|im_sep|>") > 6


def test_lone_surrogates_are_counted(o200k):
    assert o200k.count("a\ud800b") >= 2


class Recording:
    """An encoding that notes what it was given: a token a character."""

    name = "recording"

    def __init__(self) -> None:
        self.seen: list[str] = []

    def encode_ordinary(self, text: str) -> str:
        self.seen.append(text)
        return text


@pytest.mark.parametrize("unit", ["a", " ", "\n", "漢", ".", "😀", "\r\n", "a.", " \n"])
def test_long_runs_are_counted_in_bounded_pieces_so_in_linear_time(unit):
    encoding = Recording()
    text = unit * (1_000_000 // len(unit))
    assert TiktokenCounter(encoding, exact=True).count(text) == len(text)
    assert "".join(encoding.seen) == text
    assert max(map(len, encoding.seen)) <= 20_000
    assert len(encoding.seen) <= 1 + len(text) / 10_000


def test_nothing_is_nothing(o200k):
    assert o200k.count("") == 0


# places at which a cut would change the count: runs of blanks, line ends, slashes behind them
TRAPS = ("a  ", "(x)\n", "/y", "end. \n\n", "\n", "  ")
WORDS = ("harbour", "Don't", "9641", "naïve", "漢字", "x", "--confirm", "a\n", "b\n", "(see", "it)")


@pytest.mark.parametrize("encoding", ["o200k_base", "cl100k_base"])
def test_long_prose_counts_like_the_whole_whatever_it_is_cut_into(
    shared_vocabulary, encoding, rounds
):
    model = {"o200k_base": "gpt-4o", "cl100k_base": "gpt-4"}[encoding]
    counter, whole = counter_for(model, os.environ), tiktoken.get_encoding(encoding)
    for seed in range(rounds(6, 500)):
        text = " ".join(random.Random(seed).choices((*WORDS, *TRAPS), k=9_000))
        assert len(text) > 40_000
        assert counter.count(text) == len(whole.encode_ordinary(text))


@examples(40)
@given(st.text(max_size=200))
def test_a_count_is_never_more_than_the_bytes(o200k: TokenCounter, text: str):
    assert o200k.count(text) <= len(text.encode())


# messages


def test_a_request_costs_its_texts_four_tokens_a_message_and_three_more():
    counter = EstimateCounter()
    messages = (Message(Role.SYSTEM, "Be brief."), Message(Role.USER, "hello"))
    texts = counter.count("Be brief.") + counter.count("hello")
    assert message_tokens(counter, "hello") == counter.count("hello") + 4
    assert request_tokens(counter, messages) == texts + 2 * 4 + 3
    assert request_tokens(counter, ()) == 3
