"""The estimate adds up, survives any text, and is near o200k_base on what people really send."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.window.estimate import estimate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import tiktoken

from tests.examples import examples

SHARED = Path(os.environ.get("JITCHAT_SHARED", Path(__file__).parents[3] / "shared"))
VOCABULARY = SHARED / "tiktoken" / "fb374d419588a4632f3f557e76b4b70aebbca790"
LOCOMO = SHARED / "data" / "locomo" / "locomo5.json"
SAMPLES = sorted((Path(__file__).parent / "samples").glob("*.txt"))

texts = st.text(st.one_of(st.characters(), st.sampled_from(" \t\r\n/#<{}'\"ab0Ađ中の\ud800\0")))
starts = st.one_of(st.sampled_from("<#"), st.characters(categories=["L"]))


@pytest.fixture(scope="module")
def o200k() -> Iterator[tiktoken.Encoding]:
    # tiktoken would fetch a vocabulary that it lacks, so it is not asked before the file is there.
    if not VOCABULARY.exists():
        pytest.skip(f"no o200k_base vocabulary at {VOCABULARY}")
    tiktoken = pytest.importorskip("tiktoken")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIKTOKEN_CACHE_DIR", str(VOCABULARY.parent))
        yield tiktoken.get_encoding("o200k_base")


def error(encoding: tiktoken.Encoding, parts: list[str]) -> float:
    """Of the sum of the estimates against the sum of the true counts."""
    true = sum(len(encoding.encode(part, disallowed_special=())) for part in parts)
    return sum(map(estimate, parts)) / true - 1


@examples(30)
@given(texts, starts, texts)
def test_a_text_that_ends_its_line_adds_to_the_next_one_exactly(
    above: str, start: str, below: str
) -> None:
    above, below = above + "\n", start + below
    assert estimate(above + below) == estimate(above) + estimate(below)


@examples(30)
@given(texts.filter(bool))
def test_any_text_costs_at_least_one_token_and_always_the_same(text: str) -> None:
    assert estimate(text) >= 1
    assert estimate(text) == estimate(text)


def test_nothing_costs_nothing() -> None:
    assert estimate("") == 0


@pytest.mark.parametrize(
    "text", ["\0", "\ud800", "a\udfff b\n", "\x1b[31m\x07", "\u0301\u200d\ufeff"]
)
def test_text_that_no_tokenizer_would_take_is_still_priced(text: str) -> None:
    assert 1 <= estimate(text) <= 3 * len(text)


def test_much_of_anything_without_a_break_ends_and_is_no_dearer_than_its_bytes(
    rounds: Callable[[int, int], int],
) -> None:
    size = rounds(100_000, 1_000_000)
    for unit in (*" \n\taZéđ中あก7-'🎉", "\r\n", " \n", "aB"):
        text = unit * (size // len(unit))
        assert size / 1000 < estimate(text) < len(text.encode()), repr(unit)


def test_the_commonest_words_are_one_token_each() -> None:
    words = ["the", "and", "you", "that", "was", "for", "with", "have", "this", "from", "they"]
    assert [estimate(" " + word) for word in words] == [1] * len(words)


def test_short_lines_counted_one_by_one_do_not_drift_from_the_whole() -> None:
    lines = "".join(path.read_text("utf-8") for path in SAMPLES).splitlines(keepends=True)
    assert sum(map(estimate, lines)) == pytest.approx(estimate("".join(lines)), rel=0.03)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_a_sample_is_within_a_tenth_of_the_true_count(path: Path, o200k: tiktoken.Encoding) -> None:
    assert error(o200k, [path.read_text("utf-8")]) == pytest.approx(0, abs=0.1)


def test_dialogue_counted_turn_by_turn_is_within_a_tenth_of_the_true_count(
    o200k: tiktoken.Encoding,
) -> None:
    if not LOCOMO.exists():
        pytest.skip(f"no LoCoMo at {LOCOMO}")
    for talk in json.loads(LOCOMO.read_text("utf-8")):
        sessions = [
            turns
            for name, turns in talk["conversation"].items()
            if re.fullmatch(r"session_\d+", name)
        ]
        turns = [turn["text"] for session in sessions for turn in session]
        assert error(o200k, turns) == pytest.approx(0, abs=0.1)
