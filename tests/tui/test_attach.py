"""Files and pictures in the chat: named, priced before the send, shown with their turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PIL import Image, ImageGrab
from textual import events

from jitchat.tui.widgets import pictures
from jitchat.tui.widgets.hint_line import HintLine
from jitchat.tui.widgets.prompt import Prompt
from jitchat.tui.widgets.turn_view import TurnDetails, TurnView
from tests.support import png
from tests.tui.support import demo_app, idle, notices, ready, type_text, until

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from tests.tui.support import TestBackend


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
        await type_text(pilot, "Where is the key?")

        [told, *_] = screen.query_one(HintLine).sentences
        assert "attaches note.txt ~" in told
        assert "a shot.png ~" in told
        window = screen.previews.window
        assert window is not None
        await pilot.press("enter")
        await idle(pilot)
        said = next(view for view in screen.query(TurnView) if "note.txt" in view.turn.content)
        assert said.detail.attached == "attached: note.txt, a shot.png (picture, 80×40)"
        assert said.query(".turn-picture")
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
        assert "attaches clipboard-" in screen.query_one(HintLine).sentences[0]
        assert "note.txt has changed since #61" in screen.query_one(HintLine).sentences[0]
        (tmp_path / "many").mkdir()
        for number in range(4):
            (tmp_path / "many" / f"{number}.txt").write_text(f"port {number} is open.\n" * 700)
        prompt.text = "@many/ And in these?"
        many = "attaches 4 files, 3 in part, 1 not sent · "
        await until(pilot, lambda: many in screen.query_one(HintLine).sentences[0], "the number")
        details = await TurnDetails(backend.store, session.memory.conversation.id).of([said.turn])
        assert [file.name for file in details[61].files] == ["note.txt", "a shot.png"]


def test_without_the_extra_a_line_stands_for_a_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    from jitchat.attachments import Picture

    shot = Picture("a.png", "", "image/png", 80, 40, png(80, 40))
    assert pictures.thumbnail(shot) is not None
    broken = Picture("a.png", "", "image/png", 80, 40, png(80, 40)[:-40])
    assert pictures.thumbnail(broken) is None
    monkeypatch.setattr(pictures, "_library", lambda: None)
    assert pictures.thumbnail(shot) is None
