"""One message at a time, what it is sent with, and what is left of it when it fails."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from jitchat.draft import Draft
from jitchat.errors import JitchatError, KeyRefused, StoreFull, StreamCut, Unreachable
from jitchat.providers.provider import RequestAdapted, RetryScheduled
from jitchat.store.store import NEW_TITLE
from jitchat.tui.chat.previews import Previews
from jitchat.tui.chat.sends import ANOTHER_KEY, IN_PROGRESS, Sends
from jitchat.values import Mode, Role
from jitchat.window.steering import NO_MORE, Once
from tests.support import ScriptedProvider
from tests.tui.chat.stage import Stage

if TYPE_CHECKING:
    from tests.tui.support import TestBackend

WANTED = Once(wanted=frozenset({2}))


def send(stage: Stage, *script: object, typed: str = "and now?") -> ScriptedProvider:
    """Send what is typed, with what was decided for it."""
    provider = stage.session.provider = ScriptedProvider(script)  # type: ignore[arg-type]
    stage.prompt.draft = ""
    draft = Draft.by_user(typed)
    stage.keeper.send(draft)
    stage.sends.start(stage.session, *stage.steering.take(draft, None))
    return provider


async def asked(stage: Stage, provider: ScriptedProvider) -> None:
    """Until the request has left, and the screen knows of all before it."""
    while not provider.requests:
        await asyncio.sleep(0.001)
    await stage.deliver()


@pytest.mark.parametrize("refusal", [KeyRefused("No."), Unreachable("No.")])
async def test_a_failure_gives_the_draft_back_with_what_held_for_it(
    stage: Stage, refusal: JitchatError
) -> None:
    stage.steering.once = WANTED
    send(stage, refusal, typed="@full and now?")
    await stage.finish()
    assert stage.prompt.draft == "and now?"
    assert (stage.steering.once, stage.steering.once_mode) == (WANTED, Mode.FULL)
    assert not stage.sends.busy
    assert stage.host.sentences == ["No.", ANOTHER_KEY][: 1 + isinstance(refusal, KeyRefused)]


async def test_what_a_failure_said_ends_with_the_next_reply(stage: Stage) -> None:
    stage.surfaces.transcript.detail_of.return_value.note = None
    send(stage, KeyRefused("No."))
    await stage.finish()
    send(stage, "A reply.")
    await stage.finish()
    assert stage.host.sentences == []


async def test_send_again_is_said_only_if_there_is_something_in_the_prompt_to_send(
    stage: Stage,
) -> None:
    stage.surfaces.transcript.detail_of.return_value.note = None
    send(stage, StreamCut("It broke.", "Send again."))
    await stage.finish()
    assert (stage.prompt.draft, stage.host.sentences[-1]) == ("and now?", "It broke. Send again.")

    for remedy, said in (
        ("The partial reply is kept. Send again.", "Alt+R sends the message again."),
        ("Wait, then send again.", "Wait, then Alt+R sends the message again."),
        ("Check provider.model.", "Check provider.model."),
    ):
        send(stage, "Half a", StreamCut("It broke.", remedy))
        await stage.finish()
        assert stage.prompt.draft == ""
        assert stage.host.sentences[-1].endswith(said)
        assert "end again" not in stage.host.sentences[-1]


async def test_only_a_complete_reply_ends_the_error_of_the_message_before_it(stage: Stage) -> None:
    stage.surfaces.transcript.detail_of.return_value.note = None
    send(stage, "Half a", StreamCut("It broke.", "Send again."))
    await stage.finish()
    assert len(stage.host.sentences) == 1
    stage.host.show_error(JitchatError("Something else."))
    send(stage, "It is noon.")
    await stage.finish()
    assert stage.host.sentences == ["Something else."]


async def test_what_fails_behind_a_reply_is_told_and_the_reply_stays(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_path: object) -> bool:
        raise StoreFull("No room.", "Free some.")

    monkeypatch.setattr(stage.session.memory.observed, "is_paused", full)
    stage.steering.mode = Mode.OBSERVE
    send(stage, "It is noon.")
    await stage.finish()
    assert stage.host.sentences == ["No room. Free some."]
    assert (stage.prompt.draft, stage.sends.busy) == ("", False)
    assert stage.session.memory.turns[-1].content == "It is noon."


async def test_a_message_that_is_stopped_comes_back_with_what_held_for_it(stage: Stage) -> None:
    stage.steering.once = WANTED
    provider = send(stage, asyncio.Event(), typed="@full and now?")
    await asked(stage, provider)
    assert stage.drafts.get(stage.opening.conversation.id).text == ""
    await stage.keeper.keep_now()
    assert stage.drafts.get(stage.opening.conversation.id).text == "@full and now?"
    stage.prompt.draft = "typed meanwhile"
    stage.sends.stop()
    await stage.finish()
    assert stage.prompt.draft == "and now?\ntyped meanwhile"
    assert (stage.steering.once, stage.steering.once_mode) == (WANTED, Mode.FULL)
    assert not stage.sends.waits()


async def test_an_answer_that_is_stopped_before_its_first_word_is_no_draft(stage: Stage) -> None:
    question = stage.session.memory.turns[2]
    provider = stage.session.provider = ScriptedProvider((asyncio.Event(),))
    stage.sends.start(stage.session, Draft.foreign(question.content), Once(again=question))
    await asked(stage, provider)
    stage.sends.stop()
    await stage.finish()
    assert stage.prompt.draft == ""
    assert stage.steering.once == NO_MORE


async def test_nothing_else_is_sent_meanwhile_and_the_end_of_the_reply_frees_the_prompt(
    backend: TestBackend,
) -> None:
    stage = await Stage(backend, backend.store.create(NEW_TITLE)).open()
    gate = asyncio.Event()
    provider = send(stage, "Under", gate, "stood.")
    await asked(stage, provider)
    assert stage.sends.waits()
    assert stage.host.sentences == [IN_PROGRESS.format(cancel="Esc")]
    stage.surfaces.hint.show_keys.assert_called_with(busy=True)
    stage.prompt.draft = "second"
    stage.previews.follow_draft()
    gate.set()
    await stage.host.finish()
    await stage.deliver(Sends.Reported)
    assert not stage.sends.busy
    assert any(isinstance(message, Sends.PromptFreed) for message in stage.host.posted)
    stage.surfaces.hint.show_keys.assert_called_with(busy=False)
    assert [turn.content for turn in backend.store.turns(stage.opening.conversation.id)] == [
        "and now?",
        "Understood.",
    ]
    assert stage.opening.conversation.title == "And now", "it is named by its first message"
    await stage.deliver(Previews.Planned)
    assert stage.previews.sent is None
    assert stage.previews.window is not None
    assert stage.previews.window.segments[-1].text.endswith("second")


async def test_the_end_of_one_send_does_not_free_the_next(stage: Stage) -> None:
    send(stage, "First.")
    await stage.host.finish()
    await stage.deliver(Sends.Reported)
    assert not stage.sends.busy, "its reply is stored, its turns are still being indexed"
    provider = send(stage, asyncio.Event())
    while not provider.requests:
        await asyncio.sleep(0.001)
    await stage.deliver()
    assert stage.sends.busy
    stage.sends.stop()
    await stage.finish()
    assert not stage.sends.busy


async def test_what_goes_on_before_the_answer_is_told(stage: Stage) -> None:
    adapted = RequestAdapted("m does not take temperature [/]: sent without it.")
    send(stage, RetryScheduled(30.0, "HTTP 429"), adapted, "Hello.")
    await stage.finish()
    stage.surfaces.hint.count_down.assert_called_once_with(30.0, "HTTP 429")
    assert stage.host.sentences == [adapted.sentence]
    assert stage.previews.sent_for is not None
    assert stage.previews.sent_for.role is Role.USER
    stage.surfaces.inspector.report.assert_called_once()
