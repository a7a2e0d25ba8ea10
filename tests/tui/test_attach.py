"""Files and pictures in the chat: named, priced before the send, shown with their turn."""

from __future__ import annotations

import re
import sys
from io import StringIO
from typing import TYPE_CHECKING, Any

import pytest
from PIL import Image, ImageGrab
from textual import events

from jitchat import children as children_of
from jitchat.draft import Draft
from jitchat.errors import Unreachable
from jitchat.store.pins import AllowedFolders
from jitchat.tui.app import JitchatApp
from jitchat.tui.render.wrap import width_of
from jitchat.tui.views.sent_windows import again
from jitchat.tui.views.view import SendAgain
from jitchat.tui.widgets import pictures
from jitchat.tui.widgets.hint_line import HintLine
from jitchat.tui.widgets.prompt import Prompt
from jitchat.tui.widgets.turn_details import TurnDetails
from jitchat.values import Mode
from tests.files.hostile import endless_docx
from tests.support import png
from tests.tui.drawn import blocks, part
from tests.tui.support import demo_app, idle, notices, ready, type_text, until

if TYPE_CHECKING:
    from pathlib import Path

    from textual.pilot import Pilot

    from jitchat.tui.chat.screen import ChatScreen
    from tests.tui.support import TestBackend


def attached(screen: ChatScreen) -> str:
    """What the line above the prompt says."""
    line = screen.surfaces.attached
    return str(line.render()) if line.display else ""


