"""The ledger view in the app: opened, sorted, asked, steered and left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widgets import Static

from jitchat.session_options import SessionOptions
from jitchat.tui.views.budget import BudgetView
from jitchat.tui.views.ledger import LedgerView
from jitchat.tui.widgets.transcript import Transcript
from jitchat.tui.widgets.turn_table import TurnTable
from jitchat.window.budget import Budget
from jitchat.window.cost import choosing_sentences
from jitchat.window.steering import Hold, Steering
from jitchat.window.window import Kind, Verdict
from tests.tools.support import ScriptedServers, ScriptedTools
from tests.tui.support import SMALL, TestBackend, demo_app, ready, type_text, until

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from jitchat.tui.chat.screen import ChatScreen

QUESTION = "what did we settle on for the deploy window?"


async def opened(pilot: Pilot[None]) -> tuple[LedgerView, TurnTable]:
    """The view, once it has its index lines."""
    await pilot.press("f4")
    await until(pilot, lambda: isinstance(pilot.app.screen, LedgerView), "the view")
    view = pilot.app.screen
    assert isinstance(view, LedgerView)
    await settled(pilot)
    return view, view.query_one(TurnTable)


async def settled(pilot: Pilot[None]) -> None:
    """What threads found is on screen."""
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()


def told(view: LedgerView, name: str) -> str:
    return str(view.query_one(f"#ledger-{name}", Static).content)


def turns(table: TurnTable) -> list[int]:
    return [row.turn for row in table.rows]


def stored(screen: ChatScreen) -> tuple[int, object]:
    """What must not change by looking."""
    assert screen.session is not None
    return len(screen.session.memory.turns), screen.session.steering


async def test_every_candidate_is_listed_sorted_found_and_explained(backend: TestBackend) -> None:
    async with demo_app(backend).run_test(size=(80, 24)) as pilot:
        screen = await ready(pilot)
        await type_text(pilot, QUESTION)
        window, before = screen.previews.window, stored(screen)
        assert window is not None
        view, table = await opened(pilot)

        assert table.list.has_focus
        assert turns(table) == [row.turn for row in window.ledger]
        assert told(view, "sums").startswith(f"jit: ~{window.used:,} used + ~{window.free:,} free")
        first = window.ledger[0]
        assert table.row is not None
        assert table.row.turn == first.turn
        assert "#9: Decision: the deploy window is Tuesday" in told(view, "note")
        assert first.reason in told(view, "note")
        await pilot.press("end")
        assert window.never_candidates is not None
        assert told(view, "note").startswith(window.never_candidates.sentence)

        await pilot.press("s")
        assert view.query_one("#view-frame").border_subtitle == (
            f"by tokens · all · {len(window.ledger)} turns"
        )
        await pilot.press("s", "s", "s", "i")
        inside = [row.turn for row in window.ledger if row.verdict is not Verdict.LEFT_OUT]
        assert turns(table) == inside
        await pilot.press("o")
        assert turns(table) == [row.turn for row in window.ledger if row.turn not in inside]
        await pilot.press("o", "slash", *"hazel", "enter")
        assert set(turns(table)) < {row.turn for row in window.ledger}
        assert table.list.has_focus

        await pilot.press("slash", *["backspace"] * 5, *"#20")
        await settled(pilot)
        assert told(view, "answer").startswith("#20 was never a candidate: rank 28 of 60")
        assert turns(table) == [20]
        view.action_copy()
        assert "#20 was never a candidate" in pilot.app.clipboard
        await pilot.press(*["backspace"] * 3, *"999")
        await settled(pilot)
        assert told(view, "answer") == "There is no #999: the last turn is #60."
        assert turns(table) == []
        await pilot.press("escape")
        assert turns(table) == [row.turn for row in window.ledger]
        assert not view.query_one("#ledger-answer").display

        await pilot.press("home", "enter")
        await until(pilot, lambda: pilot.app.screen is screen, "the chat")
        await pilot.pause()
        chosen = screen.query_one(Transcript).chosen
        assert chosen is not None
        assert chosen.position == first.turn
        assert (stored(screen), screen.steering.once.wanted, screen.previews.window) == (
            before,
            frozenset(),
            window,
        )


async def test_rows_are_taken_out_and_in_and_the_chat_follows(backend: TestBackend) -> None:
    async with demo_app(backend).run_test(size=(160, 48)) as pilot:
        screen = await ready(pilot)
        await type_text(pilot, QUESTION)
        view, table = await opened(pilot)
        await pilot.press("space")
        await settled(pilot)
        assert "displaced: #9 (~" in told(view, "change")
        row = next(row for row in table.rows if row.turn == 9)
        assert (row.verdict, row.reason) == ("left out", "left out of this message by you")
        assert "left out of this message by you" in told(view, "note")

        await pilot.press("slash", *"20", "enter")
        await settled(pilot)
        await pilot.press("space")
        await settled(pilot)
        assert "added: #20 (" in told(view, "change")
        assert told(view, "answer").startswith("#20 is in the window as retrieved")
        assert table.row is not None
        assert table.row.is_there

        await pilot.press("slash", *["backspace"] * 2, *"41", "enter")
        await settled(pilot)
        await pilot.press("p")
        await settled(pilot)
        assert told(view, "answer").startswith("#41 is in the window as pinned")
        await pilot.press("x")
        await settled(pilot)
        assert told(view, "answer").startswith("#41 is not in the window: excluded by you")
        await pilot.press("u", "u")
        await settled(pilot)
        await until(pilot, lambda: "never a candidate" in told(view, "answer"), "the undoing")

        planned = screen.previews.planned
        await pilot.press("escape")
        await until(pilot, lambda: screen.previews.planned > planned, "the chat's window")
        await pilot.pause()
        assert (screen.steering.once.wanted, screen.steering.once.dropped) == (
            frozenset({20}),
            frozenset({9}),
        )
        assert screen.previews.window is not None
        kinds = screen.previews.window.kind_of_turns()
        assert 20 in kinds
        assert 9 not in kinds


async def test_a_pin_of_the_view_is_waited_for_and_taken_back_on_either_side(
    backend: TestBackend,
) -> None:
    async with demo_app(backend).run_test(size=(80, 24)) as pilot:
        screen = await ready(pilot)
        await type_text(pilot, QUESTION)
        assert screen.session is not None
        view, table = await opened(pilot)
        assert table.row is not None
        turn, planned = table.row.turn, screen.previews.planned
        view.action_on_row("pin")
        view.action_close()
        await until(pilot, lambda: screen.previews.planned > planned, "the chat's window")
        assert pilot.app.screen is screen
        assert screen.session.steering == Steering(pinned=frozenset({turn}))
        assert screen.previews.window is not None
        assert screen.previews.window.kind_of_turns()[turn] is Kind.PINNED
        await pilot.press("alt+z")
        await until(pilot, lambda: stored(screen)[1] == Steering(), "the undoing in the chat")
        await settled(pilot)

        screen.choices.hold(screen.session, Hold.EXCLUDED, "20")
        await until(pilot, lambda: screen.steering.pins.changes, "the exclusion")
        view, _ = await opened(pilot)
        await pilot.press("u")
        await until(pilot, lambda: stored(screen)[1] == Steering(), "the undoing in the view")
        await settled(pilot)
        view.show_nothing("\x1b[2J")
        assert "\x1b" not in str(view.query_one("#view-nothing", Static).content)

        await pilot.press("home", "space", "f8")
        await until(pilot, lambda: isinstance(pilot.app.screen, BudgetView), "the other view")
        assert screen.steering.once.dropped == frozenset({turn})


async def test_a_window_that_was_sent_is_explained_and_stays_as_it_is(backend: TestBackend) -> None:
    backend.options = SessionOptions(budget=Budget())
    async with demo_app(backend).run_test(size=(80, 24)) as pilot:
        screen = await ready(pilot)
        view, _ = await opened(pilot)
        nothing = str(view.query_one("#view-nothing", Static).content)
        assert nothing.endswith("so none had to be chosen.")
        await pilot.press("escape")
        screen.session.take_budget(SMALL)
        await type_text(pilot, QUESTION)
        await pilot.press("enter")
        await until(
            pilot, lambda: screen.previews.sent is not None and not screen.busy, "the reply"
        )
        await settled(pilot)

        view, _ = await opened(pilot)
        assert view.query_one("#view-frame").border_title == "Ledger of the window sent for #61"
        await pilot.press("space", "p", "x", "slash", *"20")
        await settled(pilot)
        assert told(view, "answer").endswith("Ranked with today's index.")
        assert screen.session is not None
        assert screen.session.steering == Steering()
        await pilot.press("escape", "escape")
        await until(pilot, lambda: pilot.app.screen is screen, "the chat")
        assert (screen.steering.once.wanted, screen.steering.once.dropped) == (
            frozenset(),
            frozenset(),
        )


async def test_tools_are_listed_behind_the_turns_with_their_price_and_why(
    backend: TestBackend,
) -> None:
    names = [f"shelf_{number}" for number in range(200)]
    backend.servers = ScriptedServers(ScriptedTools(dict.fromkeys([*names, "invoices"], "done")))
    async with demo_app(backend).run_test(size=(80, 24)) as pilot:
        screen = await ready(pilot)
        await type_text(pilot, "pay the invoices of the deploy window")
        window = screen.previews.window
        assert window is not None
        assert len(window.others_of(Kind.TOOLS)) == 200
        sentence = " ".join(choosing_sentences(window))
        assert f"{len(names)} tools not offered" in sentence
        assert (
            f"its description does not fit: shelf_0 (~{window.others_of(Kind.TOOLS)[0].tokens})"
            in sentence
        )
        view, table = await opened(pilot)
        lines = table.text()
        price = window.tokens_of(Kind.TOOLS)
        [heading] = [line for line in lines if line.startswith("── tools: ")]
        spared = sum(row.tokens for row in window.others_of(Kind.TOOLS))
        assert heading.startswith(f"── tools: ~{price:,} tokens sent, ~{spared:,} left out ")
        (offered,) = (line for line in lines if "invoices:" in line)
        assert offered.endswith('sent      invoices: its description fits on "invoices"')
        await pilot.press("slash", *"shelf_7", "enter")
        _, *found = [line for line in table.text() if "left out" in line]
        assert [line.split()[3] for line in found] == [
            "shelf_7:",
            *(f"shelf_{n}:" for n in range(70, 80)),
        ]
        await pilot.press("end")
        assert told(view, "note") == found[-1]
