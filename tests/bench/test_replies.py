"""Replies survive the run that requested them, however it ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from jitchat.bench.answers import Job, key_of, opened_log
from jitchat.bench.workers import Reply
from jitchat.errors import BenchFailed, Unreachable
from jitchat.values import Message, Role, Usage

if TYPE_CHECKING:
    from pathlib import Path


def job(text: str, **asked: object) -> Job:
    messages = (Message(Role.SYSTEM, "Be brief."), Message(Role.USER, text))
    known = {"provider": "openai", "model": "m", "data": "d", "mode": "jit", **asked}
    return Job(key_of(known, messages), messages, known)


FIRST, SECOND = Reply("Täglich\n{", "stop", Usage(100, 7)), Reply("two", "length")


def written(path: Path) -> bytes:
    with opened_log(path) as log:
        log.add(job("one"), FIRST)
        log.add(job("two"), SECOND)
    return path.read_bytes()


def test_a_reply_is_there_for_the_next_run(tmp_path: Path):
    path = tmp_path / "made" / "answers.jsonl"
    written(path)
    with opened_log(path) as log:
        assert (log.get(job("one")), log.get(job("two"))) == (FIRST, SECOND)
        assert log.get(job("three")) is None


def test_a_kill_at_any_byte_costs_the_reply_that_was_being_written_and_no_other(tmp_path: Path):
    path = tmp_path / "answers.jsonl"
    whole = written(path)
    first = whole.index(b"\n") + 1
    for end in range(first, len(whole) - 1):
        path.write_bytes(whole[:end])
        with opened_log(path) as log:
            assert log.get(job("one")) == FIRST
            assert log.get(job("two")) == (SECOND if whole[:end].endswith(b"}") else None)
            log.add(job("three"), SECOND)
        with opened_log(path) as log:
            assert log.get(job("three")) == SECOND


@pytest.mark.parametrize(
    "other", [{"model": "n"}, {"data": "e"}, {"mode": "full"}, {"temperature": 0.5}]
)
def test_a_reply_under_other_settings_is_not_used(tmp_path: Path, other: dict[str, object]):
    path = tmp_path / "answers.jsonl"
    written(path)
    with opened_log(path) as log:
        assert log.get(job("one", **other)) is None


def test_a_failure_is_noted_and_is_no_reply(tmp_path: Path):
    path = tmp_path / "answers.jsonl"
    with opened_log(path) as log:
        log.add_failure(job("one"), Unreachable("No server.", "Start it."))
    assert '"failed": "No server. Start it."' in path.read_text()
    with opened_log(path) as log:
        assert log.get(job("one")) is None


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"null",
        b"[1]",
        b'{"key": "k"}',
        b'{"key": "k", "text": 5, "reason": "stop", "usage": null}',
        b'{"key": "k", "text": "a", "reason": "stop", "usage": [1, "b"]}',
        b'{"key": "k", "text": "a", "reason": "stop", "usage": [1, 2, 3, 4]}',
        b"\xff\xfe\x00",
        b'{"key": "k", "text": "a", "reason": "stop", "usage": [1, Infinity]}',
        pytest.param(b"[" * 100_000, id="nested"),
    ],
)
def test_a_line_that_is_not_ours_is_passed_over(tmp_path: Path, line: bytes):
    path = tmp_path / "answers.jsonl"
    path.write_bytes(line + b"\n" + written(path))
    with opened_log(path) as log:
        assert log.get(job("two")) == SECOND


def test_a_file_that_cannot_be_is_refused_with_a_sentence(tmp_path: Path):
    (tmp_path / "file").write_text("")
    for path in (tmp_path, tmp_path / "file" / "answers.jsonl"):
        with pytest.raises(BenchFailed, match="cannot be saved in"), opened_log(path):
            pass
