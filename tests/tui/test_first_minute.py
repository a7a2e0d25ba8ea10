"""The first minute of the README, word for word: its questions, keys and answers drive the app."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from jitchat.cli.cold_store import choose_conversation
from jitchat.tui.app import JitchatApp
from jitchat.tui.widgets.inspector import Inspector
from jitchat.values import Mode
from jitchat.window.window import Kind
from screenshots.stage import backend_in
from tests.support import ROOT
from tests.tui.support import chat, idle, ready, until

if TYPE_CHECKING:
    from pathlib import Path

    from textual.pilot import Pilot

    from jitchat.tui.chat.screen import ChatScreen

README = (ROOT / "README.md").read_text(encoding="utf-8")
MINUTE = README[README.index("## The first minute") : README.index("| full: every turn |")]
STEPS = [" ".join(step.split()) for step in re.split(r"^\d\. ", MINUTE, flags=re.MULTILINE)[1:]]


def words(pattern: str, step: int) -> list[str]:
    """Return what the README says in a step; a step that was rewritten fails here."""
    found = re.search(pattern, STEPS[step - 1])
    assert found, f"step {step} no longer matches: {pattern}"
    return [*found.groups()]


async def typed(pilot: Pilot[None], text: str) -> None:
    await pilot.press(*("space" if letter == " " else letter for letter in text))


async def planned(pilot: Pilot[None], screen: ChatScreen) -> None:
    await until(
        pilot,
        lambda: not screen.previews.working and screen.previews.sent is None,
        "the next window",
    )
    await pilot.pause()


def last_reply(screen: ChatScreen) -> str:
    assert screen.session is not None
    return screen.session.memory.turns[-1].content


def title(screen: ChatScreen) -> str:
    return str(screen.query_one("#inspector-title").render())


@pytest.mark.parametrize(
    "size", [(80, 24), pytest.param((160, 48), marks=pytest.mark.long("whole"))], ids=str
)
async def test_the_first_minute_holds(tmp_path: Path, size: tuple[int, int]) -> None:
    assert len(STEPS) == 3
    backend = backend_in(tmp_path, more={"JITCHAT_SCREEN_INSPECTOR": ""})
    conversation = choose_conversation(backend.store, None)
    assert "a demo conversation of sixty turns" in " ".join(MINUTE.split())
    assert conversation.turns == 60
    async with JitchatApp(backend, conversation).run_test(size=size) as pilot:
        screen = await ready(pilot)

        assert not screen.query_one(Inspector).display
        question, told, fact, turn = words(
            r"Type `(.+?)`.* sent: `(.+?)`\..*Press Enter\. The reply is “(.+?)” \((#\d+)\)", 1
        )
        await typed(pilot, question)
        await planned(pilot, screen)
        assert screen.previews.window is not None
        assert screen.previews.window.kind_of_turns()[int(turn[1:])] is Kind.RETRIEVED
        assert str(screen.query_one("#cost").render()).startswith(told)
        await pilot.press("enter")
        await until(pilot, lambda: screen.previews.sent, "the sent window")
        await idle(pilot)
        assert last_reply(screen).startswith(f"“{fact}” ({turn}, ")

        second, denied = words(r"`/mode recency`.*ask `(.+?)`\. .* the reader says: “(.+?)”", 2)
        await typed(pilot, "/mode recency")
        await pilot.press("enter")
        assert screen.steering.mode is Mode.RECENCY
        await typed(pilot, second)
        await planned(pilot, screen)
        await pilot.press("enter")
        await until(pilot, lambda: screen.previews.sent, "the sent window")
        await idle(pilot)
        assert last_reply(screen).startswith(denied)

        _, answer, switch = words(
            r"Press Shift\+Tab \(back to (.+?)\), Up for the same question, and Enter\."
            r" The reply names (.+?)\. Press F2 to open the inspector, and F6 until .*;"
            r" (Alt\+S) switches to the next",
            3,
        )
        assert "in terminals with fewer than 30 rows it starts closed" in STEPS[2]
        await pilot.press("shift+tab", "up")
        assert screen.steering.mode is Mode.JIT
        await planned(pilot, screen)
        await pilot.press("enter")
        await until(pilot, lambda: screen.previews.sent, "the sent window")
        await idle(pilot)
        assert answer in last_reply(screen)
        await pilot.press("f2")
        await look_at_rows(pilot, screen)
        await pilot.press(switch.lower())
        await planned(pilot, screen)
        assert "next window" in title(screen)
    backend.store.database.close()


async def look_at_rows(pilot: Pilot[None], screen: ChatScreen) -> None:
    """F6 until the inspector has the focus: segments, scores, and what was left out."""
    inspector = screen.query_one(Inspector)
    for _ in range(4):
        if not inspector.has_focus_within:
            await pilot.press("f6")
            await pilot.pause()
    assert inspector.has_focus_within
    assert "sent window" in title(screen)
    options = inspector.query_one("#segments").options  # type: ignore[attr-defined]
    lines = [str(option.prompt) for option in options]
    retrieved = [line.split() for line in lines if line.startswith("retrieved")]
    assert retrieved
    _, turn, tokens, score, *reason = retrieved[0]
    assert turn.startswith("#")
    assert int(tokens.removeprefix("~"))
    assert float(score)
    assert reason
    assert any(line.startswith("left out") for line in lines[:-1])
    assert "never" in lines[-1]
    inspector.point_at("retrieved")
    await pilot.press("enter")
    await until(pilot, lambda: pilot.app.screen is not screen, "the exact text")
    await pilot.press("escape")
    await until(pilot, lambda: chat(pilot) is pilot.app.screen, "the chat")
