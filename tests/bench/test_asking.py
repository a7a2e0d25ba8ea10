"""Parallel requests: no more than allowed, and a failure does not stop the others."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jitchat.bench.answers import GIVE_UP, Job, Model, ReplyLog, Round, opened_log
from jitchat.errors import BenchFailed, RequestRefused
from jitchat.providers.catalogue.table import Prices
from jitchat.providers.provider import Finished, Options, Piece, ReplyDelta
from jitchat.settings import Settings
from jitchat.values import Message, Role, Usage
from jitchat.window.tokens import EstimateCounter
from tests.support import ScriptedProvider

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence


def jobs(*texts: str) -> list[Job]:
    return [Job(text, (Message(Role.USER, text),), {}) for text in texts]


@pytest.fixture
def log(tmp_path: Path) -> Iterator[ReplyLog]:
    with opened_log(tmp_path / "answers.jsonl") as opened:
        yield opened


class Answering(ScriptedProvider):
    """Repeats what it is asked; refuses what begins with "no"; tells how many it has at once."""

    now = most = 0
    wait_for = 1
    """Answers nothing before it has had so many at once."""

    async def stream(self, messages: Sequence[Message], options: Options) -> AsyncIterator[Piece]:
        asked = messages[-1].content
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            while self.most < self.wait_for:
                await asyncio.sleep(0)
            for _ in range(10):
                await asyncio.sleep(0)
            if asked.startswith("no"):
                raise RequestRefused("Too many requests.", "Wait.")
            if asked.startswith("never"):
                await asyncio.Event().wait()
            yield ReplyDelta(f" {asked}" if asked != "blank" else " \n")
            yield Usage(9, 1)
            yield Finished("stop")
        finally:
            self.now -= 1


async def ask(provider: Answering, log: ReplyLog, texts: Sequence[str], parallel: int = 1) -> int:
    """Ask; how far the bar moved."""
    moved: list[int] = []
    model = Model(
        provider, EstimateCounter(), Options(), Prices(None, None), {}, Settings().in_use()
    )
    await Round("answers", model, dict(enumerate(jobs(*texts))), log).run(parallel, moved.append)
    return sum(moved)


@pytest.mark.parametrize("parallel", [1, 3, 8])
async def test_so_many_requests_are_under_way_and_never_more(log: ReplyLog, parallel: int):
    provider = Answering()
    provider.wait_for = parallel
    texts = [f"question {number}" for number in range(40)]
    assert await asyncio.wait_for(ask(provider, log, texts, parallel), 20) == 40
    assert provider.most == parallel
    assert [log.get(job).text for job in jobs(*texts)] == texts


async def test_a_request_that_fails_is_left_and_the_others_go_on(log: ReplyLog):
    texts = ["a", "no", "b", "blank", "c"]
    await ask(Answering(), log, texts)
    assert [log.get(job) is not None for job in jobs(*texts)] == [True, False, True, False, True]
    noted = log.path.read_text()
    assert "Too many requests. Wait." in noted
    assert "answer is empty" in noted


async def test_failures_in_a_row_stop_the_run_and_say_how_to_go_on(log: ReplyLog):
    texts = ["a", *(f"no {number}" for number in range(GIVE_UP)), "b"]
    with pytest.raises(BenchFailed) as told:
        await ask(Answering(), log, texts)
    assert "5 requests in a row failed; the last: Too many requests." in str(told.value)
    assert f"saved in {log.path}; run it again" in str(told.value)
    assert log.get(jobs("a")[0]) is not None
    assert log.get(jobs("b")[0]) is None


async def test_failures_that_are_not_in_a_row_stop_nothing(log: ReplyLog):
    texts = [each for n in range(3) for each in (*(f"no {n}{k}" for k in range(GIVE_UP - 1)), "a")]
    assert await ask(Answering(), log, texts) == len(texts)


async def test_who_stops_it_keeps_what_came(log: ReplyLog):
    texts = ["a", "b", "never", "c"]
    asking = asyncio.create_task(ask(Answering(), log, texts))
    while log.get(jobs("b")[0]) is None:
        await asyncio.sleep(0)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    with opened_log(log.path) as again:
        assert [again.get(job) is not None for job in jobs(*texts)] == [True, True, False, False]


@pytest.fixture
def full_disk(log: ReplyLog) -> Iterator[None]:
    path = Path("/dev/full")
    if not path.exists():
        pytest.skip("needs /dev/full")
    log._file.close()
    with path.open("wb", buffering=0) as log._file:
        yield


async def test_a_reply_that_cannot_be_kept_ends_the_run(log: ReplyLog, full_disk: None):
    with pytest.raises(BenchFailed, match="cannot be saved"):
        await ask(Answering(), log, ["a", "b"])
