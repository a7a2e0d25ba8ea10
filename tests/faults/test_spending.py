"""Limits hold for processes that send at once; what a killed one had reserved is free again."""

from __future__ import annotations

import os
import signal
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from jitchat.store.database import Database
from jitchat.store.requests import Asked, Purpose, RequestLog, Taken
from jitchat.store.store import local_now
from jitchat.values import Usage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

KINDS = (Purpose.ANSWER, Purpose.TITLE)
AT_ONCE, LIMIT, COST = 8, 0.05, 0.02


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> Purpose:
    return Purpose(request.param)


@pytest.fixture
def log(path: Path, kind: Purpose) -> Iterator[RequestLog]:
    """A log in which the model's usual answer has 500 tokens, of a day that is not known."""
    with closing(Database(path)) as database:
        log = RequestLog(database)
        usage = Taken(Usage(100, 500), None, COST)
        log.end(log.begin(Asked(kind, "scripted", "scripted-1", None, None), usage), usage)
        yield log


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cold.db"


def test_processes_that_send_at_once_cannot_exceed_a_limit_together(nursery, path, kind, log):
    told = list(
        nursery.run("spend", path=str(path), kind=kind, limit=LIMIT, seconds=1.5, copies=AT_ONCE)
    )
    assert [words for words in told if words[0] == "failed"] == []
    refused = [" ".join(words[1:]) for words in told if words[0] == "refused"]
    assert (sum(words[0] == "sent" for words in told), len(refused)) == (2, AT_ONCE - 2)
    assert all(each.startswith("Today: ") and " of $0.05" in each for each in refused)
    spent = log.spent_on(local_now().date())
    assert spent.amount == pytest.approx(2 * COST)
    assert (spent.reserved, spent.under_way) == (0.0, 0)


def test_what_a_killed_process_had_reserved_counts_no_more(nursery, path, kind, log):
    today, pid = local_now().date(), 0
    for words in nursery.run("spend", path=str(path), kind=kind, limit=COST, seconds=600.0):
        if words[0] == "started":
            pid = int(words[1])
        if words[0] == "sent":
            held = log.spent_on(today)
            os.kill(pid, signal.SIGKILL)
    assert (held.reserved, held.under_way) == (pytest.approx(COST), 1)
    after = log.spent_on(today)
    assert (after.amount, after.reserved, after.under_way) == (0.0, 0.0, 0)
    assert after.sends == 1, "the least that it may have cost stays"
    told = list(nursery.run("spend", path=str(path), kind=kind, limit=COST, seconds=0.0))
    assert [words[0] for words in told] == ["started", "sent"]
    with log.database.read() as connection:
        assert connection.execute("SELECT count(*) FROM reservations").fetchone() == (0,)
