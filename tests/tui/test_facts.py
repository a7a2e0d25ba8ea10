"""Facts, projects and temporary conversations on screen."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from textual.widgets import Input

from jitchat.statements import FactState, Proposing
from jitchat.tui.dialogs.choice import ChoiceScreen
from jitchat.tui.dialogs.exact import ExactScreen
from jitchat.tui.views.facts import FactsView
from jitchat.tui.views.ledger import LedgerView
from jitchat.tui.widgets.hint_line import HintLine
from jitchat.tui.widgets.inspector import Inspector
from jitchat.tui.widgets.top_line import marks_of
from jitchat.values import Reach, Role, Turn
from jitchat.window.window import Kind
from tests.tui.support import demo_app, idle, notices, ready, type_text, until

if TYPE_CHECKING:
    from tests.tui.conftest import Picture
    from tests.tui.support import TestBackend

SIZE = (120, 36)


def asking(backend: TestBackend) -> TestBackend:
    backend.options = replace(backend.options, proposing=Proposing.ASK)
    return backend


async def say(pilot, text: str) -> None:
    await type_text(pilot, text)
    await pilot.press("enter")
    screen = pilot.app.screen
    await until(pilot, lambda: not screen.busy, "the reply")
    await idle(pilot)


async def command(pilot, text: str) -> None:
    pilot.app.screen.surfaces.prompt.insert(text)
    await pilot.press("enter")
    await idle(pilot)


def facts_of(pilot):
    return pilot.app.screen.session.memory.facts


async def test_what_is_said_is_proposed_and_kept_on_one_key(
    backend: TestBackend, picture: Picture
) -> None:
    async with demo_app(asking(backend)).run_test(size=SIZE) as pilot:
        screen = await ready(pilot)
        await say(pilot, "Always answer in French.")
        hint = screen.query_one(HintLine)
        proposed = "remember “Always answer in French.”? /keep or Alt+J keeps it"
        await until(pilot, lambda: proposed in str(hint._drawn[0]), "the proposal")
        await picture(pilot, "proposed", "wide", "small")
        await type_text(pilot, "And then")
        assert proposed not in str(hint._drawn[0])
        await pilot.press("alt+j")
        await until(pilot, lambda: facts_of(pilot).holding(), "the fact")
        assert screen.surfaces.prompt.text == "And then"
        await until(
            pilot,
            lambda: screen.previews.window and screen.previews.window.tokens_of(Kind.STANDING),
            "the window",
        )
        await pilot.press("alt+j")
        await until(
            pilot, lambda: "No open question takes that answer." in notices(pilot), "the notice"
        )


async def test_a_fact_is_remembered_and_forgotten_by_command(backend: TestBackend) -> None:
    async with demo_app(backend).run_test(size=SIZE) as pilot:
        await ready(pilot)
        await command(pilot, "/remember We ship on “Friday” [b]and[/b] rest.")
        await until(pilot, lambda: facts_of(pilot).holding(), "the fact")
        assert facts_of(pilot).holding()[0].text == "We ship on “Friday” [b]and[/b] rest."
        await command(pilot, "/forget friday")
        await until(pilot, lambda: not facts_of(pilot).holding(), "that it is gone")
        await command(pilot, "/forget nothing like it")
        await until(
            pilot,
            lambda: any("No remembered fact matches" in each for each in notices(pilot)),
            "the notice",
        )


async def test_facts_are_listed_edited_forgotten_and_lead_to_their_turn(
    backend: TestBackend, picture: Picture
) -> None:
    async with demo_app(asking(backend)).run_test(size=SIZE) as pilot:
        screen = await ready(pilot)
        await say(pilot, "Always answer in French.")
        await command(pilot, "/remember The port is 9641.")
        await screen.action_do("facts")
        await until(pilot, lambda: isinstance(pilot.app.screen, FactsView), "the view")
        view = pilot.app.screen
        await until(pilot, lambda: len(view.table.rows) == 2, "the rows")
        assert view.sum == "project default · 1 fact holds · 1 proposed"
        await picture(pilot, "view", "wide", "small")
        await pilot.press("k")
        await until(pilot, lambda: "2 facts hold" in view.sum, "that it is kept")
        await pilot.press("e")
        view.query_one(Input).value = "Always answer in German."
        await pilot.press("enter")
        await until(pilot, lambda: "German" in view.copyable(), "the other words")
        assert "French" not in view.copyable()
        await pilot.press("a")
        await until(pilot, lambda: "French" in view.copyable(), "what no longer holds")
        await pilot.press("a")
        view.table.list.highlighted = len(view.table.rows) - 1
        await pilot.press("enter")
        await until(pilot, lambda: pilot.app.screen is screen, "the chat")
        chosen = screen.surfaces.transcript.chosen
        assert chosen is not None
        assert chosen.content == "Always answer in French."
        known = screen.session.memory.facts.all()
        assert FactState.FORGOTTEN not in {fact.state for fact in known}


async def test_a_temporary_conversation_is_marked_and_deleted_when_left(
    backend: TestBackend, picture: Picture
) -> None:
    async with demo_app(asking(backend)).run_test(size=SIZE) as pilot:
        screen = await ready(pilot)
        await command(pilot, "/remember Always answer in French.")
        home = screen.opening.conversation
        await command(pilot, "/temporary")
        await until(pilot, lambda: screen.opening.conversation.is_temporary, "the conversation")
        await ready(pilot)
        await say(pilot, "Never use emojis anywhere.")
        assert screen.surfaces.top._text.marks == "temporary"
        assert not screen.previews.window.tokens_of(Kind.STANDING)
        assert "remember" not in str(screen.query_one(HintLine)._drawn[0])
        await picture(pilot, "temporary", "wide")
        await command(pilot, "/remember The port is 1.")
        await screen.open(home)
        await until(
            pilot,
            lambda: "Temporary conversation deleted." in notices(pilot),
            "the notice",
        )
        assert [each.id for each in backend.store.conversations()] == [home.id]
        await ready(pilot)
        assert len(facts_of(pilot).all()) == 1


async def test_quitting_deletes_it_too(backend: TestBackend) -> None:
    async with demo_app(backend).run_test(size=SIZE) as pilot:
        screen = await ready(pilot)
        await command(pilot, "/temporary")
        await until(pilot, lambda: screen.opening.conversation.is_temporary, "the conversation")
        await ready(pilot)
    assert not any(each.is_temporary for each in backend.store.conversations())


async def test_a_conversation_is_put_into_a_project_and_another_is_gone_on_with(
    backend: TestBackend,
) -> None:
    async with demo_app(backend).run_test(size=SIZE) as pilot:
        screen = await ready(pilot)
        home = screen.opening.conversation.id
        await command(pilot, "/project big work")
        await until(pilot, lambda: screen.opening.conversation.project == "big work", "the project")
        await ready(pilot)
        assert screen.surfaces.top._text.marks == "project big work"
        await screen.conversations.begin()
        await ready(pilot)
        assert screen.opening.conversation.project == "big work"
        backend.store.create("Other", "other", "garden")
        await screen.action_do("project")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChoiceScreen), "the dialog")
        await pilot.press("enter")
        await until(pilot, lambda: screen.opening.conversation.id == "other", "the project")
        assert backend.store.project_of(home) == "big work"


def test_what_sets_a_conversation_apart_is_named_and_nothing_of_most(store) -> None:
    plain = store.create("Plain")
    assert marks_of(plain, Reach.CONVERSATION) == ""
    assert marks_of(replace(plain, project="work"), Reach.ALL) == "project work · recall all"
    assert marks_of(replace(plain, is_temporary=True), Reach.ALL) == "temporary"


async def test_a_turn_of_another_conversation_is_shown_from_the_inspector_and_enter_leads_there(
    backend: TestBackend,
) -> None:
    backend.options = replace(backend.options, reach=Reach.ALL)
    app = demo_app(backend)
    other = backend.store.create("Harbour", "harbour")
    said = "The lighthouse keeper reads Moby Dick."
    backend.store.append(other.id, [Turn(0, Role.USER, said)])
    async with app.run_test(size=SIZE) as pilot:
        screen = await ready(pilot)
        home, draft = screen.opening.conversation.id, "What does the lighthouse keeper read?"
        await type_text(pilot, draft)
        await until(
            pilot,
            lambda: any(row.source for row in screen.surfaces.inspector._rows),
            "the turn of another conversation",
        )
        rows = screen.surfaces.inspector._rows
        row = next(row for row in rows if row.source)
        assert (row.numbers_text, row.turn) == ("↗#1", None)
        assert row.title.startswith("retrieved harbour #1 ·")
        screen.surfaces.inspector.post_message(
            Inspector.RowOpened(row.title, row.reason, turn=1, source=row.source)
        )
        await until(pilot, lambda: isinstance(pilot.app.screen, ExactScreen), "its text")
        assert said in pilot.app.screen._text
        box = pilot.app.screen.query_one(".box")
        await until(
            pilot, lambda: "⏎ open conversation" in str(box.border_subtitle), "what Enter does"
        )
        await pilot.press("enter")
        await until(pilot, lambda: screen.opening.conversation.id == other.id, "the other one")
        kept = "Your draft is kept in “Release planning (demo)”; /resume goes back."
        await until(pilot, lambda: kept in notices(pilot), "where the draft is")
        assert screen.surfaces.prompt.text == ""
        await until(pilot, lambda: screen.session is not None, "its session")
        await screen.open(backend.store.conversation(home))
        assert screen.surfaces.prompt.text == draft


async def test_the_ledger_lists_turns_of_other_conversations_and_shows_them(
    backend: TestBackend,
) -> None:
    backend.options = replace(backend.options, reach=Reach.ALL)
    other = backend.store.create("Harbour", "harbour")
    said = "The lighthouse keeper reads Moby Dick."
    backend.store.append(other.id, [Turn(0, Role.USER, said)])
    async with demo_app(backend).run_test(size=SIZE) as pilot:
        await ready(pilot)
        await type_text(pilot, "What does the lighthouse keeper read?")
        await pilot.press("f4")
        await until(pilot, lambda: isinstance(pilot.app.screen, LedgerView), "the ledger")
        table = pilot.app.screen.table
        await until(pilot, lambda: "↗harbour#1" in "\n".join(table.text()), "the turn")
        lines = [getattr(item, "text", "") for item in table._items]
        table.list.highlighted = next(at for at, line in enumerate(lines) if "↗harbour" in line)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ExactScreen), "its text")
        assert said in pilot.app.screen._text
