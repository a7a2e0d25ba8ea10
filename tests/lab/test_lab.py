"""The lab measures what it claims: a model's own rule of forgetting comes out in the heatmap."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pytest

from jitchat.errors import BenchFailed, KeyRefused, ProviderError, RequestRefused, Unreachable
from jitchat.lab.costs import Answerer, window_tokens
from jitchat.lab.events import CellEnded, CellRetried, ConversationReady, LabEvent, RunEnded, Slowed
from jitchat.lab.experiment import Cell, Experiment, Verdict
from jitchat.lab.facts import Kind
from jitchat.lab.grade import Judge
from jitchat.lab.lab import GIVE_UP
from jitchat.lab.run_file import Runs
from jitchat.providers.provider import Finished, Options, Piece, RetryScheduled
from jitchat.replay import window_of
from jitchat.values import Message, Mode
from jitchat.window.carriers import statements_in
from jitchat.window.statements import statements_of
from tests.lab.support import ForgetfulModel, ended, events_of, lab_on, new_file
from tests.support import ScriptedProvider
from tests.support import talk as turns_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence
    from pathlib import Path

DEPTHS = (0.0, 0.25, 0.5, 0.75, 1.0)
ONE_EACH = Experiment((2_500,), DEPTHS, (Kind.DIRECT, Kind.EXACT))
IN_FULL = replace(ONE_EACH, modes=(Mode.FULL,))
FEW = Experiment((800,), (0.0, 1.0), (Kind.DIRECT, Kind.ABSENT))
FEWER = replace(FEW, kinds=(Kind.DIRECT,))
ONE_A_MODE = replace(FEWER, depths=(0.0,))


def verdicts(events: list[LabEvent]) -> dict[Cell, Verdict]:
    return {each.result.cell: each.result.verdict for each in ended(events)}


@pytest.mark.parametrize(
    ("recalls", "right"),
    [
        (lambda share, _: share < 0.4, (0.0, 0.25)),
        (lambda share, _: not 0.15 < share < 0.85, (0.0, 1.0)),
        pytest.param(lambda _, __: True, DEPTHS, marks=pytest.mark.long),
        pytest.param(lambda _, __: False, (), marks=pytest.mark.long),
    ],
    ids=["primacy", "lost in the middle", "all", "nothing"],
)
async def test_a_models_rule_of_forgetting_is_what_the_heatmap_of_full_shows(
    tmp_path: Path, recalls: Callable[[float, int], bool], right: tuple[float, ...]
) -> None:
    file = new_file(tmp_path, IN_FULL)
    found = verdicts(await events_of(lab_on(file, ForgetfulModel(IN_FULL, recalls))))

    assert len(found) == IN_FULL.size
    for cell, verdict in found.items():
        assert (verdict is Verdict.RIGHT) == (cell.depth in right), cell
    file.close()


async def test_a_model_that_rots_with_length_does_so_in_full_alone(tmp_path: Path) -> None:
    """It forgets the middle of whatever is longer than 8,000 characters."""
    experiment = Experiment((800, 6_000), (0.25, 0.5), (Kind.DIRECT,), (Mode.FULL, Mode.JIT))
    model = ForgetfulModel(experiment, lambda share, size: size < 8_000 or not 0.1 < share < 0.6)
    file = new_file(tmp_path, experiment)

    found = verdicts(await events_of(lab_on(file, model)))

    wrong = {(cell.mode, cell.length) for cell, each in found.items() if each is Verdict.WRONG}
    assert wrong == {(Mode.FULL, 6_000)}
    file.close()


async def test_each_conversation_is_distilled_by_itself_ahead_of_its_questions(
    tmp_path: Path,
) -> None:
    kinds, modes = (Kind.DIRECT, Kind.EXACT), (Mode.OBSERVE, Mode.DOCUMENT)
    experiment = Experiment((1_500, 3_000), (0.0, 0.5), kinds, modes)
    file = new_file(tmp_path, experiment)
    results = [each.result for each in ended(await events_of(lab_on(file)))]
    assert len(results) == experiment.size
    estimated = Answerer("reader", "reader", 32_768, 2_048, 0, 0.0, 0.0, is_here=True)
    for result in results:
        window = window_of(file.store.database, result.window_id or 0)
        assert window.distilled_through > 0
        answerer = replace(estimated, size=window.budget.size)
        assert window.used <= (window_tokens(result.cell.mode, result.cell.length, answerer) or 0)
        own = [source for _, source in statements_of(statements_in(window).text)]  # type: ignore[union-attr]
        assert {source.conversation for source in own} <= {"", result.conversation}
        assert result.has_evidence
        assert result.verdict is Verdict.RIGHT
    file.close()


async def test_recency_knows_what_was_said_last_and_nothing_else(tmp_path: Path) -> None:
    experiment = replace(ONE_EACH, modes=(Mode.RECENCY,))
    file = new_file(tmp_path, experiment)
    model = ForgetfulModel(experiment, lambda _, __: True)
    results = [each.result for each in ended(await events_of(lab_on(file, model)))]

    assert len(results) == experiment.size
    for result in results:
        is_recent = result.cell.depth >= 0.75  # 1,312 of 2,500 tokens are sent, or fewer
        assert result.held == is_recent
        assert (result.verdict is Verdict.RIGHT) == is_recent
    file.close()


async def test_a_run_is_the_same_each_time_and_with_several_cells_asked_at_once(
    tmp_path: Path,
) -> None:
    seen = []
    for parallel in (1, 3):
        file = new_file(tmp_path / str(parallel), FEW)
        results = [each.result for each in ended(await events_of(lab_on(file, parallel=parallel)))]
        windows = [file.window(each) for each in results]
        seen.append(
            {
                (each.cell, each.verdict, each.rule, each.answer, window and window.digest)
                for each, window in zip(results, windows, strict=True)
            }
        )
        file.close()

    assert seen[0] == seen[1]
    assert len(seen[0]) == FEW.size
    assert all(digest for *_, digest in seen[0])


async def test_a_result_is_on_file_when_it_is_reported_and_a_whole_run_is_asked_no_more(
    tmp_path: Path,
) -> None:
    file = new_file(tmp_path, ONE_A_MODE)
    looked: list[bool] = []

    def look(event: LabEvent) -> bool:
        if isinstance(event, CellEnded):
            other = Runs(tmp_path).open("last")
            looked.append(event.result in other.results())
            other.close()
        return False

    await events_of(lab_on(file), look)
    assert looked == [True] * ONE_A_MODE.size

    ended_at = file.run.ended_at
    assert await events_of(lab_on(file)) == [RunEnded()]
    assert file.run.ended_at == ended_at
    file.close()


async def test_a_run_that_was_stopped_goes_on_with_what_is_left(tmp_path: Path) -> None:
    whole = new_file(tmp_path / "whole", FEWER)
    want = verdicts(await events_of(lab_on(whole)))
    whole.close()
    file = new_file(tmp_path, FEWER)
    ten_seconds = lab_on(file, clock=iter((100.0, 110.0)).__next__)
    first = await events_of(ten_seconds, lambda event: len(file.results()) == 3)
    file.close()

    again = Runs(tmp_path).open("last")
    kept = {each.cell: each.verdict for each in again.results()}
    assert again.run.seconds == 10
    second = await events_of(lab_on(again, clock=iter((5.0, 35.0)).__next__))

    assert again.run.seconds == 40, "both legs together"
    assert verdicts(first).items() <= kept.items()
    assert again.run.ended_at is not None
    assert kept.keys().isdisjoint(verdicts(second))
    assert kept | verdicts(second) == want
    again.close()


async def test_a_window_that_is_too_large_is_a_result(tmp_path: Path) -> None:
    experiment = Experiment((6_000,), (1.0,), (Kind.DIRECT,))
    file = new_file(tmp_path, experiment, limit=4_096)

    results = {each.result.cell.mode: each.result for each in ended(await events_of(lab_on(file)))}

    assert results[Mode.FULL].verdict is Verdict.UNFIT
    assert results[Mode.FULL].window_id is None
    assert "4,096" in results[Mode.FULL].note
    assert results[Mode.JIT].verdict is Verdict.RIGHT
    file.close()


async def test_a_request_that_fails_is_sent_once_more_and_then_marked(tmp_path: Path) -> None:
    model = ForgetfulModel(FEWER, lambda _, __: True, failing=[
        *(RequestRefused("The server broke.") for _ in range(3)),
    ])  # fmt: skip
    file = new_file(tmp_path, FEWER)

    events = await events_of(lab_on(file, model))

    assert sum(isinstance(each, CellRetried) for each in events) == 2
    assert list(verdicts(events).values()).count(Verdict.FAILED) == 1
    assert len(verdicts(events)) == FEWER.size
    assert events[-1] == RunEnded()
    file.close()


async def test_failed_cells_are_asked_again_when_a_run_is_resumed(tmp_path: Path) -> None:
    broken = [RequestRefused("The server broke.") for _ in range(2)]
    file = new_file(tmp_path, FEWER)
    first = await events_of(lab_on(file, ForgetfulModel(FEWER, lambda _, __: True, failing=broken)))
    second = await events_of(lab_on(file, ForgetfulModel(FEWER, lambda _, __: True)))

    failed = {cell for cell, verdict in verdicts(first).items() if verdict is Verdict.FAILED}
    assert set(verdicts(second)) == failed
    assert len(failed) == 1
    assert len(file.results()) == FEWER.size
    file.close()


async def test_a_model_that_is_gone_ends_the_run_with_a_sentence(tmp_path: Path) -> None:
    gone = [Unreachable("Nobody answers.", "Start it.") for _ in range(2 * GIVE_UP)]
    file = new_file(tmp_path, ONE_EACH)

    events = await events_of(
        lab_on(file, ForgetfulModel(ONE_EACH, lambda _, __: True, failing=gone))
    )

    assert len(ended(events)) == GIVE_UP
    last = events[-1]
    assert isinstance(last, RunEnded)
    assert "Nobody answers. Start it." in last.why
    assert file.run.ended_at is None
    file.close()


async def test_a_refused_key_ends_the_run_at_once(tmp_path: Path) -> None:
    refusing = ForgetfulModel(FEWER, lambda _, __: True, failing=[KeyRefused("No such key.")])
    file = new_file(tmp_path, FEWER)

    events = await events_of(lab_on(file, refusing))

    assert refusing.requests == 1
    assert isinstance(events[-1], RunEnded)
    assert "No such key." in events[-1].why
    file.close()


async def test_the_users_own_conversation_is_the_filler(tmp_path: Path) -> None:
    own = turns_of(*(f"My own words, number {number}, on this." for number in range(1, 301)))
    experiment = Experiment((900,), (0.5,), (Kind.DIRECT,), conversation="mine")
    file = new_file(tmp_path, experiment)

    events = await events_of(lab_on(file, own=own))

    (conversation,) = {each.result.conversation for each in ended(events)}
    said = [turn.content for turn in file.store.turns(conversation)]
    assert own[-1].content in said
    assert sum(isinstance(each, ConversationReady) for each in events) == 1
    file.close()


async def test_leaving_it_in_the_middle_leaves_nothing_running(tmp_path: Path) -> None:
    file = new_file(tmp_path, ONE_EACH)
    await events_of(lab_on(file), lambda event: isinstance(event, CellEnded))

    assert asyncio.all_tasks() == {asyncio.current_task()}
    assert 1 <= len(file.results()) < ONE_EACH.size
    file.close()


async def test_an_own_conversation_that_is_too_short_by_now_ends_with_a_sentence(
    tmp_path: Path,
) -> None:
    own = turns_of("My own words.", "Yes.", "And a few more.", "Yes.")
    file = new_file(tmp_path, Experiment((900,), (0.5,), (Kind.DIRECT,), conversation="mine"))

    with pytest.raises(BenchFailed, match="fewer than 900 tokens"):
        await events_of(lab_on(file, own=own))
    file.close()


async def test_a_talk_that_was_made_in_another_way_is_not_asked_in(tmp_path: Path) -> None:
    file = new_file(tmp_path, FEWER)
    await events_of(lab_on(file), lambda event: isinstance(event, CellEnded))
    with file.store.database.write() as connection:
        connection.execute("UPDATE turns SET content = 'Something else.' WHERE position = 3")

    events = await events_of(lab_on(file))

    assert isinstance(events[-1], RunEnded)
    assert "generates other conversations" in events[-1].why
    assert not ended(events)
    file.close()


async def test_a_server_that_asks_for_a_long_wait_ends_the_run_with_its_sentence(
    tmp_path: Path,
) -> None:
    later = RequestRefused("Too many requests.", "It asks to wait 5 minutes.")
    later.retry_after = 300.0
    model = ForgetfulModel(FEWER, lambda _, __: True, failing=[later])
    file = new_file(tmp_path, FEWER)

    events = await events_of(lab_on(file, model))

    assert model.requests == 1
    assert events[-1] == RunEnded("Too many requests. It asks to wait 5 minutes.")
    file.close()


@pytest.mark.parametrize("refused", [KeyRefused("No such key."), Unreachable("Nobody there.")])
async def test_an_answer_that_the_judge_could_not_be_asked_about_is_not_decided(
    tmp_path: Path, refused: ProviderError
) -> None:
    experiment = Experiment((800,), (0.0,), (Kind.DIRECT,), (Mode.FULL,))
    file = new_file(tmp_path, experiment)
    judge = Judge(ScriptedProvider(script=(refused,)), Options())
    model = ForgetfulModel(experiment, lambda _, __: False)

    events = await events_of(lab_on(file, model, judge=judge))

    (result,) = (each.result for each in ended(events))
    assert result.verdict is Verdict.FAILED
    assert refused.what in result.note
    assert result.answer == "I do not know."
    again = verdicts(await events_of(lab_on(file, model)))
    assert list(again.values()) == [Verdict.WRONG]
    file.close()


async def test_an_answer_that_was_cut_says_so(tmp_path: Path) -> None:
    experiment = Experiment((800,), (0.0,), (Kind.DIRECT,), (Mode.FULL,))
    cut = ScriptedProvider(script=("Let me think", Finished("length")))
    file = new_file(tmp_path, experiment)

    (result,) = (each.result for each in ended(await events_of(lab_on(file, cut))))

    assert result.verdict is Verdict.WRONG
    assert result.note == "The answer was cut at its maximum length."
    file.close()


@dataclass
class Retried(ForgetfulModel):
    """Is asked to try again once, for whatever reason."""

    retrying: list[RetryScheduled] = field(default_factory=list)

    async def stream(self, messages: Sequence[Message], options: Options) -> AsyncIterator[Piece]:
        if self.retrying:
            yield self.retrying.pop()
        async for piece in super().stream(messages, options):
            yield piece


@pytest.mark.parametrize("asks_for_less", [True, False])
async def test_an_endpoint_that_wants_less_gets_less_and_one_that_fails_is_asked_as_before(
    tmp_path: Path, asks_for_less: bool
) -> None:
    retrying = [RetryScheduled(0.0, "HTTP 429: busy", asks_for_less)]
    model = Retried(ONE_A_MODE, lambda _, __: True, retrying=retrying)
    file = new_file(tmp_path, ONE_A_MODE)

    events = await events_of(lab_on(file, model, parallel=2))

    told = [each for each in events if isinstance(each, Slowed)]
    assert told == ([Slowed(0.0, "HTTP 429: busy", 1)] if asks_for_less else [])
    assert len(verdicts(events)) == ONE_A_MODE.size
    file.close()
