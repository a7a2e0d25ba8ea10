"""A wrong reply in the app: pointed at, noted, tried again, taken back."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from textual.widgets import Input

from jitchat.store.regression_cases import Case, CaseKind, Cases
from jitchat.tui.views.missing_turn import (
    COLUMNS,
    MissingTurnView,
    Row,
    SuspectFinder,
    row_of,
)
from jitchat.tui.views.regression_cases import NONE_YET, RegressionCasesView
from jitchat.tui.views.view import NO_REPLY, pair_of
from jitchat.tui.widgets.hint_line import HintLine
from jitchat.tui.widgets.transcript import Transcript
from jitchat.tui.widgets.turn_table import TurnTable, draw
from jitchat.values import Role
from tests.support import talk, turn
from tests.tui.support import TestBackend, demo_app, idle, ready, type_text, until

if TYPE_CHECKING:
    import pytest
    from textual.pilot import Pilot

    from jitchat.tui.chat.screen import ChatScreen

QUESTION = "what did we settle on for the deploy window?"


async def settled(pilot: Pilot[None]) -> None:
    """What threads found is on screen."""
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()


async def sent(pilot: Pilot[None], text: str) -> ChatScreen:
    screen = await ready(pilot)
    await type_text(pilot, text)
    await pilot.press("enter")
    await until(pilot, lambda: screen.previews.sent is not None and not screen.busy, "the reply")
    await idle(pilot)
    return screen


async def opened(pilot: Pilot[None], keys: str | tuple[str, ...], kind: type) -> None:
    await pilot.press(*([keys] if isinstance(keys, str) else keys))
    await until(pilot, lambda: isinstance(pilot.app.screen, kind), "the view")
    await settled(pilot)


def shown(pilot: Pilot[None], name: str) -> str:
    return str(pilot.app.screen.query_one(f"#{name}").render())


def lines(pilot: Pilot[None]) -> list[str]:
    options = pilot.app.screen.query_one(TurnTable).list.options
    return [str(option.prompt) for option in options]


async def test_a_missing_turn_is_pointed_at_noted_and_tried_again(backend: TestBackend) -> None:
    async with demo_app(backend).run_test(size=(100, 30)) as pilot:
        screen = await sent(pilot, QUESTION)
        assert screen.session is not None
        cases, before = Cases(backend.store.database), len(screen.session.memory.turns)
        await opened(pilot, ("ctrl+o", "k"), RegressionCasesView)
        assert shown(pilot, "view-nothing") == NONE_YET
        await pilot.press("escape")

        await opened(pilot, "alt+w", MissingTurnView)
        assert pilot.app.screen.query_one(Input).has_focus
        assert shown(pilot, "miss-heading").startswith(f"message #61: {QUESTION}\nreply #62: Und")
        assert lines(pilot)[0].startswith("  #9     retrieved  assistant ")
        await pilot.press(*"#20")
        await settled(pilot)
        (line,) = lines(pilot)
        assert line.startswith("  #20    never ")
        await pilot.press("enter")
        await settled(pilot)
        told = shown(pilot, "miss-note")
        assert told.startswith("Noted: #20 was missing. #20 was never a candidate: rank 28 of 60")
        (case,) = cases.of("demo")
        assert (case.said.position, case.wanted.position, case.window_id) == (61, 20, 1)

        await pilot.press("down", "k")
        await settled(pilot)
        assert [each.kind for each in cases.of("demo")] == [CaseKind.MISS]
        await pilot.press("delete")
        await settled(pilot)
        assert cases.of("demo") == []
        await pilot.press("u", "slash", *["backspace"] * 3, *"hazel")
        await settled(pilot)
        found = lines(pilot)
        assert 0 < len(found) < 10
        assert all("azel" in each for each in found)
        await pilot.press(*["backspace"] * 5, *"9")
        await settled(pilot)
        await pilot.press("enter")
        await settled(pilot)
        assert [each.wanted.position for each in cases.of("demo")] == [20]
        assert [str(each.message) for each in pilot.app._notifications][-1:] == [
            "#9 was in the window at full text (retrieved), so it was not missing: K notes that it"
            " was rightly included."
        ]
        await pilot.press("down", "k")
        await settled(pilot)
        assert shown(pilot, "miss-note").startswith(
            "Noted: #9 was rightly included. #9 is in the wi"
        )
        assert lines(pilot)[0].startswith("K #9 ")
        assert [(c.wanted.position, c.kind) for c in cases.of("demo")] == [
            (9, CaseKind.KEPT), (20, CaseKind.MISS),
        ]  # fmt: skip
        assert len(screen.session.memory.turns) == before


async def test_noted_cases_are_tried_told_of_and_taken_back(backend: TestBackend) -> None:
    app = demo_app(backend)
    async with app.run_test(size=(100, 30)) as pilot:
        screen = await sent(pilot, QUESTION)
        assert screen.session is not None
        turns, cases = screen.session.memory.turns, Cases(backend.store.database)
        for wanted, kind in ((9, CaseKind.KEPT), (20, CaseKind.MISS)):
            cases.put(Case(turns[60], turns[wanted - 1], kind, 1, backend.store.now()))
        await opened(pilot, ("ctrl+o", "k"), RegressionCasesView)
        kept, missed = lines(pilot)
        assert kept.startswith("✓ #9     kept     in the window     in the window     #61 what did")
        assert missed.startswith("✗ #20    missing  never a candidate never a candidate #61")
        frame = pilot.app.screen.query_one("#view-frame")
        assert frame.border_subtitle == "2 cases · 1 found · 1 not"
        await pilot.press("end")
        assert shown(pilot, "cases-note").startswith("#20 was never a candidate")
        pilot.app.screen.action_copy()  # type: ignore[attr-defined]
        assert "2 cases · 1 found · 1 not" in pilot.app.clipboard
        await pilot.press("delete")
        await settled(pilot)
        assert frame.border_subtitle == "1 case · 1 found · 0 not"
        await pilot.press("u")
        await settled(pilot)
        await pilot.press("end", "enter")
        await until(pilot, lambda: pilot.app.screen is screen, "the chat")
        await pilot.pause()
        chosen = screen.query_one(Transcript).chosen
        assert chosen is not None
        assert chosen.position == 20


async def test_who_says_that_a_reply_is_wrong_is_told_what_to_do(backend: TestBackend) -> None:
    async with demo_app(backend).run_test(size=(100, 30)) as pilot:
        screen = await sent(pilot, "No, that is not what we decided.")
        told = screen.query_one(HintLine).sentences
        assert all(each.startswith("/wrong notes the missing turn") for each in told)
        assert screen.session is not None
        assert len(screen.session.memory.turns) == 62
        await opened(pilot, "alt+w", MissingTurnView)
        assert shown(pilot, "miss-heading").splitlines()[1].startswith("reply #60: ")
        assert all("unknown" in line for line in lines(pilot))
        await pilot.press("enter")
        await settled(pilot)
        assert shown(pilot, "miss-note").endswith("so there is no ledger.")


def test_the_reply_is_that_of_the_cursor_or_the_last_that_was_not_objected_to() -> None:
    turns = talk("one?", "one.", "two?", "two.", "that's wrong", "sorry.")
    assert pair_of(turns, turns[0]) == (turns[0], turns[1])
    assert pair_of(turns, turns[5]) == (turns[4], turns[5])
    assert pair_of(turns, None) == (turns[2], turns[3])
    assert pair_of(turns[:1], None) is None
    assert pair_of(turns, turn(9, "later")) is None
    assert NO_REPLY


def test_a_row_is_aligned_and_shows_no_control_characters() -> None:
    odd = turn(1, "\x1b[2J[b]text[/b] " + "灯台 " * 90, Role.USER, "名前の長い人です")
    line = str(draw(COLUMNS, row_of(odd, None, None)))
    assert "\x1b" not in line
    assert line.index("␛[2J[b]text[/b] 灯台") == line.index("名前の長い") + 6


async def test_enter_waits_for_the_rows_of_what_was_typed(
    backend: TestBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    find, is_free = SuspectFinder.find, threading.Event()

    def late(finder: SuspectFinder, text: str) -> list[Row]:
        if text:
            is_free.wait(20)
        return find(finder, text)

    monkeypatch.setattr(SuspectFinder, "find", late)
    async with demo_app(backend).run_test(size=(100, 30)) as pilot:
        screen = await sent(pilot, QUESTION)
        assert screen.session is not None
        await opened(pilot, "alt+w", MissingTurnView)
        await pilot.press(*"#20", "enter")
        is_free.set()
        await settled(pilot)
        await settled(pilot)
        noted = Cases(backend.store.database).of(screen.session.memory.conversation.id)
        assert [case.wanted.position for case in noted] == [20]
