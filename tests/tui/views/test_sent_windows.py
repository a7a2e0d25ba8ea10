"""The view of sends: any window as it was, any two compared, and one sent again as a fork."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING

from textual.widgets import Input, Static, TextArea

from jitchat.draft import Draft
from jitchat.store.windows import Send, WindowArchive
from jitchat.tui.dialogs.exact import ExactScreen
from jitchat.tui.views.sent_windows import NOTHING, SendAgainScreen, SentWindowsView
from jitchat.tui.widgets.budget_bar import BudgetBar
from jitchat.tui.widgets.transcript import Transcript
from jitchat.tui.widgets.turn_table import TurnTable
from jitchat.values import Mode
from jitchat.window.steering import Once
from tests.support import ScriptedProvider, sent_window
from tests.tui.support import TestBackend, chat, demo_app, idle, ready, type_text, until

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from jitchat.session import Session
    from jitchat.store.store import ColdStore

SENT = (
    ("what did we settle on for the deploy window?", Mode.JIT),
    ("Who is Oleg?", Mode.FULL),
    ("And the cake?", Mode.RECENCY),
)


async def send_all(pilot: Pilot[None]) -> None:
    screen = await ready(pilot)
    assert screen.session is not None
    for draft, mode in SENT:
        screen.sends.start(screen.session, Draft.by_user(draft), mode=mode)
        await idle(pilot)


async def opened(pilot: Pilot[None], place: int) -> SentWindowsView:
    """The view, once the send at that place is on screen."""
    await pilot.press("f9")
    view = pilot.app.screen
    assert isinstance(view, SentWindowsView)
    await at(pilot, view, place)
    return view


async def at(pilot: Pilot[None], view: SentWindowsView, place: int) -> None:
    def is_there() -> bool:
        page = view.page
        if view.place != place or page is None or view.is_loading("page"):
            return False
        return (page.request.place, page.request.base) == (place, view.base)

    await until(pilot, is_there, f"send {place}")
    await pilot.pause()


def told(view: SentWindowsView) -> str:
    return str(view.query_one("#send-summary", Static).content)


def estimate(screen: SendAgainScreen) -> str:
    return str(screen.query_one("#again-who", Static).content)


async def the_cost_follows_the_choice(pilot: Pilot[None], screen: SendAgainScreen) -> None:
    await until(pilot, lambda: "tokens" in estimate(screen), "what it costs")
    before = estimate(screen)
    assert re.fullmatch(
        r"scripted scripted-1 answers; this sends ~[\d,]+ tokens: cost unknown, plus the"
        r" answer\.",
        before,
    )
    await pilot.press("j")
    await until(pilot, lambda: estimate(screen) != before, "another mode's window")
    before = estimate(screen)
    screen.query_one(Input).value = "300"
    await until(pilot, lambda: estimate(screen) != before, "a smaller window")


def store_sends(store: ColdStore) -> list[Send]:
    return WindowArchive(store.database).sends("demo")


def rows(view: SentWindowsView, name: str = "send-table") -> list[str]:
    return [str(option.prompt) for option in view.query_one(f"#{name}", TurnTable).list.options]


def listed(view: SentWindowsView) -> list[str]:
    return [" ".join(row.split()[:3]) for row in rows(view, "sends")]


def title(view: SentWindowsView) -> str:
    return str(view.query_one("#send-title", Static).content)


async def test_the_sends_are_scrubbed_through_compared_and_copied(backend: TestBackend) -> None:
    app = demo_app(backend)
    async with app.run_test(size=(160, 48)) as pilot:
        await send_all(pilot)
        session = chat(pilot).session
        assert session is not None
        before, view = session.memory.turns, await opened(pilot, 2)
        assert view.focused is view.sends.list
        assert listed(view) == ["3 #65 recency", "2 #63 full", "1 #61 jit"]
        assert told(view).startswith("send 3 of 3 · #65 · ")
        assert "\nwindow " in told(view)
        assert " as sent\nsent 100 ✓ · answer 10 ✓ · cost unknown · reply #66" in told(view)
        assert told(view).endswith("\nUnderstood.")

        await pilot.press("left", "d")
        await at(pilot, view, 1)
        window = view.query_one(BudgetBar).window
        assert window is not None
        assert window.mode is Mode.FULL
        assert window.used + window.free + window.budget.reserve == window.budget.limit
        assert title(view).startswith("send 1 jit ~")
        assert f"→ send 2 full ~{window.used:,}" in title(view)
        assert rows(view)[-1].startswith(f"send 2: ~{window.used:,} used + ")

        await pilot.press("b")
        await at(pilot, view, 1)
        assert rows(view) == ["This is the base. Select another send to see the differences."]
        assert listed(view) == ["3 #65 recency", "△ 2 #63", "1 #61 jit"]
        await pilot.press("end")
        await at(pilot, view, 0)
        assert title(view).startswith("send 2 full ~")
        await pilot.press("l")
        assert "retrieved" in rows(view)[0]
        await pilot.press("y")
        assert rows(view)[0] in app.clipboard
        await pilot.press("m")
        provider = backend.provider
        assert isinstance(provider, ScriptedProvider)
        assert provider.requests[0][-1].content in view.query_one(TextArea).text
        await pilot.press("y")
        assert provider.requests[0][0].content in app.clipboard
        await pilot.click("#tab-window")
        await pilot.press("enter", "enter")
        await until(pilot, lambda: isinstance(app.screen, ExactScreen), "the text of a segment")
        await pilot.press("escape", "y")
        assert "limit\nsystem " in app.clipboard

        await pilot.click(view.sends.list, offset=(9, 0))
        await at(pilot, view, 2)
        assert session.memory.turns == before
        assert len(provider.requests) == len(SENT)
        await pilot.press("g")
        await until(pilot, lambda: app.screen is chat(pilot), "the chat")


async def send_again_on_another_branch(pilot: Pilot[None], session: Session) -> None:
    """From the branch of the third send, a message of a later branch."""
    chat(pilot).sends.start(session, Draft.by_user("On another branch?"), Once(after=62), Mode.JIT)
    await idle(pilot)
    session.memory.switch_to(66)
    view = await opened(pilot, 4)
    assert told(view).startswith("send 5 of 5 · #68 · ")
    await pilot.press("r")
    await until(pilot, lambda: isinstance(pilot.app.screen, SendAgainScreen), "the question")
    await pilot.press("f", "enter")
    await until(pilot, lambda: len(store_sends(session.memory.store)) == 6, "the request")
    await idle(pilot)
    assert [turn.position for turn in session.memory.turns[-4:]] == [61, 62, 68, 70]
    window = sent_window(session, session.memory.turns[-2])
    assert window is not None
    assert [segment.turn for segment in window.segments[-3:]] == [61, 62, 68]


async def test_a_send_is_sent_again_in_another_mode_and_size(
    backend: TestBackend, store: ColdStore
) -> None:
    app = demo_app(backend)
    async with app.run_test(size=(80, 24)) as pilot:
        await ready(pilot)
        await pilot.press("f9")
        view = app.screen
        assert isinstance(view, SentWindowsView)
        await until(pilot, lambda: view.query_one("#view-nothing").display, "why it is empty")
        assert str(view.query_one("#view-nothing", Static).content) == NOTHING
        for key in ("left", "d", "b", "r", "g", "y", "enter"):
            await pilot.press(key)
        assert app.screen is view
        await pilot.press("escape")

        await send_all(pilot)
        view = await opened(pilot, 2)
        await pilot.press("left", "r")
        await until(pilot, lambda: isinstance(app.screen, SendAgainScreen), "the question")
        screen = app.screen
        assert isinstance(screen, SendAgainScreen)
        await the_cost_follows_the_choice(pilot, screen)
        screen.query_one(Input).value = "9" * 9
        await pilot.press("enter")
        refusal = str(screen.query_one("#again-refusal", Static).content)
        assert refusal.startswith("The size must be from 1 to ")
        screen.query_one(Input).value = ""
        await pilot.press("y", "down", *"9x00", "enter")
        await until(pilot, lambda: len(store_sends(store)) == 4, "the request")
        await idle(pilot)
        session = chat(pilot).session
        assert session is not None
        assert session.memory.store.branches(session.memory.conversation.id)[67] == (64, 67)
        assert session.memory.turns[-1].position == 67
        window = sent_window(session, session.memory.turns[-2])
        assert window is not None
        assert (window.mode, window.budget.size) == (Mode.JIT, 900)

        await send_again_on_another_branch(pilot, session)
        view = await opened(pilot, 5)
        await pilot.press("left", "left", "left")
        await at(pilot, view, 2)
        await pilot.press("g")
        transcript = chat(pilot).query_one(Transcript)
        await until(pilot, lambda: transcript.chosen and transcript.chosen.position == 65, "#65")
        assert session.memory.turn_at(65) == transcript.chosen
        assert session.memory.turn_at(68) is None

        view = await opened(pilot, 2)
        with store.database.write() as connection:
            connection.execute("DELETE FROM pieces")
        await pilot.press("left")
        await until(pilot, lambda: "is damaged" in told(view), "the damage")
        assert view.query_one(BudgetBar).window is None
        await pilot.press("y", "m", "l", "d", "r")
        assert app.screen is view


async def test_a_send_whose_reply_is_on_its_way_is_not_said_to_have_none(
    backend: TestBackend,
) -> None:
    goes_on = asyncio.Event()
    backend.provider = ScriptedProvider(("Half of", goes_on, " it."))
    async with demo_app(backend).run_test(size=(80, 24)) as pilot:
        screen = await ready(pilot)
        await type_text(pilot, SENT[0][0])
        await pilot.press("enter")
        await until(pilot, lambda: screen.busy and screen.previews.sent is not None, "the request")
        view = await opened(pilot, 0)
        assert "still being written" in told(view)
        assert "no reply" not in told(view)
        goes_on.set()
        await until(pilot, lambda: not screen.busy, "the reply")
        await pilot.press("l")
        await until(pilot, lambda: "reply #62 (complete)" in told(view), "the reply in the view")


async def test_of_thousands_of_sends_those_around_the_selected_one_are_listed(
    backend: TestBackend, store: ColdStore
) -> None:
    async with demo_app(backend).run_test(size=(80, 24)) as pilot:
        await send_all(pilot)
        (first, *_) = store_sends(store)
        view = await opened(pilot, 2)
        view._show_list([first] * 3_000)
        assert listed(view)[0] == "3,000 #61 jit"
        assert listed(view)[-1] == "2,500 #61 jit"
        view.action_step(-500)
        assert view.place == 2_499
        await pilot.press("left")
        assert view.place == 2_498
        assert listed(view)[0] == "2,998 #61 jit"
        assert listed(view)[-1] == "1,999 #61 jit"
