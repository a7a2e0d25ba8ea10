"""How counts and names of models are shown."""

from __future__ import annotations

import pytest

from jitchat.text.figures import model_name, percent, plural


@pytest.mark.parametrize(
    ("number", "shown"), [(0, "0 turns"), (1, "1 turn"), (2, "2 turns"), (1_000, "1,000 turns")]
)
def test_only_one_is_singular(number: int, shown: str):
    assert plural(number, "turn") == shown


@pytest.mark.parametrize(
    ("model", "shown"),
    [
        ("gpt-5-mini", "gpt-5-mini"),
        ("Qwen/Qwen3-8B", "Qwen/Qwen3-8B"),
        ("/home/me/models/Qwen3-8B-Q4.GGUF", "Qwen3-8B-Q4.GGUF"),
    ],
)
def test_a_model_that_is_a_file_is_shown_by_its_name(model: str, shown: str):
    assert model_name(model) == shown


@pytest.mark.parametrize(
    ("number", "what", "told"),
    [
        (1, "line that is not JSON (3)", "1 line that is not JSON (3)"),
        (1_200, "line that is not JSON (3)", "1,200 lines that are not JSON (3)"),
        (2, "conversation that was deleted here", "2 conversations that were deleted here"),
        (2, "empty message", "2 empty messages"),
        (3, "compaction summary", "3 compaction summaries"),
        (2, "entry of another product", "2 entries of another product"),
        (2, "message that waits for a result", "2 messages that wait for a result"),
        (3, "text that describes tool calls", "3 texts that describe tool calls"),
        (2, "skill that a message names", "2 skills that a message names"),
        (2, "file in the zip that is encrypted", "2 files in the zip that are encrypted"),
        (0, "cell does not fit", "0 cells do not fit"),
        (1, "cell does not fit", "1 cell does not fit"),
        (2, "control character was left out", "2 control characters were left out"),
    ],
)
def test_what_is_counted_is_a_sentence_of_one_and_of_many(number, what, told):
    assert plural(number, what) == told


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "0 %"),
        (0.0004, "<0.1 %"),
        (0.002, "0.2 %"),
        (0.006, "0.6 %"),
        (0.014, "1 %"),
        (0.67, "67 %"),
        (0.99, "99 %"),
        (0.994, "99.4 %"),
        (7_166 / 7_197, "99.6 %"),
        (0.9996, ">99.9 %"),
        (1.0, "100 %"),
        (1.001, "100.1 %"),
        (1.0001, ">100 %"),
        (1.38, "138 %"),
    ],
)
def test_a_share_is_0_only_for_none_and_100_only_for_all(share: float, text: str):
    assert percent(share) == text