async def test_what_is_attached_is_priced_before_the_send_and_shown_with_its_turn(
    backend: TestBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied = list[Image.Image]()
    monkeypatch.setenv("DISPLAY", ":99")
    monkeypatch.setattr(ImageGrab, "grabclipboard", lambda: copied.pop() if copied else None)
    (tmp_path / "note.txt").write_text("The key is under the mat.")
    (tmp_path / "a shot.png").write_bytes(png(80, 40))
    app = demo_app(backend)
    async with app.run_test(size=(140, 40)) as pilot:
        screen = await ready(pilot)
        session = screen.opening.session
        assert session is not None
        session.folder = tmp_path
        prompt = screen.query_one(Prompt)
        await screen.action_do("attach", "nowhere.txt")
        told_so = "There is no file at nowhere.txt. Check the path."
        await until(pilot, lambda: told_so in notices(pilot), "why nothing is attached")
        await screen.action_do("attach", "note.txt")
        prompt.post_message(events.Paste(f"'{tmp_path}/a shot.png'\n"))
        mention = f'@"{tmp_path}/a shot.png"'
        await until(pilot, lambda: prompt.text == f"@note.txt {mention} ", "the mention")
        offered = f"Tab attaches 1 file named in the text: {tmp_path}/a shot.png"
        await until(pilot, lambda: offered in notices(pilot), "that it may be attached")
        assert "a shot.png" not in attached(screen)
        await pilot.press("tab")
        await type_text(pilot, "Where is the key?")

        assert re.fullmatch(r"attaches note\.txt ~\d+, a shot\.png ~\d+", attached(screen))
        window = screen.previews.window
        assert window is not None
        await pilot.press("enter")
        await idle(pilot)
        said = next(each for each in blocks(screen) if "note.txt" in each.turn.content)
        assert said.detail.attached == "attached: note.txt, a shot.png (picture, 80×40)"
        assert part(said, "picture")
        assert not screen.surfaces.attached.display
        (tmp_path / "note.txt").write_text("It is not.")
        await type_text(pilot, "Selected.")
        prompt.select_all()
        await pilot.press("ctrl+v")
        none = "There is no picture in the clipboard. Copy one, or use /attach PATH."
        await until(pilot, lambda: none in notices(pilot), "that no picture is there")
        assert prompt.text == "Selected.", "an empty paste deletes nothing"
        copied.append(Image.new("RGB", (30, 20)))
        prompt.post_message(events.Paste(""))
        await until(pilot, lambda: prompt.text.startswith("@clipboard-"), "the picture's name")
        await type_text(pilot, "And now?")
        assert "attaches clipboard-" in attached(screen)
        assert "note.txt has changed since #61" in screen.query_one(HintLine).sentences[0]
        details = await TurnDetails(backend.store, session.memory.conversation.id).of([said.turn])
        assert [file.name for file in details[61].files] == ["note.txt", "a shot.png"]


async def test_every_file_of_a_folder_is_named_before_the_send(
    backend: TestBackend, folder: Path
) -> None:
    for number in range(4):
        (folder / "many").mkdir(exist_ok=True)
        (folder / "many" / f"{number}.txt").write_text(f"port {number} is open.\n" * 1_400)
    async with demo_app(backend).run_test(size=(140, 40)) as pilot:
        screen = await begun(pilot, folder)
        await type_text(pilot, "@many/ And in these?")
        how = [f"many/{number}.txt ~" for number in range(3)]
        await until(pilot, lambda: all(name in attached(screen) for name in how), "the names")
        assert "many/3.txt not sent ~" in attached(screen)


def test_without_the_extra_a_line_stands_for_a_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    from jitchat.attachments import Picture

    shot = Picture("a.png", "", "image/png", 80, 40, png(80, 40))
    assert pictures.thumbnail(shot) is not None
    broken = Picture("a.png", "", "image/png", 80, 40, png(80, 40)[:-40])
    assert pictures.thumbnail(broken) is None
    monkeypatch.setattr(pictures, "_imported", lambda _: None)
    assert pictures.thumbnail(shot) is None


@pytest.mark.parametrize("protocol", ["half blocks", "kitty"])
def test_a_picture_is_drawn_in_lines(monkeypatch: pytest.MonkeyPatch, protocol: str) -> None:
    from jitchat.attachments import Picture

    written = StringIO()
    monkeypatch.setattr(sys, "__stdout__", written)
    monkeypatch.delenv("KITTY_WINDOW_ID", raising=False)
    if protocol == "kitty":
        monkeypatch.setenv("KITTY_WINDOW_ID", "1")
    small = pictures.thumbnail(Picture("a.png", "", "image/png", 80, 40, png(80, 40)))
    lines = pictures.picture_lines(small)
    assert 0 < len(lines) <= 12
    assert {width_of(line) for line in lines} == {width_of(lines[0])}
    assert 0 < width_of(lines[0]) <= 40
    sign = "\U0010eeee" if protocol == "kitty" else "▀"
    assert all(piece.text.startswith(sign) for line in lines for piece in line)
    assert ("\x1b_G" in written.getvalue()) == (protocol == "kitty")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a key in the home beside it."""
    current = tmp_path / "current"
    for name in (current / "a.md", current / "b.md", tmp_path / "home/.ssh/id_rsa"):
        name.parent.mkdir(parents=True, exist_ok=True)
        name.write_text(f"It is in {name.name}.")
    monkeypatch.chdir(current)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return current


async def begun(pilot: Pilot[None], folder: Path) -> ChatScreen:
    screen = await ready(pilot)
    assert screen.session is not None
    screen.session.folder = folder
    return screen


async def sent(pilot: Pilot[None], screen: ChatScreen) -> list[str]:
    """Press Enter; return what the provider was sent with the message."""
    await pilot.press("enter")
    await idle(pilot)
    provider = screen.backend.provider
    return re.findall(r"<file #\d+ ([^:/]+(?:: same[^/]*)?)", provider.requests[-1][-1].content)  # type: ignore[attr-defined]


async def shown(pilot: Pilot[None], screen: ChatScreen, names: str) -> None:
    """Wait until the line above the prompt names these files."""

    def is_shown() -> bool:
        bare = re.sub(
            r" (?:already sent|(?:in part |not sent )?~?\d+(?:,\d+)*)", "", attached(screen)
        )
        return bare.partition("   ")[0] == names

    await until(pilot, is_shown, names)


@pytest.mark.parametrize("lines", [1, 12])
@pytest.mark.parametrize("way", ["paste", "prompt"])
async def test_a_paste_attaches_nothing_until_tab_does(
    backend: TestBackend, folder: Path, lines: int, way: str
) -> None:
    text = "see (@a.md), and @~/.ssh/id_rsa." + "\nline" * (lines - 1)
    async with demo_app(backend).run_test(size=(120, 36)) as pilot:
        screen = await begun(pilot, folder)
        for adopts in (False, True):
            if way == "paste":
                screen.surfaces.prompt.post_message(events.Paste(text))
            else:
                screen.surfaces.prompt.paste(text)
            offered = "Tab attaches 2 files named in the text: a.md, ~/.ssh/id_rsa"
            await until(pilot, lambda: screen.surfaces.prompt._offered, "the offer")
            assert offered in notices(pilot)
            if not adopts:
                await pilot.press("space", "x")
                assert offered not in notices(pilot)
                await pilot.press("tab")
                screen.surfaces.prompt.focus()
                assert await sent(pilot, screen) == []
                continue
            await pilot.press("tab", "enter")
            assert offered not in notices(pilot)
            question = f"Attach files of {folder.parent}/home/.ssh from now on?"
            await until(pilot, lambda: screen.routing._question is not None, "the question")
            assert screen.routing._question.text == question  # type: ignore[union-attr]
            assert await sent(pilot, screen) == ["a.md", "id_rsa"]


async def test_a_hidden_or_foreign_folder_is_asked_for_once(
    backend: TestBackend, folder: Path
) -> None:
    allowed = AllowedFolders(backend.store.database)
    async with demo_app(backend).run_test(size=(120, 36)) as pilot:
        screen = await begun(pilot, folder)
        await type_text(pilot, "what is @~/.ssh/id_rsa")
        hint = screen.query_one(HintLine)
        assert "is hidden or outside the current folder" in hint.sentences[0]
        await pilot.press("enter")
        await until(pilot, lambda: screen.routing._question is not None, "the question")
        await pilot.press("escape")
        assert (allowed.all(), screen.surfaces.prompt.text) == (
            frozenset(),
            "what is @~/.ssh/id_rsa",
        )
        assert len(screen.session.memory.turns) == 60  # type: ignore[union-attr]
        await pilot.press("enter")
        await until(pilot, lambda: screen.routing._question is not None, "the question again")
        assert await sent(pilot, screen) == ["id_rsa"]
        assert allowed.all() == {str(folder.parent / "home/.ssh")}
        await type_text(pilot, "and once more @~/.ssh/id_rsa")
        await pilot.press("enter")
        await idle(pilot)
        assert len(screen.session.memory.turns) == 64  # type: ignore[union-attr]


async def test_an_edited_message_keeps_its_files_which_can_be_taken_away(
    backend: TestBackend, folder: Path
) -> None:
    async with demo_app(backend).run_test(size=(120, 36)) as pilot:
        screen = await begun(pilot, folder)
        prompt = screen.surfaces.prompt
        await type_text(pilot, "compare @a.md and @b.md")
        await shown(pilot, screen, "attaches a.md, b.md")
        assert await sent(pilot, screen) == ["a.md", "b.md"]
        (folder / "a.md").write_text("It has changed.")

        await screen.action_do("edit")
        await shown(pilot, screen, "attaches a.md ×, b.md ×")
        change = "a.md has changed since it was attached: @a.md attaches it as it is now"
        await until(pilot, lambda: change in screen.query_one(HintLine).sentences[-1], "the offer")
        prompt.insert(" in short", prompt.document.end)
        assert await sent(pilot, screen) == ["a.md", "b.md"]
        content = backend.provider.requests[-1][-1].content  # type: ignore[attr-defined]
        assert "It is in a.md." in content

        await screen.action_do("edit")
        await shown(pilot, screen, "attaches a.md ×, b.md ×")
        prompt.move_cursor((0, 0))
        await pilot.press("backspace")
        await shown(pilot, screen, "attaches a.md ×")
        await pilot.press("ctrl+c")
        await screen.action_do("edit")
        await screen.action_do("detach", "b.md")
        await shown(pilot, screen, "attaches a.md ×")
        prompt.insert(" @a.md", prompt.document.end)
        prompt.undo()
        prompt.redo()
        await until(pilot, lambda: prompt.text.endswith("@a.md"), "the mention")
        assert await sent(pilot, screen) == ["a.md"]
        content = backend.provider.requests[-1][-1].content  # type: ignore[attr-defined]
        assert "It has changed." in content


@pytest.mark.parametrize("change", [False, True])
async def test_a_message_that_was_not_answered_keeps_its_files(
    backend: TestBackend, folder: Path, change: bool
) -> None:
    provider = backend.provider
    async with demo_app(backend).run_test(size=(120, 36)) as pilot:
        screen = await begun(pilot, folder)
        provider.script = (Unreachable("Nobody answers.", "Try again."),)  # type: ignore[attr-defined]
        await type_text(pilot, "see @a.md")
        await pilot.press("enter")
        await until(pilot, lambda: screen.surfaces.prompt.text == "see @a.md", "the draft")
        await idle(pilot)
        (folder / "a.md").unlink()
        await shown(pilot, screen, "attaches a.md ×")
        await screen.keeper.keep_now()
    provider.script = ("Well.",)  # type: ignore[attr-defined]
    app = JitchatApp(backend, backend.store.conversation("demo"))
    async with app.run_test(size=(120, 36)) as pilot:
        screen = await begun(pilot, folder)
        prompt = screen.surfaces.prompt
        await shown(pilot, screen, "attaches a.md ×")
        if change:
            prompt.insert(" again", prompt.document.end)
        assert await sent(pilot, screen) == ["a.md"]
        turns = screen.session.memory.turns  # type: ignore[union-attr]
        assert turns[-2].content == ("see @a.md again" if change else "see @a.md")
        await pilot.press("up")
        await shown(pilot, screen, "attaches a.md ×")
        await pilot.press("ctrl+c")
        await until(pilot, lambda: not attached(screen), "an empty draft")


async def test_a_message_sent_earlier_comes_back_with_its_files(
    backend: TestBackend, folder: Path
) -> None:
    async with demo_app(backend).run_test(size=(120, 36)) as pilot:
        screen = await begun(pilot, folder)
        await type_text(pilot, "see @a.md")
        assert await sent(pilot, screen) == ["a.md"]
        (folder / "a.md").write_text("It has changed.")
        for _ in range(2):
            await pilot.press("up")
            await shown(pilot, screen, "attaches a.md ×")
            await pilot.press("enter")
            await idle(pilot)
        files = screen.session.memory.files  # type: ignore[union-attr]
        assert [file.text for file in files] == ["It is in a.md."] * 3


async def test_taken_away_files_are_not_sent_with_an_unanswered_message(
    backend: TestBackend, folder: Path
) -> None:
    backend.provider.script = (Unreachable("Nobody answers.", "Try again."),)  # type: ignore[attr-defined]
    async with demo_app(backend).run_test(size=(120, 36)) as pilot:
        screen = await begun(pilot, folder)
        await type_text(pilot, "see @a.md")
        await pilot.press("enter")
        await idle(pilot)
        await shown(pilot, screen, "attaches a.md ×")
        await screen.action_do("detach")
        backend.provider.script = ("Well.",)  # type: ignore[attr-defined]
        assert await sent(pilot, screen) == []
        assert screen.session.memory.files == ()  # type: ignore[union-attr]


async def test_a_mention_that_cannot_be_attached_brings_the_draft_back(
    backend: TestBackend, folder: Path
) -> None:
    for number in range(101):
        (folder / f"{number}.log").write_text("x")
    async with demo_app(backend).run_test(size=(120, 36)) as pilot:
        screen = await begun(pilot, folder)
        await type_text(pilot, "read @*.log")
        await pilot.press("enter")
        told = "*.log names more than 100 files. Attach fewer files at once."
        await until(pilot, lambda: told in notices(pilot), "why not")
        await idle(pilot)
        assert screen.surfaces.prompt.message == Draft.by_user("read @*.log")


async def test_a_message_sent_again_from_a_view_keeps_its_files(
    backend: TestBackend, folder: Path
) -> None:
    backend.provider.script = (Unreachable("Nobody answers.", "Try again."),)  # type: ignore[attr-defined]
    async with demo_app(backend).run_test(size=(120, 36)) as pilot:
        screen = await begun(pilot, folder)
        await type_text(pilot, "see @a.md")
        await pilot.press("enter")
        await idle(pilot)
        backend.provider.script = ("Well.",)  # type: ignore[attr-defined]
        session = screen.session
        assert session is not None
        message = session.memory.turns[-1]
        await screen.views.follow(session, SendAgain(message, Mode.JIT, again(message, None)))
        await idle(pilot)
        assert [file.text for file in session.memory.files] == ["It is in a.md."]
        assert len(session.memory.turns) == 62


async def test_a_file_is_not_read_on_when_it_is_no_longer_mentioned(
    backend: TestBackend, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    children = list[children_of.Piped]()

    def start(*given: Any) -> children_of.Piped:
        children.append(start_piped(*given))
        return children[-1]

    start_piped = children_of.start_piped
    monkeypatch.setattr(children_of, "start_piped", start)
    (folder / "a.docx").write_bytes(endless_docx())
    async with demo_app(backend).run_test(size=(120, 36)) as pilot:
        screen = await begun(pilot, folder)
        await pilot.press(*"see @a.docx")
        await until(pilot, lambda: children, "the reader of the file")
        await pilot.press("backspace")
        await until(pilot, lambda: children[0].returncode is not None, "its end")
        await until(pilot, lambda: not screen.previews.working, "the next window")
        assert len(children) == 1
