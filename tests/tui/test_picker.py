"""A small model as the picker, on the screen: who picked, what it took, and what it saved."""

from __future__ import annotations

import asyncio

from jitchat.session_options import SessionOptions
from jitchat.tui.widgets.inspector import Inspector
from jitchat.window.budget import Budget
from tests.small_models.support import picks, small
from tests.tui.support import TestBackend, chat, demo_app, idle, ready, type_text, until

QUESTION = "what did we settle on for the deploy window?"


SIZE = "size 700 · limit 32,768"


def shown(screen: object, name: str) -> str:
    widget = screen.query_one(name)  # type: ignore[attr-defined]
    return str(widget.render()) if widget.display else ""


async def test_the_next_window_says_that_nobody_was_asked_and_the_sent_one_who_picked(
    backend: TestBackend,
) -> None:
    gate = asyncio.Event()
    picker = small(gate, picks(8), name="small[red]-1")
    backend.options = SessionOptions(budget=Budget(size=700), picker=picker)
    async with demo_app(backend).run_test(size=(140, 40)) as pilot:
        screen = await ready(pilot)
        assert shown(screen, "#inspector-note") == SIZE
        await type_text(pilot, QUESTION)
        assert shown(screen, "#inspector-note") == (
            f"{SIZE}\npicker small[red]-1: not asked before the message is sent; heuristic used"
        )
        await pilot.press("enter")
        await until(pilot, lambda: picker.provider.requests, "the question to the picker")
        await until(pilot, lambda: "small[red]-1" in shown(screen, "#cost"), "that it is asked")
        assert shown(screen, "#cost").startswith(" asking small[red]-1 to choose turns · 0 s")
        gate.set()
        await until(pilot, lambda: screen.previews.sent is not None, "the window")
        assert shown(screen, "#inspector-note").startswith(
            f"{SIZE}\npicked by small[red]-1: 100 + 10"
        )
        assert "saved against full" in shown(screen, "#inspector-note")
        await idle(pilot)
        titles = [
            row.segments[0].reason for row in screen.query_one(Inspector)._rows if row.segments
        ]
        assert "picked by small[red]-1" in titles


async def test_a_picker_that_does_not_answer_is_told_and_the_reply_comes(
    backend: TestBackend,
) -> None:
    backend.options = SessionOptions(
        budget=Budget(size=700), picker=small(asyncio.Event(), seconds=0.05)
    )
    async with demo_app(backend).run_test(size=(140, 40)) as pilot:
        screen = await ready(pilot)
        await type_text(pilot, QUESTION)
        await pilot.press("enter")
        await until(pilot, lambda: screen.previews.sent is not None, "the window")
        note = shown(screen, "#inspector-note")
        assert note.startswith(f"{SIZE}\npicker small-1: no answer in 0.05 s; heuristic used (~")
        await idle(pilot)
        assert backend.store.turns("demo")[-1].content == "Understood."


async def test_a_window_that_does_not_fit_has_its_own_note(backend: TestBackend) -> None:
    backend.options = SessionOptions(
        budget=Budget(limit=2_100, reserve=2_048), picker=small(picks(25))
    )
    async with demo_app(backend).run_test(size=(140, 40)) as pilot:
        screen = chat(pilot)
        await until(pilot, lambda: screen.previews.planned, "the refusal")
        assert "more than the budget" in shown(screen, "#inspector-note")
