"""The meter on screen: what a window costs, what was reported for it, what it is exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widgets import OptionList, Static

from jitchat.errors import StreamCut
from jitchat.providers.catalogue.table import Prices
from jitchat.providers.provider import Finished, ReplyDelta
from jitchat.session_options import SessionOptions
from jitchat.tui.app import JitchatApp
from jitchat.tui.widgets.hint_line import HintLine
from jitchat.tui.widgets.prompt import Prompt
from jitchat.values import Message, Usage
from tests.support import ScriptedProvider, conversation_of, talk
from tests.tui.support import (
    SMALL,
    TestBackend,
    chat,
    demo_app,
    idle,
    notices,
    ready,
    type_text,
    until,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.pilot import Pilot

    from jitchat.store.store import ColdStore
    from jitchat.tui.chat.screen import ChatScreen

QUESTION = "what did we settle on for the deploy window?"
PRICES = Prices(2_000.0, 4_000.0, 200.0, source="table of 2026-11")
FREE = Prices(0.0, 0.0, source="runs here")


class Reporting(ScriptedProvider):
    """Answers, and reports what it is told to; nothing for None."""

    usage: Usage | None = Usage(1_203, 210, 400)

    async def stream(self, messages: Sequence[Message], options: object):
        self.requests.append(tuple(messages))
        yield ReplyDelta("Tuesday.")
        if self.usage is not None:
            yield self.usage
        yield Finished("stop")


def reporting(backend: TestBackend, usage: Usage | None, prices: Prices | None) -> TestBackend:
    backend.provider = Reporting()
    backend.provider.usage = usage
    backend.options = SessionOptions(budget=SMALL, prices=prices)
    return backend


def shown(screen: ChatScreen, name: str) -> str:
    return str(screen.query_one(name, Static).content)


def boundary(screen: ChatScreen) -> str:
    rows = screen.query_one("#segments", OptionList)
    options = [rows.get_option_at_index(n) for n in range(rows.option_count)]
    return next(str(each.prompt) for each in options if each.disabled)


async def ask(pilot: Pilot[None]) -> ChatScreen:
    """Ask and wait for the reply, and for what is summed up after it."""
    screen, before = chat(pilot), len(chat(pilot).session.memory.turns)
    await type_text(pilot, QUESTION)
    await pilot.press("enter")
    await until(pilot, lambda: len(screen.session.memory.turns) == before + 2, "the reply")
    await idle(pilot)
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()
    return screen


BEFORE = ((PRICES, "~${} input"), (None, "cost unknown"), (FREE, ""))


async def test_what_sending_costs_is_told_before_and_what_matters_fits_at_80_columns(
    backend: TestBackend,
) -> None:
    async with demo_app(backend).run_test(size=(120, 36)) as pilot:
        screen = await ready(pilot)
        demo = screen.opening.conversation
        for prices, told in BEFORE:
            reporting(backend, None, prices)
            await pilot.resize_terminal(120, 36)
            screen.query_one(Prompt).text = ""
            await ready(pilot)
            await screen.open(demo)
            await ready(pilot)
            await type_text(pilot, QUESTION)
            assert screen.previews.window is not None
            cost = told.format(f"{screen.previews.window.used * 0.002:,.2f}")
            hint = shown(screen, "#cost")
            assert hint.startswith(f"in ~{screen.previews.window.used:,} · reserve "), prices
            assert f" % · {cost}{' · ' * bool(cost)}saves " in hint, prices
            assert ("$" in hint) == ("$" in told), prices
            width = screen.query_one("#cost").size.width
            assert "stable" in hint, prices
            assert len(hint) <= width, prices
            await pilot.resize_terminal(80, 24)
            cell = screen.query_one("#cost")
            await until(pilot, lambda c=cell, w=width: c.size.width < w, "80 columns")
            await until(
                pilot, lambda c=cell: len(shown(screen, "#cost")) <= c.size.width, "it fits"
            )
            assert ("$" in shown(screen, "#cost")) == ("$" in told), prices
        screen.query_one(Prompt).text = f"/spend {QUESTION}"
        await pilot.press("enter")
        await until(pilot, lambda: screen.query_one(Prompt).text == QUESTION, "the message")
        assert "This message may exceed your spending limits." in notices(pilot)


AFTER = (
    (Usage(1_203, 210, 100), PRICES, (" · $3.07", "· $3.07", "cached 100 ✓ of ~")),
    (Usage(1_203, 210), None, (" · cost unknown", "· cost unknown", "none reported")),
    (None, PRICES, (" · ~$0.27", "no usage · ~$0.27", "tokens ──")),
    (None, FREE, ("", "the provider reports no usage", "tokens ──")),
    (Usage(1_203, None), FREE, ("", "sent 1,203 ✓", "none reported")),
)


async def test_after_the_reply_its_figures_stand_on_every_surface(
    backend: TestBackend, store: ColdStore
) -> None:
    talks = talk("What is the deploy window?" * 8, "Tuesday 02:00.", "And the port?", "8443.")
    app = JitchatApp(backend, store.create("At first"))
    async with app.run_test(size=(140, 40)) as pilot:
        screen = await ready(pilot)
        for case in AFTER:
            usage, prices, (total, hint, line) = case
            reporting(backend, usage, prices)
            await screen.open(conversation_of(store, talks))
            await ready(pilot)
            await ask(pilot)
            screen.query_one(HintLine).show_notice("", 0.01)  # of the session that was left
            assert shown(screen, "#cost").endswith(hint), case
            assert line in boundary(screen), case
            assert shown(screen, "#title").endswith(f"6 turns{total}"), case


async def test_a_reply_that_was_broken_off_is_not_called_unreported(backend: TestBackend) -> None:
    backend.provider = ScriptedProvider(("The window is ", StreamCut("It broke off.", "Again.")))
    async with demo_app(backend).run_test(size=(140, 40)) as pilot:
        await ready(pilot)
        screen = await ask(pilot)
        told = (
            f"~{screen.previews.window.used:,}, it ended before usage was reported · cost unknown"
        )
        assert shown(screen, "#cost") == told
        await type_text(pilot, "and")
        screen.query_one("#transcript").focus()
        await pilot.press("w", "enter")
        cell = screen.query_one("#cost")
        await until(pilot, lambda: "~" in shown(screen, "#cost"), "the same, from the store")
        assert told.startswith(shown(screen, "#cost")), "next to the keys of the pane"
        assert len(shown(screen, "#cost")) <= cell.size.width


async def test_the_total_grows_and_is_of_the_conversation_on_screen(
    backend: TestBackend, store: ColdStore
) -> None:
    reporting(backend, Usage(1_000, 250), PRICES)
    async with demo_app(backend).run_test(size=(140, 40)) as pilot:
        await ready(pilot)
        demo = chat(pilot).opening.conversation
        assert "$" not in shown(chat(pilot), "#title")
        await ask(pilot)
        backend.provider.script = ()  # type: ignore[attr-defined]
        await pilot.press("alt+r", "enter")
        await until(pilot, lambda: "$6.00" in shown(chat(pilot), "#title"), "the sum of both")
        screen = chat(pilot)
        await screen.open(store.create("Another"))
        await ready(pilot)
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()
        assert shown(screen, "#title") == "Another · 0 turns"
        await screen.open(store.conversation(demo.id))
        await until(pilot, lambda: "$6.00" in shown(screen, "#title"), "the sum, from the store")


async def test_a_window_that_was_sent_earlier_shows_what_was_reported_for_it(
    backend: TestBackend,
) -> None:
    reporting(backend, Usage(1_203, 210, 400), PRICES)
    async with demo_app(backend).run_test(size=(140, 40)) as pilot:
        await ready(pilot)
        screen = await ask(pilot)
        sent, hint, line = screen.previews.window, shown(screen, "#cost"), boundary(screen)
        await type_text(pilot, "and now something else")
        assert "cached" not in boundary(screen)
        screen.query_one("#transcript").focus()
        await pilot.press("w", "enter")
        await until(pilot, lambda: screen.previews.window == sent, "the window that was sent")
        await pilot.pause()
        assert (boundary(screen), shown(screen, "#cost")) == (line, hint)
        assert "sent window" in shown(screen, "#inspector-title")
        assert screen.query_one("#prompt").draft == "and now something else"  # type: ignore[attr-defined]
        await type_text(pilot, "!")
        assert "next window" in shown(screen, "#inspector-title")


async def test_the_provider_counts_the_very_window_by_key_and_by_name_and_an_unsent_one_is_none(
    backend: TestBackend,
) -> None:
    backend.exact = 1_188
    async with demo_app(backend).run_test(size=(140, 40)) as pilot:
        screen = await ready(pilot)
        window = screen.previews.window
        await screen.action_do("sent_window")
        await until(pilot, lambda: notices(pilot), "the sentence")
        assert notices(pilot) == ["No window was sent for this turn."]
        assert screen.previews.window is window

        await type_text(pilot, QUESTION)
        assert backend.counted == []
        await pilot.press("alt+x")
        await until(pilot, lambda: "exactly" in shown(screen, "#cost"), "the count")
        assert screen.previews.window is not None
        screen.surfaces.hint.show_notice("Stored.", 60)
        counts = f"exactly 1,188 ✓ (own count ~{screen.previews.window.used:,})"
        assert shown(screen, "#cost") == f"Stored. · {counts}", "a notice leaves the figures"
        screen.surfaces.hint.show_notice("", 60)
        assert backend.counted == [screen.previews.window.messages()]
        assert backend.provider.requests == []  # type: ignore[attr-defined]
        await type_text(pilot, " really?")
        assert shown(screen, "#cost").startswith("in ~")

        screen.query_one(Prompt).text = ""
        await ask(pilot)
        screen.query_one(Prompt).insert("/count")
        await pilot.press("enter")
        await until(pilot, lambda: "exactly" in shown(screen, "#cost"), "the count")
        assert "next window" in shown(screen, "#inspector-title")
        assert screen.previews.window is not None
        assert backend.counted[1:] == [screen.previews.window.messages()]
