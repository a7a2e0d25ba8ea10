"""Work in another process ends as a result or as a sentence."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest

from jitchat.bench.scaling import run_in_child
from jitchat.errors import BenchFailed
from tests.bench import works

if TYPE_CHECKING:
    from collections.abc import Callable


def test_the_result_comes_from_another_process_and_what_it_tells_on_the_way():
    """This process can be interrupted as before."""
    told: list[int] = []
    before = signal.getsignal(signal.SIGINT)
    assert run_in_child(works.count, report=told.append) != os.getpid()
    assert told == [2, 2, 2]
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize(
    ("work", "sentence"),
    [
        (works.overflow, r"^It needs 9 tokens. Shorten it.$"),
        (works.stumble, r"^Internal error \(ZeroDivisionError at works.py:\d+\).$"),
        (works.vanish, r"ended early \(exit code 7\). .*try fewer turns.$"),
    ],
)
def test_what_fails_there_is_a_sentence_here(work: Callable[..., int], sentence: str):
    with pytest.raises(BenchFailed, match=sentence):
        run_in_child(work)
