"""A turn is edited, or answered again: what was typed before is put aside, and comes back."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from jitchat.draft import GO_ON
from jitchat.errors import Unreachable
from jitchat.store.store import NEW_TITLE
from jitchat.values import Mode, Role, Status
from jitchat.window.steering import NO_MORE
from tests.support import TALK, ScriptedProvider, turn

if TYPE_CHECKING:
    from tests.tui.chat.stage import Stage


async def kept(stage: Stage) -> str:
    await stage.keeper.keep_now()
    return stage.drafts.get(stage.opening.conversation.id).text


async def test_an_edit_puts_what_was_typed_aside_and_plans_for_what_it_follows(
    stage: Stage,
) -> None:
    stage.steering.use_mode(Mode.FULL)
    stage.type("mine")
    await stage.branches.edit(stage.session)
    await stage.deliver()
    assert stage.prompt.draft == TALK[2]
    assert stage.steering.once.after == 2
    stage.surfaces.hint.show_edit.assert_called_with(3)
    assert stage.previews.window is not None
    sent = str(stage.previews.window.messages())
    assert TALK[1] in sent
    assert TALK[3] not in sent
    assert stage.branches.leave_edit() == 2
    assert stage.prompt.draft == "mine"
    assert stage.branches.leave_edit() is None
    stage.surfaces.hint.show_edit.assert_called_with(None)


async def test_an_edit_that_is_not_one_is_no_draft(stage: Stage) -> None:
    stage.type("mine")
    await stage.branches.edit(stage.session)
    assert await kept(stage) == "mine"
    stage.prompt.draft = "edited"
    assert await kept(stage) == "mine\nedited"


@pytest.mark.parametrize(
    ("unsent", "told"),
    [
        ("", "Prompt cleared. Ctrl+_ restores it."),
        ("half a thought", "Edit cancelled. Your draft is back."),
    ],
)
async def test_emptying_the_prompt_ends_an_edit(stage: Stage, unsent: str, told: str) -> None:
    stage.type(unsent)
    await stage.branches.edit(stage.session)
    stage.prompt.draft += "??"
    assert stage.branches.empty_prompt() == told
    assert stage.prompt.draft == unsent
    assert stage.steering.once == NO_MORE


@pytest.mark.parametrize(
    ("unsent", "typed", "left"),
    [("", "", ""), ("a thought", "", "a thought"), ("", "??", f"{TALK[2]}??")],
)
async def test_another_answer_ends_an_edit_and_keeps_what_was_typed(
    stage: Stage, unsent: str, typed: str, left: str
) -> None:
    stage.type(unsent)
    await stage.branches.edit(stage.session)
    stage.prompt.draft += typed
    await stage.branches.regenerate(stage.session)
    await stage.finish()
    assert stage.steering.once == NO_MORE
    assert stage.prompt.draft == left
    store = stage.backend.store
    assert store.tree(stage.opening.conversation.id).last == 5
    assert store.turns(stage.opening.conversation.id)[-1].content == "Understood."


async def test_a_reply_in_the_middle_is_answered_again_where_it_stands(stage: Stage) -> None:
    provider = stage.session.provider = ScriptedProvider(("Port 80.",))
    stage.surfaces.transcript.chosen = stage.session.memory.turns[1]
    assert stage.branches.confirmation(stage.session, "regenerate") == "Answer #1 again?"
    await stage.branches.regenerate(stage.session)
    await stage.finish()
    assert provider.requests[0][-1].content.endswith(TALK[0])
    turns = stage.backend.store.turns(stage.opening.conversation.id)
    assert [turn.position for turn in turns] == [1, 5]
    await stage.branches.go_to_version(stage.session, 1, 5)
    turns = stage.backend.store.turns(stage.opening.conversation.id)
    assert [turn.position for turn in turns] == [1, 2, 3, 4]


async def test_a_reply_that_was_not_cut_is_not_gone_on_with(stage: Stage) -> None:
    await stage.branches.go_on(stage.session)
    assert stage.host.sentences == ["The reply is complete; there is nothing to continue."]
    assert not stage.sends.busy


@pytest.mark.parametrize("is_stopped", [False, True])
async def test_a_continuation_that_fails_leaves_nothing_in_the_prompt_and_no_title(
    stage: Stage, is_stopped: bool
) -> None:
    store, memory = stage.backend.store, stage.session.memory
    store.set_status(memory.turns[-1], Status.CUT)
    store.rename(memory.conversation.id, NEW_TITLE)
    memory.refresh()
    await stage.opening.know(store.conversation(memory.conversation.id))
    script = asyncio.Event() if is_stopped else Unreachable("Nobody answers.")
    provider = stage.session.provider = ScriptedProvider((script,))
    stage.type("half a thought")
    await stage.branches.go_on(stage.session)
    if is_stopped:
        while not provider.requests:
            await asyncio.sleep(0.001)
        stage.sends.stop()
    await stage.finish()
    assert memory.turns[-1].content == GO_ON
    assert stage.prompt.draft == "half a thought"
    assert await kept(stage) == "half a thought"
    assert store.conversation(memory.conversation.id).title == NEW_TITLE

    provider.script = ("Understood.",)
    await stage.branches.regenerate(stage.session)
    await stage.finish()
    assert memory.turns[-1].content == "Understood."
    assert stage.prompt.draft == "half a thought"
    assert store.conversation(memory.conversation.id).title == NEW_TITLE


async def test_the_last_reply_is_answered_again_not_the_last_message(stage: Stage) -> None:
    provider = stage.session.provider = ScriptedProvider(("Port 80.",))
    store, memory = stage.backend.store, stage.session.memory
    mine, _ = store.append(
        memory.conversation.id, [turn(5, "Mine?", Role.USER), turn(6, "Theirs?", Role.USER)]
    )
    replies = [turn(7, "To them.", Role.ASSISTANT), turn(8, "To me.", Role.ASSISTANT)]
    late = replace(replies[1], question=mine.position)
    store.append(memory.conversation.id, [replies[0], late])
    memory.refresh()
    assert stage.branches.confirmation(stage.session, "regenerate") == "Answer #5 again?"
    await stage.branches.regenerate(stage.session)
    await stage.finish()
    assert provider.requests[0][-1].content.endswith("Mine?")
    assert [turn.position for turn in memory.turns] == [1, 2, 3, 4, 5, 6, 7, 9]
    assert memory.turns[-1].question == 5
