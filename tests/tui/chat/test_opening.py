"""A conversation is opened and left: what comes late of it is not the next one's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jitchat.draft import EMPTY
from jitchat.errors import EmbedderUnavailable
from jitchat.tui.chat.opening import Indexing, Opening
from tests.index.support import FailingEmbedder, FakeEmbedder
from tests.support import conversation_of, talk
from tests.tui.chat.stage import Stage

if TYPE_CHECKING:
    from tests.tui.support import TestBackend


def posted(stage: Stage, kind: type[Any]) -> list[Any]:
    return [message for message in stage.host.posted if isinstance(message, kind)]


async def leave(stage: Stage) -> None:
    await stage.keeper.keep_now()
    stage.indexing.stop()
    await stage.opening.leave()


async def test_a_session_that_comes_late_tells_of_the_opening_it_was_loaded_for(
    stage: Stage,
) -> None:
    wanted = conversation_of(stage.backend.store, talk("wanted"))
    stage.host.waits = True
    await stage.opening.open(stage.opening.conversation, None, EMPTY)
    await leave(stage)
    await stage.opening.open(wanted, None, EMPTY)
    stage.host.run_threads()
    left, ready = posted(stage, Opening.Ready)
    assert left.opening != stage.opening.number == ready.opening
    assert ready.session.memory.conversation == stage.opening.conversation == wanted
    assert [each.opening for each in posted(stage, Opening.Shown)] == [1, 2]


async def test_a_conversation_that_cannot_be_opened_says_so_and_the_next_one_can(
    stage: Stage,
) -> None:
    await leave(stage)
    stage.backend.refusal = EmbedderUnavailable("No model.", "Name another.")
    await stage.opening.open(stage.opening.conversation, None, EMPTY)
    (refused,) = posted(stage, Opening.Refused)
    assert (refused.opening, refused.error) == (stage.opening.number, stage.backend.refusal)
    stage.opening.refuse(refused.error)
    stage.surfaces.top.show_status.assert_called_with("cannot send")
    await leave(stage)
    assert stage.opening.refusal is None


async def test_each_conversation_has_its_own_draft(stage: Stage) -> None:
    first, other = stage.opening.conversation, stage.backend.store.create("Another")
    stage.prompt.draft = "about the port"
    await leave(stage)
    await stage.opening.open(other, None, stage.prompt.message)
    await leave(stage)
    await stage.opening.open(other, None, stage.prompt.message)
    assert stage.prompt.draft == ""
    await leave(stage)
    await stage.opening.open(first, None, stage.prompt.message)
    assert stage.prompt.draft == "about the port"
    assert stage.keeper.is_back()


async def test_indexing_of_a_conversation_that_was_left_stops_and_says_nothing(
    stage: Stage,
) -> None:
    stage.host.waits = True
    throttle = stage.session.memory.index.throttle
    stage.indexing.catch_up()
    await leave(stage)
    assert throttle.halted
    assert not stage.indexing.indexed
    stage.host.run_threads()
    assert not stage.host.calls
    assert not posted(stage, Indexing.Ended)


async def test_indexing_that_is_taken_over_ends_nothing(stage: Stage) -> None:
    stage.host.waits = True
    better = FakeEmbedder("better-8")
    stage.indexing.catch_up()
    stage.indexing.catch_up(better)
    stage.host.run_threads()
    assert len(posted(stage, Indexing.Ended)) == 1
    assert stage.session.memory.index.embedder is better


async def test_how_far_indexing_is_stays_on_screen_until_it_ends(stage: Stage) -> None:
    stage.indexing.catch_up()
    (ended,) = posted(stage, Indexing.Ended)
    stage.host.calls[0]()
    assert not stage.indexing.indexed
    stage.surfaces.show_status.assert_called_with(stage.session, stage.indexing.progress)
    assert stage.indexing.progress is not None
    stage.indexing.end(ended.error)
    assert stage.indexing.indexed
    stage.surfaces.show_status.assert_called_with(stage.session, None)


async def test_an_embedder_that_fails_is_told_of_once_all_else_is_indexed(
    backend: TestBackend,
) -> None:
    backend.embedder = FailingEmbedder()
    made = conversation_of(backend.store, talk("one", "two"))
    stage = await Stage(backend, made).open()
    stage.indexing.catch_up()
    (ended,) = posted(stage, Indexing.Ended)
    stage.indexing.end(ended.error)
    assert stage.indexing.indexed
    assert "recall uses words alone" in stage.host.sentences[0]


async def test_without_a_summariser_no_index_lines_are_written(stage: Stage) -> None:
    stage.indexing.write_missing_lines()
    await stage.host.finish()
    assert not posted(stage, Indexing.LinesMoved)
    assert not stage.indexing.show_lines(Indexing.LinesMoved(stage.opening.number, None))
