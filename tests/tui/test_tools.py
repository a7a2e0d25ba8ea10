"""Tools in the chat: approved above the prompt, shown as one block per call, stopped by Esc."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from textual.widgets import TextArea

from jitchat.session_options import SessionOptions
from jitchat.store.regression_cases import CaseKind, Cases
from jitchat.text.figures import duration
from jitchat.tools import toolbox
from jitchat.tools.mcp.server import Phase, ServerState
from jitchat.tools.offering import Asking, OfferRules
from jitchat.tui.chat.tools import Tools
from jitchat.tui.widgets import hint_line
from jitchat.tui.widgets.transcript import Transcript
from jitchat.values import REQUEST_CONTEXT, Role, ToolCall
from tests.support import ScriptedProvider
from tests.tools.support import ScriptedServers, call
from tests.tui.drawn import blocks, offset_of, part
from tests.tui.support import SMALL, demo_app, idle, notices, ready, type_text, until

if TYPE_CHECKING:
    from tests.tui.conftest import Picture
    from tests.tui.support import TestBackend

SIZE = (80, 24)


def with_tools(backend: TestBackend, *answers: tuple) -> ScriptedServers:
    backend.servers = ScriptedServers()
    backend.provider = ScriptedProvider(answers[0], later=list(answers[1:]))
    return backend.servers


async def asks(pilot, tool: str = "look") -> None:
    """Send a message whose first call waits for approval."""
    screen = await ready(pilot)
    await type_text(pilot, "what is there?")
    await pilot.press("enter")
    await until(pilot, lambda: screen.surfaces.approval.display, "the question")
    await until(pilot, lambda: tool in shown(screen), "the tool")


def shown(screen) -> str:
    return str(screen.query_one("#approval-asked").render())


def results(screen) -> list[str]:
    """The blocks of calls that have a result."""
    return [part(each, "body") for each in blocks(screen) if each.turn.use.answers is not None]


def texts(screen) -> list[tuple[Role, str]]:
    return [(turn.role, turn.content) for turn in screen.session.memory.turns[-4:]]


async def test_approval_is_requested_without_taking_typed_keys(backend: TestBackend) -> None:
    servers = with_tools(backend, ("I look.", call("a")), ("A lamp.",))
    async with demo_app(backend).run_test(size=SIZE) as pilot:
        await asks(pilot)
        screen = pilot.app.screen
        assert servers.state == "ready"
        assert not servers.tools.ran
        await pilot.press(*"jlqn")
        await until(pilot, lambda: screen.surfaces.prompt.text == "jlqn", "what was typed")
        assert not servers.tools.ran
        await pilot.press("alt+j")
        await idle(pilot)
        assert servers.tools.ran == ["a"]
        assert not screen.surfaces.approval.display
        assert screen.surfaces.prompt.text == "jlqn"
        assert texts(screen) == [
            (Role.USER, "what is there?"),
            (Role.ASSISTANT, "I look."),
            (Role.TOOL, "a lamp"),
            (Role.ASSISTANT, "A lamp."),
        ]
        (block,) = results(screen)
        assert "look() → a lamp" in block
    assert servers.state == "stopped"


async def test_a_declined_call_is_reported_to_the_model_and_shown(backend: TestBackend) -> None:
    servers = with_tools(backend, (call("a"),), ("Without it.",))
    async with demo_app(backend).run_test(size=SIZE) as pilot:
        await asks(pilot)
        await pilot.press("ctrl+o", "4")
        await idle(pilot)
        assert not servers.tools.ran
        assert backend.provider.requests[1][-1].content.startswith("Declined by the user")
        (block,) = results(pilot.app.screen)
        assert block.startswith("⊘ look() → declined by the user")


async def test_a_tool_allowed_for_the_conversation_needs_no_further_approval(
    backend: TestBackend,
) -> None:
    servers = with_tools(backend, (call("a"),), (call("b"),), ("Done.",))
    async with demo_app(backend).run_test(size=SIZE) as pilot:
        await asks(pilot)
        await pilot.press("ctrl+o", "enter")
        assert not servers.tools.ran, "no answer is under the cursor of the menu"
        await pilot.press("ctrl+o", "2")
        await idle(pilot)
        assert servers.tools.ran == ["a", "b"]


async def test_the_question_names_the_keys_that_the_user_has(backend: TestBackend) -> None:
    backend.settings = replace(backend.settings, keys={"allow_once": "f12"})
    servers = with_tools(backend, (call("a"),), ("Done.",))
    async with demo_app(backend).run_test(size=SIZE) as pilot:
        await asks(pilot)
        answers = str(pilot.app.screen.query_one("#approval-answers").render())
        assert answers.split("  ")[:2] == ["F12 once", "Ctrl+O, then"]
        assert answers.split("  ")[2:4] == ["2 this conversation", "3 always"]
        await pilot.press("alt+j")
        assert not servers.tools.ran
        await pilot.press("f12")
        await idle(pilot)
        assert servers.tools.ran == ["a"]


async def test_all_of_a_long_question_can_be_read_without_leaving_the_prompt(
    backend: TestBackend,
) -> None:
    text = "\\n".join(f"line {number} \\u001b[2J" for number in range(200))
    with_tools(backend, (call("a", "look", f'{{"where": "{text}", "end": "berth 3"}}'),), ("Ok.",))
    async with demo_app(backend).run_test(size=SIZE) as pilot:
        await asks(pilot)
        screen = pilot.app.screen
        scroll = screen.query_one("#approval-arguments")
        before = scroll.size.height
        await pilot.press("alt+i")
        await until(pilot, lambda: scroll.size.height > before, "more of it")
        assert scroll.region.bottom <= screen.surfaces.prompt.region.y
        assert screen.surfaces.hint.region.bottom <= SIZE[1]
        while not scroll.is_vertical_scroll_end:
            at = scroll.scroll_y
            await pilot.press("pagedown")
            await until(pilot, lambda at=at: scroll.scroll_y > at, "the next page")
        assert screen.focused is screen.surfaces.prompt
        await pilot.press("alt+i")
        await until(pilot, lambda: scroll.size.height == before, "less of it")
        await pilot.press("alt+n")
        await idle(pilot)


@pytest.mark.parametrize("answered", [False, True])
async def test_esc_stops_a_call_and_the_question_and_every_call_has_a_result(
    backend: TestBackend, *, answered: bool
) -> None:
    servers = with_tools(backend, (call("a"),), ("Done.",))
    servers.tools.waits["a"] = asyncio.Event()
    async with demo_app(backend).run_test(size=SIZE) as pilot:
        await asks(pilot)
        screen = pilot.app.screen
        if answered:
            await pilot.press("alt+j")
            await until(pilot, lambda: servers.tools.ran, "the call")
        await pilot.press("escape")
        await idle(pilot)
        assert not screen.surfaces.approval.display
        assert "the user stopped the turn" in screen.session.memory.turns[-1].content
        await type_text(pilot, "and now?")
        await pilot.press("enter")
        await idle(pilot)
        assert screen.session.memory.turns[-1].content == "Done."


async def test_an_answer_without_a_question_is_reported(backend: TestBackend) -> None:
    with_tools(backend, ("Hello.",))
    async with demo_app(backend).run_test(size=SIZE) as pilot:
        await ready(pilot)
        await pilot.press("alt+j")
        await until(pilot, lambda: "No open question" in " ".join(notices(pilot)), "the notice")


async def test_calls_are_shown_while_they_run_and_then_with_their_time_and_tokens(
    backend: TestBackend,
) -> None:
    calls = (call("a", "look", '{"where": "berth 3"}'), call("b", "count"))
    servers = with_tools(backend, calls, ("A lamp.",))
    servers.tools.waits = {"a": asyncio.Event(), "b": asyncio.Event()}
    async with demo_app(backend).run_test(size=SIZE) as pilot:
        await asks(pilot)
        screen = pilot.app.screen

        def calls() -> str:
            return next(part(each, "calls") for each in blocks(screen) if each.turn.use.calls)

        lines = calls().splitlines()
        asked = "waiting for approval"
        assert lines == [f'◌ look(where="berth 3") · {asked}', f"◌ count() · {asked}"]
        await pilot.press("alt+k")
        await until(pilot, lambda: "count" in shown(screen), "the other question")
        lines = calls().splitlines()
        assert lines == ['◌ look(where="berth 3") · running', f"◌ count() · {asked}"]
        await pilot.press("alt+k")
        await until(pilot, lambda: len(servers.tools.ran) == 2, "both calls")
        lines = calls().splitlines()
        assert lines == ['◌ look(where="berth 3") · running', "◌ count() · running"]
        hint = screen.query_one("#cost")
        await until(pilot, lambda: "2 tools are running" in str(hint.render()), "what runs")
        servers.tools.waits["b"].set()
        await until(pilot, lambda: len(results(screen)) == 1, "the first result")
        await until(pilot, lambda: "look is running" in str(hint.render()), "what still runs")
        assert calls() == lines[0]
        servers.tools.waits["a"].set()
        await idle(pilot)
        assert calls() == "calls 2 tools: look, count"
        drawn = {each.turn: part(each, "body") for each in blocks(screen) if each.turn.use.answers}
        assert len(drawn) == 2
        window = screen.previews.window
        for turn, block in drawn.items():
            took, tokens, size = block.splitlines()[1].strip().split(" · ")
            assert took == duration(turn.use.seconds)
            segment = next(each for each in window.segments if each.turn == turn.position)
            assert tokens == f"{window.figure(segment.tokens)} tokens in the window"
            assert size == f"{len(turn.content)} characters"


async def test_a_call_is_unfolded_in_place_and_folded_again(backend: TestBackend) -> None:
    servers = with_tools(backend, (call("a", "look", '{"where": "berth 3"}'),), ("A lamp.",))
    servers.tools.given["look"] = "".join(f"lamp {number}\n" for number in range(9))
    async with demo_app(backend).run_test(size=SIZE) as pilot:
        await asks(pilot)
        await pilot.press("alt+j")
        await idle(pilot)
        screen = pilot.app.screen
        (line,) = results(screen)
        await pilot.press("alt+i")
        (text,) = results(screen)
        assert text.startswith(line)
        assert '"where": "berth 3"' in text
        assert "lamp 8" in text
        transcript = screen.query_one(Transcript)
        await pilot.click(transcript, offset=offset_of(transcript, "look(where"))
        assert results(screen) == [line]


async def test_each_of_the_calls_that_esc_stops_is_shown(backend: TestBackend) -> None:
    servers = with_tools(backend, (call("a"), call("b"), call("c")), ("Done.",))
    servers.tools.waits = {name: asyncio.Event() for name in "abc"}
    async with demo_app(backend).run_test(size=SIZE) as pilot:
        await asks(pilot)
        await pilot.press("alt+k")
        await until(pilot, lambda: len(servers.tools.ran) == 3, "the calls")
        await pilot.press("escape")
        await idle(pilot)
        stopped = results(pilot.app.screen)
        assert len(stopped) == 3
        assert all("the user stopped the turn" in block for block in stopped)


async def test_enter_shows_a_call_and_its_result_whole(backend: TestBackend) -> None:
    servers = with_tools(backend, (call("a", "look", '{"where": "berth 3"}'),), ("A lamp.",))
    servers.tools.given["look"] = "a lamp\n" * 30
    async with demo_app(backend).run_test(size=SIZE) as pilot:
        await asks(pilot)
        await pilot.press("alt+j")
        await idle(pilot)
        screen = pilot.app.screen
        turn = screen.session.memory.turns[-2]
        screen.surfaces.transcript.focus()
        await pilot.pause()
        screen.surfaces.transcript.point_at(turn.position)
        await pilot.press("enter")
        await until(pilot, lambda: pilot.app.screen is not screen, "the text")
        text = pilot.app.screen.query_one(TextArea).text
        assert "berth 3" in text
        assert text.endswith("a lamp\n" * 30)


async def test_requested_turns_are_noted_as_missing_with_one_key(
    backend: TestBackend,
) -> None:
    ask = ToolCall("r", REQUEST_CONTEXT, '{"query": "deploy window"}')
    backend.provider = ScriptedProvider((ask,), later=[("Tuesday (#9).",)])
    backend.options = SessionOptions(budget=SMALL, offers=OfferRules(Asking.ON))
    async with demo_app(backend).run_test(size=SIZE) as pilot:
        screen = await ready(pilot)
        screen.choices.use_mode("recency")
        await type_text(pilot, "when was that again?")
        await pilot.press("enter")
        await idle(pilot)
        screen.surfaces.transcript.focus()
        await pilot.pause()
        screen.surfaces.transcript.point_at(screen.session.memory.turns[-2].position)
        await pilot.press("n")
        await pilot.press("enter")
        await until(pilot, lambda: "Noted as missing: #9." in " ".join(notices(pilot)), "the note")
        (case,) = Cases(backend.store.database).of("demo")
        assert (case.wanted.position, case.kind) == (9, CaseKind.MISS)


async def test_a_failed_server_is_named_in_the_top_line_and_the_chat_continues(
    backend: TestBackend,
) -> None:
    servers = with_tools(backend, ("Hello.",))
    async with demo_app(backend).run_test(size=(160, 40)) as pilot:
        screen = await ready(pilot)
        servers.state = "failed"
        failed = ServerState("scripted", Phase.FAILED, "scripted cannot be started: no such file.")
        screen.post_message(Tools.Changed(failed))
        await until(pilot, lambda: "cannot be started" in " ".join(notices(pilot)), "the notice")
        status = screen.query_one("#status")
        await until(pilot, lambda: "tools failed: scripted" in str(status.render()), "the line")
        await type_text(pilot, "hello?")
        await pilot.press("enter")
        await idle(pilot)
        assert screen.session.memory.turns[-1].content == "Hello."


async def test_a_starting_server_is_named_and_a_message_is_sent_without_its_tools_with_a_notice(
    backend: TestBackend,
) -> None:
    servers = with_tools(backend, ("Hello.",), ("Hello again.",))
    async with demo_app(backend).run_test(size=(160, 40)) as pilot:
        screen = await ready(pilot)
        status = screen.query_one("#status")
        servers.state = "starting"
        screen.post_message(Tools.Changed(servers.states()[0]))
        await until(pilot, lambda: "tools starting: scripted" in str(status.render()), "the line")
        await type_text(pilot, "hello?")
        await pilot.press("enter")
        await until(
            pilot, lambda: "without the tools of scripted" in " ".join(notices(pilot)), "it"
        )
        await idle(pilot)
        servers.state = "ready"
        screen.post_message(Tools.Changed(servers.states()[0]))
        await until(pilot, lambda: "starting" not in str(status.render()), "the line without it")


async def test_a_question_and_what_calls_gave_back_look_as_in_the_pictures(
    backend: TestBackend, picture: Picture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(toolbox, "perf_counter", lambda: 0.0)
    monkeypatch.setattr(hint_line, "monotonic", lambda: 0.0)
    calls = (call("a", "look", '{"where": "berth 3", "since": "2026-03-02"}'), call("b", "count"))
    servers = with_tools(backend, ("I look.", *calls), ("Nothing but a lamp at berth 3.",))
    servers.tools.given["look"] = "a lamp\n" * 30
    async with demo_app(backend).run_test(size=SIZE) as pilot:
        await asks(pilot, "look")
        await pilot.press(*"meanwhile")
        await picture(pilot, "asked", "small", "wide")
        await pilot.press("alt+j")
        await until(pilot, lambda: "count" in shown(pilot.app.screen), "the other question")
        await pilot.press("alt+n")
        await idle(pilot)
        await picture(pilot, "answered", "small", "wide")
