"""Work in another process ends as a result or as a sentence."""

from __future__ import annotations

import os
import signal

import pytest

from jitchat.bench.scaling import run_in_child
from jitchat.errors import BenchFailed


def test_the_result_comes_from_another_process_and_what_it_tells_on_the_way():
    """This process can be interrupted as before."""
    told: list[int] = []
    before = signal.getsignal(signal.SIGINT)
    assert run_in_child("tests.bench.works:count", {}, told.append) != os.getpid()
    assert told == [2, 2, 2]
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize(
    ("work", "sentence"),
    [
        ("overflow", r"^It needs 9 tokens. Shorten it.$"),
        ("stumble", r"^Internal error \(ZeroDivisionError at works.py:\d+\).$"),
        ("vanish", r"ended early \(exit code 7\). .*try fewer turns.$"),
    ],
)
def test_what_fails_there_is_a_sentence_here(work: str, sentence: str):
    with pytest.raises(BenchFailed, match=sentence):
        run_in_child(f"tests.bench.works:{work}", {}, int)
