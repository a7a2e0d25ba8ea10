"""Managing conversations: titles, tags, archive, deletion; copying turns."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from textual.widgets import Input, OptionList

from jitchat.metering import Metering
from jitchat.providers.catalogue.table import Prices
from jitchat.session_options import SessionOptions
from jitchat.store.deletion import delete_conversation
from jitchat.store.requests import RequestLog, Spent
from jitchat.store.store import NEW_TITLE
from jitchat.tui.app import JitchatApp
from jitchat.tui.chat import outbox
from jitchat.tui.chat.key_routing import FAST
from jitchat.tui.dialogs.resume import ResumeScreen
from jitchat.tui.widgets.prompt import Prompt
from jitchat.tui.widgets.top_line import TopLine
from jitchat.tui.widgets.transcript import Transcript
from jitchat.values import Role
from tests.lab.support import new_file
from tests.small_models.support import small
from tests.support import ScriptedProvider, talk
from tests.tui.lab.support import lab_service_in, quick
from tests.tui.support import SMALL, TestBackend, chat, demo_app, idle, notices, ready, until

if TYPE_CHECKING:
    from pathlib import Path

    import pytest
    from textual.pilot import Pilot

CODE = "Two:\n\n```python\nprint(1)\n```\n\nand\n\n```sh\nls\x1b[2J\n```\n"


async def command(pilot: Pilot[None], text: str) -> None:
    await pilot.pause()
    chat(pilot).query_one("#prompt").insert(text)  # type: ignore[attr-defined]
    await pilot.press("enter")
    await pilot.pause()


def listed(pilot: Pilot[None]) -> list[str]:
    choices = pilot.app.screen.query_one(OptionList)
    return [str(option.prompt).partition("  ")[0] for option in choices.options]


def question(pilot: Pilot[None]) -> str:
    return str(chat(pilot).query_one("#cost").render())


async def test_the_list_renames_tags_archives_deletes_and_undoes(backend: TestBackend) -> None:
    backend.store.append(backend.store.create("Old name").id, talk("About walruses."))
    async with demo_app(backend).run_test(size=(100, 30)) as pilot:
        await ready(pilot)
        await pilot.press("ctrl+r", *"walrus")
        await until(pilot, lambda: len(listed(pilot)) == 1, "the turn that has it")
        await pilot.press("ctrl+e")
        line = pilot.app.screen.query_one(Input)
        assert line.value == "Old name"
        await pilot.press("ctrl+u", *"Name", "enter")
        await until(pilot, lambda: backend.store.conversations()[1].title == "Name", "its title")
        await pilot.press("ctrl+t", *"#sea a:b", "enter")
        await until(pilot, lambda: any("valid tag" in each for each in notices(pilot)), "why not")
        assert line.value == "#sea a:b", "what was typed stays, to be put right"
        await pilot.press(*["backspace"] * 4, "enter")
        await until(pilot, lambda: backend.store.conversations()[1].tags == ("sea",), "its tag")
        assert line.value == "walrus"

        line.value = "sea"
        await until(pilot, lambda: " sea" in listed(pilot), "the tag itself")
        line.value = "tag:sea"
        await until(pilot, lambda: listed(pilot) == ["Name #sea"], "the one with the tag")
        await pilot.press("ctrl+d", "x", "backspace")  # what is typed answers no
        await pilot.press("ctrl+d", "enter")
        await until(pilot, lambda: listed(pilot) == ["No matches."], "the list without it")
        await pilot.press("ctrl+z")
        await until(pilot, lambda: listed(pilot) == ["Name #sea"], "the list with it")
        await pilot.press("ctrl+b")
        await until(
            pilot,
            lambda: listed(pilot) == ["No matches."],
            "the list without what is archived",
        )
        await pilot.press("escape")
        assert not isinstance(pilot.app.screen, ResumeScreen)
    assert [known.is_archived for known in backend.store.conversations()] == [True, False]


async def test_the_open_conversation_is_renamed_deleted_restored_and_erased_by_commands(
    backend: TestBackend, tmp_path: Path
) -> None:
    backend.service = lab_service_in(tmp_path)
    new_file(backend.service.runs.folder, replace(quick(), conversation="demo")).close()
    other = backend.store.create("Other")
    backend.store.append(other.id, talk("Well?"))
    app = demo_app(backend)
    async with app.run_test(size=(100, 30)) as pilot:
        screen = await ready(pilot)
        await command(pilot, "/rename A very fine title")
        await command(pilot, "/tag fine -coarse")
        await until(pilot, lambda: screen.opening.conversation.tags == ("fine",), "the tag")
        assert screen.opening.conversation.title == "A very fine title"

        await command(pilot, "/delete")
        assert question(pilot) == "Delete “A very fine title”?"
        await pilot.press("escape")
        await command(pilot, "/delete")
        await pilot.press("enter")
        await until(pilot, lambda: screen.opening.conversation.id == other.id, "another one")
        assert [known.id for known in backend.store.conversations()] == [other.id]
        await ready(pilot)
        await command(pilot, "/restore")
        await until(pilot, lambda: screen.opening.conversation.id == "demo", "it is back")
        await ready(pilot)

        await command(pilot, "/delete erase")
        await pilot.press("enter")
        await until(pilot, lambda: "Erased: " in " ".join(notices(pilot)), "that it is gone")
        (erased,) = (notice for notice in notices(pilot) if "Erased: " in notice)
        assert "runs still have copies of it: r1. `jitchat rot forget RUN`" in erased
        await ready(pilot)
        await command(pilot, "/delete")
        await pilot.press("enter")
        await until(pilot, lambda: screen.opening.conversation.title == NEW_TITLE, "a new one")
    with backend.store.database.read() as connection:
        ids = {row[0] for row in connection.execute("SELECT id FROM conversations")}
    assert ids == {screen.opening.conversation.id}, "what was deleted went as the app closed"
    assert b"A very fine title" not in backend.store.database.path.read_bytes()


async def test_deletion_by_another_process_is_reported_and_the_typed_text_is_kept(
    backend: TestBackend,
) -> None:
    async with demo_app(backend).run_test(size=(100, 30)) as pilot:
        screen = await ready(pilot)
        delete_conversation(backend.store, "demo")
        await command(pilot, "which port?")
        await until(pilot, lambda: any("deleted" in each for each in notices(pilot)), "that it is")
        assert len(notices(pilot)) == 1
        await pilot.press("ctrl+r", "escape")
        await until(pilot, lambda: screen.opening.conversation.title == NEW_TITLE, "a new one")
        await ready(pilot)
        assert screen.query_one("#prompt").text == "which port?"  # type: ignore[attr-defined]


async def test_a_small_model_writes_the_title_of_a_first_exchange_in_the_background(
    backend: TestBackend,
) -> None:
    made = backend.store.create(NEW_TITLE)
    log = RequestLog(backend.store.database)
    summariser = replace(
        small('{"titles": ["Walrus care"]}'),
        prices=Prices(0.0, 100_000.0),
        metering=Metering(log, backend.store.now, made.id),
    )
    backend.options = SessionOptions(budget=SMALL, summariser=summariser, prices=Prices(0.0, 0.0))
    app = JitchatApp(backend, made)
    async with app.run_test(size=(100, 30)) as pilot:
        screen = await ready(pilot)
        await command(pilot, "how do I look after a walrus?")
        await until(pilot, lambda: screen.opening.conversation.title == "Walrus care", "the title")
        top = screen.query_one(TopLine)
        await until(pilot, lambda: top._text.cost == "$1.00", "what the title took")
        assert log.spent_by_purpose(made.id)["title"] == Spent(1.0)


async def test_a_turn_and_its_code_are_copied_by_a_letter_and_its_answer(
    backend: TestBackend,
) -> None:
    made = backend.store.create("Code")
    backend.store.append(made.id, talk("Show me.", CODE))
    async with demo_app(backend).run_test(size=(120, 30)) as pilot:
        screen = chat(pilot)
        await screen.open(made)
        await ready(pilot)
        screen.query_one(Transcript).focus()
        await pilot.press("y")
        assert pilot.app.clipboard == CODE
        assert question(pilot).startswith("Copied #2: ")
        await pilot.press("end", "Y")
        assert question(pilot) == "Copy which code block of #2? 1 python, 2 sh"
        await pilot.press("2")
        assert pilot.app.clipboard == "ls\x1b[2J\n"
        await pilot.press("Y", "enter")
        assert pilot.app.clipboard == "print(1)\n"
        assert any("code block 1 of #2" in each for each in notices(pilot))

        await pilot.press("up", "y", "y")
        assert pilot.app.clipboard == "Show me."
        prompt = screen.query_one(Prompt)
        assert not prompt.text, "each of them copied"
        await pilot.press("down", *"yyyy-mm, yes")
        assert prompt.text == "yyyy-mm, yes", "a text that begins so arrives whole"
        await pilot.press("ctrl+c")
        screen.query_one(Transcript).focus()
        await pilot.press("y")
        screen.routing._acted[-1].time -= FAST
        await pilot.press("h", "i")
        assert prompt.text == "hi", "the letter was a key of its own"
        await pilot.press("ctrl+c")
        await command(pilot, "/code 3")
        assert any("2 code blocks" in each for each in notices(pilot))


async def test_a_conversation_is_not_left_for_another_while_a_reply_comes(
    backend: TestBackend,
) -> None:
    """Nor when the list was opened before its message was sent."""
    backend.store.append(backend.store.create("Another").id, talk("About walruses."))
    go_on = asyncio.Event()
    backend.provider = ScriptedProvider(["Under", go_on, "stood."])
    async with demo_app(backend).run_test(size=(100, 30)) as pilot:
        screen = await ready(pilot)
        here = screen.opening.conversation.id
        await pilot.press("ctrl+r", *"walrus")
        await until(pilot, lambda: len(listed(pilot)) == 1, "the turn that has it")
        screen.surfaces.prompt.insert("Which port?")
        screen.surfaces.prompt.submit()
        await until(pilot, lambda: screen.sends._answered, "the reply")
        await pilot.press("enter")
        await until(pilot, lambda: pilot.app.screen is screen, "the end of the list")
        go_on.set()
        await idle(pilot)
        assert screen.opening.conversation.id == here
        assert backend.store.turns(here)[-1].content == "Understood."


async def test_a_conversation_is_not_left_while_a_message_is_prepared(
    backend: TestBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def question_on(*_: object) -> None:
        begun.set()
        await go_on.wait()

    monkeypatch.setattr(outbox, "question_on", question_on)
    async with demo_app(backend).run_test(size=(100, 30)) as pilot:
        screen = await ready(pilot)
        here = screen.opening.conversation.id
        screen.surfaces.prompt.insert("Which port?")
        screen.surfaces.prompt.submit()
        await begun.wait()
        new = asyncio.create_task(screen.action_do("new"))
        await asyncio.wait((new,), timeout=0.5)  # if it is not refused, it waits for the message
        go_on.set()
        await new
        await idle(pilot)
        assert screen.opening.conversation.id == here
        assert backend.store.turns(here)[-1].role is Role.ASSISTANT
