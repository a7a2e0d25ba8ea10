"""The window on screen: planned for what is typed, marked while it is not, and never a late one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from jitchat.errors import Unreachable
from jitchat.tui.chat.previews import DIM_AFTER, PREVIEW_AFTER, Previews
from jitchat.values import Mode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jitchat.values import Message
    from tests.tui.chat.stage import Stage


@pytest.fixture
def waiting(stage: Stage) -> Stage:
    """Plans are made when the test says so."""
    stage.host.waits = True
    return stage


def text(stage: Stage) -> str:
    assert stage.previews.window is not None
    return stage.previews.window.messages()[-1].content


async def test_a_plan_for_a_draft_that_has_moved_on_is_dropped(waiting: Stage) -> None:
    waiting.type("which")
    waiting.host.fire(PREVIEW_AFTER)
    waiting.type("which port")
    waiting.host.run_threads()
    await waiting.deliver()
    assert waiting.previews.window is None
    assert waiting.previews.working
    waiting.host.fire(PREVIEW_AFTER)
    waiting.host.run_threads()
    await waiting.deliver()
    assert text(waiting).endswith("which port")
    assert not waiting.previews.working
    waiting.surfaces.show_window.assert_called_once()


async def test_plans_do_not_pile_up(waiting: Stage) -> None:
    for number in range(5):
        waiting.prompt.draft = "x" * number
        waiting.previews.plan()
    assert len(waiting.host.threads) == 1
    waiting.host.run_threads()
    await waiting.deliver()
    assert len(waiting.host.threads) == 1, "one for all that was typed meanwhile"
    waiting.host.run_threads()
    await waiting.deliver()
    assert text(waiting).endswith("xxxx")
    assert not waiting.host.threads


async def test_surfaces_are_marked_at_once_and_fade_only_while_a_plan_takes_long(
    waiting: Stage,
) -> None:
    surfaces = waiting.surfaces
    waiting.type("which port")
    surfaces.show_working.assert_called_once_with(True)
    surfaces.show_faded.assert_not_called()
    waiting.host.fire(DIM_AFTER)
    surfaces.show_faded.assert_called_once_with(True)
    (fading,) = [timer for timer in waiting.host.timers if timer.seconds == PREVIEW_AFTER]
    waiting.host.fire(PREVIEW_AFTER)
    waiting.host.run_threads()
    await waiting.deliver()
    surfaces.show_working.assert_called_with(False)
    surfaces.show_faded.assert_called_with(False)
    waiting.type("which port?")
    late = next(timer for timer in waiting.host.timers if timer.seconds == DIM_AFTER)
    waiting.host.fire(PREVIEW_AFTER)
    waiting.host.run_threads()
    await waiting.deliver()
    assert late.stopped
    late.call()  # as the timer's call does that waited until the plan was made
    surfaces.show_faded.assert_called_with(False)
    assert fading is not late


async def test_a_sent_window_stays_while_the_prompt_is_empty(waiting: Stage) -> None:
    sent = waiting.session.preview("which port", Mode.JIT)
    previews = waiting.previews
    previews.show_sent(sent, None, None)
    waiting.steering.use_mode(Mode.FULL)
    previews.plan()
    assert not waiting.host.threads
    waiting.type("a")
    assert previews.working
    waiting.type("")
    assert not previews.working
    waiting.host.fire(PREVIEW_AFTER)
    assert not waiting.host.threads
    assert previews.window is previews.sent is sent
    previews.switch_to_next()
    waiting.host.run_threads()
    await waiting.deliver()
    assert previews.sent is None


async def test_a_busy_chat_plans_nothing_until_the_reply_is_over(waiting: Stage) -> None:
    waiting.steering.busy = True
    waiting.type("and then?")
    waiting.previews.plan(afresh=True)
    waiting.host.fire(PREVIEW_AFTER)
    assert not waiting.host.threads
    assert not waiting.previews.working
    waiting.steering.busy = False
    waiting.previews.plan()
    waiting.host.run_threads()
    await waiting.deliver()
    assert text(waiting).endswith("and then?")


async def test_a_plan_of_a_conversation_that_was_left_is_not_shown(waiting: Stage) -> None:
    waiting.previews.plan(afresh=True)
    waiting.previews.leave()
    waiting.host.run_threads()
    (late,) = waiting.host.posted
    assert isinstance(late, Previews.Planned)
    await waiting.deliver()
    assert waiting.previews.window is None
    assert not waiting.previews.working


async def test_a_count_is_shown_unless_something_else_would_be_sent_by_then(stage: Stage) -> None:
    counted: list[Mode] = []

    async def count(session: object, asked: Sequence[Message]) -> int:
        stage.steering.use_mode(counted.pop())
        return 1_188

    stage.backend.count_exactly = count  # type: ignore[method-assign]
    stage.prompt.draft = "which port"
    for meanwhile in (Mode.FULL, Mode.FULL):
        counted.append(meanwhile)
        stage.meter.count_exactly(stage.session)
        assert "exactly" not in " ".join(stage.surfaces.hint.sentences)
        await stage.finish()
    assert stage.previews.window is not None
    assert stage.previews.window.mode is Mode.FULL
    stage.surfaces.show_window.assert_called_once()
    assert stage.surfaces.hint.sentences[0].startswith("exactly 1,188 ✓")


async def test_a_provider_that_cannot_count_says_why_and_the_line_stays(stage: Stage) -> None:
    async def count(session: object, asked: Sequence[Message]) -> int:
        raise Unreachable("work cannot be reached.", "Is it running?")

    stage.surfaces.hint.show_cost("in ~100", "~100")
    stage.meter.count_exactly(stage.session)
    await stage.finish()
    stage.backend.count_exactly = count  # type: ignore[method-assign]
    stage.meter.count_exactly(stage.session)
    await stage.finish()
    assert stage.host.sentences == [
        "scripted does not count. Send it.",
        "work cannot be reached. Is it running?",
    ]
    assert stage.surfaces.hint.sentences == ("in ~100", "~100")
    stage.surfaces.hint.show_cost.assert_any_call("asking scripted to count…")
